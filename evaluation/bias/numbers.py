"""How the sentences of a bias study write its numbers; an odds ratio may be infinite."""

from collections.abc import Sequence

from ..pages.numbers import NO_INTERVAL, number
from .contents import Interval, Number, readable

UNITS = {"assignment": "s", "document": "d"}


def score(value: Number) -> str:
    """The number, an infinity sign, or a dash."""
    return number(readable(value))


def all_bounds(intervals: Sequence[Interval]) -> str:
    """All intervals of a score with the letter of what was drawn, "d 0.010 to 0.050"; says so when there is none."""
    return "; ".join(f"{UNITS[each.unit]} {_between(each)}" for each in intervals) or NO_INTERVAL


def _between(found: Interval) -> str:
    if found.low is None or found.high is None:
        return NO_INTERVAL
    return f"{score(found.low)} to {score(found.high)}"
