"""Clusters of similar units."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError

# distances that agree to so many decimals are tied
DECIMALS = 12


def check_similarity(similarity: ArrayLike) -> NDArray[np.float64]:
    """The similarities as an array, shape (units, units).

    Raises:
        DataError: they are not square, not symmetric, not finite, or one is negative.
    """
    given = np.asarray(similarity, dtype=float)
    if given.ndim != 2 or given.shape[0] != given.shape[1]:
        raise DataError(f"similarities of units form a square table, got shape {given.shape}")
    if not np.isfinite(given).all() or (given < 0).any():
        i, j = np.argwhere(~(np.isfinite(given) & (given >= 0)))[0].tolist()
        raise DataError(f"similarity of units {i} and {j} is {given[i, j]}; it must be finite and at least 0")
    if not np.allclose(given, given.T, rtol=0, atol=1e-9):
        i, j = np.argwhere(~np.isclose(given, given.T, rtol=0, atol=1e-9))[0].tolist()
        raise DataError(f"similarity must be symmetric, but units {i} and {j} have {given[i, j]} and {given[j, i]}")
    return given


def number_of_clusters(n_units: int) -> int:
    """A tenth of the units, at least 1; source: Dash et al. 2019; docs/papers.md#dash-clusters."""
    return max(1, n_units // 10)


def cluster_units(similarity: ArrayLike, k: int | None = None) -> tuple[tuple[int, ...], ...]:
    """Average linkage on 1 - similarity, cut at k clusters; each ascending, ordered by first member.

    The closest pair is merged, ties (to 12 decimals) at the lowest positions: scipy's linkage does not say how it settles
    ties, so that clusters could change with its version. Time and memory grow with the square of the units, as a rule.

    Source: Dash et al. 2019; docs/papers.md#dash-clusters; the released program asks an external clustering program.

    Args:
        similarity: shape (units, units), symmetric, at least 0.
        k: number of clusters, from 1 to the number of units; `number_of_clusters` when not given.

    Raises:
        DataError: the similarities do not hold together, or there are not so many units.
    """
    distance = 1 - check_similarity(similarity)
    n = len(distance)
    k = min(n, number_of_clusters(n)) if k is None else k
    if not min(1, n) <= k <= n:
        raise DataError(f"{n} units cannot form {k} clusters; take 1 to {n}")
    label = np.arange(n)  # each unit's cluster, named by its first member
    for into, gone in _merges(distance, n - k):
        label[label == gone] = into
    return tuple(tuple(np.flatnonzero(label == first).tolist()) for first in np.unique(label))


def _merges(distance: NDArray[np.float64], n_merges: int) -> list[tuple[int, int]]:
    """The pairs of clusters that average linkage merges, each named by its first member, lower one first."""
    table = distance.copy()  # rows and columns of clusters that are gone become infinite
    np.fill_diagonal(table, np.inf)
    sizes = np.ones(len(table))
    # for each cluster the nearest one of higher position, and its distance
    nearest = np.zeros(len(table), dtype=np.intp)
    closest = np.full(len(table), np.inf)
    stale = np.arange(len(table) - 1)
    merged = []
    for _ in range(n_merges):
        for row in stale:
            nearest[row], closest[row] = _nearest_above(table, int(row))
        i = int(closest.argmin())  # argmin takes the first of equals
        j = int(nearest[i])
        merged.append((i, j))
        joined = (sizes[i] * table[i] + sizes[j] * table[j]) / (sizes[i] + sizes[j])
        sizes[i] += sizes[j]
        table[i], table[:, i] = joined, joined
        table[j], table[:, j], closest[j] = np.inf, np.inf, np.inf
        # a mean lies between its parts, so no other cluster finds the joined one nearer than what it had
        stale = np.flatnonzero(np.isfinite(closest) & ((nearest == i) | (nearest == j)))
    return merged


def _nearest_above(table: NDArray[np.float64], row: int) -> tuple[int, float]:
    """The lowest of the nearest clusters of higher position, and its distance, rounded."""
    distances = np.round(table[row, row + 1 :], DECIMALS)
    if not distances.size:
        return row, float("inf")
    place = int(distances.argmin())
    return row + 1 + place, float(distances[place])
