"""Statistics of an audit of judges, each with Student's t interval by the jackknife over topics.

Scores stand in tables, a row an article and a column a summary, nan for none. All are sums over topics, so that both sides of a
topic are one piece of evidence.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ...fairness.groups.coverage import over
from ...judges.calibration import Figure
from ...resampling import LEAST_SETS, TInterval, cluster_sums, jackknife_t, t_interval
from ..meta.agreement import leave_out, spearman_of_choice
from ..systems.lengths import about_mean

Floats = NDArray[np.float64]

# of a matrix, directions that vary less than this share of the one that varies most are not known
LEAST_VARIATION = 1e-10


@dataclass(frozen=True)
class Tested:
    """A quantity with its interval, and the two-sided test of "it is 0"."""

    figure: Figure
    # None with fewer than `LEAST_SETS` topics
    p_value: float | None
    # topics that it rests on
    n_topics: int

    def one_sided(self) -> float | None:
        """Of "it is not above 0"."""
        if self.p_value is None or self.figure.value is None:
            return None
        return self.p_value / 2 if self.figure.value > 0 else 1 - self.p_value / 2


NOTHING = Tested(Figure(), None, 0)


def mean(values: Sequence[float] | Floats, topics: Sequence[str], level: float) -> Tested:
    """Mean of values, one an article; nan is left out."""
    table = np.asarray(values, dtype=float)[:, None]
    return mean_of_cells(table, topics, level)


def mean_of_cells(table: Floats, topics: Sequence[str], level: float) -> Tested:
    """Mean of all cells of a table, (articles, summaries)."""
    known = ~np.isnan(table)
    rows = np.stack([np.where(known, table, 0.0).sum(axis=1), known.sum(axis=1)], axis=1)
    sums = cluster_sums(rows, topics)
    has = sums[:, 1:] > 0
    if not has.any():
        return NOTHING
    return _first(t_interval(lambda columns: over(columns[..., :1], columns[..., 1:]), sums, has, level), has)


def slopes(
    scores: Floats,
    columns: Sequence[Floats],
    topics: Sequence[str],
    level: float,
    of: Callable[[Floats], Floats] = lambda found: found,
) -> list[Tested]:
    """Slopes of the scores on the columns, given each other, among the summaries of an article.

    Args:
        scores: (articles, summaries).
        columns: of the same shape.
        topics: of each article.
        level: of the intervals.
        of: what of the slopes is wanted, (..., columns) to (..., columns).
    """
    k = len(columns)
    x = np.stack(columns, axis=-1)  # (articles, summaries, k)
    known = ~np.isnan(scores) & ~np.isnan(x).any(axis=-1)
    known = known & (known.sum(axis=1) > 1)[:, None]
    x, y = about_mean(x, known), about_mean(scores[..., None], known)
    squares, products = np.einsum("ask,asl->akl", x, x), np.einsum("ask,as->ak", x, y[..., 0])
    sums = cluster_sums(np.concatenate([squares.reshape(len(x), -1), products], axis=1), topics)
    has = cluster_sums(known.any(axis=1)[:, None], topics) > 0

    def quantities(columns: Floats) -> Floats:
        matrix = columns[..., : k * k].reshape(*columns.shape[:-1], k, k)
        return of((np.linalg.pinv(matrix, LEAST_VARIATION, hermitian=True) @ columns[..., k * k :, None])[..., 0])

    whole = sums.sum(axis=0)[: k * k].reshape(k, k)
    if not has.any() or np.linalg.matrix_rank(whole, hermitian=True) < k:
        return [NOTHING] * k
    found = t_interval(quantities, sums, np.repeat(has, k, axis=1), level)
    return [_one(found, place, int(has.sum())) for place in range(k)]


def within(truths: Floats, scores: Floats) -> Floats:
    """Spearman's correlation of each article, (articles,); nan where no two known values differ, 0 where the scores do not."""
    known = ~np.isnan(truths) & ~np.isnan(scores)
    rows = zip(truths, scores, known, strict=True)
    return np.array([spearman_of_choice(truth[k], score[k]) for truth, score, k in rows], dtype=float)


def pooled(truths: Floats, scores: Floats, topics: Sequence[str], level: float) -> Tested:
    """The same over all summaries, with the jackknife over topics."""
    known = ~np.isnan(truths) & ~np.isnan(scores)
    has = cluster_sums(known.any(axis=1)[:, None], topics) > 0
    if not has.any():
        return NOTHING

    def over_all(kept: NDArray[np.bool_]) -> list[float | None]:
        cells = known & kept[:, None]
        return [spearman_of_choice(truths[cells], scores[cells])]

    return _first(jackknife_t(*leave_out(over_all, topics), has, level), has)


def ranks(table: Floats) -> Floats:
    """Ranks within each article, of mean 0 and deviation 1; nan where there is no value, and 0 where none differ."""
    found = np.full(table.shape, np.nan)
    for row, values in zip(found, table, strict=True):
        known = ~np.isnan(values)
        if known.any():
            mine = stats.rankdata(values[known])
            about = mine - mine.mean()
            row[known] = about / (mine.std() or 1.0)
    return found


def flips(before: Floats, after: Floats) -> Floats:
    """Share of an article's pairs of summaries whose order changes, of pairs that had one; (articles,), nan without pairs."""
    found = []
    for one, two in zip(before, after, strict=True):
        known = ~np.isnan(one) & ~np.isnan(two)
        first, second = np.triu_indices(int(known.sum()), k=1)
        was = np.sign(one[known][first] - one[known][second])
        now = np.sign(two[known][first] - two[known][second])
        found.append(float((now != was)[was != 0].mean()) if (was != 0).any() else np.nan)
    return np.array(found)


def spread(scores: Floats) -> float:
    """Standard deviation of scores within an article; 0 where none differ."""
    known = ~np.isnan(scores)
    left = about_mean(scores[..., None], known)[..., 0]
    free = int(known.sum() - known.any(axis=1).sum())
    return float(np.sqrt((left**2).sum() / free)) if free > 0 else 0.0


def _first(found: TInterval, has: NDArray[np.bool_]) -> Tested:
    return _one(found, 0, int(has.sum()))


def _one(found: TInterval, place: int, n_topics: int) -> Tested:
    value, low, high, p_value = found.at(place)
    is_enough = n_topics >= LEAST_SETS
    return Tested(Figure(value=value, low=low, high=high), p_value if is_enough else None, n_topics)
