"""How well scores agree with what is known of summaries: Spearman's correlation and the winrate, pooled and within articles.

Within an article only the summaries differ; between articles the source differs, too. So a pooled correlation can be high
for a judge that cannot order two summaries of one article, and both kinds are told.
Source: Ri et al. 2025, section 3.1; docs/papers.md#ri-benchmark.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ...fairness.groups.coverage import over
from ...judges.benchmark import Ties
from ...number import Number
from ...resampling import Floats, cluster_sums, jackknife_t
from .figures import LEVEL, mean, mean_of_cells, orders


def spearman(first: Floats, second: Floats) -> float:
    """Spearman's rank correlation with average ranks for equal values, in [-1, 1]; nan when either does not vary."""
    if len(first) < 2 or first.min() == first.max() or second.min() == second.max():
        return np.nan
    # of ranks: scipy's own would compute a p-value, too, which takes ten times as long
    return float(np.corrcoef(stats.rankdata(first), stats.rankdata(second))[0, 1])


def correlation(truths: Floats, scores: Floats, *, chooses: bool) -> float:
    """Spearman's correlation over the summaries that have a truth and a score, of tables of one shape; nan where there is none.

    Args:
        truths: nan for none.
        scores: likewise.
        chooses: whether the judge has to choose: where truths differ and its scores do not, it orders none, which is 0. The
            benchmark, as its paper, has no correlation there, so a judge that says nothing of an article loses nothing by it; an
            audit that asks what a judge is worth must not leave it out.
    """
    is_known = ~np.isnan(truths) & ~np.isnan(scores)
    value = spearman(truths[is_known], scores[is_known])
    is_undecided = chooses and np.isnan(value) and is_known.sum() > 1 and np.ptp(truths[is_known]) > 0
    return 0.0 if is_undecided else value


def within(truths: Floats, scores: Floats, *, chooses: bool = True) -> Floats:
    """Correlation of each article, (articles,); nan for none."""
    return np.array([correlation(*rows, chooses=chooses) for rows in zip(truths, scores, strict=True)], dtype=float)


def correlations(
    truths: Floats, scores: Floats, topics: Sequence[str], *, chooses: bool = True
) -> tuple[Number, Number]:
    """Correlation over all summaries, and the mean of the articles' own; `n` counts the summaries, and the articles, with one."""
    by_article, is_known = within(truths, scores, chooses=chooses), ~np.isnan(truths) & ~np.isnan(scores)
    pooled = jackknife(lambda rows: correlation(truths[rows], scores[rows], chooses=chooses), is_known, topics)
    return cut_off(pooled, is_known, -1.0), cut_off(mean(by_article, topics).number, ~np.isnan(by_article), -1.0)


def lead_pooled(truths: Floats, scores: Floats, rival_scores: Floats, topics: Sequence[str]) -> Number:
    """Correlation of scores over all summaries less that of the rival, as the benchmark has them."""

    def gap(rows: NDArray[np.bool_]) -> float:
        first, second = (correlation(truths[rows], values[rows], chooses=False) for values in (scores, rival_scores))
        return first - second

    return jackknife(gap, ~np.isnan(truths) & ~np.isnan(scores), topics)


def lead_within(
    truths: Floats, scores: Floats, rival_scores: Floats, topics: Sequence[str], *, chooses: bool = False
) -> Number:
    """Mean correlation within articles less that of the rival, over the articles that have both."""
    gaps = within(truths, scores, chooses=chooses) - within(truths, rival_scores, chooses=chooses)
    return mean(gaps, topics).untested.model_copy(update={"n": int((~np.isnan(gaps)).sum())})


def lead_over_length(truths: Floats, scores: Floats, lengths: Floats, topics: Sequence[str]) -> Number:
    """Mean correlation within articles less that of length, shorter first where that agrees better, of the same summaries."""
    known_lengths = np.where(np.isnan(scores), np.nan, lengths)
    agreement = mean(within(truths, known_lengths, chooses=False), topics).number.value or 0.0
    return lead_within(truths, scores, known_lengths if agreement >= 0 else -known_lengths, topics)


def jackknife(of: Callable[[NDArray[np.bool_]], float], is_known: NDArray[np.bool_], topics: Sequence[str]) -> Number:
    """A number of the articles that are kept, (articles,), by the jackknife over topics.

    Args:
        of: the number; nan where it is undefined.
        is_known: cells that it rests on, (articles, summaries).
        topics: of each article.
    """
    has = cluster_sums(is_known, topics).sum(axis=1, keepdims=True) > 0
    names: NDArray[np.str_] = np.array(topics, dtype=str)
    estimates = np.array([of(names != name) for name in dict.fromkeys(topics)])[:, None]
    value, low, high, _ = jackknife_t(np.array([of(np.full(len(names), True))]), estimates, has, LEVEL).at(0)
    return Number(value=value, low=low, high=high, n=int(is_known.sum()), n_sets=int(has.sum()))


def winrates(truths: Floats, scores: Floats, topics: Sequence[str], ties: Ties) -> tuple[Number, Number, int]:
    """Share of pairs that scores order as truths do: mean of the articles' own, of all pairs together, and the scores' ties.

    Pairs are formed within an article, of summaries whose truths differ; equal truths form none.
    """
    right, tied, pairs = np.array([_counts(*rows) for rows in zip(truths, scores, strict=True)]).reshape(-1, 3).T
    counted = pairs - tied if ties == "drop" else pairs
    rates = over(right + tied / 2 if ties == "half" else right, counted)
    by_article, of_pairs = mean(rates, topics), mean_of_cells(rates[:, None], topics, counted[:, None])
    return cut_off(by_article.number, counted > 0, 0.0), cut_off(of_pairs.number, pairs, 0.0), int(tied.sum())


def _counts(truths: Floats, scores: Floats) -> tuple[float, float, float]:
    """An article's pairs in the right order, those with equal scores, and all of them."""
    by_truth, by_score = orders(truths, scores)
    formed = by_truth != 0
    return (formed & (by_truth == by_score)).sum(), (formed & (by_score == 0)).sum(), formed.sum()


def cut_off(number: Number, counts: NDArray[Any], floor: float) -> Number:
    """The number with counts, its interval cut off where a correlation or a share ends, of which Student's t does not know."""
    low, high = (None if bound is None else min(1.0, max(floor, bound)) for bound in (number.low, number.high))
    return Number(value=number.value, low=low, high=high, n=int(counts.sum()), n_sets=number.n_sets)
