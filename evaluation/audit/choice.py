"""Which system to choose by the value that it serves worst, and how sure that is."""

from collections.abc import Iterator, Sequence

import numpy as np

from ..pages.numbers import number, percent, signed
from ..worst_group import ChoicePlan, WorstGroups, without_part, worst_groups
from .contents import Choice
from .figures import Floats, Measured
from .plan import AuditPlan
from .view import SIGNED
from .worst import ORDERED_BY


def choices(measured: Sequence[Measured], values: Sequence[str], plan: AuditPlan) -> Iterator[Choice]:
    """The choice by each family that orders values; none of a single system.

    A system is judged by its worst value with enough sets, over sets that every system has an answer for.
    """
    for name, (measure, sign) in ORDERED_BY.items():
        mine = [each for each in measured if each.family.name == name]
        if len(mine) < 2:
            continue
        found = worst_groups(
            np.stack([_of_each_set(each, values, measure) for each in mine]),
            [each.system for each in mine],
            values,
            ChoicePlan(
                lower_is_better=sign > 0,
                least_sets=plan.least_group,
                level=plan.bootstrap.level,
                resamples=plan.bootstrap.resamples,
                seed=plan.bootstrap.seed,
            ),
        )
        yield Choice(
            family=name, measure=f"{measure} ({mine[0].family.by})", found=found, sentence=_sentence(found, measure)
        )


def _of_each_set(each: Measured, values: Sequence[str], measure: str) -> Floats:
    """The measure of each value in each set, nan without an answer, shape (sets, values)."""
    places = {q.value: place for place, q in enumerate(each.figures.quantities) if q.name.startswith(f"{measure} (")}
    alone = each.figures.reduce(each.figures.columns)
    known = np.where(each.figures.rests_on, alone, np.nan)
    return np.stack([known[:, places[value]] for value in values], axis=1)


def _sentence(found: WorstGroups, measure: str) -> str:
    by = f"By the value that each serves worst ({measure})"
    if not any(system.group for system in found.systems):
        return f"{by}, nothing can be told: no value has {found.least_sets} sets that all systems have an answer for."
    is_signed = measure in SIGNED
    unit = "points" if is_signed else "per cent"
    shown = "; ".join(
        f"{each.system} {each.group} {(signed if is_signed else number)(100 * each.mean, 1)}"
        for each in found.systems
        if each.mean is not None
    )
    small = without_part(found)
    note = f" {small}." if small else ""
    if found.choice is None:
        return f"{by}, it cannot be told which system to choose ({shown}; in {unit}).{note}"
    (best,) = [each for each in found.systems if each.system == found.choice]
    chance = percent(best.chance_of_best)
    return f"{by}, choose {best.system}: it is the best in {chance} of the draws ({shown}; in {unit}).{note}"
