"""Statistics of an audit of judges, each with Student's t interval by the jackknife over topics.

Scores stand in tables, a row an article and a column a summary, nan for none. All are sums over topics, so that both sides of a
topic are one piece of evidence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...evaluation.lengths import about_mean
from ...evaluation.significance import NullDraws
from ...fairness.groups.coverage import over
from ...number import Number
from ...resampling import LEAST_SETS, Floats, TInterval, cluster_sums, pseudo_values, t_interval

# of the intervals; one less is that of all accusations of a page together
LEVEL = 0.95
# the slopes themselves
SLOPES: Callable[[Floats], Floats] = np.asarray
# of a matrix, directions that vary less than this share of the one that varies most are not known
LEAST_VARIATION = 1e-10


@dataclass(frozen=True)
class TestedQuantity:
    """A number, and what it is tested by: nothing where it rests on too little."""

    number: Number
    # what each topic adds to it, and how much of it the topic weighs, (topics, 2): of a sum whose signs can be flipped
    added: Floats | None = None
    # how large it is in every deal: of any other
    draws: NullDraws | None = None

    @property
    def untested(self) -> Number:
        """The number where nobody asks whether it is 0."""
        return self.number.model_copy(update={"p_value": None})


NOTHING = TestedQuantity(Number())


def mean(values: Sequence[float] | Floats, topics: Sequence[str]) -> TestedQuantity:
    """Mean of values, one an article; nan is left out."""
    return mean_of_cells(np.asarray(values, dtype=float)[:, None], topics)


def mean_of_cells(table: Floats, topics: Sequence[str], weights: Floats | None = None) -> TestedQuantity:
    """Mean of all cells of a table, (articles, summaries), by their weights, of the same shape, where not all weigh alike."""
    weighs = np.where(np.isnan(table), 0.0, 1.0 if weights is None else weights)
    rows = np.stack([(np.where(weighs > 0, table, 0.0) * weighs).sum(axis=1), weighs.sum(axis=1)], axis=1)
    sums = cluster_sums(rows, topics)
    has = sums[:, 1:] > 0
    if not has.any():
        return NOTHING
    interval = t_interval(lambda columns: over(columns[..., :1], columns[..., 1:]), sums, has, LEVEL)
    return _one(interval, 0, has, sums / sums[:, 1].sum())


def slopes(
    scores: Floats,
    columns: Sequence[Floats],
    topics: Sequence[str],
    of: Callable[[Floats], Floats] = SLOPES,
) -> list[TestedQuantity]:
    """Slopes of the scores on the columns, given each other, among the summaries of an article.

    Args:
        scores: (articles, summaries).
        columns: of the same shape.
        topics: of each article.
        of: what of the slopes is wanted, (..., columns) to (..., columns).
    """
    k = len(columns)
    x = np.stack(columns, axis=-1)  # (articles, summaries, k)
    is_known = ~np.isnan(scores) & ~np.isnan(x).any(axis=-1)
    is_known = is_known & (is_known.sum(axis=1) > 1)[:, None]
    x, y = about_mean(x, is_known), about_mean(scores[..., None], is_known)
    squares = cluster_sums(np.einsum("ask,asl->akl", x, x), topics)
    products = cluster_sums(np.einsum("ask,as->ak", x, y[..., 0]), topics)
    has = cluster_sums(is_known.any(axis=1)[:, None], topics) > 0
    total = squares.sum(axis=0)
    if not has.any() or np.linalg.matrix_rank(total, hermitian=True) < k:
        return [NOTHING] * k

    def quantities(columns: Floats) -> Floats:
        matrix = columns[..., : k * k].reshape(*columns.shape[:-1], k, k)
        return of((np.linalg.pinv(matrix, LEAST_VARIATION, hermitian=True) @ columns[..., k * k :, None])[..., 0])

    sums = np.concatenate([squares.reshape(len(squares), -1), products], axis=1)
    interval = t_interval(quantities, sums, np.repeat(has, k, axis=1), LEVEL)
    if of is not SLOPES:
        contributions = pseudo_values(quantities, sums, np.repeat(has, k, axis=1)) / has.sum()
        return [
            _one(interval, j, has, np.stack([contributions[:, j], has[:, 0] / has.sum()], axis=1)) for j in range(k)
        ]
    return [_one(interval, j, has, _added_to_slope(j, squares, products, interval.estimate)) for j in range(k)]


def _added_to_slope(j: int, squares: Floats, products: Floats, slopes: Floats) -> Floats:
    """Each topic's contribution to a slope given the others, and its weight in it, (topics, 2).

    Args:
        j: place of the slope.
        squares: products of the columns with each other by topic, (topics, k, k).
        products: of the columns with the scores, (topics, k).
        slopes: of all topics, (k,).
    """
    controls = [place for place in range(len(slopes)) if place != j]
    total, alone = squares.sum(axis=0), np.zeros(len(slopes))
    alone[j] = 1.0
    if controls:
        # of the column only what the others do not say
        alone[controls] = -np.linalg.lstsq(total[np.ix_(controls, controls)], total[controls, j], rcond=None)[0]
    residuals = products - squares[:, :, controls] @ slopes[controls]
    weights = np.einsum("k,tkl,l->t", alone, squares, alone)
    return np.asarray(np.stack([residuals @ alone, weights], axis=1) / weights.sum())


def about_ranks(table: Floats) -> Floats:
    """Average ranks in the last axis about their mean; nan where there is no value."""
    is_known = ~np.isnan(table)
    first, second = table[..., None], table[..., None, :]
    average_ranks = np.where(is_known, (second < first).sum(axis=-1) + (second == first).sum(axis=-1) / 2, np.nan)
    # of k cells that is k / 2 whatever they are
    return np.asarray(average_ranks - is_known.sum(axis=-1, keepdims=True) / 2)


def ranks(table: Floats) -> Floats:
    """Average ranks about their mean, scaled to deviation 1 in each article; 0 where none differ."""
    about, is_known = about_ranks(table), ~np.isnan(table)
    deviations = np.sqrt(over(np.nansum(about**2, axis=1), is_known.sum(axis=1)))[:, None]
    return np.asarray(about / np.where(deviations > 0, deviations, 1.0))


def orders(first: Floats, second: Floats) -> tuple[Floats, Floats]:
    """Signs by which either orders the pairs of summaries of one article that have both, (pairs,) each."""
    is_known = ~np.isnan(first) & ~np.isnan(second)
    rows, columns = np.triu_indices(int(is_known.sum()), k=1)
    signs = [np.sign(values[is_known][rows] - values[is_known][columns]) for values in (first, second)]
    return signs[0], signs[1]


def flips(before: Floats, after: Floats) -> Floats:
    """Share of an article's pairs of summaries whose order changes, of pairs that had one; (articles,), nan without pairs."""
    pairs = (orders(*rows) for rows in zip(before, after, strict=True))
    return np.array([float((now != was)[was != 0].mean()) if (was != 0).any() else np.nan for was, now in pairs])


def spread(scores: Floats) -> float:
    """Standard deviation of scores within an article; 0 where none differ."""
    is_known = ~np.isnan(scores)
    deviations = about_mean(scores[..., None], is_known)[..., 0]
    free = int(is_known.sum() - is_known.any(axis=1).sum())
    return float(np.sqrt((deviations**2).sum() / free)) if free > 0 else 0.0


def _one(interval: TInterval, place: int, has: NDArray[np.bool_], added: Floats) -> TestedQuantity:
    """One of several numbers that were estimated together, with what its test rests on.

    Args:
        interval: values and intervals of all of them.
        place: of the number.
        has: topics that it rests on, (topics, 1).
        added: what they add to it, and their weight in it, (topics, 2).
    """
    value, low, high, p_value = interval.at(place)
    n_topics = int(has.sum())
    number = Number(value=value, low=low, high=high, n_sets=n_topics)
    if value is None or p_value is None or n_topics < LEAST_SETS:
        return TestedQuantity(number)
    table = np.where(has, added, np.nan)
    # of others than sums the topics' mean is a little off
    table[:, 0] += (value - np.nansum(table[:, 0])) / n_topics
    return TestedQuantity(number.model_copy(update={"p_value": p_value}), table)
