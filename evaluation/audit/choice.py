"""Which system to choose by the value that it serves worst, and how sure that is."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..pages.numbers import number, percent, signed
from ..systems.worst_group import WorstGroups, without_part, worst_groups
from .contents import Choice
from .figures import Floats, Measured
from .plan import AuditPlan
from .quantities import Kind, Measure
from .worst import ordering


def choices(measured: Sequence[Measured], values: Sequence[str], plan: AuditPlan) -> Iterator[Choice]:
    """The choice by each family that orders values; none of a single system.

    A system is judged by its worst value with enough sets, over sets that every system has an answer for.
    """
    for name in dict.fromkeys(each.family.name for each in measured):
        mine = [each for each in measured if each.family.name == name]
        kind = ordering(mine[0].figures)
        if kind is None or len(mine) < 2:
            continue
        found = worst_groups(
            np.stack([_of_each_set(each, values, kind) for each in mine]),
            [each.system for each in mine],
            values,
            plan.bootstrap,
            least_sets=plan.least_group,
            lower_is_better=kind.worst == "most",
        )
        yield Choice(
            family=name, measure=Measure(kind, mine[0].family.by), found=found, sentence=_sentence(found, kind)
        )


def _of_each_set(each: Measured, values: Sequence[str], kind: Kind) -> Floats:
    """The numbers of this kind of each value in each set, nan without an answer, shape (sets, values)."""
    places = {q.value: place for place, q in enumerate(each.figures.quantities) if q.kind == kind}
    alone = each.figures.reduce(each.figures.columns)
    known = np.where(each.figures.rests_on, alone, np.nan)
    return np.stack([known[:, places[value]] for value in values], axis=1)


def _sentence(found: WorstGroups, kind: Kind) -> str:
    by = f"By the value that each serves worst ({kind.name})"
    if not any(system.group for system in found.systems):
        return f"{by}, nothing can be said: no value has {found.least_sets} sets that all systems have an answer for."
    write = signed if kind.is_difference else number
    shown = "; ".join(
        f"{each.system} {each.group} {write(100 * each.mean, 1)}" for each in found.systems if each.mean is not None
    )
    numbers = f"({shown}; in {'points' if kind.is_difference else 'per cent'})."
    small = without_part(found)
    note = f" {small}." if small else ""
    if found.choice is None:
        return f"{by}, no system is clearly the best {numbers}{note}"
    (best,) = [each for each in found.systems if each.system == found.choice]
    return f"{by}, choose {best.system}: it is the best in {percent(best.chance_of_best)} of the draws {numbers}{note}"
