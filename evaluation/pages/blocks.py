"""What a page is made of. A family of results turns its records into these blocks; how they look is the renderers' affair."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, Protocol, TypeVar

from ...config.plain_yaml import dump_yaml
from ...number import Number
from ...resampling import Bounds
from . import numbers
from .charts import Panel, PlanePlot, Point, Scale, scale

# what a difference says of a system; "neutral" differs and is neither better nor worse, "unsure" shows no clear difference
Tone = Literal["better", "worse", "neutral", "unsure"]
MARKS: dict[Tone, str] = {"better": "\u25b2", "worse": "\u25bc", "neutral": "\u25cf", "unsure": "\u25cb"}


# sentences that a reader takes in at once
MOST_FIRST = 6
# warnings on the first of two pages
MOST_CAUTIONS = 3

R = TypeVar("R")
K = TypeVar("K")


class Bounded(Protocol):
    """A record with an interval, or none."""

    @property
    def low(self) -> float | None: ...
    @property
    def high(self) -> float | None: ...


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


@dataclass(frozen=True)
class Heading:
    """A heading; those of level 2 begin a section and are linked in the navigation."""

    text: str
    level: Literal[2, 3] = 2
    note: str = ""
    # explains what follows
    lead: str = ""

    @property
    def slug(self) -> str:
        """Where links lead."""
        return numbers.slug(self.text)


@dataclass(frozen=True)
class Prose:
    """A paragraph; "lead" explains what follows."""

    text: str
    style: Literal["", "lead", "small", "code"] = ""
    # in bold before it
    head: str = ""


@dataclass(frozen=True)
class Marked:
    """A text of somebody's, with the words marked that are told of."""

    # texts and whether they are marked
    parts: tuple[tuple[str, bool], ...]
    # in bold before it
    head: str = ""


@dataclass(frozen=True)
class Items:
    """Short paragraphs of the same kind, each with a head in bold or none."""

    items: tuple[Prose, ...]


@dataclass(frozen=True)
class Facts:
    """Terms and what stands for them: how it was made, key figures."""

    entries: tuple[tuple[str, Cell], ...]


@dataclass(frozen=True)
class Legend:
    """The meaning of marks: tones of differences, or the palette of a strip; None in the palette is the mean of all."""

    entries: tuple[tuple[int | Tone | None, str], ...]


@dataclass(frozen=True)
class Charts:
    """Small line charts side by side, which have one legend."""

    panels: tuple[Panel, ...]


@dataclass(frozen=True)
class PlaneChart:
    """Systems in the plane of two judges."""

    plane: PlanePlot


@dataclass(frozen=True)
class Code:
    """Text as it is: a recipe, a program."""

    text: str
    # of a program, for Markdown
    language: str = ""


@dataclass(frozen=True)
class Details:
    """Blocks that are folded until somebody asks for them."""

    summary: str
    blocks: tuple["Block", ...]
    # beside the summary
    note: str = ""
    # single cases, whose tables are not results and have no files
    is_example: bool = False


Block = Heading | Prose | Marked | Items | Facts | Legend | Table | Charts | PlaneChart | Code | Details


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


@dataclass(frozen=True)
class Overview:
    """The first page of a result: what it says in a sentence, how sure, and one picture; everything else is on the second one."""

    # at most fifteen words
    headline: str
    # how sure that is, in three words, and the numbers behind them
    sure: str
    text: str = ""
    picture: Picture | None = None
    # examples and curves
    blocks: tuple[Block, ...] = ()
    # of a gate, before everything else
    outcome: Text | None = None


@dataclass(frozen=True)
class Page:
    """Everything that one result says."""

    # "report", "audit", ...
    kind: str
    # what it is about, in a few words
    about: str
    title: str
    warnings: tuple[str, ...]
    # above the navigation
    findings: tuple[Block, ...]
    body: tuple[Block, ...]
    footer: str
    # what the terminal shows in place of the overview: the headline's tables
    main: tuple[Block, ...] = ()
    # the first page, where there are two
    overview: Overview | None = None

    @property
    def cautions(self) -> tuple[str, ...]:
        """The first warnings, which stand on the first page."""
        return self.warnings[:MOST_CAUTIONS]

    @property
    def sections(self) -> list[Heading]:
        """The headings that the navigation leads to."""
        return [block for block in self.body if isinstance(block, Heading) and block.level == 2]


# of a table: columns, or their names
Heads = tuple[Column | str, ...]
# the same, each with what makes its cell of a record
Columns = Mapping[Column | str, Callable[[R], Cell | str]]
# a term and what stands for it
Fact = tuple[str, Cell | str]


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


def listing(name: str, records: Iterable[R], columns: Columns[R], scale: Scale | None = None) -> Table:
    """A table with a row for each record."""
    return table(name, columns, rows_of(records, columns), scale)


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


def picture_table(picture: Picture) -> Table:
    """The numbers of a picture: rows down, its lines across."""
    rows = picture.rows
    names = list(dict.fromkeys(lane.name for line in rows for lane in line.lanes))
    has = [any(line.reference for line in rows), any(line.band for line in rows), any(map(_verdict, rows))]
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
            cells += [_verdict(picture_row) or Text("")] * has[2]
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


def _verdict(picture_row: PictureRow) -> Text | None:
    return picture_row.verdict


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


def lane(number: Number, label: str, style: int | Tone, *, is_clear: bool) -> Lane:
    """A line of a picture with one number."""
    marks = (Mark(number, style),) if number.value is not None else ()
    return Lane(label, marks, is_clear=is_clear)


def estimates_scale(estimates: Iterable[Number], *, zero: bool = False) -> Scale:
    """An axis that holds the numbers and their intervals."""
    return scale((x for number in estimates for x in (number.value, *bounds(number))), zero=zero)


def code(text: str, note: str = "") -> Text:
    """A cell with a signature, a model or a path."""
    return Text(text, note, style="code")


def items(prose: Iterable[Prose], otherwise: str = "") -> Iterator["Block"]:
    """Short paragraphs; where there are none, what is said in their place, or nothing."""
    if paragraphs := tuple(prose):
        yield Items(paragraphs)
    elif otherwise:
        yield Prose(otherwise)


def first_and_more(sentences: Sequence[str]) -> Iterator["Block"]:
    """Sentences as a list, of which the first are on the first screen; the others are folded."""
    first, remainder = sentences[:MOST_FIRST], sentences[MOST_FIRST:]
    yield from items(map(Prose, first))
    if remainder:
        yield Details("More findings", tuple(items(map(Prose, remainder))), str(len(remainder)))


def recipe_details(recipe: Mapping[str, object], of: str = "") -> Details:
    """A recipe with everything that it left to defaults, folded."""
    return Details(f"The recipe{of and f' of {of}'}, resolved", (Code(dump_yaml(recipe)),))


def how_made(facts: Iterable[Fact], versions: Mapping[str, str]) -> Iterator["Block"]:
    """The section on how a result was made, what was installed last; facts may be given as plain words."""
    entries = [(term, Text(cell) if isinstance(cell, str) else cell) for term, cell in facts]
    installed = " \u00b7 ".join(f"{name} {version}" for name, version in versions.items())
    yield Heading("How it was made")
    yield Facts((*entries, ("versions", Text(installed))))


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


def tables(blocks: Iterable[Block]) -> Iterator[Table]:
    """All tables, folded ones with the others; of a line chart the table of its points."""
    for block in blocks:
        if isinstance(block, Table):
            yield block
        elif isinstance(block, Charts):
            yield from map(points, block.panels)
        elif isinstance(block, Details) and not block.is_example:
            yield from tables(block.blocks)


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
