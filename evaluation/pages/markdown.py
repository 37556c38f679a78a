"""A page as GitHub-flavoured Markdown, for pull requests and notes."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape

from ...text import fold
from ...text.controls import visible
from . import numbers
from .blocks import Block, Charts, Code, Details, Facts, Heading, Items, Marked, Overview, Page, PlaneChart, Prose
from .cells import MARKS, Cell, NumberCell, Strip, Table, Text
from .picture import picture_table
from .tables import points

# points of a line chart that its table shows; the CSV file has all
MOST_POINTS = 12
# where hosts of pull requests make links of plain text: @team, a@b.org, #12, GH-12, !12, https://..., www.; a space without
# width there takes the meaning and not the look
CALL = re.compile(
    r"(?<=@)(?=\w)|(?<=[#!])(?=\d)|(?<=\bgh)(?=-\d)|(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=\bmailto:)", re.IGNORECASE
)
NOTHING = "&#8203;"


def render(page: Page, html_name: str = "index.html", tables: str = "tables") -> str:
    """The page as Markdown, which names the HTML and the folder of tables beside it."""
    first = page.overview
    parts = [
        f"# {plain(first.headline if first else page.title)}",
        *([f"**{plain(first.outcome.text)}**"] if first and first.outcome else []),
        f"evenhand {page.kind}: {plain(page.about)}. The page is {html_name} beside this file, every table is in {tables}/.",
        *(_overview(first, page.title, tables) if first else ()),
        *_blocks(page.findings),
        *(f"> **Warning.** {plain(warning)}" for warning in page.warnings),
        *_blocks(page.body),
        plain(page.footer),
    ]
    return "\n\n".join(parts) + "\n"


def _overview(first: Overview, title: str, tables: str) -> Iterator[str]:
    yield f"**{plain(first.sure)}.** {plain(first.text)}"
    if first.picture:
        yield f"![{plain(first.picture.title)}]({tables}/{numbers.slug(first.picture.name)}.svg)"
        yield _table(picture_table(first.picture))
    yield from _blocks(first.blocks)
    yield plain(title)


def fragment(blocks: Iterable[Block]) -> str:
    """Some blocks without a page around them, for a card."""
    return "\n\n".join(_blocks(blocks))


def plain(text: str) -> str:
    """Text from data on one line, without what starts HTML, code, a link or an escape, or calls a person, a team or an issue."""
    shown = escape(fold(visible(text)), quote=False).replace("\\", "\\\\").replace("`", "'").replace("[", "\\[")
    return CALL.sub(NOTHING, shown)


def _code(text: str) -> str:
    """Text from data as code on one line, where a backslash and a bracket are themselves."""
    return "`" + escape(fold(visible(text)), quote=False).replace("`", "'") + "`"


def _blocks(blocks: Iterable[Block]) -> Iterator[str]:
    for block in blocks:
        match block:
            case Heading():
                yield f"{'#' * block.level} {plain(block.text)}{f' ({plain(block.note)})' if block.note else ''}"
                yield from [plain(block.lead)] if block.lead else ()
            case Prose():
                yield _prose(block)
            case Items():
                yield "\n".join(f"- {_prose(prose)}" for prose in block.items)
            case Marked():
                marked_text = "".join(
                    f"**{plain(text)}**" if is_marked else plain(text) for text, is_marked in block.parts
                )
                yield f"**{plain(block.head)}** {marked_text}" if block.head else marked_text
            case Facts():
                yield "\n".join(f"- {plain(term)}: {_cell(cell)}" for term, cell in block.entries)
            case Table():
                yield _table(block.in_words)
            case Charts():
                for panel in block.panels:
                    title = f"{panel.title} ({panel.note})" if panel.note else panel.title
                    yield f"**{plain(title)}**"
                    yield _table(points(panel, MOST_POINTS))
            case Code():
                yield _fenced(block)
            case Details():
                note = f" ({plain(block.note)})" if block.note else ""
                yield f"<details><summary>{plain(block.summary)}{note}</summary>"
                yield from _blocks(block.blocks)
                yield "</details>"
            case PlaneChart():
                yield f"On the front: {plain(block.plane.on_front)}."


def _prose(block: Prose) -> str:
    head = f"**{plain(block.head)}** " if block.head else ""
    return head + (_code(block.text) if block.style == "code" else plain(block.text))


def _fenced(block: Code) -> str:
    """The text between fences longer than any of its own."""
    fence = "`" * (1 + max(2, *(len(run) for run in re.findall("`+", block.text) or [""])))
    return f"{fence}{block.language}\n{block.text.rstrip()}\n{fence}"


def _table(table: Table) -> str:
    names = (f"{column.name} {column.note}".strip() for column in table.columns)
    lines = [[_bar(plain(name)) for name in names], ["---"] * len(table.columns)]
    for group in table.groups:
        if group.heading:
            note = f" {plain(group.note)}" if group.note else ""
            lines.append([_bar(f"**{plain(group.heading)}**{note}"), *[""] * (len(table.columns) - 1)])
        lines += [[_bar(_cell(cell)) for cell in row.cells] for row in group.rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _bar(text: str) -> str:
    return text.replace("|", "\\|")


def _cell(cell: Cell) -> str:
    if isinstance(cell, Strip):
        return ""
    mark = f"{MARKS[cell.tone]} " if cell.tone else ""
    notes: Sequence[str] = [plain(cell.note)] if cell.note else []
    if isinstance(cell, NumberCell):
        notes, text = [plain(note) for note in cell.below], cell.shown
    else:
        text = _code(cell.text) if isinstance(cell, Text) and cell.style == "code" else plain(cell.text)
    remark = f" ({'; '.join(notes)})" if notes else ""
    return f"{mark}{text}{remark}"
