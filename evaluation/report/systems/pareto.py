"""The Pareto front of quality and fairness: which systems nothing beats.

Better by one judge and worse by the other is a trade, which a reader may take or leave; better by one and no worse by the
other is not: the one beats the other. A system is off the front only where another is clearly better by one judge, with all that
the page tests, and no value of the paired interval by the other is below 0; where only the means say so, there is no clear
difference.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from ....config import Recipe
from ....config.fairness import FairnessJudgeSection
from ....fairness.groups.coverage import over
from ....resampling import LEAST_SETS, NOISE, Bootstrap, Floats, cluster_sums, t_interval
from ...significance import Concluded
from .compare import Comparer
from .contents import JudgeNote, Plane, PlanePoint, Standing
from .questions import Question
from .systems import System

Pair = tuple[int, int]


def fairness_judges(recipe: Recipe) -> set[str]:
    """Names of the recipe's judges that measure fairness between the values of a set, where 0 is fair."""
    return {
        name
        for name, options in recipe.judges.items()
        if isinstance(options, FairnessJudgeSection) and options.better == "lower"
    }


def axes(
    judges: Sequence[JudgeNote], fairness: Collection[str], reward: Collection[str]
) -> list[tuple[JudgeNote, JudgeNote]]:
    """The pairs of judges that planes are drawn for: each of quality with each of fairness.

    Judges of the report go before those of the reward; where only the reward measures one of the two, its judges are the axes.
    Where no judge measures fairness but a reward has several parts, the first two judges are paired: qualities are traded, too.
    """
    directed = [judge for judge in judges if judge.better]
    independent = [judge for judge in directed if judge.role == "report"] or directed
    fair = [j for j in independent if j.name in fairness] or [j for j in directed if j.name in fairness]
    good = [j for j in independent if j.name not in fairness] or [j for j in directed if j.name not in fairness]
    if fair:
        return [(quality, judge) for judge in fair for quality in good]
    return [(good[0], good[1])] if len(good) > 1 and len(reward) > 1 else []


def fronts(
    pairs: Sequence[tuple[JudgeNote, JudgeNote]], systems: Mapping[str, System], compare: Comparer
) -> Iterator["Front"]:
    """The planes of the pairs of judges in which two systems have a place: one alone is on no front."""
    for quality, fairness in pairs:
        front = front_of(quality, fairness, systems, compare)
        if len(front.points) > 1:
            yield front


def front_of(quality: JudgeNote, fairness: JudgeNote, systems: Mapping[str, System], compare: Comparer) -> "Front":
    """Every system's means under two judges, and which look beaten; a system without a value under one has no place.

    Args:
        quality: the one judge.
        fairness: the other.
        systems: by the names that the plane gives them.
        compare: of the requests.
    """
    judges, points = (quality, fairness), {}
    values = {judge.name: [system.values(judge.name) for system in systems.values()] for judge in judges}
    first, second = (
        (-1.0 if judge.better == "lower" else 1.0) * np.array(values[judge.name], dtype=float).reshape(len(systems), -1)
        for judge in judges
    )
    for place, (name, system) in enumerate(systems.items()):
        # over all requests
        means = [compare.estimate(judge, system.label, values[judge.name][place]) for judge in judges]
        if all(mean.value is not None for mean in means):
            points[place] = PlanePoint(
                name=name,
                label=system.label,
                k=system.k,
                quality=means[0],
                fairness=means[1],
                standing="on the front",
                behind=(),
            )
    rivals = rivals_of(first, second, compare.sets, compare.bootstrap)
    return Front(quality.name, fairness.name, list(systems), points, rivals)


@dataclass(frozen=True)
class Rivals:
    """Pairs (better, beaten) of systems by their means, and the tests of all pairs, of which systems best of more are part."""

    looks: list[Pair]
    question: Question
    # test of each of these pairs, 1 where it is of that order, else -1, and whether the other judge is not below; (judges, pairs)
    place: NDArray[np.intp]
    sign: NDArray[np.intp]
    is_kept: NDArray[np.bool_]

    def concluded(self, answer: Concluded, level: float) -> tuple[list[Pair], float | None]:
        """The pairs where that is clear, and the p-value of "none is"; None where none looks so."""
        if not self.looks:
            return [], None
        bound = np.where(self.sign > 0, answer.low[self.place], -answer.high[self.place])
        p_values = np.where(self.is_kept & (bound > NOISE), answer.p_value[self.place], 1.0).min(axis=0)
        return [pair for pair, p in zip(self.looks, p_values, strict=True) if p <= 1 - level], float(p_values.min())


