"""`evenhand benchmark-judges`: a controlled file and judges in, scores, agreement and a page out."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...config import JudgeOptions
from ...corpora.bundled import CONTROLLED, file_of
from ...corpora.controlled import read_controlled
from ...records import Judgement
from ...storage import file_digest, write_json, write_jsonl
from ..pages.write import write_page
from .agreement import Ties
from .apart import judge_by_model
from .benchmark import Benchmark, benchmark
from .page import page
from .scoring import SEEN, knows_all, not_tried, seen_articles, with_baselines

# files in the output folder
SCORES = "judgements.jsonl"
RESULT = "benchmark.json"
MARKDOWN = "benchmark.md"


def benchmark_judges(
    file: Path, judges: dict[str, JudgeOptions], out: Path, ties: Ties = "half", *, evidence: Path | None = None
) -> Benchmark:
    """Judge a controlled file by these judges, the length and ROUGE; the result, after it was written to `out`.

    Args:
        file: controlled sets, in evenhand's JSON lines or as the authors released them; "sample" is bundled.
        judges: options of the judges beside the baselines; may be empty.
        out: folder for judgements.jsonl, benchmark.json and the page.
        ties: what a pair of summaries counts that a judge scores alike.
        evidence: the authors' evidence file, when `file` is theirs.

    Raises:
        StorageError: a file cannot be read or written.
        DataError: the files are wrong; all mistakes are listed.
        RecipeError: a judge has a baseline's name and is another judge.
        JudgeError: a judge cannot run at all.
    """
    options = with_baselines(judges)
    sets = read_controlled(file, evidence)
    seen = seen_articles(options, sets)
    left_out = not_tried(judges) | knows_all(seen, sets)
    tried = {name: each for name, each in options.items() if name not in left_out}
    judgements = _unseen(judge_by_model(tried, sets), seen)
    found = benchmark(sets, judgements, ties, file=file.name, digest=file_digest(file_of(file, CONTROLLED)))
    found = found.model_copy(update={"not_tried": left_out})
    is_ours = (out / RESULT).exists()
    write_jsonl(out / SCORES, judgements)
    write_json(out / RESULT, found.model_dump(mode="json"))
    write_page(page(found), out, MARKDOWN, is_ours=is_ours)
    return found


def _unseen(judgements: Sequence[Judgement], seen: Mapping[str, frozenset[str]]) -> list[Judgement]:
    """The judgements, without scores of articles that a judge was trained on."""
    return [
        each.model_copy(update={"score": None, "unscored": SEEN})
        if each.request_id in seen.get(each.judge, ())
        else each
        for each in judgements
    ]
