"""Rows of files that are tables: CSV, TSV, Parquet and .xlsx, each with the line or row where it begins."""

import csv
import re
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..extras import need
from ..storage import read_bytes, read_text
from ..text import repeated, some_of
from ..text.cells import is_scores, read
from ..text.shown import shortened
from .frames import arrow_rows
from .spreadsheets import sheet_rows

# names of files that are tables whatever is in them
TABLES = (".csv", ".tsv", ".parquet", ".xlsx")
# names of files of office programs that are not read
OFFICE = (".xls", ".xlsm", ".xlsb", ".ods", ".numbers", ".docx", ".doc", ".odt", ".pages", ".rtf", ".pdf")
SURPLUS = "has more cells than there are columns; put cells with commas in quotes"

TOO_FEW = "has fewer cells than there are columns; write its empty cells, too, and put cells with commas in quotes"
# a line on top by which spreadsheets know the separator
SEPARATOR = re.compile(r'"?sep=(.)"?\n', re.IGNORECASE)

# a row's number, and its cells by column
Row = tuple[int, Mapping[Any, Any]]


def is_table(path: Path) -> bool:
    """Whether the name of a file says that it is a table."""
    return _kind(path) in TABLES


def refuse_office(path: Path) -> None:
    """Refuse a file of an office program by its name.

    Raises:
        DataError: it is one.
    """
    if _kind(path) in OFFICE and path.is_file():
        raise DataError(f"{path}: is a file of an office program; save it as CSV (UTF-8) or .xlsx and give that")


def unit_of(path: Path) -> str:
    """What the numbers of a table's rows count."""
    return "row" if _kind(path) in (".parquet", ".xlsx") else "line"


def _kind(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


def table_rows(path: Path, text_columns: Collection[str]) -> Iterator[Row]:
    """The rows of CSV, TSV, Parquet or .xlsx; the separator is the one that makes a column of that name.

    Raises:
        DataError, MissingExtra: as of `read_table`.
    """
    if _kind(path) == ".xlsx":
        yield from sheet_rows(path)
        return
    if _kind(path) != ".parquet":
        yield from csv_rows(path, text_columns)
        return
    parquet = need("pyarrow.parquet", f"{path}: reading Parquet")
    try:
        yield from enumerate(arrow_rows(parquet.read_table(path)), start=1)
    except (need("pyarrow", "reading Parquet").ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read as Parquet: {error}") from error


def csv_rows(path: Path, text_columns: Collection[str]) -> Iterator[Row]:
    """The rows of a CSV or TSV file with the lines that they begin at.

    Args:
        path: the file; .gz and .bz2 are unpacked.
        text_columns: some of its columns, by which the separator is told; without them it is the one that makes most columns. A
            line "sep=;" on top, as spreadsheets write it, says it itself.

    Raises:
        StorageError: the file cannot be read.
        DataError: it is no table, or a column's name occurs twice.
    """
    text = read_text(path)
    if is_own := is_scores(text.partition("\n")[0].split(",")):
        # with the line ends that texts had
        text = read_bytes(path).decode("utf-8-sig")
    stated = SEPARATOR.match(text)
    text = text[stated.end() :] if stated else text
    separator = stated[1] if stated else _separator(path, text.partition("\n")[0], text_columns)
    # the library refuses cells of more than 131,072 characters, and documents may be longer
    usual = csv.field_size_limit(sys.maxsize)
    try:
        reader = csv.DictReader(StringIO(text), delimiter=separator, strict=True, skipinitialspace=not is_own)
        if twice := repeated(filter(None, reader.fieldnames or ())):
            raise DataError(f"{path}: column names occur more than once: {some_of(twice)}; rename them")
        for row in reader:
            # a cell in quotes may run over several lines
            n_breaks = sum(str(cell).count("\n") for cell in row.values())
            line = reader.line_num - n_breaks + (1 if stated else 0)
            yield line, {name: read(cell) if is_own and isinstance(cell, str) else cell for name, cell in row.items()}
    except csv.Error as error:
        raise DataError(
            f"{path}: cannot be read as a table near line {reader.reader.line_num}: {error}; close every quote, and write one "
            "within a cell twice"
        ) from error
    finally:
        csv.field_size_limit(usual)


def _separator(path: Path, first: str, text_columns: Collection[str]) -> str:
    separators = ("\t", ",", ";") if ".tsv" in path.suffixes else (",", ";", "\t")
    columns = {separator: next(csv.reader([first], delimiter=separator), []) for separator in separators}
    return max(
        separators, key=lambda separator: (not {*text_columns}.isdisjoint(columns[separator]), len(columns[separator]))
    )


def rows_of_form(path: Path, columns: Sequence[str]) -> tuple[list[tuple[int, list[str]]], list[tuple[int, str]]]:
    """The rows of a table of a known form by line, each with its cells of these columns, and what is wrong with other rows.

    A row with too many or too few cells has a comma outside of quotes or lost one, so that its cells stand in wrong columns.

    Raises:
        StorageError: the file cannot be read.
        DataError: it is no table, columns are missing, or there is no row.
    """
    rows = list(csv_rows(path, columns))
    refuse_absent_columns(rows, columns, path)
    good, mistakes = [], []
    for line, row in rows:
        if None in row:
            mistakes.append((line, SURPLUS))
        elif None in row.values():
            mistakes.append((line, TOO_FEW))
        else:
            good.append((line, [str(row[name]).strip() for name in columns]))
    return good, mistakes


def refuse_absent_columns(rows: Sequence[Row], columns: Sequence[str], path: Path) -> None:
    """Refuse a table of a known form that lacks columns, or rows.

    Raises:
        DataError: columns are missing, or there is no row.
    """
    if not rows:
        raise DataError(f"{path}: has no rows; its columns should be {', '.join(columns)}")
    if absent := [name for name in columns if name not in rows[0][1]]:
        has = ", ".join(shortened(name) for name in rows[0][1] if name is not None)
        raise DataError(f"{path}: has no column {', '.join(map(repr, absent))}; its columns are {has}")