@dataclass(frozen=True)
class Front:
    """A plane of which nothing is concluded yet."""

    quality: str
    fairness: str
    names: list[str]
    # place of a system -> its point
    points: dict[int, PlanePoint]
    rivals: Rivals

    def concluded(self, answer: Concluded, level: float) -> Plane:
        """The plane with what its page says of the front."""
        surely, p_value = self.rivals.concluded(answer, level)
        points = []
        for place, point in self.points.items():
            better, sure = (
                [self.names[winner] for winner, loser in pairs if loser == place]
                for pairs in (self.rivals.looks, surely)
            )
            standing: Standing = "off the front" if sure else "no clear difference" if better else "on the front"
            behind = tuple(dict.fromkeys(sure or better))
            points.append(point.model_copy(update={"standing": standing, "behind": behind}))
        return Plane(quality=self.quality, fairness=self.fairness, points=tuple(points), adjusted=p_value)


def rivals_of(
    first: NDArray[np.float64], second: NDArray[np.float64], sets: Sequence[str], bootstrap: Bootstrap
) -> Rivals:
    """Which systems look beaten by which.

    One beats another when it is better by one judge and no worse by the other. Differences are paired request by request; a
    request where one of the two has no value is left out. Nothing is kept with fewer than `LEAST_SETS` sets that have both.

    Args:
        first: values under one judge, higher is better, nan for none; shape (systems, requests).
        second: the same under the other.
        sets: the document set of each request.
        bootstrap: of which the level is taken.
    """
    tables, looks = (first, second), []
    for winner, loser in permutations(range(len(first)), 2):
        gaps = [_mean(table[winner] - table[loser]) for table in tables]
        if min(gaps) >= -NOISE and max(gaps) > NOISE:
            looks.append((winner, loser))
    pairs = list(combinations(range(len(first)), 2))
    sums = [_sums(table, pairs, sets) for table in tables]
    added = np.hstack([np.where(known > 0, total, np.nan) for total, known in sums])
    question = Question("by design", added, np.hstack([known for _, known in sums]))
    place = np.array([[k * len(pairs) + pairs.index((min(pair), max(pair))) for pair in looks] for k in (0, 1)])
    sign = np.array([[1 if winner < loser else -1 for winner, loser in looks]] * 2)
    is_kept = np.zeros((2, len(looks)), dtype=bool)
    if looks:
        lows = np.stack([_lows(table, looks, sets, bootstrap.level) for table in tables])
        is_kept = (lows[::-1] >= -NOISE) & (lows > -np.inf)
    return Rivals(looks, question, place.astype(np.intp), sign, is_kept)


def _sums(table: NDArray[np.float64], pairs: Sequence[Pair], sets: Sequence[str]) -> tuple[Floats, Floats]:
    """The sum that each set adds to each pair's difference, and of how many requests, (sets, pairs) each."""
    differences = np.empty((len(sets), len(pairs)))
    for place, (first, second) in enumerate(pairs):
        differences[:, place] = table[first] - table[second]
    return cluster_sums(np.nan_to_num(differences), sets), cluster_sums(~np.isnan(differences), sets)


def _lows(table: NDArray[np.float64], pairs: Sequence[Pair], sets: Sequence[str], level: float) -> Floats:
    """Lower bounds of each pair's mean difference by its own interval; -inf of too few sets, (pairs,)."""
    sums, known = _sums(table, pairs, sets)

    def means(columns: NDArray[np.float64]) -> NDArray[np.float64]:
        return over(*np.split(columns, 2, axis=-1))

    intervals = t_interval(means, np.hstack([sums, known]), known > 0, level)
    return np.where((known > 0).sum(axis=0) >= LEAST_SETS, intervals.low, -np.inf)


def _mean(differences: NDArray[np.float64]) -> float:
    """Mean of what is known; not above anything when nothing is."""
    known = differences[~np.isnan(differences)]
    return float(known.mean()) if len(known) else -np.inf
