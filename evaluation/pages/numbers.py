"""How numbers are written on every page: few digits, a true minus, a dash where there is none."""

import math
import re
from collections.abc import Iterable
from typing import Literal

from ...resampling import NOISE

Unit = Literal["", "%", "points", "count", "p"]

NONE = "\u2013"
MINUS = "\u2212"
INFINITE = "\u221e"
NO_INTERVAL = "no interval"
# in place of an interval without width: every draw gives the same number, so resampling says nothing of its uncertainty
FLAT = "no variation"


def places_for(values: Iterable[float | None]) -> int:
    """Digits after the point that suit the size of the values: 3 up to 2, 2 up to 20, else 1."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    return 3 if largest <= 2 else 2 if largest <= 20 else 1


def number(value: float | None, places: int = 3) -> str:
    """The number, or a dash."""
    return _written(value, f".{places}f")


def signed(value: float | None, places: int = 3) -> str:
    """The number with its sign, which what is written as 0 has not, or a dash."""
    return _written(value, f"+.{places}f")


def percent(value: float | None, places: int = 1) -> str:
    """A share as a percentage, or a dash; what is not quite all or nothing is never written as such."""
    if value is None:
        return NONE
    text, step = number(100 * value, places), 10.0**-places
    if 0 < value < 1 and float(text) in (0, 100):
        return f"> {number(100 - step, places)} %" if value > 0.5 else f"< {number(step, places)} %"
    return f"{text} %"


def p_value(value: float | None) -> str:
    """A p-value with three digits, or a dash; one that is not 0 is never written as 0."""
    return "< 0.001" if value is not None and 0 < value < 0.0005 else number(value)


def said_p(value: float) -> str:
    """ "p = 0.012" or "p < 0.001"."""
    text = p_value(value)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def with_unit(value: float | None, places: int, unit: Unit, *, sign: bool = False) -> str:
    """The number; of a share its percentage, or its difference in points; a whole number with its thousands apart; a p-value."""
    write = signed if sign else number
    if value is None or not unit:
        return write(value, places)
    if unit == "count":
        return f"{value:,}"
    if unit == "p":
        return p_value(value)
    if unit == "%" and not sign:
        return percent(value, places)
    return f"{write(100 * value, places)} {unit}"


def interval(low: float | None, high: float | None, places: int = 3, unit: Unit = "", *, sign: bool = False) -> str:
    """The bounds without their unit; says so when there are none, or when they are the same."""
    if low is None or high is None:
        return NO_INTERVAL
    if high - low <= NOISE:
        return FLAT
    write, factor = (signed if sign else number), (100 if unit else 1)
    return f"{write(factor * low, places)} to {write(factor * high, places)}"


def minus(text: str) -> str:
    """A comparison as it is printed: a true minus between two systems."""
    return text.replace(" - ", f" {MINUS} ")


def slug(text: str) -> str:
    """Letters and digits of a heading, with hyphens between its words: an anchor, or the name of a file."""
    return re.sub(r"[\W_]+", "-", text.lower()).strip("-")[:60].rstrip("-") or "table"


def _written(value: float | None, form: str) -> str:
    if value is None:
        return NONE
    text = format(value, form) if math.isfinite(value) else format(value, form[0] if "+" in form else "")
    if float(text) == 0:
        text = text.lstrip("+-")
    return text.replace("inf", INFINITE).replace("-", MINUS)
