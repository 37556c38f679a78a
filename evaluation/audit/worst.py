"""Who fares worst: the value that is under-represented most often or covered least, held against the next one.

A shortfall in points grows with the share that is due, so a large group has the largest almost whatever happens; how often a
value falls under the tolerance does not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from ..compare import NOISE
from ..pages.numbers import signed
from .contents import Number, WorstGroup
from .estimates import bounds
from .figures import Floats
from .shares import AIM, SOURCES

# what orders the values of a family, and whether more of it is worse
ORDERED_BY = {"value-shares": ("under-represented", 1), "coverage": ("coverage difference", -1)}


@dataclass(frozen=True)
class Rows:
    """Numbers of one system and family, and their draws."""

    numbers: Sequence[Number]
    # (draws, numbers)
    drawn: Floats


def worst_group(rows: Rows, attribute: str) -> WorstGroup | None:
    """The worst value among those with enough sets; None for a family that orders no values.

    "Cannot tell" where the interval of its distance to the next value holds 0, and where fewer than two values are left.
    """
    family, system = rows.numbers[0].family, rows.numbers[0].system
    if family not in ORDERED_BY:
        return None
    name, sign = ORDERED_BY[family]
    mine = [(place, each) for place, each in enumerate(rows.numbers) if each.measure.startswith(f"{name} (")]
    small = tuple(each.value for _, each in mine if each.is_small and each.value and each.n)
    able = sorted(
        ((place, each) for place, each in mine if not each.is_small and each.estimate is not None),
        key=lambda pair: -sign * (pair[1].estimate or 0.0),
    )
    measure = mine[0][1].measure
    if len(able) < 2:
        said = f"No worst {attribute} is named: fewer than two have enough sets."
        return WorstGroup(
            family=family, system=system, measure=measure, value=None, next_value=None, gap=None, low=None, high=None,
            verdict="cannot tell", sentence=said, small=small,
        )  # fmt: skip
    (first, worst), (second, following) = able[0], able[1]
    gap = sign * ((worst.estimate or 0.0) - (following.estimate or 0.0))
    low, high, _ = bounds(sign * (rows.drawn[:, first] - rows.drawn[:, second]), worst.level)
    doubt = _doubt(low, high)
    what = f"{attribute} among those with enough sets" if small else attribute
    return WorstGroup(
        family=family, system=system, measure=measure, value=worst.value, next_value=following.value, gap=gap, low=low,
        high=high, verdict="cannot tell" if doubt else "told",
        sentence=f"{_sentence(worst, following, what, doubt)}{_largest_shortfall(rows.numbers)}", small=small,
    )  # fmt: skip


def _doubt(low: float | None, high: float | None) -> str:
    """Why a quantity cannot be said to be above 0; "" where it can."""
    if low is None or high is None:
        return "has no interval"
    if low > NOISE:
        return ""
    return "holds 0" if high > -NOISE else "lies below 0"


def _sentence(worst: Number, following: Number, what: str, doubt: str) -> str:
    if worst.family == "value-shares" and not worst.estimate:
        return f"No {what} is under-represented in any summary."
    fares = _fares(worst)
    if not doubt:
        return f"The worst-represented {what} is {worst.value}: {fares}; next is {following.value}."
    reason = f"the interval of its distance to {following.value} {doubt}"
    if abs((worst.estimate or 0.0) - (following.estimate or 0.0)) <= NOISE:
        reason = f"{following.value} has the same"
    elif doubt == "has no interval":
        reason = f"its distance to {following.value} {doubt}"
    return (
        f"Cannot tell which {what} is represented worst: {worst.value} has the worst estimate ({fares}), but {reason}."
    )


def _fares(number: Number) -> str:
    amount = f"{100 * abs(number.estimate or 0.0):.1f}"
    if number.family == "value-shares":
        return f"it is under-represented in {amount} % of the summaries of its sets"
    if (number.estimate or 0.0) < 0:
        return f"its documents are covered {amount} points of 100 less than all documents of their sets, on average"
    return "its documents are covered no less than all documents of their sets"


def _largest_shortfall(numbers: Sequence[Number]) -> str:
    """Which value falls short by the most points, and what it is due; "" where none does."""
    able = {
        (each.measure.partition(" (")[0], each.value): each.estimate
        for each in numbers
        if each.value is not None and each.estimate is not None and not each.is_small
    }
    lacking = {value: estimate for (name, value), estimate in able.items() if name == "shortfall"}
    if not lacking or max(lacking.values()) <= NOISE:
        return ""
    value = max(lacking, key=lambda value: lacking[value])
    due = able.get((AIM, value), able[SOURCES, value])
    return f" The largest shortfall is that of {value}: {100 * lacking[value]:.1f} points of share (due {100 * due:.1f} %)."


def extremes(rows: Rows) -> str:
    """Which value is covered most and which least beyond all documents, small ones left out; "" where none can be."""
    mine = [each for each in rows.numbers if each.measure.startswith("coverage difference (")]
    able = sorted(
        (each for each in mine if not each.is_small and each.estimate is not None), key=lambda n: -(n.estimate or 0.0)
    )
    if len(able) < 2:
        return ""
    among = "Among those with enough sets, most" if any(each.is_small and each.n for each in mine) else "Most"
    return f"{among} over-represented is {_extreme(able[0], 1)}, most under-represented {_extreme(able[-1], -1)}."


def _extreme(number: Number, sign: int) -> str:
    """The value with its difference, and why it cannot be told where it cannot."""
    near, far = (number.low, number.high) if sign > 0 else (number.high, number.low)
    doubt = _doubt(None if near is None else sign * near, None if far is None else sign * far)
    said = {
        "": "",
        "has no interval": ", cannot tell: it has no interval",
        "holds 0": ", cannot tell: its interval holds 0",
        "lies below 0": f", not {'over' if sign > 0 else 'under'}-represented: its interval lies on the other side of 0",
    }
    return f"{number.value} ({signed(100 * (number.estimate or 0.0), 1)} points{said[doubt]})"
