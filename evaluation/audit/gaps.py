"""Gaps to what is expected, by which groups are named.

Groups are named by gaps alone: published measures are one quantity seen in several ways, and grow with the manner of writing.
What is random under a null, and how tests are corrected for each other, is said in `significance`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from ...fairness.groups.coverage import over
from ...number import Number, what_sets_say
from ...resampling import NOISE, Bootstrap, added_by_sets, defined, pseudo_values
from ..pages.value_names import noun
from ..significance import Concluded, NullDraws, Unit, dealt, flipped
from ..verdicts import verdict
from .contents import ChanceGap
from .figures import Figures, Measured
from .kinds import SHARE_IN_SOURCES, SHARE_OF_DOCUMENTS, SHARES, Quantity
from .shares import ValueShares

# family, system, quantity
Key = tuple[str, str, Quantity]
N = TypeVar("N", bound=Number)
# a clear gap of shares that names nobody
BLIND = "an extract of the same documents that knows no {attribute} has as large a gap"
UNLIKE = "whether it has less or more depends on whether long documents are due more room than short ones"


@dataclass(frozen=True)
class Tested:
    """The gaps of one family by which groups are named, with their tests, those of a system side by side."""

    measured: tuple[Measured, ...]
    tests: NullDraws

    @property
    def is_first(self) -> bool:
        """Whether it is the question that the page is made for."""
        return self.measured[0].family.name == SHARES


def tested(measured: Sequence[Measured], plan: Bootstrap) -> list[Tested]:
    """The tests of each family that names groups, over all systems.

    Args:
        measured: what every family found in every system.
        plan: seed of the draws.
    """
    tests = []
    for family in dict.fromkeys(measurement.family.name for measurement in measured):
        of_family = tuple(
            measurement for measurement in measured if measurement.family.name == family and measurement.figures.naming
        )
        if of_family and of_family[0].figures.leftover:
            tests.append(Tested(of_family, _by_deals([measurement.figures for measurement in of_family], plan)))
        elif of_family:
            parts = [_by_signs(measurement.figures, plan) for measurement in of_family]
            tests.append(Tested(of_family, NullDraws.beside(parts)))
    return tests


def _by_deals(systems: Sequence[Figures], plan: Bootstrap) -> NullDraws:
    """The documents of a set may be several units, so that bounds are of the gap that is shown by its own weights."""
    units = _units(systems)
    tests = dealt(units, len(systems[0].naming), plan)
    if not units:
        return tests
    shown = np.concatenate([figures.weights_at(figures.naming).sum(axis=0) for figures in systems])
    return replace(tests, weights=tests.weights * np.nan_to_num(over(shown, tests.weights.sum(axis=0))))


def _units(systems: Sequence[Figures]) -> list[Unit]:
    """The documents of each set, of which equal ones are one, with what they have under every system."""
    units: dict[object, Unit] = {}
    for row in range(len(systems[0].columns)):
        for place, figures in enumerate(systems):
            for leftover in figures.leftover[row]:
                unit = units.setdefault(
                    leftover.documents,
                    Unit(
                        np.zeros((len(systems), len(leftover.amounts))),
                        np.array(leftover.labels),
                        np.zeros(len(systems)),
                    ),
                )
                unit.leftover[place] += leftover.amounts
                unit.weight[place] += leftover.weight
    return list(units.values())


def _by_signs(figures: Figures, plan: Bootstrap) -> NullDraws:
    weights = figures.weights_at(figures.naming)
    added = added_by_sets(lambda sums: figures.beyond(sums)[..., figures.naming], figures.columns, weights)
    # a gap of 0 may be so by definition, whatever sets add
    gaps = figures.beyond(figures.columns.sum(axis=0))[figures.naming]
    added = np.where(np.abs(gaps) <= NOISE, 0.0, added)
    return flipped(added, over(weights, weights.sum(axis=0)), plan)


def judged(number: N, concluded: Concluded, test: int, plan: Bootstrap, least_sets: int) -> N:
    """The number with its corrected p-value, bounds and verdict; with fewer sets than `least_sets` there is none."""
    p, low, high = concluded.at(test)
    outcome = verdict((low, high), p, level=plan.level, n_sets=number.n_sets, least_sets=least_sets)
    return number.model_copy(update={"adjusted": p, "low": low, "high": high, "verdict": outcome})


def judged_gaps(
    gap_tests: Tested, concluded: Concluded, levels: Mapping[Key, ChanceGap], plan: Bootstrap, least_sets: int
) -> Iterator[tuple[Key, ChanceGap]]:
    """The gaps by which groups are named, with verdicts.

    Args:
        gap_tests: gaps of a family.
        concluded: what is said of its tests.
        levels: gaps without verdicts.
        plan: level of the verdicts.
        least_sets: with fewer there is none.
    """
    test = 0
    for measured in gap_tests.measured:
        figures, family = measured.figures, measured.family
        shares = family if isinstance(family, ValueShares) else None
        blind = shares.blind_gaps(measured.answers).values() if shares else ()
        for k, place in enumerate(figures.naming):
            key = (family.name, measured.system, figures.quantities[place])
            if key in levels:
                gap = judged(levels[key], concluded, test, plan, least_sets)
                if gap.is_inside:
                    gap = gap.model_copy(update={"low": None, "high": None})
                if shares:
                    gap = gap.model_copy(update={"blind": max(abs(float(gaps[k])) for gaps in blind)})
                    if gap.is_clear and (why := doubt(figures, place, gap, shares.attribute)):
                        gap = gap.model_copy(update={"verdict": "no clear difference", "doubt": why})
                yield key, gap
            test += 1


def levels_of(measured: Measured) -> Iterator[tuple[Key, ChanceGap]]:
    """Gaps of quantities to what is expected of them, without verdicts."""
    figures = measured.figures
    if figures.expect is None or not any(figures.nulls) or not figures.scored.any():
        return
    sums = figures.columns.sum(axis=0)
    expected, ends = figures.expect(sums), figures.between(sums) if figures.between else None
    values, by_sets = figures.beyond(sums), pseudo_values(figures.beyond, figures.columns, figures.rests_on)
    n_sets = figures.parts.sum(axis=0).tolist()
    for place, quantity in enumerate(figures.quantities):
        value = defined(values[place])
        if not figures.nulls[place] or value is None:
            continue
        between = (float(ends[0][place]), float(ends[1][place])) if ends and not np.isnan(ends[0][place]) else None
        yield (
            (measured.family.name, measured.system, quantity),
            ChanceGap(
                reference=figures.nulls[place], value=value, expected=float(expected[place]), between=between,
                n_sets=n_sets[place], by_set=what_sets_say(by_sets[:, place]),
            ),
        )  # fmt: skip


def doubt(figures: Figures, place: int, gap: ChanceGap, attribute: str) -> str:
    """Why a clear gap of shares names nobody; "" where it names its value."""
    if gap.size <= (gap.blind or 0.0):
        return BLIND.format(attribute=noun(attribute))
    all_sets = figures.all_sets()
    side = figures.quantities[place].side
    for due_kind in (SHARE_IN_SOURCES, SHARE_OF_DOCUMENTS):
        (of_due,) = (
            k for k, quantity in enumerate(figures.quantities) if quantity.kind == due_kind and quantity.side == side
        )
        if np.sign(all_sets[place] - all_sets[of_due]) != np.sign(gap.value or 0.0):
            return UNLIKE
    return ""
