"""How well a metric's scores agree with known values: Spearman's correlation and the winrate, both pooled and by article.

Within an article only the summaries differ; between articles the source differs, too. So a pooled correlation can be high
for a metric that cannot order two summaries of one article, and both kinds are told.
Source: Ri et al. 2025, section 3.1; docs/papers.md#ri-benchmark.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import compress
from statistics import fmean

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ....errors import DataError
from ....judges.benchmark import Ties
from ....resampling import Floats, defined, jackknife_t

STATISTICS = ("spearman_pooled", "spearman_macro", "winrate_macro", "winrate_micro")


@dataclass(frozen=True)
class Article:
    """Known values of an article's summaries, and a metric's scores of them."""

    # None where the value is undefined
    truths: tuple[float | None, ...]
    # None where the summary is unscored
    scores: tuple[float | None, ...]

    def __post_init__(self) -> None:
        if len(self.truths) != len(self.scores):
            raise DataError(
                f"{len(self.truths)} known values, but {len(self.scores)} scores; one score a value is needed"
            )


@dataclass(frozen=True)
class Agreement:
    """Agreement of a metric with the known values; None where nothing can be computed."""

    # rank correlation over all summaries together, in [-1, 1]
    spearman_pooled: float | None
    # mean of the articles' own rank correlations, over the articles that have one
    spearman_macro: float | None
    spearman_articles: int
    # share of pairs that the metric orders as the known values do, in [0, 1]: mean of the articles' own shares
    winrate_macro: float | None
    # the same over all pairs together
    winrate_micro: float | None
    winrate_articles: int
    # pairs of one article whose known values differ
    pairs: int
    # those of them that the metric scores alike
    metric_ties: int
    # summaries without a known value or without a score
    left_out: int


@dataclass(frozen=True)
class _Part:
    """What one article gives."""

    truths: NDArray[np.float64]  # (summaries that count,)
    scores: NDArray[np.float64]  # (summaries that count,)
    spearman: float | None
    right: int
    ties: int
    pairs: int
    left_out: int

    def winrate(self, ties: Ties) -> float | None:
        return _winrate(self.right, self.ties, self.pairs, ties)


def agreement(articles: Sequence[Article], ties: Ties = "half") -> Agreement:
    """Agreement of a metric with the known values.

    Pairs are formed within an article, of summaries whose known values differ; equal known values form none. Summaries that
    lack a known value or a score are left out of everything.

    Args:
        articles: one entry an article.
        ties: what a pair that the metric scores alike counts.
    """
    return _agreement([_part(article) for article in articles], ties)


def agreement_intervals(
    articles: Sequence[Article], topics: Sequence[str], ties: Ties, level: float
) -> dict[str, tuple[float | None, float | None, float | None]]:
    """Each statistic with the bounds of Student's t interval by the jackknife over topics, clipped to the statistic's range.

    Without bounds with fewer than `resampling.LEAST_SETS` topics, and where leaving one out leaves a statistic undefined.

    Args:
        articles: one entry an article.
        topics: topic of each article; both sides of a topic are left out together.
        ties: as in `agreement`.
        level: of the intervals.
    """
    whole, without = without_topics(articles, topics, ties)
    with np.errstate(invalid="ignore"):
        found = jackknife_t(whole, without, np.ones(without.shape, dtype=bool), level)
    return {
        name: (defined(float(whole[k])), _in_range(name, float(found.low[k])), _in_range(name, float(found.high[k])))
        for k, name in enumerate(STATISTICS)
    }


def without_topics(articles: Sequence[Article], topics: Sequence[str], ties: Ties = "half") -> tuple[Floats, Floats]:
    """The statistics, (statistics,), and without each topic, (topics, statistics); nan where undefined."""
    parts = [_part(article) for article in articles]

    def statistics(kept: NDArray[np.bool_]) -> list[float | None]:
        found = _agreement([*compress(parts, kept)], ties)
        return [getattr(found, name) for name in STATISTICS]

    return leave_out(statistics, topics)


def leave_out(
    statistics: Callable[[NDArray[np.bool_]], Sequence[float | None]], topics: Sequence[str]
) -> tuple[Floats, Floats]:
    """What the jackknife over topics needs: statistics of all articles, (statistics,), and without each topic.

    Args:
        statistics: of the articles that are kept, (articles,); None where undefined, which becomes nan.
        topics: of each article.

    Returns:
        Arrays of shape (statistics,) and (topics, statistics), topics in the order in which they are met.
    """
    names = np.array(topics)
    without = [statistics(names != name) for name in dict.fromkeys(topics)]
    return np.array(statistics(np.ones(len(names), dtype=bool)), dtype=float), np.array(without, dtype=float)


def _in_range(statistic: str, bound: float) -> float | None:
    least = -1.0 if statistic.startswith("spearman") else 0.0
    return None if np.isnan(bound) else min(1.0, max(least, bound))


def spearman(first: NDArray[np.float64], second: NDArray[np.float64]) -> float | None:
    """Spearman's rank correlation with average ranks for equal values, in [-1, 1]; None when either does not vary."""
    if len(first) < 2 or first.min() == first.max() or second.min() == second.max():
        return None
    # of ranks: scipy's own would compute a p-value, too, which takes ten times as long
    return float(np.corrcoef(stats.rankdata(first), stats.rankdata(second))[0, 1])


