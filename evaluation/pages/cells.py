"""Typed cells, and the tables that they stand in. How both look is the renderers' affair."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ...number import Number
from ...resampling import Bounds
from . import numbers
from .charts import Scale

# what a difference says of a system; "neutral" differs and is neither better nor worse, "unsure" shows no clear difference
Tone = Literal["better", "worse", "neutral", "unsure"]
MARKS: dict[Tone, str] = {"better": "\u25b2", "worse": "\u25bc", "neutral": "\u25cf", "unsure": "\u25cb"}


@dataclass(frozen=True)
class Text:
    """A cell of words."""

    text: str
    # smaller, below
    note: str = ""
    # of a verdict, which gets its mark
    tone: Tone | None = None
    style: Literal["", "code", "long", "faint", "strong"] = ""


@dataclass(frozen=True)
class NumberCell:
    """A cell with a number, and its interval where it can have one."""

    value: float | None
    # None of a number without interval; of one whose interval could not be drawn, both are None
    bounds: Bounds | None = None
    places: int = 3
    # "%" and "points" are written of shares, "count" of whole numbers, "p" of p-values
    unit: numbers.Unit = ""
    # differences are written with their sign
    sign: bool = False
    tone: Tone | None = None
    note: str = ""
    # of its test, after the correction of its page
    adjusted_p: float | None = None

    @property
    def shown(self) -> str:
        """The number as it is written, without its mark."""
        return numbers.with_unit(self.value, self.places, self.unit, sign=self.sign)

    @property
    def interval(self) -> str:
        """ "0.010 to 0.050"; "" of a number without interval."""
        if self.bounds is None:
            return ""
        low, high = self.bounds
        return numbers.interval(low, high, self.places, self.unit, sign=self.sign)

    @property
    def below(self) -> list[str]:
        """The smaller lines below the number or beside it: its interval, p of its test, and its note."""
        p = "" if self.adjusted_p is None else numbers.said_p(self.adjusted_p)
        return [part for part in (self.interval, p, self.note) if part]


@dataclass(frozen=True)
class Mark:
    """A number that has a value on a table's axis, with its interval."""

    number: Number
    # place in the palette of marks, or the tone of a difference; None is a line for the mean of all
    style: int | Tone | None = 0

    @property
    def value(self) -> float:
        """Where it stands."""
        return self.number.value or 0.0


@dataclass(frozen=True)
class Strip:
    """A cell that draws marks on the table's axis, or on its own; the numbers beside it say the same."""

    marks: tuple[Mark, ...]
    scale: Scale | None = None


Cell = Text | NumberCell | Strip


@dataclass(frozen=True)
class Column:
    """A column of a table; the first one heads its rows."""

    name: str
    # "" is found from its cells
    kind: Literal["", "words", "number", "long", "strip"] = ""
    # smaller, below its name
    note: str = ""


@dataclass(frozen=True)
class Row:
    """A row of a table, a cell a column."""

    cells: tuple[Cell, ...]
    # of all sides, written in bold
    is_total: bool = False


@dataclass(frozen=True)
class Group:
    """Rows with a heading; without one, those of the whole table."""

    rows: tuple[Row, ...]
    heading: str = ""
    note: str = ""


@dataclass(frozen=True)
class Table:
    """A table. Its name is that of its CSV file, and what a screen reader says of it."""

    name: str
    columns: tuple[Column, ...]
    groups: tuple[Group, ...]
    # axis of its strips
    scale: Scale | None = None

    @property
    def rows(self) -> list[Row]:
        """The rows of all groups."""
        return [row for group in self.groups for row in group.rows]

    def without(self, *names: str) -> "Table":
        """The table without the columns of these names."""
        return self._only([place for place, column in enumerate(self.columns) if column.name not in names])

    @property
    def in_words(self) -> "Table":
        """The table without its strips."""
        return self._only([place for place, column in enumerate(self.columns) if column.kind != "strip"])

    def _only(self, places: Sequence[int]) -> "Table":
        groups = (
            replace(g, rows=tuple(replace(row, cells=tuple(row.cells[k] for k in places)) for row in g.rows))
            for g in self.groups
        )
        return replace(self, columns=tuple(self.columns[k] for k in places), groups=tuple(groups))
