"""Tables made of records, and cells made of numbers."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, Protocol, TypeVar

from ...number import Number
from ...resampling import Bounds
from . import numbers
from .cells import Cell, Column, Group, Mark, NumberCell, Row, Strip, Table, Text, Tone
from .charts import Panel, Point, Scale, scale

R = TypeVar("R")
K = TypeVar("K")
# of a table: columns, or their names
Heads = tuple[Column | str, ...]
# the same, each with what makes its cell of a record
Columns = Mapping[Column | str, Callable[[R], Cell | str]]


class Bounded(Protocol):
    """A record with an interval, or none."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


def table(
    name: str,
    heads: Iterable[Column | str],
    rows: Iterable[Group | Row | Sequence[Cell | str]],
    scale: Scale | None = None,
) -> Table:
    """A table of groups or of rows; columns may be given by their names, cells as plain words."""
    entries = list(rows)
    groups = [entry for entry in entries if isinstance(entry, Group)] or [group(entries)]  # type: ignore[arg-type]
    cells = list(zip(*(line.cells for section in groups for line in section.rows), strict=True))
    named = [head if isinstance(head, Column) else Column(head) for head in heads]
    kinds = [column.kind or _kind(cells[place] if cells else ()) for place, column in enumerate(named)]
    columns = tuple(replace(column, kind=kind) for column, kind in zip(named, kinds, strict=True))
    return Table(name, columns, tuple(groups), scale)


def listing(name: str, records: Iterable[R], columns: Columns[R]) -> Table:
    """A table with a row for each record."""
    return table(name, columns, rows_of(records, columns))


def rows_of(records: Iterable[R], columns: Columns[R], is_total: Callable[[R], bool] = lambda _: False) -> list[Row]:
    """A row for each record, those that are of all sides in bold; for tables in groups, whose heads are the same columns."""
    return [row(*(make(record) for make in columns.values()), is_total=is_total(record)) for record in records]


def grouped(records: Iterable[R], key: Callable[[R], K]) -> dict[K, list[R]]:
    """The records by what they have in common, in the order in which it is met."""
    by_key: dict[K, list[R]] = {}
    for record in records:
        by_key.setdefault(key(record), []).append(record)
    return by_key


def group(rows: Iterable[Row | Sequence[Cell | str]], heading: str = "", note: str = "") -> Group:
    """A group; cells may be given as plain words."""
    return Group(tuple(line if isinstance(line, Row) else row(*line) for line in rows), heading, note)


def row(*cells: Cell | str, is_total: bool = False) -> Row:
    """A row; cells may be given as plain words."""
    parts = tuple(Text(cell) if isinstance(cell, str) else cell for cell in cells)
    return Row(parts, is_total=is_total)


def count(value: int | None, note: str = "") -> NumberCell:
    """A cell with a whole number, its thousands apart; a dash for none."""
    return NumberCell(value, unit="count", note=note)


def estimate(number: Number, places: int = 3, *, sign: bool = False) -> NumberCell:
    """A cell with a number and its interval."""
    return NumberCell(number.value, bounds(number), places, sign=sign)


def in_unit(
    value: float | None,
    between: Bounds | None,
    places: int = 1,
    *,
    is_share: bool,
    is_difference: bool = False,
    note: str = "",
) -> NumberCell:
    """A cell with a share in per cent, a difference of shares in points, or another number as it is; differences have a sign."""
    unit: numbers.Unit = "" if not is_share else "points" if is_difference else "%"
    return NumberCell(value, between, places if is_share else 3, unit, sign=is_difference, note=note)


def strip(marks: Iterable[tuple[Number, int | Tone | None]]) -> Strip:
    """A cell with a mark of its style for each number, and its interval; none of those that are undefined."""
    return Strip(tuple(Mark(number, style) for number, style in marks if number.value is not None))


def estimates_scale(estimates: Iterable[Number], *, zero: bool = False) -> Scale:
    """An axis that holds the numbers and their intervals."""
    return scale((x for number in estimates for x in (number.value, *bounds(number))), zero=zero)


def code(text: str, note: str = "") -> Text:
    """A cell with a signature, a model or a path."""
    return Text(text, note, style="code")


def bounds(record: Bounded) -> Bounds:
    """The bounds of a record's interval."""
    return record.low, record.high


def drawn(interval: Bounds) -> Bounds | None:
    """Bounds as a cell has them; None where nothing is drawn."""
    return None if interval == (None, None) else interval


def without_zeros(full_table: Table) -> tuple[Table, str]:
    """The table without the columns in which every row has 0 or nothing, and a sentence that names them."""
    empty = [
        column.name
        for place, column in enumerate(full_table.columns)
        if column.kind == "number" and all(_is_nothing(row.cells[place]) for row in full_table.rows)
    ]
    return full_table.without(*empty), f"Not shown, since it is 0 in every row: {', '.join(empty)}." if empty else ""


def points(panel: Panel, most_rows: int | None = None) -> Table:
    """A line chart as a table: x down, lines across.

    Args:
        panel: the chart.
        most_rows: rows that are shown of more, evenly spaced, the first and the last among them.
    """
    by_line = [{point.x: point for point in line.points} for line in panel.lines]
    places = sorted({x for line in by_line for x in line})
    if most_rows is not None and len(places) > most_rows:
        places = [places[round(k * (len(places) - 1) / (most_rows - 1))] for k in range(most_rows)]
    rows = (row(f"{x:g}", *(_point(line.get(x)) for line in by_line)) for x in places)
    return table(f"{panel.title} by {panel.x_label}", (panel.x_label, *(line.label for line in panel.lines)), rows)


def _point(point: Point | None) -> NumberCell:
    if point is None:
        return NumberCell(None)
    shown = point.number
    return NumberCell(shown.value, drawn(bounds(shown)), numbers.places_for([shown.value]))


def _is_nothing(cell: Cell) -> bool:
    if isinstance(cell, NumberCell):
        return not cell.value and cell.bounds is None and not cell.note
    return isinstance(cell, Text) and not cell.text and not cell.note


def _kind(cells: Sequence[Cell]) -> Literal["words", "number", "strip"]:
    if any(isinstance(cell, Strip) for cell in cells):
        return "strip"
    return "number" if any(isinstance(cell, NumberCell) for cell in cells) else "words"
