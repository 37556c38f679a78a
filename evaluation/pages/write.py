"""The files of a page: index.html (and details.html beside an overview), Markdown, its tables as CSV, its picture as SVG."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ...storage import write_together
from ...text.cells import Value, csv_text
from . import html, markdown, numbers
from .blocks import Page, tables
from .cells import Cell, NumberCell, Strip, Table, Text
from .picture import picture_table
from .svg import picture_file
from .words import MARK_NAMES

PAGE, DETAILS, TABLES = "index.html", "details.html", "tables"
# endings of page, Markdown and tables beside a JSON file
BESIDE = (".report.html", ".report.md", ".tables")
SECOND = ".details.html"


def write_page(
    page: Page,
    folder: Path,
    markdown_name: str,
    *,
    is_ours: bool = True,
    extra_files: Mapping[Path, Iterable[str]] | None = None,
) -> None:
    """Write the files, all or none; those of an earlier page are replaced.

    Args:
        page: what they say.
        folder: where they stand.
        markdown_name: name of the Markdown file.
        is_ours: whether the folder is evenhand's, so that tables of an earlier page that this one lacks are taken away.
        extra_files: other files of the same result, with the parts of their texts.

    Raises:
        StorageError: a file cannot be written.
    """
    paths = _Paths(folder / PAGE, folder / DETAILS, folder / markdown_name, folder / TABLES)
    _write(page, paths, is_ours=is_ours, extra_files=extra_files or {})


def write_beside(page: Page, path: Path) -> None:
    """Write the files beside a JSON file: scores.report.html, scores.report.md and the folder scores.tables.

    Raises:
        StorageError: a file cannot be written.
    """
    html_path, markdown_path, folder = (path.with_suffix(end) for end in BESIDE)
    paths = _Paths(html_path, path.with_suffix(SECOND), markdown_path, folder)
    _write(page, paths, is_ours=is_beside(path), extra_files={})


def is_beside(path: Path) -> bool:
    """Whether an earlier page lies beside a JSON file."""
    return path.with_suffix(BESIDE[0]).exists()


class _Paths(NamedTuple):
    """Where the files of a page stand."""

    html: Path
    # of a page with an overview
    details: Path
    markdown: Path
    tables: Path


def _write(page: Page, paths: _Paths, *, is_ours: bool, extra_files: Mapping[Path, Iterable[str]]) -> None:
    tables, first = table_files(page), page.overview
    pages = {paths.html: [html.render(page)]}
    if first:
        first_page = html.overview(page, first, paths.details.name, paths.tables.name)
        pages = {paths.details: [html.render(page, paths.html.name)], paths.html: [first_page]}
    write_together(
        {
            **extra_files,
            **{paths.tables / name: [text] for name, text in tables.items()},
            paths.markdown: [markdown.render(page, paths.html.name, paths.tables.name)],
            **pages,
        }
    )
    for path in (*paths.tables.glob("*.csv"), *paths.tables.glob("*.svg")) if is_ours else ():
        if path.name not in tables:
            path.unlink(missing_ok=True)


def table_files(page: Page) -> dict[str, str]:
    """File name -> content, of every table as CSV and of the picture as SVG."""
    picture = page.overview.picture if page.overview else None
    return csv_files(page) | ({f"{numbers.slug(picture.name)}.svg": picture_file(picture)} if picture else {})


def csv_files(page: Page) -> dict[str, str]:
    """File name -> content, of every table; equal names are numbered."""
    files: dict[str, str] = {}
    picture = page.overview.picture if page.overview else None
    blocks = (*page.findings, *page.body, *(page.overview.blocks if page.overview else ()))
    for table in (*([picture_table(picture)] if picture else []), *tables(blocks)):
        stem, n = numbers.slug(table.name), 1
        while (name := f"{stem}{'' if n == 1 else f'-{n}'}.csv") in files:
            n += 1
        files[name] = _csv(table.in_words)
    return files


def _csv(table: Table) -> str:
    """Numbers as they are, with bounds, verdicts and notes in columns of their own where a row has them."""
    has_groups = any(group.heading for group in table.groups)
    parts = [
        {part for row in table.rows for part, value in _parts(row.cells[place]) if value not in (None, "")}
        for place in range(len(table.columns))
    ]
    names = ["", "low", "high", "adjusted p", "unit", "verdict", "note"]
    columns = [
        (place, part) for place in range(len(table.columns)) for part in names if part in parts[place] or not part
    ]
    header = [f"{table.columns[place].name} {part}".strip() for place, part in columns]
    rows: list[list[Value]] = [[*(["group"] if has_groups else []), *header]]
    for group in table.groups:
        for row in group.rows:
            by_part = [dict(_parts(cell)) for cell in row.cells]
            rows.append(
                [*([group.heading] if has_groups else []), *(by_part[place].get(part) for place, part in columns)]
            )
    return csv_text(rows)


def _parts(cell: Cell) -> Iterator[tuple[str, float | str | None]]:
    if isinstance(cell, NumberCell):
        yield "", cell.value
        yield "low", cell.bounds[0] if cell.bounds else None
        yield "high", cell.bounds[1] if cell.bounds else None
        yield "adjusted p", cell.adjusted_p
    elif isinstance(cell, Text):
        yield "", "" if cell.text == numbers.NONE else cell.text
    if not isinstance(cell, Strip):
        yield "verdict", MARK_NAMES[cell.tone] if cell.tone else ""
        yield "note", cell.note
