"""Systems side by side: which of two is nearer to what is expected, and what differs from the first one in published measures.

A system is called fairer by the gaps of shares alone, where its gap clearly differs from the reference's and the mean of both
gaps is clearly not 0, with the opposite sign: |a| < |b| exactly where (a - b)(a + b) < 0. All over the sets that are scored under
both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...resampling import LEAST_SETS, Bootstrap, defined, t_interval
from ..significance import Concluded, NullDraws, exchanged, flipped
from ..verdicts import verdict
from .contents import AuditNumber, Outcome, Vote
from .figures import Bools, Figures, Floats, Measured
from .kinds import SHARES


def paired_differences(
    measured: Sequence[Measured], systems: Sequence[str], bootstrap: Bootstrap, least_group: int
) -> list[tuple[list[AuditNumber], NullDraws]]:
    """Every later system minus the first one in every tested quantity, without verdicts, and their tests.

    Args:
        measured: what every family found in every system.
        systems: labels, the reference first.
        bootstrap: level of the intervals, and seed of the tests.
        least_group: sets that must have a value before systems are compared by it.
    """
    by_system = {(each.family.name, each.system): each for each in measured}
    return [
        (rows, tests)
        for system in systems[1:]
        for family in dict.fromkeys(each.family.name for each in measured)
        for rows, tests in _differences(
            by_system[family, system], by_system[family, systems[0]], bootstrap, least_group
        )
    ]


def judged_differences(differences: Sequence[AuditNumber], concluded: Concluded, level: float) -> Iterator[AuditNumber]:
    """The differences with corrected p-values and what follows from them; the interval is that of the difference alone."""
    for k, each in enumerate(differences):
        p, *_ = concluded.at(k)
        # the sign of a clear difference is its own
        said = verdict((each.value, each.value), p, level=level, n_sets=each.n_sets)
        yield each.model_copy(update={"adjusted": p, "verdict": "not measured" if each.value is None else said})


def _differences(
    one: Measured, other: Measured, bootstrap: Bootstrap, least_group: int
) -> Iterator[tuple[list[AuditNumber], NullDraws]]:
    """A system's differences from the reference over the sets that are scored under both."""
    both = one.figures.scored & other.figures.scored
    mine, theirs = one.figures.only(both), other.figures.only(both)
    columns, width = np.hstack([mine.columns, theirs.columns]), mine.columns.shape[1]
    rests_on = mine.rests_on | theirs.rests_on

    def difference(sums: Floats) -> Floats:
        return mine.reduce(sums[..., :width]) - theirs.reduce(sums[..., width:])

    found = t_interval(difference, columns, rests_on, bootstrap.level)
    n_sets = (mine.rests_on & theirs.rests_on).sum(axis=0).tolist()
    n_of_either = (one.figures.rests_on | other.figures.rests_on).sum(axis=0).tolist()
    rows, places = [], []
    for place, quantity in enumerate(mine.quantities):
        n = n_sets[place]
        if not quantity.kind.is_tested or (quantity.side is not None and n < least_group):
            continue
        value, low, high, _ = found.at(place)
        places.append(place)
        rows.append(
            AuditNumber(
                measure=str(quantity.measure), side=quantity.side, system=one.system, reference=other.system, value=value,
                low=low, high=high, n_sets=n, left_out=n_of_either[place] - n,
            )
        )  # fmt: skip
    if rows:
        yield rows, exchanged(difference, mine.columns, theirs.columns, bootstrap).only(places)


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
            measure=str(quantity.measure), system=self.mine.system, reference=self.theirs.system, side=quantity.side,
            value=defined(float(mine[k] - theirs[k])), low=low, high=high, n_sets=self.n_sets[k], adjusted=p, verdict=outcome,
            system_gap=defined(float(mine[k])), reference_gap=defined(float(theirs[k])),
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
