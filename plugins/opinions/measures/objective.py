"""The objective of submodular fair selection: coverage of all units plus diversity over clusters of similar units.

Both terms are monotone and submodular, so greedy choice under group quotas reaches at least half of the best value.

Source: Dash et al. 2019 and their released program; Lin and Bilmes 2011; docs/papers.md#dash-objective and #dash-clusters.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import DataError

# distances that agree to so many decimals are tied
DECIMALS = 12


def check_similarity(similarity: ArrayLike) -> NDArray[np.float64]:
    """The similarities as an array, shape (units, units).

    Raises:
        DataError: they are not square, not symmetric, not finite, or one is negative.
    """
    table = np.asarray(similarity, dtype=float)
    if table.ndim != 2 or table.shape[0] != table.shape[1]:
        raise DataError(f"similarities of units form a square table, got shape {table.shape}")
    if not np.isfinite(table).all() or (table < 0).any():
        i, j = np.argwhere(~(np.isfinite(table) & (table >= 0)))[0].tolist()
        raise DataError(f"similarity of units {i} and {j} is {table[i, j]}; it must be finite and at least 0")
    if not np.allclose(table, table.T, rtol=0, atol=1e-9):
        i, j = np.argwhere(~np.isclose(table, table.T, rtol=0, atol=1e-9))[0].tolist()
        raise DataError(f"similarity must be symmetric, but units {i} and {j} have {table[i, j]} and {table[j, i]}")
    return table


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


# coverage capped for each unit (Lin and Bilmes), or once for all of them (the released program)
Coverage = Literal["per_unit", "global"]
# of the released program
GLOBAL_ALPHA = 0.1


@dataclass(frozen=True)
class ObjectivePlan:
    """What a good summary is.

    With "global" coverage and alpha 0.1 the cap is a tenth of the mean centrality, which nearly any first choice exceeds:
    diversity alone decides. It is offered for comparison.
    """

    coverage: Coverage = "per_unit"
    # share of its similarity to everything at which a unit counts as covered, at least 0; None is the summary's share of
    # the units with "per_unit" and 0.1 with "global"
    alpha: float | None = None
    # weights of the two terms, at least 0
    lambda_coverage: float = 0.5
    lambda_diversity: float = 0.5

    def __post_init__(self) -> None:
        if self.coverage not in get_args(Coverage):
            raise DataError(f"coverage={self.coverage!r} is not known; take one of {', '.join(get_args(Coverage))}")
        numbers = (self.alpha or 0.0, self.lambda_coverage, self.lambda_diversity)
        if not all(isfinite(number) and number >= 0 for number in numbers):
            raise DataError(f"alpha and the weights must be finite and at least 0, got {self}")


@dataclass
class SelectedUnits:
    """What the objective needs to know of the units chosen so far."""

    # similarity of each unit to the chosen ones; shape (units,)
    similarity: NDArray[np.float64]
    # centrality that the chosen units bring to each cluster, over the number of units; shape (clusters,)
    mass: NDArray[np.float64]


class Objective:
    """The objective over the units of one source.

    Args:
        similarity: shape (units, units), symmetric, at least 0; 1 on the diagonal.
        clusters: positions of the units of each cluster; each unit stands in one.
        length: units of a summary, for the default alpha.
        plan: coverage, alpha and weights.

    Raises:
        DataError: the similarities do not hold together, or the clusters are no partition of the units.
    """

    def __init__(
        self, similarity: ArrayLike, clusters: Sequence[Sequence[int]], length: int, plan: ObjectivePlan | None = None
    ) -> None:
        self.plan = plan or ObjectivePlan()
        self.similarity = check_similarity(similarity)
        self.n_units = len(self.similarity)
        self.cluster = _cluster_of(clusters, self.n_units)
        self.n_clusters = len(clusters)
        # similarity of each unit to everything
        self.centrality: NDArray[np.float64] = self.similarity.sum(axis=0)  # (units,)
        alpha = self.plan.alpha
        if alpha is None:
            alpha = GLOBAL_ALPHA if self.plan.coverage == "global" else length / max(self.n_units, 1)
        self.caps: NDArray[np.float64] = alpha * self.centrality  # (units,)
        self.cap = alpha * float(self.centrality.sum()) / max(self.n_units, 1)

    def start(self) -> SelectedUnits:
        """Nothing chosen."""
        return SelectedUnits(np.zeros(self.n_units), np.zeros(self.n_clusters))

    def add(self, chosen: SelectedUnits, unit: int) -> None:
        """One unit more is chosen."""
        chosen.similarity += self.similarity[unit]
        chosen.mass[self.cluster[unit]] += self.centrality[unit] / self.n_units

    def gains(self, chosen: SelectedUnits, candidates: NDArray[np.intp]) -> NDArray[np.float64]:
        """What each candidate adds to the objective, at least 0; shape (candidates,)."""
        if self.plan.coverage == "per_unit":
            after = np.minimum(chosen.similarity + self.similarity[candidates], self.caps)  # (candidates, units)
            covered = (after - np.minimum(chosen.similarity, self.caps)).sum(axis=1)
        else:
            total = float(chosen.similarity.sum())
            covered = np.minimum(total + self.centrality[candidates], self.cap) - min(total, self.cap)
        mass = chosen.mass[self.cluster[candidates]]
        diverse = np.sqrt(mass + self.centrality[candidates] / self.n_units) - np.sqrt(mass)
        gains: NDArray[np.float64] = self.plan.lambda_coverage * covered + self.plan.lambda_diversity * diverse
        return gains


def _cluster_of(clusters: Sequence[Sequence[int]], n_units: int) -> NDArray[np.intp]:
    """The cluster of each unit; shape (units,)."""
    members = np.array([unit for cluster in clusters for unit in cluster], dtype=np.intp)
    if not np.array_equal(np.sort(members), np.arange(n_units)):
        raise DataError(f"clusters hold each of the units 0 to {n_units - 1} once, got {[list(c) for c in clusters]}")
    cluster = np.zeros(n_units, dtype=np.intp)
    cluster[members] = np.repeat(np.arange(len(clusters)), [len(cluster) for cluster in clusters])
    return cluster
