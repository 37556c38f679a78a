"""Paired bootstrap intervals over document sets.

Both requests of a document set share their sources, so they are drawn together: resampling single requests would count
the same evidence twice and give intervals that are too narrow.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from .errors import DataError

# draws times clusters that are held at once, 8 MB
BLOCK = 1_000_000


@dataclass(frozen=True)
class Interval:
    """A mean with its bootstrap interval."""

    # mean over all values; None when there are none
    mean: float | None
    # bounds of the interval; None when fewer than two clusters have a value, because nothing can be resampled
    low: float | None
    high: float | None
    # values and clusters that the mean rests on
    n: int
    n_clusters: int
    level: float


def cluster_interval(
    values: Sequence[float | None], clusters: Sequence[str], *, level: float, resamples: int, seed: int
) -> Interval:
    """Mean of the values and its percentile bootstrap interval, whole clusters drawn with replacement.

    Source: Ri et al. 2025, section 4.1; docs/papers.md#ri-bradley-terry. Document sets are resampled, both sides together.

    Args:
        values: one value a request; None is left out. For a paired comparison, the differences.
        clusters: the document set of each value.
        level: of the interval, for example 0.95.
        resamples: bootstrap draws.
        seed: of the draws.

    Raises:
        DataError: values and clusters differ in number.
    """
    if len(values) != len(clusters):
        raise DataError(f"{len(values)} values, but {len(clusters)} clusters; one cluster a value is needed")
    by_cluster: dict[str, list[float]] = {}
    for value, cluster in zip(values, clusters, strict=True):
        if value is not None:
            by_cluster.setdefault(cluster, []).append(value)
    counts = np.array([len(v) for v in by_cluster.values()], dtype=float)  # (clusters,)
    sums = np.array([sum(v) for v in by_cluster.values()], dtype=float)  # (clusters,)
    n = int(counts.sum())
    if n == 0:
        return Interval(None, None, None, 0, 0, level)
    mean = float(sums.sum() / n)
    if len(counts) < 2:
        return Interval(mean, None, None, n, len(counts), level)
    draws = _mean_draws(sums, counts, resamples, seed)
    tail = (1 - level) / 2
    low, high = stats.quantile(draws, np.array([tail, 1 - tail]))
    return Interval(mean, float(low), float(high), n, len(counts), level)


def _mean_draws(
    sums: NDArray[np.float64], counts: NDArray[np.float64], resamples: int, seed: int
) -> NDArray[np.float64]:
    """The mean under each draw of as many clusters as there are, (resamples,): draws of `scipy.stats.bootstrap`, in blocks."""
    n = len(sums)
    # clusters of one size need no counting, and mostly they are
    total = counts[0] * n if (counts == counts[0]).all() else None
    means = np.empty(resamples)
    generator = np.random.default_rng(seed)
    size = max(1, BLOCK // n)
    for start in range(0, resamples, size):
        block = means[start : start + size]
        drawn = generator.integers(n, size=(len(block), n))
        block[:] = sums[drawn].sum(axis=1) / (counts[drawn].sum(axis=1) if total is None else total)
    return means


def cluster_draws(clusters: Sequence[str], *, resamples: int, seed: int) -> Iterator[NDArray[np.intp]]:
    """Rows of each bootstrap draw: as many clusters as there are, drawn with replacement, each with all of its rows.

    For statistics that are no mean over the rows; `cluster_interval` is for means.

    Args:
        clusters: the cluster of each row.
        resamples: bootstrap draws.
        seed: of the draws.
    """
    rows: dict[str, list[int]] = {}
    for row, cluster in enumerate(clusters):
        rows.setdefault(cluster, []).append(row)
    members = [np.array(each) for each in rows.values()]
    generator = np.random.default_rng(seed)
    for _ in range(resamples):
        yield np.concatenate([members[i] for i in generator.integers(len(members), size=len(members))])


def cluster_mean_draws(table: ArrayLike, clusters: Sequence[str], *, resamples: int, seed: int) -> NDArray[np.float64]:
    """Mean of each column under each bootstrap draw, shape (resamples, columns); nan where a draw holds no value of a column.

    All columns see the same draws, so that they can be compared draw by draw. With one cluster all draws are alike.

    Args:
        table: shape (rows, columns); nan is left out.
        clusters: the cluster of each row.
        resamples: bootstrap draws.
        seed: of the draws.
    """
    values = np.asarray(table, dtype=float)
    names = list(dict.fromkeys(clusters))
    number = {name: i for i, name in enumerate(names)}
    rows = np.array([number[cluster] for cluster in clusters], dtype=np.intp)
    sums, counts = np.zeros((len(names), values.shape[1])), np.zeros((len(names), values.shape[1]))
    np.add.at(sums, rows, np.nan_to_num(values, nan=0.0))
    np.add.at(counts, rows, ~np.isnan(values))
    n = max(1, len(names))
    means = np.full((resamples, values.shape[1]), np.nan)
    generator = np.random.default_rng(seed)
    size = max(1, BLOCK // n)
    for start in range(0, resamples, size):
        block = means[start : start + size]
        drawn = generator.multinomial(n, np.full(n, 1 / n), size=len(block)).astype(float)  # (draws, clusters)
        totals = drawn @ counts
        np.divide(drawn @ sums, totals, out=block, where=totals > 0)
    return means


def percentile_bounds(draws: ArrayLike, level: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper bound of the percentile interval over the first axis, percentiles interpolated linearly."""
    tail = (1 - level) / 2
    low, high = np.quantile(np.asarray(draws, dtype=float), [tail, 1 - tail], axis=0)
    return low, high
