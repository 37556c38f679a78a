"""The headline of a page and its main tables, or the page, for the terminal; names are whole at 80 columns."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.table import Table as RichTable
from rich.text import Text as AnyText

from ...text.controls import visible
from .blocks import Block, Details, Facts, Heading, Items, Legend, Marked, Overview, Page, Prose
from .cells import MARKS, Cell, Column, Strip, Table, Text, Tone
from .picture import Picture, lane_words, picture_table

STYLES: dict[Tone, str] = {"better": "bold blue", "worse": "bold yellow", "neutral": "bold", "unsure": "dim"}
# room that a column of words needs beside the others
LEAST_WORDS = 24
# between two columns
SPACE = 2
# lines of a first page, of which its warnings get some in any case; and what stands for those that are left out
MOST_LINES, LEAST_LINES, MORE = 22, 4, "... more on the page, and here with -v"


class RichText(AnyText):
    """Text whose control characters are written as escapes; rich takes five of them out and leaves the others."""

    def __init__(self, text: str = "", *args: Any, **options: Any) -> None:
        super().__init__(visible(text), *args, **options)

    def append(self, text: AnyText | str, style: Any = None) -> "RichText":
        """As of rich, which puts texts together by it."""
        super().append(visible(text) if isinstance(text, str) else text, style)
        return self


def render(page: Page, *, whole: bool = False) -> RenderableType:
    """Title, main blocks and warnings, where there are main blocks, or the first page; or the whole page in words."""
    if page.overview and not whole and not page.main:
        return _First(page, page.overview)
    warnings = (RichText(f"warning: {warning}", style="yellow") for warning in page.warnings)
    blocks = (*page.findings, *page.body) if whole else page.main
    return Group(RichText(page.title, style="bold"), *_blocks(blocks), *warnings)


def fragment(blocks: Iterable[Block]) -> RenderableType:
    """Some blocks without a page around them."""
    return Group(*_blocks(blocks))


class _First:
    """A first page in few lines: what is longer than that is left to the page."""

    def __init__(self, page: Page, first: Overview) -> None:
        self.page, self.first = page, first

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        first = self.first

        def lines(*parts: RenderableType) -> list[list[Segment]]:
            return console.render_lines(Group(*parts), options, pad=False)

        head = lines(
            *([RichText(first.outcome.text, style=STYLES[first.outcome.tone or "neutral"])] if first.outcome else ()),
            RichText(first.headline, style="bold"),
            RichText.assemble((f"{first.sure}. ", "bold"), first.text),
        )
        warnings = lines(*(RichText(f"warning: {warning}", style="yellow") for warning in self.page.cautions))
        picture_lines = lines(RichText(), *_pictured(first.picture)) if first.picture else []
        warnings = _cut(
            warnings, max(MOST_LINES - len(head) - len(picture_lines), LEAST_LINES), lines(RichText(MORE, style="dim"))
        )
        picture_lines = _cut(picture_lines, MOST_LINES - len(head) - len(warnings), lines(RichText(MORE, style="dim")))
        for line in (*head, *picture_lines, *warnings):
            yield from line
            yield Segment.line()


def _pictured(picture: Picture) -> Iterator[RenderableType]:
    """The picture as a table; where its rows have verdicts as sentences, a row's first line with its verdict."""
    if not any(row.verdict for row in picture.rows):
        yield _Fitting(picture_table(picture))
        return
    for part in picture.parts:
        for row in part.rows:
            lanes = [f"{lane.name} {lane_words(lane, part)}" for lane in row.lanes if lane.marks]
            tone = row.verdict.tone if row.verdict and row.verdict.tone else "unsure"
            note = f" ({row.verdict.note})" if row.verdict and row.verdict.note else ""
            verdict = f" {row.verdict.text}{note}" if row.verdict else ""
            yield RichText.assemble((f"{MARKS[tone]} {row.name}:", STYLES[tone]), verdict)
            yield RichText(f"  {'; '.join(lanes) or 'nothing was scored'}", style="dim")


def _cut(lines: list[list[Segment]], most_lines: int, remark: list[list[Segment]]) -> list[list[Segment]]:
    return lines if len(lines) <= most_lines else [*lines[: max(most_lines - 1, 0)], *remark]


