"""Systems side by side: what differs from the first one, over the sets that are scored under both.

One test serves all quantities, means over sets or not: systems are exchanged within sets, by the same patterns for every
quantity, and the quantity's difference is taken anew. For a mean over sets this is the sign-flip test.
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

import numpy as np

from ...resampling import Bootstrap, TInterval, defined, exchange_p_values, t_interval
from ..verdicts import adjusted, verdict
from .contents import BeyondExpected, PairedDifference
from .figures import Figures, Floats, Measured


def paired_differences(
    measured: Sequence[Measured], systems: Sequence[str], bootstrap: Bootstrap, least_group: int
) -> tuple[PairedDifference, ...]:
    """Every later system minus the first one in every tested quantity, with verdicts.

    They are corrected among themselves, after Benjamini and Hochberg: nothing is concluded from them, nobody is named and no
    system called fairer, so that they take nothing from what is (see `correction`).

    Args:
        measured: what every family found in every system.
        systems: labels, the reference first.
        bootstrap: draws of the intervals and of the tests.
        least_group: sets that must have a value before systems are compared by it.
    """
    by_system = {(each.family.name, each.system): each for each in measured}
    found: list[PairedDifference] = []
    for system in systems[1:]:
        for family in dict.fromkeys(each.family.name for each in measured):
            one, other = by_system[family, system], by_system[family, systems[0]]
            found += _differences(one, other, bootstrap, least_group)
    p_values = adjusted([each.p_value for each in found])
    return tuple(_judged(each, p) for each, p in zip(found, p_values, strict=True))


def _judged(difference: PairedDifference, adjusted_p: float | None) -> PairedDifference:
    """The difference with its corrected p-value and what follows from it."""
    said = verdict((difference.low, difference.high), adjusted_p, level=difference.level, n_sets=difference.n)
    return difference.model_copy(
        update={"adjusted": adjusted_p, "verdict": "not measured" if difference.estimate is None else said}
    )


def _differences(one: Measured, other: Measured, bootstrap: Bootstrap, least_group: int) -> Iterator[PairedDifference]:
    """A system's differences from the reference over the sets that are scored under both."""
    both = one.figures.scored & other.figures.scored
    mine, theirs = one.figures.only(both), other.figures.only(both)
    found, p_values = _tests(mine, theirs, bootstrap)
    parts = _parts(mine, theirs, bootstrap.level)
    n_sets = (mine.rests_on & theirs.rests_on).sum(axis=0).tolist()
    n_of_either = (one.figures.rests_on | other.figures.rests_on).sum(axis=0).tolist()
    for place, quantity in enumerate(mine.quantities):
        n = n_sets[place]
        if not quantity.kind.is_tested or (quantity.value is not None and n < least_group):
            continue
        estimate, low, high, _ = found.at(place)
        yield PairedDifference(
            measure=quantity.measure,
            family=one.family.name,
            signature=one.family.signature,
            value=quantity.value,
            system=one.system,
            reference=other.system,
            estimate=estimate,
            low=low,
            high=high,
            n=n,
            left_out=n_of_either[place] - n,
            **asdict(bootstrap),
            is_share=quantity.kind.is_share,
            p_value=defined(p_values[place]) if n > 1 else None,
            adjusted=None,
            verdict="no clear difference",
            beyond=_beyond(parts, place, len(mine.quantities)) if parts else None,
        )


def _parts(mine: Figures, theirs: Figures, level: float) -> TInterval | None:
    """Of each difference what would be expected of it, and then of each the rest; None of a family without chance levels.

    What is expected is of summaries as long as each system's, in words as common.
    """
    expect, other = mine.expect, theirs.expect
    if expect is None or other is None:
        return None
    known = np.array([bool(a and b) for a, b in zip(mine.nulls, theirs.nulls, strict=True)])
    width = mine.columns.shape[1]

    def parts(sums: Floats) -> Floats:
        ours, others = sums[..., :width], sums[..., width:]
        expected = np.where(known, expect(ours) - other(others), np.nan)
        return np.concatenate([expected, mine.reduce(ours) - mine.reduce(others) - expected], axis=-1)

    rests_on = np.tile(mine.rests_on | theirs.rests_on, 2)
    return t_interval(parts, np.hstack([mine.columns, theirs.columns]), rests_on, level)


def _beyond(parts: TInterval, place: int, n_quantities: int) -> BeyondExpected | None:
    """The parts of one difference; None where no chance level of it is known."""
    (expected, low, high, _), (rest, rest_low, rest_high, _) = parts.at(place), parts.at(place + n_quantities)
    if expected is None or rest is None:
        return None
    return BeyondExpected(
        expected=expected, expected_low=low, expected_high=high, rest=rest, rest_low=rest_low, rest_high=rest_high
    )


def _tests(mine: Figures, theirs: Figures, bootstrap: Bootstrap) -> tuple[TInterval, Floats]:
    """Differences with intervals, and two-sided p-values of exchanges, (quantities,), nan where there is none."""
    ours, others = mine.columns.sum(axis=0), theirs.columns.sum(axis=0)
    swap, width = theirs.columns - mine.columns, len(ours)

    def exchanged(marks: Floats) -> Floats:
        moved = marks @ swap
        return mine.reduce(ours + moved) - mine.reduce(others - moved)

    def difference(sums: Floats) -> Floats:
        return mine.reduce(sums[..., :width]) - mine.reduce(sums[..., width:])

    columns = np.hstack([mine.columns, theirs.columns])
    found = t_interval(difference, columns, mine.rests_on | theirs.rests_on, bootstrap.level)
    return found, exchange_p_values(exchanged, mine.all_sets() - theirs.all_sets(), len(swap), bootstrap)
