"""Document sets from tables: each row is a document, and a column says which set it belongs to.

Rows of a set may stand anywhere in the table. What is wrong with a table is reported once for each kind of mistake, with the
lines that have it: a column of the wrong name is one mistake and not as many as there are rows.
"""

import csv
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import Any

from pydantic import RootModel

from ..config import ColumnsSection
from ..errors import DataError
from ..extras import need
from ..records import Document, DocumentSet
from ..storage import as_given, listed, listed_lines, numbered, read_numbered, read_text, shortened
from ..text import did_you_mean, repeated, some_of

# names of files that are tables whatever is in them
TABLES = (".csv", ".tsv", ".parquet")
SURPLUS = "has more cells than there are columns; put cells with commas in quotes"

TOO_FEW = "has fewer cells than there are columns; write its empty cells, too, and put cells with commas in quotes"

MEND = "; fill it, or leave such rows out: evenhand import table --skip-empty"
# how columns are named wherever a table is read
NAMED = ": --columns set=COLUMN,text=COLUMN; in a recipe corpus.columns; in Python set=COLUMN, text=COLUMN"

# a row's number, and its cells by column
Row = tuple[int, Mapping[str, Any]]


@dataclass
class SkippedRows:
    """Rows with an empty cell, which are left out."""

    # column -> numbers of the rows in which it is empty
    by_column: dict[str, list[int]] = field(default_factory=dict)
    # attribute -> its value in such a row, "" where it is empty -> how many have it
    by_value: dict[str, Counter[str]] = field(default_factory=dict)

    def count(self, cells: Mapping[str, str | None], attributes: Sequence[str]) -> None:
        """Count a row that is left out by its values."""
        for name in attributes:
            self.by_value.setdefault(name, Counter())[(cells.get(name) or "").strip()] += 1


class _JsonRow(RootModel[dict[str, Any]]):
    """A row that is a line of JSON."""


def is_table(path: Path) -> bool:
    """Whether the name of a file says that it is a table."""
    return _kind(path) in TABLES


def unit_of(path: Path) -> str:
    """What the numbers of a table's rows count."""
    return "row" if _kind(path) == ".parquet" else "line"


def _kind(path: Path) -> str:
    return Path(path.name.removesuffix(".gz")).suffix.lower()


@as_given()
def read_table(
    path: Path,
    columns: ColumnsSection,
    attributes: Sequence[str],
    skipped: SkippedRows | None = None,
) -> list[DocumentSet]:
    """The document sets of a table, in order of first appearance.

    Args:
        path: CSV (commas or semicolons) or TSV with a line of names on top, Parquet, or JSON lines of flat objects; all but
            Parquet may be packed as .gz.
        columns: what the columns are called.
        attributes: columns that are social attributes of the documents, under the same name; each row must have them.
        skipped: as of `sets_of_rows`.

    Raises:
        DataError: the file cannot be read, or columns or cells are wrong; all mistakes are listed.
        MissingExtra: the table is Parquet, and pyarrow is not installed.
    """
    if is_table(path):
        rows = table_rows(path, [columns.text])
    else:
        objects, mistakes = read_numbered(path, _JsonRow)
        if mistakes:
            raise DataError(listed_lines(path, mistakes))
        rows = ((line, row.root) for line, row in objects)
    return sets_of_rows(rows, columns, attributes, source=str(path), unit=unit_of(path), skipped=skipped)


def table_rows(path: Path, text_columns: Collection[str]) -> Iterator[Row]:
    """The rows of CSV, TSV or Parquet; the separator is the one that makes a column of that name.

    Raises:
        DataError, MissingExtra: as of `read_table`.
    """
    if _kind(path) != ".parquet":
        yield from csv_rows(path, text_columns)
        return
    parquet = need("pyarrow.parquet", f"{path}: reading Parquet")
    try:
        yield from enumerate(parquet.read_table(path).to_pylist(), start=1)
    except (need("pyarrow", "reading Parquet").ArrowException, OSError) as error:
        raise DataError(f"{path}: cannot be read as Parquet: {error}") from error


