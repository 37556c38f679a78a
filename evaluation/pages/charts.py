"""Geometry of the page's plots: places in per cent, so that a plot fills whatever width it gets and its text keeps its size."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...number import Number

# room left at both ends of an axis, as a share of what is shown
PADDING = 0.06
# values no further apart are equal but for rounding: an axis that showed them apart would show noise
EQUAL = 1e-9


@dataclass(frozen=True)
class Scale:
    """An axis from `low` to `high` with round tick values."""

    low: float
    high: float
    ticks: tuple[float, ...]
    # whether it goes down from `high`, for what is better when it is lower
    is_reversed: bool = False

    def at(self, value: float) -> float:
        """Place of a value in per cent of the axis, from 0 to 100; values beyond its ends stay at the ends."""
        share = (value - self.low) / (self.high - self.low)
        place = round(100 * min(1.0, max(0.0, share)), 2)
        return 100 - place if self.is_reversed else place


@dataclass(frozen=True)
class Point:
    """A point of a line: a number that has a value, above its place."""

    x: float
    number: Number


@dataclass(frozen=True)
class Line:
    """A line of a panel."""

    label: str
    # place in the palette of the page
    style: int
    points: tuple[Point, ...]
    # opacity in (0, 1]: earlier rounds are fainter
    strength: float = 1.0


@dataclass(frozen=True)
class Panel:
    """A small line plot."""

    title: str
    note: str
    x_label: str
    lines: tuple[Line, ...]
    x: Scale
    y: Scale


@dataclass(frozen=True)
class Axis:
    """A judge's axis of a plane."""

    name: str
    is_lower_better: bool
    scale: Scale
    # digits after the point of its numbers
    places: int


@dataclass(frozen=True)
class PlaneMark:
    """A system in a plane."""

    name: str
    # place in the page's palette of marks
    style: int
    x: Number
    y: Number
    is_on_front: bool


@dataclass(frozen=True)
class PlanePlot:
    """Systems in the plane of two judges, with what is best to the right and above."""

    x: Axis
    y: Axis
    points: tuple[PlaneMark, ...]

    @property
    def front(self) -> list[tuple[float, float]]:
        """Places of the systems on the front, from left to right, counted from the lower left."""
        places = (
            (self.x.scale.at(point.x.value), self.y.scale.at(point.y.value))
            for point in self.points
            if point.is_on_front and point.x.value is not None and point.y.value is not None
        )
        return sorted(places)

    @property
    def on_front(self) -> str:
        """Names of the systems that no other beats."""
        return "; ".join(point.name for point in self.points if point.is_on_front) or "none"


def panel(title: str, note: str, x_label: str, lines: Sequence[Line]) -> Panel:
    """A panel whose axes hold all points of the lines and their intervals."""
    points = [point for line in lines for point in line.points]
    heights = [v for p in points for v in (p.number.value, p.number.low, p.number.high) if v is not None]
    widths = [point.x for point in points]
    x = Scale(min(widths), max(widths) if len(set(widths)) > 1 else min(widths) + 1, _whole_ticks(widths))
    return Panel(title, note, x_label, tuple(lines), x, scale(heights, most_ticks=4))


def scale(values: Iterable[float | None], *, zero: bool = False, most_ticks: int = 5) -> Scale:
    """An axis that holds all values, and 0 where asked for, with some room at both ends."""
    known = [value for value in values if value is not None]
    if zero or not known:
        known.append(0.0)
    low, high = min(known), max(known)
    spread = high - low if high - low > EQUAL else 0.0
    room = spread * PADDING or abs(high) * PADDING or 1.0
    low, high = low - room, high + room
    return Scale(low, high, ticks(low, high, most_ticks))


def ticks(low: float, high: float, most_ticks: int) -> tuple[float, ...]:
    """Up to `most_ticks` multiples of 1, 2 or 5 times a power of ten between low and high."""
    rough = (high - low) / most_ticks
    unit = 10.0 ** math.floor(math.log10(rough))
    for step in (unit, 2 * unit, 5 * unit, 10 * unit, 20 * unit):
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first + 1 <= most_ticks:
            # `+ 0.0` turns -0.0 into 0.0
            return tuple(round(place * step, 10) + 0.0 for place in range(first, last + 1))
    return ()


def _whole_ticks(values: Sequence[float]) -> tuple[float, ...]:
    """Ticks at whole numbers: draws and steps have no halves."""
    low, high = min(values), max(values)
    if high - low <= 10:
        return tuple(dict.fromkeys(sorted(values)))
    return tuple(t for t in ticks(low, high, 6) if t == int(t))
