"""Numbers against their chance level, and which of two systems is nearer to it.

Values are named and systems are called fairer by these gaps alone: published measures of shares are one quantity seen in several
ways, and their chance level depends on the manner of writing. A system is fairer where its gap clearly differs from the
reference's and the mean of both gaps is clearly not 0, with the opposite sign: |a| < |b| exactly where (a - b)(a + b) < 0.
p is of patterns of signs of what sets add to a gap, which holds its level where few sets weigh much, as Student's t does not
(docs/fairness.md#pages); what is said is corrected for everything that the page says (see `correction`).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...fairness.groups.coverage import over
from ...resampling import (
    LEAST_SETS,
    NOISE,
    Bootstrap,
    TInterval,
    added_by_sets,
    defined,
    exact_bounds,
    pseudo_values,
    sign_flip_p_values,
    t_interval,
)
from ..gate.contents import what_sets_say
from ..verdicts import P, verdict
from .contents import Chance, Quantity, Vote
from .correction import NEARER, Part
from .figures import Figures, Floats, Measured

# family, system, quantity
Key = tuple[str, str, Quantity]


@dataclass(frozen=True)
class Gaps:
    """Numbers against their chance level, not yet judged."""

    level: float
    # without verdicts, and the sets that each rests on
    found: dict[Key, Chance]
    n_sets: dict[Key, int]

    @property
    def tests(self) -> dict[Part, list[P]]:
        """Of those by which groups are named, by family and system."""
        return {part: [self.found[key].p_value for key in keys] for part, keys in self._parts().items()}

    def judged(self, p_values: Mapping[Part, Sequence[P]], least_sets: int) -> dict[Key, Chance]:
        """The same with verdicts.

        Args:
            p_values: corrected, by part.
            least_sets: with fewer there is no verdict.
        """
        found = dict(self.found)
        for part, keys in self._parts().items():
            for key, p in zip(keys, p_values[part], strict=True):
                bounds = found[key].low, found[key].high
                what = verdict(bounds, p, level=self.level, n_sets=self.n_sets[key], least_sets=least_sets)
                found[key] = found[key].model_copy(update={"adjusted": p, "verdict": what})
        return found

    def _parts(self) -> dict[Part, list[Key]]:
        parts: dict[Part, list[Key]] = {}
        for family, system, quantity in self.found:
            if quantity.kind.names:
                parts.setdefault((family, system), []).append((family, system, quantity))
        return parts


def gaps_to_chance(measured: Sequence[Measured], plan: Bootstrap) -> Gaps:
    """By family, system and quantity, where a null is known.

    Args:
        measured: what every family found in every system.
        plan: level of the intervals, one less that of the tests, and patterns of signs.
    """
    level = plan.level
    found: dict[Key, Chance] = {}
    n_sets: dict[Key, int] = {}
    for each in measured:
        figures = each.figures
        if figures.expect is None or not any(figures.nulls) or not figures.scored.any():
            continue
        sums = figures.columns.sum(axis=0)
        expected, ends = figures.expect(sums), figures.between(sums) if figures.between else None
        scored = figures.scored
        gaps = t_interval(figures.beyond, figures.columns[scored], figures.rests_on[scored], level)
        p_values = dict(zip(figures.naming, _p_values(gaps, figures, plan), strict=True))
        by_sets = pseudo_values(figures.beyond, figures.columns, figures.rests_on)
        for place, quantity in enumerate(figures.quantities):
            gap, low, high, _ = gaps.at(place)
            if not figures.nulls[place] or gap is None:
                continue
            between = (float(ends[0][place]), float(ends[1][place])) if ends and not np.isnan(ends[0][place]) else None
            if between and abs(gap) <= NOISE:
                # a gap of 0 by definition, whose spread says nothing
                low = high = None
            rate = gap + float(expected[place])
            if quantity.kind.is_rate and low is not None and high is not None and not NOISE < rate < 1 - NOISE:
                low, high = _at_edge(gap, rate, (low, high), int(figures.rests_on[:, place].sum()), level)
            key = each.family.name, each.system, quantity
            n_sets[key] = int(figures.parts[:, place].sum())
            found[key] = Chance(
                null=figures.nulls[place], expected=float(expected[place]), between=between,
                gap=gap, low=low, high=high, p_value=p_values.get(place), adjusted=None, verdict=None,
                by_set=what_sets_say(by_sets[:, place]),
            )  # fmt: skip
    return Gaps(level, found, n_sets)


def _at_edge(
    gap: float, rate: float, of_expected: tuple[float, float], n_sets: int, level: float
) -> tuple[float, float]:
    """Bounds of the gap of a rate that is 0 or 1 in every set, of which its spread says nothing.

    The rate's are exact. The t interval of the gap is that of what is expected alone. Each end is as far from the gap as both
    together: the method of variance estimates recovery, Zou and Donner 2008.
    """
    low, high = exact_bounds(round(rate), n_sets, level)
    return gap - math.hypot(rate - low, gap - of_expected[0]), gap + math.hypot(high - rate, of_expected[1] - gap)


@dataclass(frozen=True)
class _Held:
    """One system against the reference by one family, at the quantities that vote, (quantities,) each."""

    mine: Measured
    reference: str
    places: list[int]
    n: list[int]
    # gaps of both, their difference and their mean, over the sets scored under both
    gap: Floats
    reference_gap: Floats
    difference: TInterval
    middle: TInterval

    @property
    def part(self) -> Part:
        """Family and both systems."""
        return self.mine.family.name, self.mine.system, self.reference


@dataclass(frozen=True)
class Pairs:
    """Every system against the first one, not yet judged."""

    level: float
    held: tuple[_Held, ...]

    @property
    def tests(self) -> dict[Part, list[P]]:
        """By family and both systems: that their gaps differ, and that one is nearer to what is expected."""
        parts: dict[Part, list[P]] = {}
        for each in self.held:
            differ, middle = ([defined(p) for p in of.p_value.tolist()] for of in (each.difference, each.middle))
            parts[each.part] = differ
            # of "neither is nearer", which is so where both have the same gap or as large ones on both sides
            parts[*each.part, NEARER] = [
                None if a is None or b is None else max(a, b) for a, b in zip(differ, middle, strict=True)
            ]
        return parts

    def judged(self, p_values: Mapping[Part, Sequence[P]], least_sets: int) -> tuple[Vote, ...]:
        """One vote of each family on each system.

        Args:
            p_values: corrected, by part.
            least_sets: with fewer there is no verdict.
        """
        return tuple(
            _vote(each, p_values[each.part], p_values[*each.part, NEARER], least_sets, self.level) for each in self.held
        )


def pairs_held(measured: Sequence[Measured], systems: Sequence[str], plan: Bootstrap) -> Pairs:
    """Every later system against the first one, by each family.

    Args:
        measured: what every family found in every system.
        systems: labels, the reference first.
        plan: level of the intervals, one less that of the tests, and patterns of signs.
    """
    by_system = {(each.family.name, each.system): each for each in measured}
    held = []
    for system in systems[1:]:
        for family in dict.fromkeys(each.family.name for each in measured):
            one, other = by_system[family, system], by_system[family, systems[0]]
            mine, theirs = one.figures, other.figures
            # where sets are scored under both, and quantities have a known chance level under both
            if mine.voting and mine.voting == theirs.voting and (mine.scored & theirs.scored).any():
                held.append(_held(one, other, plan))
    return Pairs(plan.level, tuple(held))


def _p_values(gaps: TInterval, figures: Figures, plan: Bootstrap) -> list[float | None]:
    """Of the gaps by which groups are named."""
    added, _ = _added(figures, figures.naming)
    return [defined(p) for p in _of_signs(added, gaps.estimate[figures.naming], plan).tolist()]


def _of_signs(added: Floats, gap: Floats, plan: Bootstrap) -> Floats:
    """p-values by patterns of signs; 1 for a gap that is 0, which may be so by definition whatever sets add."""
    return np.where(np.abs(gap) <= NOISE, 1.0, sign_flip_p_values(added, plan))


def _added(figures: Figures, places: list[int]) -> tuple[Floats, Floats]:
    """What each set adds to the gaps at places of `naming`, nan for nothing, and how much of them it weighs, (sets, places)."""
    weights = figures.weights_at(places)
    added = added_by_sets(lambda sums: figures.beyond(sums)[..., places], figures.columns, weights)
    return added, over(weights, weights.sum(axis=0))


def _held(one: Measured, other: Measured, plan: Bootstrap) -> _Held:
    places = one.figures.voting
    both = one.figures.scored & other.figures.scored
    mine, theirs = one.figures.only(both), other.figures.only(both)
    columns = np.hstack([mine.columns, theirs.columns])
    rests_on, parts = (mine.rests_on & theirs.rests_on)[:, places], (mine.parts & theirs.parts)[:, places]
    width = mine.columns.shape[1]
    (added, weighs), (their_added, they_weigh) = (_added(each, places) for each in (mine, theirs))

    def gaps(sums: Floats) -> tuple[Floats, Floats]:
        return mine.beyond(sums[..., :width])[..., places], theirs.beyond(sums[..., width:])[..., places]

    def combined(how: Callable[[Floats, Floats], Floats], alike: Floats) -> TInterval:
        """Where the combination is 0 both gaps are alike, or one is the other's opposite: that is no set's own."""
        found = t_interval(lambda sums: how(*gaps(sums)), columns, rests_on, plan.level)
        own = how(added, their_added) - alike * (weighs - they_weigh)
        return replace(found, p_value=_of_signs(np.where(rests_on, own, np.nan), found.estimate, plan))

    gap, reference_gap = gaps(columns.sum(axis=0))
    return _Held(
        one, other.system, places, parts.sum(axis=0).tolist(), gap, reference_gap,
        difference=combined(np.subtract, (gap + reference_gap) / 2),
        middle=combined(lambda a, b: (a + b) / 2, (gap - reference_gap) / 4),
    )  # fmt: skip


def _vote(held: _Held, differ: Sequence[P], nearer_p: Sequence[P], least_sets: int, level: float) -> Vote:
    def said(of: TInterval, corrected: Sequence[float | None]) -> Iterator[int]:
        """-1, 0 or 1 for each quantity: clearly lower than 0, neither, higher."""
        for k, p in enumerate(corrected):
            _, low, high, _ = of.at(k)
            found = verdict((low, high), p, level=level, n_sets=held.n[k], least_sets=least_sets)
            yield {"higher": 1, "lower": -1}.get(found, 0)

    differences, middles = list(said(held.difference, differ)), list(said(held.middle, nearer_p))
    quantities = [held.mine.figures.quantities[place] for place in held.places]
    nearer = [-d * m for d, m in zip(differences, middles, strict=True)]
    directions = {direction for direction in nearer if direction}
    # of many sets p has a least value, which several may have
    known = np.array([1.0 if p is None else p for p in differ])
    order = np.lexsort((-np.abs(held.difference.estimate), known)).tolist()
    # the value that the verdict speaks of
    k = next((k for signs in (nearer, differences) for k in order if signs[k]), order[0])
    difference, low, high, p_value = held.difference.at(k)
    return Vote(
        family=held.mine.family.name,
        measure=quantities[k].measure,
        system=held.mine.system,
        reference=held.reference,
        value=quantities[k].value,
        gap=defined(float(held.gap[k])),
        reference_gap=defined(float(held.reference_gap[k])),
        difference=difference,
        low=low,
        high=high,
        n=held.n[k],
        p_value=p_value,
        adjusted=differ[k],
        is_share=quantities[k].kind.is_share,
        verdict=(
            "too few sets"
            if max(held.n) < max(least_sets, LEAST_SETS)
            else "no clear difference"
            if not any(differences)
            else "fairer"
            if directions == {1}
            else "less fair"
            if directions == {-1}
            else "differs"
        ),
    )
