"""Who fares worst: the value with the largest lack, held against the next one."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..compare import NOISE
from ..text_numbers import signed
from .contents import Number, WorstGroup
from .estimates import bounds
from .figures import Floats

# what orders the values of a family, and whether more of it is worse
ORDERED_BY = {"value-shares": ("shortfall", 1), "coverage": ("coverage difference", -1)}


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
    is_told = low is not None and low > NOISE
    return WorstGroup(
        family=family, system=system, measure=measure, value=worst.value, next_value=following.value, gap=gap, low=low,
        high=high, verdict="told" if is_told else "cannot tell", sentence=_sentence(worst, following, attribute, is_told),
        small=small,
    )  # fmt: skip


def _sentence(worst: Number, following: Number, attribute: str, is_told: bool) -> str:
    amount = 100 * abs(worst.estimate or 0.0)
    if worst.family == "value-shares":
        fares = f"lacks {amount:.1f} points of 100 of what it should have"
    elif (worst.estimate or 0.0) < 0:
        fares = f"is covered {amount:.1f} points of 100 less than its sets' others"
    else:
        fares = "is covered no less than its sets' others"
    if is_told:
        return f"The worst-represented {attribute} is {worst.value}: on average it {fares}; next is {following.value}."
    return (
        f"Cannot tell which {attribute} is represented worst: {worst.value} {fares}, but the interval of its distance to "
        f"{following.value} holds 0."
    )


def extremes(rows: Rows) -> str:
    """Which value is covered most and which least beyond its sets' others, small ones left out; "" where none can be."""
    mine = [each for each in rows.numbers if each.measure.startswith("coverage difference (")]
    able = sorted(
        (each for each in mine if not each.is_small and each.estimate is not None), key=lambda n: -(n.estimate or 0.0)
    )
    if len(able) < 2:
        return ""
    most, least = able[0], able[-1]
    return f"Most over-represented is {_extreme(most, 1)}, most under-represented {_extreme(least, -1)}."


def _extreme(number: Number, sign: int) -> str:
    """The value with its difference, or that its interval does not exclude 0."""
    bound = number.low if sign > 0 else number.high
    is_told = bound is not None and sign * bound > NOISE
    doubt = "" if is_told else ", cannot tell: its interval holds 0"
    return f"{number.value} ({signed(100 * (number.estimate or 0.0), 1)} points{doubt})"
