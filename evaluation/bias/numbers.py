"""How the report of a bias study writes its numbers; an odds ratio may be infinite."""

from collections.abc import Sequence

from .. import text_numbers
from .contents import Interval, Measure, Number, readable

UNITS = {"assignment": "s", "document": "d"}
INFINITE = "\u221e"


def score(value: Number, places: int = 3) -> str:
    """The number, an infinity sign, or a dash."""
    found = readable(value)
    if found is None or found not in (float("inf"), float("-inf")):
        return text_numbers.number(found, places)
    return INFINITE if found > 0 else f"{text_numbers.MINUS}{INFINITE}"


def signed_score(value: Number, places: int = 3) -> str:
    """The number with its sign, or a dash."""
    found = readable(value)
    if found is None or found in (float("inf"), float("-inf")):
        return score(value)
    return text_numbers.signed(found, places)


def bounds(interval: Interval, *, sign: bool = False) -> str:
    """The interval with the letter of what was drawn: "d 0.010 to 0.050"."""
    if interval.low is None or interval.high is None:
        return f"{UNITS[interval.unit]} no interval"
    write = signed_score if sign else score
    return f"{UNITS[interval.unit]} {write(interval.low)} to {write(interval.high)}"


def all_bounds(intervals: Sequence[Interval], *, sign: bool = False) -> str:
    """All intervals of a score; says so when there is none."""
    return "; ".join(bounds(each, sign=sign) for each in intervals) or "no interval"


def lean(measure: Measure) -> str:
    """The verdict in words: "leans to male", "cannot tell", or a dash."""
    if measure.verdict is None:
        return text_numbers.NONE
    if measure.verdict == "cannot tell":
        return "cannot tell"
    return f"leans to {measure.direction}" if measure.direction else "told apart"
