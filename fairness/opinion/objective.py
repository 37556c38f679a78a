"""The objective of submodular fair selection: coverage of all units plus diversity over clusters.

Both terms are monotone and submodular, so greedy choice under group quotas reaches at least half of the best value.

Source: Dash et al. 2019 and their released program; Lin and Bilmes 2011; docs/papers.md#dash-objective.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from .clusters import check_similarity

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


@dataclass(frozen=True)
class ObjectiveValue:
    """The value of a selection; higher is better, comparable between selections of one source only."""

    # at most the sum of the caps
    coverage: float
    # rewards units from different clusters
    diversity: float
    # the weighted sum of both
    objective: float


@dataclass
class Chosen:
    """What the objective needs to know of the units chosen so far."""

    # similarity of each unit to the chosen ones; shape (units,)
    found: NDArray[np.float64]
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

    def start(self) -> Chosen:
        """Nothing chosen."""
        return Chosen(np.zeros(self.n_units), np.zeros(self.n_clusters))

    def add(self, chosen: Chosen, unit: int) -> None:
        """One unit more is chosen."""
        chosen.found += self.similarity[unit]
        chosen.mass[self.cluster[unit]] += self.centrality[unit] / self.n_units

    def gains(self, chosen: Chosen, candidates: NDArray[np.intp]) -> NDArray[np.float64]:
        """What each candidate adds to the objective, at least 0; shape (candidates,)."""
        if self.plan.coverage == "per_unit":
            after = np.minimum(chosen.found + self.similarity[candidates], self.caps)  # (candidates, units)
            covered = (after - np.minimum(chosen.found, self.caps)).sum(axis=1)
        else:
            total = float(chosen.found.sum())
            covered = np.minimum(total + self.centrality[candidates], self.cap) - min(total, self.cap)
        mass = chosen.mass[self.cluster[candidates]]
        diverse = np.sqrt(mass + self.centrality[candidates] / self.n_units) - np.sqrt(mass)
        gains: NDArray[np.float64] = self.plan.lambda_coverage * covered + self.plan.lambda_diversity * diverse
        return gains

    def value(self, selected: Sequence[int]) -> ObjectiveValue:
        """The value of a selection.

        Raises:
            DataError: a unit does not exist or is selected twice.
        """
        units = np.asarray(selected, dtype=np.intp)
        if len(set(selected)) < len(selected) or ((units < 0) | (units >= self.n_units)).any():
            raise DataError(f"a selection names different units from 0 to {self.n_units - 1}, got {list(selected)}")
        chosen = self.start()
        for unit in units:
            self.add(chosen, int(unit))
        if self.plan.coverage == "per_unit":
            coverage = float(np.minimum(chosen.found, self.caps).sum())
        else:
            coverage = min(float(self.centrality[units].sum()), self.cap)
        diversity = float(np.sqrt(chosen.mass).sum())
        total = self.plan.lambda_coverage * coverage + self.plan.lambda_diversity * diversity
        return ObjectiveValue(coverage, diversity, total)


def _cluster_of(clusters: Sequence[Sequence[int]], n_units: int) -> NDArray[np.intp]:
    """The cluster of each unit; shape (units,)."""
    members = np.array([unit for cluster in clusters for unit in cluster], dtype=np.intp)
    if not np.array_equal(np.sort(members), np.arange(n_units)):
        raise DataError(f"clusters hold each of the units 0 to {n_units - 1} once, got {[list(c) for c in clusters]}")
    cluster = np.zeros(n_units, dtype=np.intp)
    cluster[members] = np.repeat(np.arange(len(clusters)), [len(each) for each in clusters])
    return cluster
