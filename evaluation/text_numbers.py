"""How numbers are written in the report: few digits, a true minus, a dash where there is none."""

from collections.abc import Iterable

from .contents import Estimate

NONE = "\u2013"
MINUS = "\u2212"


def places_for(values: Iterable[float | None]) -> int:
    """Digits after the point that suit the size of the values: 3 up to 2, 2 up to 20, else 1."""
    largest = max((abs(value) for value in values if value is not None), default=0.0)
    return 3 if largest <= 2 else 2 if largest <= 20 else 1


def number(value: float | None, places: int = 3) -> str:
    """The number, or a dash."""
    return NONE if value is None else f"{value:.{places}f}".replace("-", MINUS)


def signed(value: float | None, places: int = 3) -> str:
    """The number with its sign, or a dash."""
    return NONE if value is None else f"{value:+.{places}f}".replace("-", MINUS)


def percent(value: float | None) -> str:
    """A share as a percentage with one digit after the point, or a dash."""
    return NONE if value is None else f"{100 * value:.1f} %"


def interval(estimate: Estimate, places: int = 3, *, sign: bool = False) -> str:
    """The interval's bounds; says so when there is none."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    write = signed if sign else number
    return f"{write(estimate.low, places)} to {write(estimate.high, places)}"


def percent_interval(estimate: Estimate) -> str:
    """The interval of a share as percentages."""
    if estimate.low is None or estimate.high is None:
        return "no interval"
    return f"{100 * estimate.low:.0f} to {100 * estimate.high:.0f} %"


def duration(seconds: float) -> str:
    """Seconds as "8.3 s", "4 min 05 s" or "2 h 07 min"."""
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest:02d} s"
    return f"{minutes // 60} h {minutes % 60:02d} min"


def name(text: str) -> str:
    """A system or comparison as it is printed: a true minus between two systems."""
    return text.replace(" - ", f" {MINUS} ")
