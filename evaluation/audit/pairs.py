"""Systems side by side: what differs from the first one in published measures, over the sets that are scored under both."""

from collections.abc import Iterator, Sequence

import numpy as np

from ...resampling import Bootstrap, t_interval
from ..significance import Concluded, NullDraws, exchanged
from ..verdicts import verdict
from .contents import AuditNumber
from .figures import Floats, Measured


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
