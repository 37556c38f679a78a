"""Rows of Excel's workbooks: those of the first sheet, each under the column's name in the first row."""

import logging
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from ..errors import DataError
from ..extras import need
from ..storage import read_bytes
from ..text import repeated, some_of
from ..text.shown import shortened
from .cells import cell_text

logger = logging.getLogger(__name__)

REMEDY = "save it again as .xlsx, or as CSV (UTF-8)"


def sheet_rows(path: Path) -> Iterator[tuple[int, dict[str | None, Any]]]:
    """The rows below the first one with their numbers, which the spreadsheet shows; rows and columns without any cell are none.

    Of a formula its last result, and of a number with a format the number. Cells beyond the named columns are under None.

    Raises:
        DataError: it is no workbook, its first row is merged, or has a name twice or none.
        MissingExtra: openpyxl is not installed.
    """
    openpyxl = need("openpyxl", f"{path}: reading .xlsx")
    try:
        workbook = openpyxl.load_workbook(BytesIO(read_bytes(path)), data_only=True)
    except (BadZipFile, KeyError, ValueError, TypeError, AttributeError, OSError, SyntaxError) as error:
        # what openpyxl says of a file that is none, or is broken or locked by a password
        raise DataError(f"{path}: cannot be read as .xlsx ({error}); {REMEDY}") from error
    sheets = [sheet for sheet in workbook.worksheets if any(map(_has_content, sheet.iter_rows(values_only=True)))]
    if not sheets:
        raise DataError(f"{path}: has no cells; a table has names of columns in its first row")
    first, *others = sheets
    if others:
        titles = [shortened(sheet.title) for sheet in others]
        logger.warning("%s: sheet %s is read, and not %s", path, shortened(first.title), some_of(titles))
    names = _names(path, first)
    for number, cells in enumerate(first.iter_rows(min_row=2, values_only=True), start=2):
        if _has_content(cells):
            row: dict[str | None, Any] = dict(zip(names, cells, strict=False))
            beyond = [cell for name, cell in zip(names, cells, strict=False) if name is None and cell is not None]
            row.pop(None, None)
            yield number, row | ({None: beyond} if beyond else {})


def _has_content(cells: tuple[Any, ...]) -> bool:
    return any(cell is not None for cell in cells)


def _names(path: Path, sheet: Any) -> list[str | None]:
    """Names of the columns; None of a column that has none."""
    if merged := [str(area) for area in sheet.merged_cells.ranges if area.min_row == 1]:
        raise DataError(
            f"{path}: sheet {shortened(sheet.title)} has merged cells in its first row ({some_of(merged)}), and each column "
            "needs a name of its own there; split them, and take titles above the names out"
        )
    header = next(sheet.iter_rows(max_row=1, values_only=True))
    names = [cell_text(cell).strip() or None for cell in header]
    if not any(names):
        raise DataError(
            f"{path}: sheet {shortened(sheet.title)} has no names of columns in its first row; write them there"
        )
    if twice := repeated(filter(None, names)):
        raise DataError(f"{path}: column names occur more than once: {some_of(twice)}; rename them")
    return names
