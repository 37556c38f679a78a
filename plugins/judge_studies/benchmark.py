"""`evenhand judges benchmark`: every judge against every attribute, so that one sees what a judge does not measure, too.

The attributes are coverage and faithfulness of controlled summaries, or the dimensions on which people scored summaries.

Source: Ri et al. 2025, section 3.1; docs/papers.md#ri-benchmark.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from ...config import JudgeOptions
from ...corpora.controlled import ControlledSet
from ...evaluation.lengths import slope_among
from ...evaluation.pages.folder import Content, Result, Say, calls_itself
from ...extras import installed_versions
from ...judges.benchmark import Benchmark, BenchmarkRow, Ties, UnscoredRow
from ...judges.calibration import LENGTH
from ...judges.examples import JudgedPair
from ...records import Judgement
from ...resampling import Floats
from ...runfolder.stages import RECORDED
from ...text import some_of
from .agreement import correlations, lead_over_length, winrates
from .apart import judge_by_model
from .benchmark_page import page
from .examples import misordered
from .figures import LEVEL
from .ratings.rated import RatedSummaries
from .ratings.raters import ONE_RATER, one_rater, one_raters_pairs
from .scoring import BASELINES, SEEN, LabelledFile, read_labels
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
    return benchmark_labels(read_labels(file, judges, evidence), out, ties, say=say)


def benchmark_labels(labels: LabelledFile, out: Path, ties: Ties = "half", *, say: Say | None = None) -> Benchmark:
    """As `benchmark_judges`, of labels that were read."""
    BENCHMARK.check(out)
    with BENCHMARK.begun(out, (labels.digest, sorted(labels.judges)), say):
        judgements = [
            judgement.model_copy(update={"score": None, "unscored": SEEN})
            if judgement.request_id in labels.seen.get(judgement.judge, ())
            else judgement
            for judgement in judge_by_model(labels.judges, labels.sets)
        ]
        result = benchmark(labels.sets, judgements, ties, file=labels.file, digest=labels.digest, rated=labels.rated)
        result = result.model_copy(update={"not_tried": labels.not_tried})
        BENCHMARK.write(out, result, page(result), {SCORES: judgements})
    return result


def benchmark(
    sets: Sequence[ControlledSet],
    judgements: Sequence[Judgement],
    ties: Ties = "half",
    *,
    file: str,
    digest: str,
    rated: RatedSummaries | None = None,
) -> Benchmark:
    """Agreement of each judge with each attribute, of every side and of all articles together.

    Args:
        sets: the controlled sets.
        judgements: of each of their summaries by each judge, in the order of sets and summaries.
        ties: what a pair of summaries counts that the judge scores alike.
        file: name of the file that the sets come from.
        digest: of that file's content.
        rated: what people said of the summaries, whose dimensions are the attributes; None of controlled ones.
    """
    study = JudgeStudy(sets, judgements, ratings=rated.truths if rated else None)
    side_of = {article.id: article.side or "all" for article in sets}
    unscored = Counter((j.judge, side_of[j.request_id], j.unscored) for j in judgements if j.unscored)
    slopes = (slope_among(judge, study.lengths, study.scores(judge), study.topics, LEVEL) for judge in study.judges)
    rows = tuple(_rows(study, ties, rated))
    result = Benchmark(
        file=file,
        digest=digest,
        ties=ties,
        level=LEVEL,
        topics_unknown=sum(not article.topic for article in sets),
        signatures={judgement.judge: judgement.signature for judgement in judgements},
        versions=installed_versions(RECORDED),
        rows=rows,
        slopes=tuple(filter(None, slopes)),
        unscored=tuple(
            UnscoredRow(judge=judge, side=side, reason=reason, count=count)
            for (judge, side, reason), count in sorted(unscored.items())
        ),
        n_raters=len(rated.raters) if rated else None,
        notes=(*rated.notes, *_disagreements(rows)) if rated else (),
    )
    judges = [name for name in study.judges if name not in BASELINES]
    best = [(row.judge, attribute) for attribute in study.truths if (row := result.best(attribute, judges))]
    examples = (pair for judge, attribute in best for pair in misordered(judge, attribute, study)[:1])
    signs = rated.signs if rated else {}
    return result.model_copy(update={"examples": tuple(_as_scored(pair, signs.get(pair.measure)) for pair in examples)})


def _disagreements(rows: Sequence[BenchmarkRow]) -> Iterator[str]:
    """A sentence on dimensions on which people do not clearly agree among themselves, within articles."""
    people = (row for row in rows if row.judge == ONE_RATER and row.side is None)
    names = [
        f"{row.attribute} (\u03c1 by article {row.within.value:.2f})"
        for row in people
        if row.within.value is not None and row.within.low is not None and row.within.low <= 0
    ]
    if names:
        yield f"People do not clearly agree among themselves on {some_of(names)}: no judge can be chosen by that."


def _as_scored(pair: JudgedPair, sign: float | None) -> JudgedPair:
    """The pair with people's scores as they gave them; None of controlled summaries."""
    if sign is None:
        return pair
    first, second = (
        text.model_copy(update={"known": None if text.known is None else sign * text.known})
        for text in (pair.first, pair.second)
    )
    return pair.model_copy(update={"first": first, "second": second, "of_people": True})


