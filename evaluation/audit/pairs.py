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
    by_system = {(measurement.family.name, measurement.system): measurement for measurement in measured}
    return [
        (rows, tests)
        for system in systems[1:]
        for family in dict.fromkeys(measurement.family.name for measurement in measured)
        for rows, tests in _differences(
            by_system[family, system], by_system[family, systems[0]], bootstrap, least_group
        )
    ]


def judged_differences(differences: Sequence[AuditNumber], concluded: Concluded, level: float) -> Iterator[AuditNumber]:
    """The differences with corrected p-values and what follows from them; the interval is that of the difference alone."""
    for k, difference in enumerate(differences):
        p, *_ = concluded.at(k)
        # the sign of a clear difference is its own
        outcome = verdict((difference.value, difference.value), p, level=level, n_sets=difference.n_sets)
        yield difference.model_copy(
            update={"adjusted": p, "verdict": "not measured" if difference.value is None else outcome}
        )


def _differences(
    measurement: Measured, reference: Measured, bootstrap: Bootstrap, least_group: int
) -> Iterator[tuple[list[AuditNumber], NullDraws]]:
    """A system's differences from the reference over the sets that are scored under both."""
    in_both = measurement.figures.scored & reference.figures.scored
    figures, reference_figures = measurement.figures.only(in_both), reference.figures.only(in_both)
    columns, width = np.hstack([figures.columns, reference_figures.columns]), figures.columns.shape[1]
    rests_on = figures.rests_on | reference_figures.rests_on

    def difference(sums: Floats) -> Floats:
        return figures.reduce(sums[..., :width]) - reference_figures.reduce(sums[..., width:])

    intervals = t_interval(difference, columns, rests_on, bootstrap.level)
    n_sets = (figures.rests_on & reference_figures.rests_on).sum(axis=0).tolist()
    n_of_either = (measurement.figures.rests_on | reference.figures.rests_on).sum(axis=0).tolist()
    rows, places = [], []
    for place, quantity in enumerate(figures.quantities):
        n = n_sets[place]
        if not quantity.kind.is_tested or (quantity.side is not None and n < least_group):
            continue
        value, low, high, _ = intervals.at(place)
        places.append(place)
        rows.append(
            AuditNumber(
                measure=str(quantity.measure), side=quantity.side, system=measurement.system, reference=reference.system,
                value=value, low=low, high=high, n_sets=n, left_out=n_of_either[place] - n,
            )
        )  # fmt: skip
    if rows:
        yield rows, exchanged(difference, figures.columns, reference_figures.columns, bootstrap).only(places)


@dataclass(frozen=True)
class Pair:
    """A system against the reference by shares: tests of the difference of their gaps, and then of the mean of both."""

    measurement: Measured
    reference: Measured
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
            direction = verdict((low, high), p, level=plan.level, n_sets=self.n_sets[test % n], least_sets=least_sets)
            return {"higher": 1, "lower": -1}.get(direction, 0) if are_named else 0

        differ = [sign(k) for k in range(n)]
        nearer = {-differ[k] * sign(n + k) for k in range(n)} - {0}
        outcome: Outcome = "no clear difference"
        if max(self.n_sets) < max(least_sets, LEAST_SETS):
            outcome = "too few sets"
        elif any(differ):
            outcome = "fairer" if nearer == {1} else "less fair" if nearer == {-1} else "differs"
        system_gaps, reference_gaps = self.gaps
        # of a verdict the value that loses most under the less fair system, else the one that differs most
        loses = (
            system_gaps
            if outcome == "less fair"
            else reference_gaps
            if outcome == "fairer"
            else -np.abs(system_gaps - reference_gaps)
        )
        k = int(np.argmin(loses))
        p, low, high = concluded.at(k)
        quantity = self.measurement.figures.quantities[self.measurement.figures.naming[k]]
        return Vote(
            measure=str(quantity.measure), system=self.measurement.system, reference=self.reference.system, side=quantity.side,
            value=defined(float(system_gaps[k] - reference_gaps[k])), low=low, high=high, n_sets=self.n_sets[k],
            adjusted=p, verdict=outcome, system_gap=defined(float(system_gaps[k])),
            reference_gap=defined(float(reference_gaps[k])),
        )  # fmt: skip


def pairs(measured: Sequence[Measured], systems: Sequence[str], plan: Bootstrap) -> list[Pair]:
    """Every later system against the first one, where both have gaps of shares in the same sets.

    Args:
        measured: what every family found in every system.
        systems: labels, the reference first.
        plan: seed of the draws.
    """
    by_system = {
        measurement.system: measurement
        for measurement in measured
        if measurement.family.name == SHARES and measurement.figures.naming
    }
    all_pairs = []
    for system in systems[1:]:
        if system in by_system and systems[0] in by_system:
            measurement, reference = by_system[system], by_system[systems[0]]
            in_both = (_weight(measurement.figures) > 0) & (_weight(reference.figures) > 0)
            if in_both.any():
                all_pairs.append(_pair(measurement, reference, in_both, plan))
    return all_pairs


def _weight(figures: Figures) -> Floats:
    return np.array([sum(leftover.weight for leftover in row) for row in figures.leftover])


def _pair(measurement: Measured, reference: Measured, in_both: Bools, plan: Bootstrap) -> Pair:
    """A system beside the reference; of sets that differ in weight each adds its part of a gap."""
    parts, weighs = [], []
    for contender in (measurement, reference):
        weight = np.where(in_both, _weight(contender.figures), 0.0)
        beyond = np.zeros((len(weight), len(contender.figures.naming)))
        for row in np.flatnonzero(in_both):
            for leftover in contender.figures.leftover[row]:
                np.add.at(beyond[row], list(leftover.labels), leftover.amounts)
        parts.append(beyond / weight.sum())
        weighs.append(weight / weight.sum())
    added = np.hstack([parts[0] - parts[1], (parts[0] + parts[1]) / 2])
    weights = np.repeat(((weighs[0] + weighs[1]) / 2)[:, None], added.shape[1], axis=1)
    tests = flipped(np.where(in_both[:, None], added, np.nan), weights, plan)
    n_sets = (measurement.figures.parts & reference.figures.parts)[in_both][:, measurement.figures.naming].sum(axis=0)
    return Pair(measurement, reference, tests, tuple(n_sets.tolist()), (parts[0].sum(axis=0), parts[1].sum(axis=0)))
