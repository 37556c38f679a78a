"""The benchmark of judges: every judge against both attributes, so that one sees what a judge does not measure, too.

Source: Ri et al. 2025, section 3.1; docs/papers.md#ri-benchmark.
"""

from collections import Counter
from collections.abc import Sequence

from ....corpora.controlled import ControlledSet, topics_of
from ....extras import installed_versions
from ....judges.benchmark import ATTRIBUTES, Attribute, Benchmark, BenchmarkRow, Ties, UnscoredRow
from ....number import Number
from ....records import Judgement
from ....runfolder.stages import RECORDED
from ....text import n_words
from ...lengths import slope_among
from .agreement import agreement, agreement_intervals
from .scoring import Scores, articles_of, scores_by_judge, table_of

LEVEL = 0.95


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
    by_judge = scores_by_judge(judgements)
    side_of = {each.id: each.side or "all" for each in sets}
    unscored = Counter((j.judge, side_of[j.request_id], j.unscored) for j in judgements if j.unscored)
    sides = list(dict.fromkeys(each.side for each in sets if each.side is not None))
    return Benchmark(
        file=file,
        digest=digest,
        ties=ties,
        level=LEVEL,
        topics_unknown=sum(not each.topic for each in sets),
        signatures={judgement.judge: judgement.signature for judgement in judgements},
        versions=installed_versions(RECORDED),
        rows=tuple(
            _row(judge, attribute, side, sets, scores, ties)
            for judge, scores in by_judge.items()
            for attribute in ATTRIBUTES
            # a single side is shown once, as all
            for side in ([*sides, None] if len(sides) > 1 else [None])
        ),
        slopes=tuple(filter(None, (_slope(judge, sets, scores) for judge, scores in by_judge.items()))),
        unscored=tuple(
            UnscoredRow(judge=judge, side=side, reason=reason, count=count)
            for (judge, side, reason), count in sorted(unscored.items())
        ),
    )


def _slope(judge: str, sets: Sequence[ControlledSet], scores: Scores) -> Number | None:
    """How a judge's scores go with length, whatever is true of the summaries."""
    lengths = table_of(sets, [[n_words(summary.text) for summary in each.summaries] for each in sets])
    found = table_of(sets, [scores[each.id] for each in sets])
    return slope_among(judge, lengths, found, topics_of(sets), LEVEL)


def _row(
    judge: str,
    attribute: Attribute,
    side: str | None,
    sets: Sequence[ControlledSet],
    scores: Scores,
    ties: Ties,
) -> BenchmarkRow:
    mine = [each for each in sets if side is None or each.side == side]
    articles = articles_of(mine, scores, attribute)
    found = agreement(articles, ties)
    topics = [topic for topic, each in zip(topics_of(sets), sets, strict=True) if side is None or each.side == side]
    statistics = {
        name: Number(value=value, low=low, high=high)
        for name, (value, low, high) in agreement_intervals(articles, topics, ties, LEVEL).items()
    }
    return BenchmarkRow(
        judge=judge,
        attribute=attribute,
        side=side,
        articles=len(mine),
        summaries=sum(len(each.summaries) for each in mine),
        spearman_articles=found.spearman_articles,
        winrate_articles=found.winrate_articles,
        pairs=found.pairs,
        metric_ties=found.metric_ties,
        left_out=found.left_out,
        **statistics,
    )
