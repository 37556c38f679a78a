"""Systems compared: means, paired differences and gaps between sides, each with its interval and its counts.

Whole document sets are resampled, because the requests of a set share their sources. A difference is taken request by
request, where both systems have a score; what has none is left out and counted beside the number.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....config import Recipe
from ....fairness.groups.coverage import over
from ....number import BySet, what_sets_say
from ....resampling import (
    Bootstrap,
    ClusterMean,
    Floats,
    Scale,
    cluster_interval,
    defined,
    differences_scale,
    pseudo_values,
    sign_flip_p_value,
)
from ....text.digests import digest
from ...verdicts import exchanges
from .contents import Difference, JudgeNote, Score, SideGap, SystemPair, is_share
from .contrasts import Contrast
from .questions import Question
from .systems import LOW, RequestOutline, low_grades, low_name

Values = Sequence[float | None]

# which systems are compared, the first minus the second, and of what that is a test: reranking differs by design, so that its
# small p-values would make training clear, were both corrected together
COMPARISONS = {
    ("DPO", "zero-shot"): "training",
    ("DPO+RR", "rerank"): "training",
    ("rerank", "zero-shot"): "reranking",
    ("DPO+RR", "zero-shot"): "reranking",
}


@dataclass(frozen=True)
class Trait:
    """A quantity counted of summaries besides their scores, and how."""

    name: str
    how: str
    # whose bad grades it counts; "" of all others
    of_judge: str = ""

    @property
    def is_rate(self) -> bool:
        """Whether it is a share of summaries or of their words, in [0, 1]."""
        return is_share(self.how)

    @property
    def scale(self) -> Scale | None:
        """That of shares; others may be gains, which lie on both sides of 0."""
        return (0.0, 1.0) if self.is_rate else None


# what is compared
Measured = JudgeNote | Trait


class Comparer:
    """Turns values of the test requests into estimates."""

    def __init__(self, requests: Sequence[RequestOutline], bootstrap: Bootstrap) -> None:
        self.sets = [request.set_id for request in requests]
        self.request_sides = [request.side for request in requests]
        self.set_ids = tuple(dict.fromkeys(self.sets))
        self.documents_digest = digest([[request.id, request.side, request.source] for request in requests])
        self.sides = tuple(dict.fromkeys(self.request_sides))
        # and then all requests; a single side is shown once, as all requests
        self.sides_and_all: tuple[str | None, ...] = (*self.sides, None) if len(self.sides) > 1 else (None,)
        self.bootstrap = bootstrap

    def estimates(self, measured: Measured, system: str, values: Values, k: int = 0) -> list[Score]:
        """The mean of every side, then of all requests."""
        return [self.estimate(measured, system, values, side, k) for side in self.sides_and_all]

    def estimate(self, measured: Measured, system: str, values: Values, side: str | None = None, k: int = 0) -> Score:
        """The mean of a side's requests; of all for None. What is measured says whether it is a rate, never its values."""
        of_side, sets = self.of_side(values, side)
        mean = cluster_interval(of_side, sets, self.bootstrap, is_rate=measured.is_rate, scale=measured.scale)
        return Score(system=system, k=k, **self._number(measured, side, of_side, sets, mean))

    def differences(self, measured: Measured, by_system: Mapping[str, Values]) -> list[Contrast]:
        """Mean paired differences of every comparison whose two systems are there, by side and overall."""
        pairs = self.paired(by_system).items()
        return [contrast for pair, values in pairs for contrast in self.tested(measured, SystemPair(*pair), values)]

    def tested(self, measured: Measured, systems: SystemPair, differences: Values) -> list[Contrast]:
        """The mean of differences of every side, then of all requests, of which nothing is concluded yet."""
        return [self._tested(measured, systems, side, *self.of_side(differences, side)) for side in self.sides_and_all]

    def paired(self, by_system: Mapping[str, Values]) -> dict[tuple[str, str], list[float | None]]:
        """Differences request by request, by comparison; None where one of the two systems has no value."""
        return {
            (first, second): minus(by_system[first], by_system[second])
            for first, second in COMPARISONS
            if first in by_system and second in by_system
        }

    def gap(self, judge: JudgeNote, systems: SystemPair, values: Values) -> Contrast | None:
        """The worst and the best side by their means, and how far they are apart within a document set.

        A set counts when both sides have a value; the others are left out and counted. Should the sets that have both
        order them the other way round, that order is taken. None unless two sides have a value. The furthest apart are chosen
        among all pairs of sides, so all are tested.
        """
        by_set = self.by_side([[np.nan if value is None else value for value in values]])[0]  # (sets, sides)
        means = {}
        for side in self.sides:
            if known := [value for value in self.of_side(values, side)[0] if value is not None]:
                means[side] = sum(known) / len(known)
        if len(means) < 2:
            return None
        low, high = min(means, key=lambda s: means[s]), max(reversed(means), key=lambda s: means[s])
        gaps = by_set[:, self.sides.index(high)] - by_set[:, self.sides.index(low)]
        worst, best = (high, low) if judge.better == "lower" else (low, high)
        if np.nansum(gaps) < 0:
            worst, best, gaps = best, worst, -gaps
        pairs = (pair for pair in combinations(means, 2) if set(pair) != {low, high})
        other_gaps = [
            by_set[:, self.sides.index(first)] - by_set[:, self.sides.index(second)] for first, second in pairs
        ]
        contrast = self._tested(judge, systems, None, [defined(set_gap) for set_gap in gaps], self.set_ids)
        question = contrast.question
        if other_gaps:
            table = np.array(other_gaps).T
            added, weights = np.c_[question.added, table], np.c_[question.weights, ~np.isnan(table)]
            question = replace(question, added=added, weights=weights)
        gap = SideGap(worst=worst, best=best, **dict(contrast.difference))
        return Contrast(gap, question, contrast.scale)

    def by_side(self, values: ArrayLike) -> NDArray[np.float64]:
        """Values of systems as `worst_groups` takes them: (systems, requests) to (systems, sets, sides), nan for none."""
        table = np.asarray(values, dtype=float)
        sets = {name: place for place, name in enumerate(dict.fromkeys(self.sets))}
        by_set = np.full((len(table), len(sets), len(self.sides)), np.nan)
        by_set[:, [sets[name] for name in self.sets], [self.sides.index(side) for side in self.request_sides]] = table
        return by_set

    def of_side(self, values: Values, side: str | None) -> tuple[list[float | None], list[str]]:
        """The values of a side's requests and their document sets; of all requests for None."""
        rows = zip(values, self.sets, self.request_sides, strict=True)
        selected = [(value, document_set) for value, document_set, s in rows if side is None or s == side]
        return [value for value, _ in selected], [document_set for _, document_set in selected]

    def _tested(
        self, measured: Measured, systems: SystemPair, side: str | None, values: Values, sets: Sequence[str]
    ) -> Contrast:
        scale = differences_scale(measured.scale)
        mean = cluster_interval(values, sets, self.bootstrap, scale=scale)
        sums = self._sums(values, sets)
        added = np.where(sums[:, 1:] > 0, sums[:, :1], np.nan)
        difference = Difference(
            **asdict(systems),
            **self._number(measured, side, values, sets, mean),
            p_value=sign_flip_p_value(values, sets, exchanges(self.bootstrap)),
            of_judge=measured.of_judge if isinstance(measured, Trait) else "",
        )
        return Contrast(difference, Question("others", added, sums[:, 1:]), scale)

    def _number(
        self, measured: Measured, side: str | None, values: Values, sets: Sequence[str], mean: ClusterMean
    ) -> dict[str, Any]:
        return {
            "measure": measured.name,
            "side": side,
            "value": mean.estimate,
            "low": mean.low,
            "high": mean.high,
            "n": mean.n,
            "n_sets": mean.n_clusters,
            "left_out": sum(value is None for value in values),
            "by_set": self._by_set(values, sets),
        }

    def _by_set(self, values: Values, sets: Sequence[str]) -> BySet:
        """The part of each document set in the mean."""
        columns = self._sums(values, sets)
        contributions = pseudo_values(lambda sums: over(sums[..., :1], sums[..., 1:]), columns, columns[:, 1:] > 0)
        return what_sets_say(contributions[:, 0])

    def _sums(self, values: Values, sets: Sequence[str]) -> Floats:
        """The sum of each document set's values and their number, (sets, 2)."""
        place = {name: k for k, name in enumerate(self.set_ids)}
        columns = np.zeros((len(place), 2))
        for value, name in zip(values, sets, strict=True):
            if value is not None:
                columns[place[name]] += value, 1
        return columns


def low_traits(recipe: Recipe, judges: Sequence[str]) -> list[Trait]:
    """The shares of bad grades of those judges that give several."""
    return [Trait(low_name(name, low), LOW, of_judge=name) for name, low in low_grades(recipe, judges).items()]


def bootstrap_of(recipe: Recipe) -> Bootstrap:
    """How the recipe asks for intervals."""
    return Bootstrap(recipe.evaluation.level, recipe.evaluation.resamples, recipe.seed)


def minus(first: Values, second: Values) -> list[float | None]:
    """Differences request by request; None where one of the two has no value."""
    return [None if a is None or b is None else a - b for a, b in zip(first, second, strict=True)]


def how_intervals(level: float) -> str:
    """How the intervals of a page were made."""
    return (
        f"{100 * level:g} %, bootstrap-t over document sets; of shares and of judges of 0 and 1 exact (Clopper and "
        "Pearson, over sets after Korn and Graubard); of differences all that their corrected test does not refuse; at equal "
        "length Student's t with the jackknife"
    )