def sets_of_rows(
    rows: Iterable[Row],
    columns: ColumnsSection,
    attributes: Sequence[str],
    *,
    source: str,
    unit: str = "row",
    skipped: SkippedRows | None = None,
) -> list[DocumentSet]:
    """The document sets of numbered rows, in order of first appearance.

    Args:
        rows: each with its cells by column; None, "" and NaN are empty cells, and numbers become texts.
        columns: what the columns are called.
        attributes: columns that are social attributes.
        source: what the rows come from, for errors.
        unit: what numbers count, for errors.
        skipped: takes the rows with an empty cell, and these are left out; None refuses them.

    Raises:
        DataError: no attribute is named, there is no row, columns are absent or cells are wrong; all mistakes are listed.
    """
    if not attributes:
        raise DataError(
            f"{source}: is a table; name the column of its social attribute: attribute=COLUMN (--attribute COLUMN)"
        )
    rows = list(rows)
    if not rows:
        raise DataError(f"{source}: has no rows; each row is a document")
    required = tuple(dict.fromkeys(filter(None, (columns.set, columns.text, columns.id, *attributes))))
    _refuse_absent(rows, required, columns, source)
    wrong: dict[str, list[int]] = defaultdict(list)
    empty_in: dict[str, list[int]] = defaultdict(list)
    members: dict[str, list[Mapping[str, str]]] = {}
    for number, row in rows:
        if None in row:
            wrong[SURPLUS].append(number)
        cells = {name: _cell(value) for name, value in row.items()}
        broken = [name for name, text in cells.items() if text is None]
        empty = [name for name in required if name not in broken and not (cells.get(name) or "").strip()]
        for name in broken:
            wrong[f"column {name!r} holds something that is not a text or a number"].append(number)
        for name in empty:
            empty_in[name].append(number)
        if empty and skipped:
            skipped.count(cells, attributes)
        if not broken and not empty:
            full = {name: text or "" for name, text in cells.items()}
            members.setdefault(full[columns.set].strip(), []).append(full)
    mistakes = [f"{source}: {what} in {numbered(unit, lines)}" for what, lines in wrong.items()]
    mistakes += [f"{source}: {text}" for name, mine in members.items() for text in _set_mistakes(name, mine, columns)]
    if skipped is None:
        mistakes += [
            f"{source}: column {name!r} is empty in {numbered(unit, lines)}{MEND}" for name, lines in empty_in.items()
        ]
    else:
        skipped.by_column.update(empty_in)
    if mistakes:
        raise DataError(listed(mistakes))
    if not members:
        raise DataError(f"{source}: has no row without an empty cell in {' or '.join(map(repr, required))}")
    return [_document_set(name, mine, columns, attributes) for name, mine in members.items()]


def _refuse_absent(rows: Sequence[Row], required: Sequence[str], columns: ColumnsSection, source: str) -> None:
    known = list(dict.fromkeys(str(name) for _, row in rows for name in row if name is not None))
    wanted = dict.fromkeys((*required, *filter(None, (columns.topic, columns.split))))
    if absent := [name for name in wanted if name not in known]:
        is_usual = any(name in absent for name in {"set", "text"} - columns.model_fields_set)
        raise DataError(
            listed([f"{source}: has no column {shortened(name)}{did_you_mean(name, known)}" for name in absent])
            + f"\nits columns are {', '.join(map(shortened, known))}; say which is the set, the text and the attribute"
            + (NAMED if is_usual else "")
        )