def _blocks(blocks: Iterable[Block]) -> Iterator[RenderableType]:
    before: Block | None = None
    for block in blocks:
        if isinstance(before, Table) and isinstance(block, Prose):
            yield RichText()
        before = block
        match block:
            case Heading():
                yield RichText(f"\n{block.text}", style="bold")
                if block.lead:
                    yield RichText(block.lead, style="dim")
            case Prose():
                style = "" if block.style != "lead" else "dim"
                yield RichText.assemble((f"{block.head} " if block.head else "", "bold"), (block.text, style))
            case Marked():
                yield RichText.assemble(
                    (f"{block.head} " if block.head else "", "bold"), *(text for text, _ in block.parts)
                )
            case Items():
                yield from (_item(prose) for prose in block.items)
            case Facts():
                yield from (RichText.assemble(f"{term}: ", _cell(cell, " ")) for term, cell in block.entries)
            case Legend():
                marks = [f"{MARKS[tone]} {text}" for tone, text in block.entries if isinstance(tone, str)]
                yield from [RichText("  ".join(marks), style="dim")] if marks else []
            case Details():
                yield RichText.assemble(f"{block.summary} ", (block.note, "dim"))
                # nothing can be unfolded here: sentences are told, tables are in their files
                yield from _blocks(part for part in block.blocks if isinstance(part, Items))
            case Table() if block.rows:
                yield RichText()
                yield _Fitting(block.in_words)


def _item(prose: Prose) -> RenderableType:
    """A point of a list, its later lines below the first one's words."""
    grid = RichTable.grid(padding=(0, 1, 0, 0))
    head = f"{prose.head} " if prose.head else ""
    grid.add_row("\u2022", RichText.assemble((head, "bold"), prose.text))
    return grid


class _Fitting:
    """A table where it fits the width, intervals beside their numbers or else below them; else its rows one below the other."""

    def __init__(self, table: Table) -> None:
        self.table = table

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for joint in (" ", "\n"):
            if widths := _widths(self.table, joint, options.max_width):
                yield from list(_parts(self.table, joint, widths))
                return
        yield from _stacked(self.table)


def _widths(table: Table, joint: str, room: int) -> list[int]:
    """Width of each column, that of long words what the others leave; none where they do not fit."""
    has_groups = any(group.heading for group in table.groups)
    widths = []
    for place, column in enumerate(table.columns):
        lines = (line for row in table.rows for line in _cell(row.cells[place], joint).split())
        widths.append(max([*(line.cell_len for line in lines), *(len(word) for word in _words(column))]))
    widths[0] += has_groups
    room -= SPACE * (len(widths) - 1)
    long = [place for place, column in enumerate(table.columns) if column.kind == "long"]
    spare_width = room - sum(width for place, width in enumerate(widths) if place not in long)
    for place in long:
        widths[place] = max(min(widths[place], LEAST_WORDS), min(widths[place], spare_width // len(long)))
    return widths if sum(widths) <= room else []


def _parts(table: Table, joint: str, widths: Sequence[int]) -> Iterator[RenderableType]:
    """The names of the columns, then each group below its heading: tables of the same columns."""
    grid = _empty(table, widths, show_header=True)
    yield grid
    for group in table.groups:
        if group.heading:
            yield RichText(group.heading, style="bold")
            grid = _empty(table, widths, show_header=False)
            yield grid
        for row in group.rows:
            first, *cells = (_cell(cell, joint) for cell in row.cells)
            indented = RichText.assemble(" " if group.heading else "", first)
            grid.add_row(indented, *cells, style="bold" if row.is_total else "")


def _empty(table: Table, widths: Sequence[int], *, show_header: bool) -> RichTable:
    grid = RichTable(
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        padding=(0, 1),
        collapse_padding=True,
        show_header=show_header,
    )
    for place, (column, width) in enumerate(zip(table.columns, widths, strict=True)):
        is_words = place == 0 or column.kind in ("words", "long")
        grid.add_column(RichText(_name(column)), justify="left" if is_words else "right", width=width, overflow="fold")
    return grid


def _words(column: Column) -> list[str]:
    """Parts of a column's name that stay whole: names of numbers may take several lines."""
    return _name(column).split() if column.kind == "number" else _name(column).split("\n")


def _name(column: Column) -> str:
    return f"{column.name}\n{column.note}" if column.note else column.name


def _stacked(table: Table) -> Iterator[RenderableType]:
    for group in table.groups:
        if group.heading:
            yield RichText(group.heading, style="bold")
        for row in group.rows:
            yield _cell(row.cells[0], " ")
            for column, cell in zip(table.columns[1:], row.cells[1:], strict=True):
                if (text := _cell(cell, " ")).plain.strip():
                    yield RichText.assemble(f"  {column.name} ", text)


def _cell(cell: Cell, joint: str) -> AnyText:
    """The cell in words; the interval of a number below it, or after it where they are joined by a space."""
    if isinstance(cell, Strip):
        return RichText()
    style = STYLES[cell.tone] if cell.tone else ""
    mark = MARKS[cell.tone] if cell.tone else ""
    if isinstance(cell, Text):
        style = style or {"strong": "bold", "faint": "dim"}.get(cell.style, "")
        return RichText.assemble((f"{mark}{cell.text}", style), (f" ({cell.note})" if cell.note else "", "dim"))
    notes = cell.below
    remark = f" ({'; '.join(notes)})" if notes and joint == " " else "".join(f"{joint}{note}" for note in notes)
    return RichText.assemble((f"{mark}{cell.shown}", style), (remark, "dim"))
