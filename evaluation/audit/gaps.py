"""Gaps to what is expected: who is named, and which of two systems is nearer to it.

Groups are named by gaps alone, and systems called fairer by those of shares alone: published measures are one quantity seen in
several ways, and grow with the manner of writing. A system is fairer where its gap clearly differs from the reference's and the
mean of both gaps is clearly not 0, with the opposite sign: |a| < |b| exactly where (a - b)(a + b) < 0.
What is random under a null, and how tests are corrected for each other, is said in `significance`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ...fairness.groups.coverage import over
from ...number import what_sets_say
from ...resampling import LEAST_SETS, NOISE, Bootstrap, added_by_sets, defined, pseudo_values
from ..significance import Concluded, NullDraws, Unit, dealt, flipped
from ..verdicts import verdict
from .contents import SHARE_IN_SOURCES, SHARE_OF_DOCUMENTS, SHARES, Chance, Outcome, Quantity, Vote
from .figures import Bools, Figures, Floats, Measured
from .shares import ValueShares

# family, system, quantity
Key = tuple[str, str, Quantity]
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
    """Of each family that names groups, over all systems.

    Args:
        measured: what every family found in every system.
        plan: seed of the draws.
    """
    found = []
    for family in dict.fromkeys(each.family.name for each in measured):
        its = tuple(each for each in measured if each.family.name == family and each.figures.naming)
        if its and its[0].figures.leftover:
            found.append(Tested(its, _by_deals([each.figures for each in its], plan)))
        elif its:
            parts = [_by_signs(each.figures, plan) for each in its]
            found.append(Tested(its, NullDraws.beside(parts)))
    return found


def _by_deals(systems: Sequence[Figures], plan: Bootstrap) -> NullDraws:
    """The documents of a set may be several units, so that bounds are of the gap that is shown by its own weights."""
    units = _units(systems)
    tests = dealt(units, len(systems[0].naming), plan)
    if not units:
        return tests
    shown = np.concatenate([each.weights_at(each.naming).sum(axis=0) for each in systems])
    return replace(tests, weights=tests.weights * np.nan_to_num(over(shown, tests.weights.sum(axis=0))))


def _units(systems: Sequence[Figures]) -> list[Unit]:
    """The documents of each set, of which equal ones are one, with what they have under every system."""
    units: dict[object, Unit] = {}
    for row in range(len(systems[0].columns)):
        for place, figures in enumerate(systems):
            for its in figures.leftover[row]:
                unit = units.setdefault(
                    its.documents,
                    Unit(np.zeros((len(systems), len(its.amounts))), np.array(its.labels), np.zeros(len(systems))),
                )
                unit.leftover[place] += its.amounts
                unit.weight[place] += its.weight
    return list(units.values())


def _by_signs(figures: Figures, plan: Bootstrap) -> NullDraws:
    weights = figures.weights_at(figures.naming)
    added = added_by_sets(lambda sums: figures.beyond(sums)[..., figures.naming], figures.columns, weights)
    # a gap of 0 may be so by definition, whatever sets add
    gaps = figures.beyond(figures.columns.sum(axis=0))[figures.naming]
    added = np.where(np.abs(gaps) <= NOISE, 0.0, added)
    return flipped(added, over(weights, weights.sum(axis=0)), plan)


def chances(each: Tested, concluded: Concluded, plan: Bootstrap, least_sets: int) -> dict[Key, Chance]:
    """By system and quantity, with verdicts.

    Args:
        each: gaps of a family.
        concluded: what is said of its tests.
        plan: level of the verdicts.
        least_sets: with fewer there is none.
    """
    found: dict[Key, Chance] = {}
    test = 0
    for measured in each.measured:
        figures = measured.figures
        blind = measured.family.blind_gaps(measured.found) if isinstance(measured.family, ValueShares) else None
        of_all = dict(_with_level(measured))
        for place in figures.naming:
            quantity = figures.quantities[place]
            chance = of_all.get(quantity)
            if chance is not None:
                p, low, high = concluded.at(test)
                n_sets = int(figures.parts[:, place].sum())
                said = verdict((low, high), p, level=plan.level, n_sets=n_sets, least_sets=least_sets)
                changes: dict[str, object] = {"low": low, "high": high, "adjusted": p, "verdict": said}
                if chance.is_inside:
                    changes |= {"low": None, "high": None}
                if blind is not None:
                    reach = max(abs(float(gaps[figures.naming.index(place)])) for gaps in blind.values())
                    changes["blind"] = reach
                    why = doubt(measured, place, chance.gap, reach)
                    if said != "no clear difference" and why:
                        changes |= {"verdict": "no clear difference", "doubt": why}
                of_all[quantity] = chance.model_copy(update=changes)
            test += 1
        found |= {(measured.family.name, measured.system, quantity): chance for quantity, chance in of_all.items()}
    return found


def levels(measured: Sequence[Measured]) -> dict[Key, Chance]:
    """What is expected of quantities of families by which nobody is named, without verdicts."""
    return {
        (each.family.name, each.system, quantity): chance
        for each in measured
        if not each.figures.naming
        for quantity, chance in _with_level(each)
    }


def _with_level(measured: Measured) -> Iterator[tuple[Quantity, Chance]]:
    """Quantities beside what is expected of them, not yet judged."""
    figures = measured.figures
    if figures.expect is None or not any(figures.nulls) or not figures.scored.any():
        return
    sums = figures.columns.sum(axis=0)
    expected, ends = figures.expect(sums), figures.between(sums) if figures.between else None
    gaps, by_sets = figures.beyond(sums), pseudo_values(figures.beyond, figures.columns, figures.rests_on)
    for place, quantity in enumerate(figures.quantities):
        gap = defined(gaps[place])
        if not figures.nulls[place] or gap is None:
            continue
        between = (float(ends[0][place]), float(ends[1][place])) if ends and not np.isnan(ends[0][place]) else None
        yield (
            quantity,
            Chance(
                null=figures.nulls[place], expected=float(expected[place]), between=between, gap=gap, low=None, high=None,
                adjusted=None, verdict=None, by_set=what_sets_say(by_sets[:, place]),
            ),
        )  # fmt: skip


def doubt(measured: Measured, place: int, gap: float, blind: float) -> str:
    """Why a clear gap of shares names nobody; "" where it names its value."""
    if abs(gap) <= blind:
        return BLIND.format(
            attribute=measured.family.attribute if isinstance(measured.family, ValueShares) else "label"
        )
    figures, all_sets = measured.figures, measured.figures.all_sets()
    value = figures.quantities[place].value
    for due in (SHARE_IN_SOURCES, SHARE_OF_DOCUMENTS):
        (of_due,) = (
            k for k, quantity in enumerate(figures.quantities) if quantity.kind == due and quantity.value == value
        )
        if np.sign(all_sets[place] - all_sets[of_due]) != np.sign(gap):
            return UNLIKE
    return ""


@dataclass(frozen=True)
class Pair:
    """A system against the reference by shares: tests of the difference of their gaps, and then of the mean of both."""

    mine: Measured
    theirs: Measured
    tests: NullDraws
    # of each value, in sets that are scored under both
    n_sets: tuple[int, ...]
    gaps: tuple[Floats, Floats]

    def vote(self, concluded: Concluded, are_named: bool, plan: Bootstrap, least_sets: int) -> Vote:
        """Which is fairer.

        Args:
            concluded: what is said of the tests.
            are_named: whether somebody is named under either: of two that lean to nobody none is fairer.
            plan: level of the verdicts.
            least_sets: with fewer there is none.
        """
        n = len(self.n_sets)

        def sign(test: int) -> int:
            p, low, high = concluded.at(test)
            said = verdict((low, high), p, level=plan.level, n_sets=self.n_sets[test % n], least_sets=least_sets)
            return {"higher": 1, "lower": -1}.get(said, 0) if are_named else 0

        differ = [sign(k) for k in range(n)]
        nearer = {-differ[k] * sign(n + k) for k in range(n)} - {0}
        outcome: Outcome = "no clear difference"
        if max(self.n_sets) < max(least_sets, LEAST_SETS):
            outcome = "too few sets"
        elif any(differ):
            outcome = "fairer" if nearer == {1} else "less fair" if nearer == {-1} else "differs"
        mine, theirs = self.gaps
        # of a verdict the value that loses most under the less fair system, else the one that differs most
        loses = mine if outcome == "less fair" else theirs if outcome == "fairer" else -np.abs(mine - theirs)
        k = int(np.argmin(loses))
        p, low, high = concluded.at(k)
        quantity = self.mine.figures.quantities[self.mine.figures.naming[k]]
        return Vote(
            family=SHARES, measure=quantity.measure, system=self.mine.system, reference=self.theirs.system, value=quantity.value,
            gap=defined(float(mine[k])), reference_gap=defined(float(theirs[k])), difference=defined(float(mine[k] - theirs[k])),
            low=low, high=high, n=self.n_sets[k], adjusted=p, is_share=True,
            verdict=outcome,
        )  # fmt: skip


def pairs(measured: Sequence[Measured], systems: Sequence[str], plan: Bootstrap) -> list[Pair]:
    """Every later system against the first one, where both have gaps of shares in the same sets.

    Args:
        measured: what every family found in every system.
        systems: labels, the reference first.
        plan: seed of the draws.
    """
    by_system = {each.system: each for each in measured if each.family.name == SHARES and each.figures.naming}
    found = []
    for system in systems[1:]:
        if system in by_system and systems[0] in by_system:
            mine, theirs = by_system[system], by_system[systems[0]]
            both = (_weight(mine.figures) > 0) & (_weight(theirs.figures) > 0)
            if both.any():
                found.append(_pair(mine, theirs, both, plan))
    return found


def _weight(figures: Figures) -> Floats:
    return np.array([sum(each.weight for each in its) for its in figures.leftover])


def _pair(mine: Measured, theirs: Measured, both: Bools, plan: Bootstrap) -> Pair:
    """Of sets that differ in weight each adds its part of a gap."""
    parts, weighs = [], []
    for each in (mine, theirs):
        weight = np.where(both, _weight(each.figures), 0.0)
        beyond = np.zeros((len(weight), len(each.figures.naming)))
        for row in np.flatnonzero(both):
            for its in each.figures.leftover[row]:
                np.add.at(beyond[row], list(its.labels), its.amounts)
        parts.append(beyond / weight.sum())
        weighs.append(weight / weight.sum())
    added = np.hstack([parts[0] - parts[1], (parts[0] + parts[1]) / 2])
    weights = np.repeat(((weighs[0] + weighs[1]) / 2)[:, None], added.shape[1], axis=1)
    tests = flipped(np.where(both[:, None], added, np.nan), weights, plan)
    n_sets = (mine.figures.parts & theirs.figures.parts)[both][:, mine.figures.naming].sum(axis=0)
    return Pair(mine, theirs, tests, tuple(n_sets.tolist()), (parts[0].sum(axis=0), parts[1].sum(axis=0)))
