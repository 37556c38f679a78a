"""What the picture of a first page is made of, and its numbers as a table. `svg.py` draws it."""

from dataclasses import dataclass

from ...number import Number
from ...resampling import Bounds
from . import numbers
from .cells import Cell, Column, Mark, NumberCell, Table, Text, Tone
from .tables import bounds, row, table


@dataclass(frozen=True)
class Lane:
    """A line of a picture's row: a mark with its interval, or two that are joined, before and after."""

    name: str
    marks: tuple[Mark, ...]
    # the last mark is filled, and its name bold
    is_clear: bool = False


@dataclass(frozen=True)
class PictureRow:
    """A group, a judge or a question of a picture."""

    name: str
    lanes: tuple[Lane, ...]
    # smaller, below the name
    note: str = ""
    # what the marks are held against: a value, from the lowest to the highest of the lanes, and what would be expected
    reference: Bounds | None = None
    band: Bounds | None = None
    # what is concluded, at the end of the row
    verdict: Text | None = None


@dataclass(frozen=True)
class PicturePart:
    """Rows on one axis."""

    rows: tuple[PictureRow, ...]
    # "%" is written of shares
    unit: numbers.Unit = ""
    # digits after the point of its numbers
    places: int = 0
    # what the axis measures, and whether 0 is on it wherever the marks are; of shares it always is
    axis: str = ""
    has_zero: bool = False


@dataclass(frozen=True)
class Picture:
    """The picture that answers a page's question: rows, and the same lines in each of them, on as few axes as there are units."""

    # of its file
    name: str
    # what a row is: "sentiment", "judge"
    rows_are: str
    # what it shows, for those who do not see it
    title: str
    parts: tuple[PicturePart, ...]
    # what reference and band are, and what an interval, a filled and an open mark mean
    reference: str = ""
    band: str = ""
    keys: tuple[str, ...] = ()

    @property
    def rows(self) -> list[PictureRow]:
        """The rows of all parts."""
        return [row for part in self.parts for row in part.rows]


def lane(number: Number, label: str, style: int | Tone, *, is_clear: bool) -> Lane:
    """A line of a picture with one number."""
    marks = (Mark(number, style),) if number.value is not None else ()
    return Lane(label, marks, is_clear=is_clear)


def picture_table(picture: Picture) -> Table:
    """The numbers of a picture: rows down, its lines across."""
    rows = picture.rows
    names = list(dict.fromkeys(lane.name for line in rows for lane in line.lanes))
    has = [any(line.reference for line in rows), any(line.band for line in rows), any(line.verdict for line in rows)]
    heads: list[Column | str] = [picture.rows_are]
    heads += [Column(picture.reference, "number")] * has[0] + [Column(picture.band, "number")] * has[1]
    heads += [*names, *["verdict"] * has[2]]
    table_rows = []
    for part in picture.parts:
        for picture_row in part.rows:
            by_name = {lane.name: lane for lane in picture_row.lanes}
            cells: list[Cell] = [Text(picture_row.name, picture_row.note)]
            cells += [Text(between(picture_row.reference, part))] * has[0]
            cells += [Text(between(picture_row.band, part))] * has[1]
            cells += [_lane_cell(by_name.get(name), part) for name in names]
            cells += [picture_row.verdict or Text("")] * has[2]
            table_rows.append(row(*cells))
    return table(picture.name, heads, table_rows)


def lane_words(lane: Lane, part: PicturePart) -> str:
    """ "37 % \u2192 47 %", "11 %"."""
    return " \u2192 ".join(numbers.with_unit(mark.value, part.places, part.unit) for mark in lane.marks)


def _lane_cell(lane: Lane | None, part: PicturePart) -> Cell:
    if lane is None or not lane.marks:
        return NumberCell(None)
    *before, last = lane.marks
    tone = last.style if isinstance(last.style, str) else "neutral" if lane.is_clear else "unsure"
    if before:
        return Text(lane_words(lane, part), tone=tone)
    drawn = None if last.number.low is None and last.number.high is None else bounds(last.number)
    return NumberCell(last.value, drawn, part.places, part.unit, tone=tone)


def between(band: Bounds | None, part: PicturePart) -> str:
    """ "33.0 to 37.0 %", or one number where both ends are the same."""
    if band is None or None in band:
        return numbers.NONE
    low, high = (numbers.with_unit(bound, part.places, part.unit) for bound in band)
    return low if low == high else f"{low.removesuffix(' %')} to {high}"
