"""`evenhand judges benchmark`: every judge against both attributes, so that one sees what a judge does not measure, too.

Source: Ri et al. 2025, section 3.1; docs/papers.md#ri-benchmark.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...config import JudgeOptions
from ...corpora.controlled import ControlledSet
from ...evaluation.lengths import slope_among
from ...evaluation.pages.folder import Content, Result, Say, calls_itself
from ...extras import installed_versions
from ...judges.benchmark import ATTRIBUTES, Benchmark, BenchmarkRow, Ties, UnscoredRow
from ...records import Judgement
from ...runfolder.stages import RECORDED
from .agreement import correlations, winrates
from .apart import judge_by_model
from .benchmark_page import page
from .examples import misordered
from .figures import LEVEL
from .scoring import BASELINES, SEEN, read_labels
from .study import JudgeStudy

SCORES = "judgements.jsonl"


def _named(content: Content) -> str:
    judges = [name for name in content["signatures"] if name not in BASELINES]
    return f"the benchmark of {', '.join(judges) or 'length and ROUGE'} on {content['file']}"


BENCHMARK = Result(
    "benchmark of judges",
    "benchmark.json",
    "benchmark.md",
    is_ours=calls_itself("evenhand-judge-benchmark"),
    named=_named,
    key=lambda content: (content["digest"], sorted(content["signatures"])),
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
        file: as `read_labels` takes it.
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
    labels = read_labels(file, judges, evidence)
    with BENCHMARK.begun(out, (labels.digest, sorted(labels.judges)), say):
        judgements = [
            judgement.model_copy(update={"score": None, "unscored": SEEN})
            if judgement.request_id in labels.seen.get(judgement.judge, ())
            else judgement
            for judgement in judge_by_model(labels.judges, labels.sets)
        ]
        result = benchmark(labels.sets, judgements, ties, file=labels.file, digest=labels.digest)
        result = result.model_copy(update={"not_tried": labels.not_tried})
        BENCHMARK.write(out, result, page(result), {SCORES: judgements})
    return result


def benchmark(
    sets: Sequence[ControlledSet], judgements: Sequence[Judgement], ties: Ties = "half", *, file: str, digest: str
) -> Benchmark:
    """Agreement of each judge with each attribute, of every side and of all articles together.

    Args:
        sets: the controlled sets.
        judgements: of each of their summaries by each judge, in the order of sets and summaries.
        ties: what a pair of summaries counts that the judge scores alike.
        file: name of the file that the sets come from.
        digest: of that file's content.
    """
    study, side_of = JudgeStudy(sets, judgements), {article.id: article.side or "all" for article in sets}
    unscored = Counter((j.judge, side_of[j.request_id], j.unscored) for j in judgements if j.unscored)
    slopes = (slope_among(judge, study.lengths, study.scores(judge), study.topics, LEVEL) for judge in study.judges)
    result = Benchmark(
        file=file,
        digest=digest,
        ties=ties,
        level=LEVEL,
        topics_unknown=sum(not article.topic for article in sets),
        signatures={judgement.judge: judgement.signature for judgement in judgements},
        versions=installed_versions(RECORDED),
        rows=tuple(_rows(study, ties)),
        slopes=tuple(filter(None, slopes)),
        unscored=tuple(
            UnscoredRow(judge=judge, side=side, reason=reason, count=count)
            for (judge, side, reason), count in sorted(unscored.items())
        ),
    )
    judges = [name for name in study.judges if name not in BASELINES]
    best = [(row.judge, attribute) for attribute in ATTRIBUTES if (row := result.best(attribute, judges))]
    examples = (pair for judge, attribute in best for pair in misordered(judge, attribute, study)[:1])
    return result.model_copy(update={"examples": tuple(examples)})


def _rows(study: JudgeStudy, ties: Ties) -> Iterator[BenchmarkRow]:
    sides = list(dict.fromkeys(article.side for article in study.sets if article.side is not None))
    # a single side is shown once, as all
    for judge in study.judges:
        for attribute in ATTRIBUTES:
            for side in [*sides, None] if len(sides) > 1 else [None]:
                rows = [place for place, article in enumerate(study.sets) if side in (None, article.side)]
                truths, scores = study.truths[attribute][rows], study.scores(judge)[rows]
                topics = [study.topics[place] for place in rows]
                pooled, within = correlations(truths, scores, topics, chooses=False)
                winrate_within, winrate_pooled, n_ties = winrates(truths, scores, topics, ties)
                n = sum(len(study.sets[place].summaries) for place in rows)
                yield BenchmarkRow(
                    judge=judge, attribute=attribute, side=side, articles=len(rows), summaries=n, pooled=pooled, within=within,
                    winrate_within=winrate_within, winrate_pooled=winrate_pooled, ties=n_ties, left_out=n - pooled.n,
                )  # fmt: skip