def rows_of_form(path: Path, columns: Sequence[str]) -> tuple[list[tuple[int, list[str]]], list[tuple[int, str]]]:
    """The rows of a table of a known form by line, each with its cells of these columns, and what is wrong with other rows.

    A row with too many or too few cells has a comma outside of quotes or lost one, so that its cells stand in wrong columns.

    Raises:
        StorageError: the file cannot be read.
        DataError: it is no table, columns are missing, or there is no row.
    """
    rows = list(csv_rows(path, columns))
    _refuse_absent_columns(rows, columns, path)
    good, mistakes = [], []
    for line, row in rows:
        if None in row:
            mistakes.append((line, SURPLUS))
        elif None in row.values():
            mistakes.append((line, TOO_FEW))
        else:
            good.append((line, [str(row[name]).strip() for name in columns]))
    return good, mistakes


def _refuse_absent_columns(rows: Sequence[Row], columns: Sequence[str], path: Path) -> None:
    """Refuse a table of a known form that lacks columns, or rows.

    Raises:
        DataError: columns are missing, or there is no row.
    """
    if not rows:
        raise DataError(f"{path}: has no rows; its columns should be {', '.join(columns)}")
    if absent := [name for name in columns if name not in rows[0][1]]:
        has = ", ".join(shortened(name) for name in rows[0][1] if name is not None)
        raise DataError(f"{path}: has no column {', '.join(map(repr, absent))}; its columns are {has}")


def _cell(value: Any) -> str | None:
    """A cell as text, "" for an empty one; None for what is not a text or a number."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        # whole numbers become floats where a column has empty cells
        value = int(value)
    return str(value) if isinstance(value, str | int | float) else None


def _set_mistakes(name: str, rows: Sequence[Mapping[str, str]], columns: ColumnsSection) -> Iterator[str]:
    for column in filter(None, (columns.topic, columns.split)):
        found = list(dict.fromkeys(row.get(column, "") for row in rows))
        if len(found) > 1:
            yield f"set {name!r} has several values in column {column!r}: {some_of(found)}; give all its rows the same"
    if columns.id and (twice := repeated(row[columns.id] for row in rows)):
        yield f"set {name!r}: ids in column {columns.id!r} occur more than once: {some_of(twice)}"


def _document_set(
    name: str, rows: Sequence[Mapping[str, str]], columns: ColumnsSection, attributes: Sequence[str]
) -> DocumentSet:
    return DocumentSet(
        id=name,
        topic=rows[0][columns.topic].strip() if columns.topic else "",
        documents=tuple(
            Document(
                id=row[columns.id].strip() if columns.id else f"{name}/{number}",
                text=row[columns.text],
                attributes={attribute: row[attribute].strip() for attribute in attributes},
            )
            for number, row in enumerate(rows, start=1)
        ),
        split=(rows[0][columns.split].strip() or None) if columns.split else None,
    )


def csv_rows(path: Path, text_columns: Collection[str]) -> Iterator[Row]:
    """The rows of a CSV or TSV file with the lines that they begin at.

    Args:
        path: the file; .gz and .bz2 are unpacked.
        text_columns: some of its columns, by which the separator is told.

    Raises:
        StorageError: the file cannot be read.
        DataError: it is no table, or a column's name occurs twice.
    """
    text = read_text(path)
    first = text.partition("\n")[0]
    separators = ("\t", ",", ";") if ".tsv" in path.suffixes else (",", ";", "\t")
    fitting = [s for s in separators if {*text_columns} & {*next(csv.reader([first], delimiter=s), ())}]
    # the library refuses cells of more than 131,072 characters, and documents may be longer
    usual = csv.field_size_limit(sys.maxsize)
    try:
        reader = csv.DictReader(
            StringIO(text), delimiter=[*fitting, *separators][0], strict=True, skipinitialspace=True
        )
        if twice := repeated(filter(None, reader.fieldnames or ())):
            raise DataError(f"{path}: column names occur more than once: {some_of(twice)}; rename them")
        for row in reader:
            # a cell in quotes may run over several lines
            yield reader.line_num - sum(str(cell).count("\n") for cell in row.values()), row
    except csv.Error as error:
        raise DataError(
            f"{path}: cannot be read as a table near line {reader.line_num}: {error}; close every quote, and write one within a "
            "cell twice"
        ) from error
    finally:
        csv.field_size_limit(usual)