def spearman_of_choice(truths: NDArray[np.float64], scores: NDArray[np.float64]) -> float | None:
    """The same of a judge that has to choose: where values differ and its scores do not, it orders none, which is 0.

    The benchmark, as its paper, has no correlation there (`spearman`), so a judge that says nothing of an article loses
    nothing by it; an audit that asks what a judge is worth must not leave it out. None when no two known values differ.
    """
    if len(truths) < 2 or truths.min() == truths.max():
        return None
    return spearman(truths, scores) or 0.0


def _part(article: Article) -> _Part:
    known = [(t, s) for t, s in zip(article.truths, article.scores, strict=True) if t is not None and s is not None]
    truths, scores = np.array([t for t, _ in known], dtype=float), np.array([s for _, s in known], dtype=float)
    first, second = np.triu_indices(len(known), k=1)
    by_truth, by_score = np.sign(truths[first] - truths[second]), np.sign(scores[first] - scores[second])
    formed = by_truth != 0
    return _Part(
        truths,
        scores,
        spearman(truths, scores),
        right=int((formed & (by_truth == by_score)).sum()),
        ties=int((formed & (by_score == 0)).sum()),
        pairs=int(formed.sum()),
        left_out=len(article.truths) - len(known),
    )


def _agreement(parts: Sequence[_Part], ties: Ties) -> Agreement:
    correlations = [part.spearman for part in parts if part.spearman is not None]
    winrates = [rate for part in parts if (rate := part.winrate(ties)) is not None]
    right, tied, pairs = (sum(getattr(part, name) for part in parts) for name in ("right", "ties", "pairs"))
    none = np.array([])
    return Agreement(
        spearman_pooled=spearman(
            np.concatenate([none, *(part.truths for part in parts)]),
            np.concatenate([none, *(part.scores for part in parts)]),
        ),
        spearman_macro=fmean(correlations) if correlations else None,
        spearman_articles=len(correlations),
        winrate_macro=fmean(winrates) if winrates else None,
        winrate_micro=_winrate(right, tied, pairs, ties),
        winrate_articles=len(winrates),
        pairs=pairs,
        metric_ties=tied,
        left_out=sum(part.left_out for part in parts),
    )


def _winrate(right: int, tied: int, pairs: int, ties: Ties) -> float | None:
    counted = pairs - tied if ties == "drop" else pairs
    won = right + tied / 2 if ties == "half" else right
    return won / counted if counted else None
