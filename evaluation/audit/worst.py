"""Who fares worst: the value that is under-represented most often or covered least, held against the next one.

A shortfall in points grows with the share that is due, so a large group has the largest almost whatever happens; how often a
value falls under the tolerance does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from ...resampling import NOISE, percentile_interval
from ..pages.numbers import signed
from .contents import Number, WorstGroup
from .figures import Figures, Floats
from .quantities import (
    COVERAGE_DIFFERENCE,
    SHARE_AIMED_AT,
    SHARE_IN_SOURCES,
    SHORTFALL,
    UNDER_REPRESENTED,
    Kind,
)


@dataclass(frozen=True)
class Rows:
    """Numbers of one system and family, and their draws."""

    numbers: Sequence[Number]
    # (draws, numbers)
    drawn: Floats


class Doubt(Enum):
    """Why a quantity is not clearly above zero."""

    NO_INTERVAL = "no interval"
    INCLUDES_ZERO = "includes zero"
    BELOW_ZERO = "below zero"


def ordering(figures: Figures) -> Kind | None:
    """The kind of number by which a family orders values; None for a family that does not."""
    return next((quantity.kind for quantity in figures.quantities if quantity.kind.worst), None)


def worst_group(rows: Rows, attribute: str) -> WorstGroup | None:
    """The worst value among those with enough sets; None for a family that orders no values.

    "Cannot tell" where the interval of its distance to the next value includes zero, and where fewer than two values are left.
    """
    mine = [(place, each) for place, each in enumerate(rows.numbers) if each.measure.kind.worst]
    if not mine:
        return None
    first = mine[0][1]
    sign = 1 if first.measure.kind.worst == "most" else -1
    small = tuple(each.value for _, each in mine if each.is_small and each.value and each.n)
    able = sorted(
        ((place, each) for place, each in mine if not each.is_small and each.estimate is not None),
        key=lambda pair: -sign * (pair[1].estimate or 0.0),
    )
    group = WorstGroup(
        family=first.family, system=first.system, measure=first.measure, value=None, next_value=None, gap=None, low=None,
        high=None, verdict="cannot tell", small=small,
        sentence=f"No worst {attribute} is named: fewer than two have enough sets.",
    )  # fmt: skip
    if len(able) < 2:
        return group
    (worst_place, worst), (next_place, following) = able[0], able[1]
    drawn = percentile_interval(sign * (rows.drawn[:, worst_place] - rows.drawn[:, next_place]), worst.level)
    low, high = drawn.low, drawn.high
    doubt = _doubt(low, high)
    what = f"{attribute} among those with enough sets" if small else attribute
    return group.model_copy(
        update={
            "value": worst.value,
            "next_value": following.value,
            "gap": sign * ((worst.estimate or 0.0) - (following.estimate or 0.0)),
            "low": low,
            "high": high,
            "verdict": "cannot tell" if doubt else "told",
            "sentence": f"{_sentence(worst, following, what, doubt)}{_largest_shortfall(rows.numbers)}",
        }
    )


def _doubt(low: float | None, high: float | None) -> Doubt | None:
    """Why a quantity with this interval is not clearly above zero; None where it is."""
    if low is None or high is None:
        return Doubt.NO_INTERVAL
    if low > NOISE:
        return None
    return Doubt.INCLUDES_ZERO if high > -NOISE else Doubt.BELOW_ZERO


def _sentence(worst: Number, following: Number, what: str, doubt: Doubt | None) -> str:
    if worst.measure.kind == UNDER_REPRESENTED and not worst.estimate:
        return f"No {what} is under-represented in any summary."
    fares = _fares(worst)
    if doubt is None:
        return f"The worst-represented {what} is {worst.value}: {fares}; next is {following.value}."
    if abs((worst.estimate or 0.0) - (following.estimate or 0.0)) <= NOISE:
        reason = f"{following.value} has the same"
    else:
        reason = {
            Doubt.NO_INTERVAL: f"its distance to {following.value} has no interval",
            Doubt.INCLUDES_ZERO: f"the interval of its distance to {following.value} includes zero",
            Doubt.BELOW_ZERO: f"the interval of its distance to {following.value} lies below zero",
        }[doubt]
    return f"No {what} is clearly the worst-represented: {worst.value} has the worst estimate ({fares}), but {reason}."


def _fares(number: Number) -> str:
    amount = f"{100 * abs(number.estimate or 0.0):.1f}"
    if number.measure.kind == UNDER_REPRESENTED:
        return f"it is under-represented in {amount} % of the summaries of its sets"
    if (number.estimate or 0.0) < 0:
        return f"its documents are covered {amount} points of 100 less than all documents of their sets, on average"
    return "its documents are covered no less than all documents of their sets"


def _largest_shortfall(numbers: Sequence[Number]) -> str:
    """Which value falls short by the most points, and what it is due; "" where none does."""
    able = {
        (each.measure.kind, each.value): each.estimate
        for each in numbers
        if each.value is not None and each.estimate is not None and not each.is_small
    }
    lacking = {value: estimate for (kind, value), estimate in able.items() if kind == SHORTFALL}
    if not lacking or max(lacking.values()) <= NOISE:
        return ""
    value = max(lacking, key=lambda value: lacking[value])
    due = able.get((SHARE_AIMED_AT, value), able[SHARE_IN_SOURCES, value])
    return f" The largest shortfall is that of {value}: {100 * lacking[value]:.1f} points of share (due {100 * due:.1f} %)."


def extremes(rows: Rows) -> str:
    """Which value is covered most and which least beyond all documents, small ones left out; "" where none can be."""
    mine = [each for each in rows.numbers if each.measure.kind == COVERAGE_DIFFERENCE]
    able = sorted(
        (each for each in mine if not each.is_small and each.estimate is not None), key=lambda n: -(n.estimate or 0.0)
    )
    if len(able) < 2:
        return ""
    among = "Among those with enough sets, most" if any(each.is_small and each.n for each in mine) else "Most"
    over, under = able[0], able[-1]
    over_doubt = _doubt(over.low, over.high)
    under_doubt = _doubt(None if under.high is None else -under.high, None if under.low is None else -under.low)
    return f"{among} over-represented is {_extreme(over, over_doubt)}, most under-represented {_extreme(under, under_doubt)}."


def _extreme(number: Number, doubt: Doubt | None) -> str:
    """The value with its difference, and why that is not clear where it is not."""
    note = {
        None: "",
        Doubt.NO_INTERVAL: ", without an interval",
        Doubt.INCLUDES_ZERO: ", not clearly: its interval includes zero",
        Doubt.BELOW_ZERO: ", but its interval lies on the other side of zero",
    }[doubt]
    return f"{number.value} ({signed(100 * (number.estimate or 0.0), 1)} points{note})"
