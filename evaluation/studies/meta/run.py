"""`evenhand benchmark-judges`: a controlled file and judges in, scores, agreement and a page out."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ....config import JudgeOptions
from ....corpora.bundled import CONTROLLED, file_of
from ....corpora.controlled import read_controlled
from ....judges.benchmark import Benchmark, Ties
from ....records import Judgement
from ....storage import file_digest
from ...pages.folder import KNOWN, Content, Result, Say
from .apart import judge_by_model
from .benchmark import benchmark
from .page import page
from .scoring import BASELINES, SEEN, knows_all, not_tried, seen_articles, with_baselines

SCORES = "judgements.jsonl"


def _named(found: Content) -> str:
    asked = [name for name in found["signatures"] if name not in BASELINES]
    return f"the benchmark of {', '.join(asked) or 'length and ROUGE'} on {found['file']}"


BENCHMARK = Result(
    "benchmark of judges",
    "benchmark.json",
    "benchmark.md",
    is_ours=KNOWN["benchmark.json"][1],
    named=_named,
    key=lambda found: (found["digest"], sorted(found["signatures"])),
    others=(SCORES,),
)


def benchmark_judges(
    file: Path,
    judges: dict[str, JudgeOptions],
    out: Path,
    ties: Ties = "half",
    *,
    evidence: Path | None = None,
    say: Say | None = None,
) -> Benchmark:
    """Judge a controlled file by these judges, the length and ROUGE; the result, after it was written to `out`.

    Args:
        file: controlled sets, in evenhand's JSON lines or as the authors released them; "sample" is bundled.
        judges: options of the judges beside the baselines; may be empty.
        out: folder for judgements.jsonl, benchmark.json and the page.
        ties: what a pair of summaries counts that a judge scores alike.
        evidence: the authors' evidence file, when `file` is theirs.
        say: called with a line on an earlier benchmark that will be replaced.

    Raises:
        StorageError: a file cannot be read.
        DataError: the files are wrong, all mistakes are listed; or the folder is refused.
        RecipeError: a judge has a baseline's name and is another judge.
        JudgeError: a judge cannot run at all.
    """
    BENCHMARK.check(out)
    options = with_baselines(judges)
    sets = read_controlled(file, evidence)
    seen = seen_articles(options, sets)
    left_out = not_tried(judges) | knows_all(seen, sets)
    tried = {name: each for name, each in options.items() if name not in left_out}
    digest = file_digest(file_of(file, CONTROLLED))
    with BENCHMARK.begun(out, (digest, sorted(tried)), say):
        judgements = _unseen(judge_by_model(tried, sets), seen)
        found = benchmark(sets, judgements, ties, file=file.name, digest=digest)
        found = found.model_copy(update={"not_tried": left_out})
        BENCHMARK.write(out, found, page(found), {SCORES: judgements})
    return found


def _unseen(judgements: Sequence[Judgement], seen: Mapping[str, frozenset[str]]) -> list[Judgement]:
    """The judgements, without scores of articles that a judge was trained on."""
    return [
        each.model_copy(update={"score": None, "unscored": SEEN})
        if each.request_id in seen.get(each.judge, ())
        else each
        for each in judgements
    ]