def _rows(study: JudgeStudy, ties: Ties, rated: RatedSummaries | None) -> Iterator[BenchmarkRow]:
    sides = list(dict.fromkeys(article.side for article in study.sets if article.side is not None))
    # a single side is shown once, as all
    places = [(side, _places(study, side)) for side in ([*sides, None] if len(sides) > 1 else [None])]
    # of people's scores, those of which there are any
    attributes = [name for name, table in study.truths.items() if rated is None or not np.isnan(table).all()]
    for judge in study.judges:
        for attribute in attributes:
            for side, rows in places:
                yield _row(judge, attribute, side, rows, study, ties)
    if rated and len(rated.raters) > 1:
        for attribute in attributes:
            cube = rated.scores[attribute]
            for side, rows in places:
                yield _people_row(attribute, side, cube[rows], [study.topics[place] for place in rows], ties)


def _places(study: JudgeStudy, side: str | None) -> list[int]:
    """Places of the articles of a side; of all for None."""
    return [place for place, article in enumerate(study.sets) if side in (None, article.side)]


def _row(
    judge: str, attribute: str, side: str | None, rows: Sequence[int], study: JudgeStudy, ties: Ties
) -> BenchmarkRow:
    truths, scores = study.truths[attribute][rows], study.scores(judge)[rows]
    topics = [study.topics[place] for place in rows]
    pooled, within = correlations(truths, scores, topics, chooses=False)
    winrate_within, winrate_pooled, n_ties = winrates(truths, scores, topics, ties)
    n = sum(len(study.sets[place].summaries) for place in rows)
    lead = lead_over_length(truths, scores, study.lengths[rows], topics) if judge != LENGTH else None
    return BenchmarkRow(
        judge=judge, attribute=attribute, side=side, articles=len(rows), summaries=n, pooled=pooled, within=within,
        winrate_within=winrate_within, winrate_pooled=winrate_pooled, ties=n_ties, left_out=n - pooled.n, lead=lead,
    )  # fmt: skip


def _people_row(attribute: str, side: str | None, cube: Floats, topics: Sequence[str], ties: Ties) -> BenchmarkRow:
    """How far people agree among themselves, as if one of them were a judge."""
    pooled, within = one_rater(cube, topics)
    winrate_within, winrate_pooled, n_ties = one_raters_pairs(cube, topics, ties)
    n = int((~np.isnan(cube)).any(axis=2).sum())
    return BenchmarkRow(
        judge=ONE_RATER, attribute=attribute, side=side, articles=len(cube), summaries=n, pooled=pooled, within=within,
        winrate_within=winrate_within, winrate_pooled=winrate_pooled, ties=n_ties, left_out=n - pooled.n,
    )  # fmt: skip
