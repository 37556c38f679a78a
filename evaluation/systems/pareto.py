"""The Pareto front of quality and fairness: which systems nothing beats.

Better by one judge and worse by the other is a trade, which a reader may take or leave; better by one and no worse by the
other is not: the one beats the other. A system is off the front only where the paired intervals say so: that of one judge
above 0, that of the other not below it, the p-value of the first corrected for how many pairs and judges there are; where only
the means do, there is no clear difference.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...config import Recipe
from ...fairness.groups.coverage import over
from ...resampling import LEAST_SETS, NOISE, Bootstrap, TInterval, cluster_sums, defined, least_p_value, t_interval
from ..verdicts import adjusted
from .compare import Comparer
from .contents import JudgeNote, Plane, PlanePoint
from .systems import System

# kinds of judges that measure fairness between the values of a set
FAIRNESS_KINDS = frozenset({"value-shares", "equal-coverage", "opinion-graph"})
Pair = tuple[int, int]


def fairness_judges(recipe: Recipe) -> set[str]:
    """Names of the recipe's judges that measure fairness."""
    return {name for name, options in recipe.judges.items() if options.kind in FAIRNESS_KINDS}


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
        return [(quality, each) for each in fair for quality in good]
    return [(good[0], good[1])] if len(good) > 1 and len(reward) > 1 else []


def planes(
    pairs: Sequence[tuple[JudgeNote, JudgeNote]], systems: Mapping[str, System], compare: Comparer
) -> Iterator[Plane]:
    """The planes of the pairs of judges in which two systems have a place: one alone is on no front."""
    for quality, fairness in pairs:
        found = plane(quality, fairness, systems, compare)
        if len(found.points) > 1:
            yield found


def plane(quality: JudgeNote, fairness: JudgeNote, systems: Mapping[str, System], compare: Comparer) -> Plane:
    """Every system's means under two judges, and whether it is on the front; a system without a value under one has no place.

    Args:
        quality: the one judge.
        fairness: the other.
        systems: by the names that the plane gives them.
        compare: of the requests.
    """
    judges, names = (quality, fairness), list(systems)
    values = {judge.name: [system.values(judge.name) for system in systems.values()] for judge in judges}
    first, second = (
        (-1.0 if judge.better == "lower" else 1.0) * np.array(values[judge.name], dtype=float).reshape(len(names), -1)
        for judge in judges
    )
    beaten = beaten_by(first, second, compare.sets, compare.bootstrap)
    points = []
    for place, (name, system) in enumerate(systems.items()):
        better, sure = (
            [names[one] for one, other in pairs if other == place] for pairs in (beaten.looks, beaten.surely)
        )
        # over all requests
        means = [compare.estimate(judge, system.label, values[judge.name][place]) for judge in judges]
        if all(each.mean is not None for each in means):
            points.append(
                PlanePoint(
                    name=name,
                    label=system.label,
                    k=system.k,
                    quality=means[0],
                    fairness=means[1],
                    standing="off the front" if sure else "no clear difference" if better else "on the front",
                    behind=tuple(dict.fromkeys(sure or better)),
                )
            )
    return Plane(quality=quality.name, fairness=fairness.name, points=tuple(points), p_value=beaten.p_value)


def all_unsure(found: Plane) -> Plane:
    """The same where the page's correction leaves nobody off the front."""
    points = (
        point.model_copy(update={"standing": "no clear difference"}) if point.standing == "off the front" else point
        for point in found.points
    )
    return found.model_copy(update={"points": tuple(points)})


@dataclass(frozen=True)
class Beaten:
    """Pairs (better, beaten) of systems by their means, and those of them where the intervals say so."""

    looks: list[Pair]
    surely: list[Pair]
    # of "none is", corrected for pairs and judges; None where none looks so
    p_value: float | None


def beaten_by(
    first: NDArray[np.float64], second: NDArray[np.float64], sets: Sequence[str], bootstrap: Bootstrap
) -> Beaten:
    """Which systems beat which.

    One beats another when it is better by one judge and no worse by the other. Differences are paired request by request; a
    request where one of the two has no value is left out. Sure is what its t interval over sets says, and for the better one
    the p-value corrected for the number of pairs and judges; nothing is with fewer than `LEAST_SETS` sets that have both.

    Args:
        first: values under one judge, higher is better, nan for none; shape (systems, requests).
        second: the same under the other.
        sets: the document set of each request, resampled whole.
        bootstrap: of which the level is taken.
    """
    looks = []
    for one in range(len(first)):
        for other in range(len(first)):
            gaps = (_mean(first[one] - first[other]), _mean(second[one] - second[other]))
            if min(gaps) >= -NOISE and max(gaps) > NOISE:
                looks.append((one, other))
    if not looks:
        return Beaten([], [], None)
    by_judge = [_compared(table, looks, sets, bootstrap.level) for table in (first, second)]
    # no smaller than of as many equal signs, which t may be where few sets agree
    least = np.stack([[least_p_value(int(k)) for k in n] for _, n in by_judge])
    raw = np.maximum(np.stack([found.p_value for found, _ in by_judge]), least)  # (judges, pairs)
    corrected = np.array(adjusted([defined(p) for p in raw.ravel()]), dtype=float).reshape(raw.shape)
    lows = np.stack([np.where(n >= LEAST_SETS, found.low, -np.inf) for found, n in by_judge])  # (judges, pairs)
    # of those that may be sure, by the judge that sees it
    p_values = np.where((lows > NOISE) & (lows.min(axis=0) >= -NOISE), corrected, 1.0).min(axis=0)
    sure = p_values <= 1 - bootstrap.level
    surely = [pair for pair, is_sure in zip(looks, sure, strict=True) if is_sure]
    return Beaten(looks, surely, float(p_values.min()))


def _compared(
    table: NDArray[np.float64], pairs: Sequence[Pair], sets: Sequence[str], level: float
) -> tuple[TInterval, NDArray[np.intp]]:
    """Each pair's mean difference over the requests where both have a value, and the document sets of those, (pairs,)."""
    differences = np.stack([table[one] - table[other] for one, other in pairs], axis=1)  # (requests, pairs)
    known = cluster_sums(~np.isnan(differences), sets)
    columns = np.hstack([cluster_sums(np.nan_to_num(differences), sets), known])

    def means(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return over(*np.split(sums, 2, axis=-1))

    return t_interval(means, columns, known > 0, level), (known > 0).sum(axis=0)


def _mean(differences: NDArray[np.float64]) -> float:
    """Mean of what is known; not above anything when nothing is."""
    known = differences[~np.isnan(differences)]
    return float(known.mean()) if len(known) else -np.inf
