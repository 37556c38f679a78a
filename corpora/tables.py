"""Document sets from tables: each row is a document, and a column says which set it belongs to.

Rows of a set may stand anywhere in the table. What is wrong with a table is reported once for each kind of mistake, with the
lines that have it: a column of the wrong name is one mistake and not as many as there are rows.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import RootModel

from ..config import ColumnsSection
from ..errors import DataError
from ..records import Document, DocumentSet
from ..storage import as_given, parse_json_of, read_numbered, read_text
from ..text import did_you_mean, look_alike, one_spelling, repeated, some_of, spelling_key
from ..text.mistakes import listed, listed_lines, numbered
from ..text.shown import shortened
from .cells import cell_text, lost_digits
from .table_files import SURPLUS, Row, is_table, refuse_office, table_rows, unit_of

logger = logging.getLogger(__name__)

MEND = "; fill it, or leave such rows out: --skip-empty; in a recipe corpus.skip_empty=true; in Python skip_empty=True"
# how columns are named wherever a table is read
NAMED = ": --columns set=COLUMN,text=COLUMN; in a recipe corpus.columns; in Python load_documents(..., set=COLUMN, text=COLUMN)"


class _JsonRow(RootModel[dict[str, Any]]):
    """A row that is a line of JSON."""


@as_given()
def read_table(
    path: Path,
    columns: ColumnsSection,
    attributes: Sequence[str],
    skip_empty: bool = False,
) -> list[DocumentSet]:
    """The document sets of a table, in order of first appearance.

    Args:
        path: CSV (commas or semicolons) or TSV with a line of names on top, .xlsx with such a row, Parquet, or JSON lines of
            objects; all but Parquet may be packed as .gz. A JSON array of such objects is one too.
        columns: what the columns are called.
        attributes: columns that are social attributes of the documents, under the same name; each row must have them.
        skip_empty: as of `sets_of_rows`.

    Raises:
        DataError: the file cannot be read, or columns or cells are wrong; all mistakes are listed.
        MissingExtra: pyarrow, for Parquet, or openpyxl, for .xlsx, is not installed.
    """
    rows, unit = rows_of_file(path, columns)
    return sets_of_rows(rows, columns, attributes, source=str(path), unit=unit, skip_empty=skip_empty)


def rows_of_file(path: Path, columns: ColumnsSection) -> tuple[Iterable[Row], str]:
    """The numbered rows of a table, and what the numbers count: "line" or "row"; errors as of `read_table`."""
    refuse_office(path)
    if is_table(path):
        return table_rows(path, [columns.text]), unit_of(path)
    if (text := read_text(path)).lstrip().startswith("["):
        return array_rows(path, parse_json_of(path, text)), "row"
    objects, mistakes = read_numbered(path, _JsonRow)
    if mistakes:
        raise DataError(listed_lines(path, mistakes))
    return [(line, row.root) for line, row in objects], "line"


def array_rows(path: Path, records: Any) -> list[Row]:
    """The elements of a JSON array as rows.

    Raises:
        DataError: it is no array of objects.
    """
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise DataError(f"{path}: is no JSON array of objects, each a row with a document")
    return list(enumerate(records, start=1))


def sets_of_rows(
    rows: Iterable[Row],
    columns: ColumnsSection,
    attributes: Sequence[str],
    *,
    source: str,
    unit: str = "row",
    skip_empty: bool = False,
) -> list[DocumentSet]:
    """The document sets of numbered rows, in order of first appearance.

    Args:
        rows: each with its cells by column; None, "" and NaN are empty cells, and numbers and dates become texts. Columns that
            are not named may hold anything.
        columns: what the columns are called.
        attributes: columns that are social attributes.
        source: what the rows come from, for errors.
        unit: what numbers count, for errors.
        skip_empty: leave rows with an empty cell out, which are counted in the log, by their values, too; else they are refused.

    Raises:
        DataError: no attribute is named, there is no row, columns are absent, cells are wrong, or ids have lost digits; all
            mistakes are listed.
    """
    if not attributes:
        raise DataError(
            f"{source}: is a table; name the column of its social attribute: --attribute COLUMN, in Python "
            "load_documents(..., attribute=COLUMN), whose result is taken wherever documents are"
        )
    rows = list(rows)
    if not rows:
        raise DataError(f"{source}: has no rows; each row is a document")
    required = tuple(dict.fromkeys(filter(None, (columns.set, columns.text, columns.id, *attributes))))
    wanted = tuple(dict.fromkeys((*required, *filter(None, (columns.topic, columns.split)))))
    _refuse_absent(rows, wanted, columns, source)
    wrong: dict[str, list[int]] = defaultdict(list)
    empty_in: dict[str, list[int]] = defaultdict(list)
    left_out_by: dict[str, Counter[str]] = defaultdict(Counter)
    members: dict[str, list[Mapping[str, str]]] = {}
    for number, row in rows:
        if None in row:
            wrong[SURPLUS].append(number)
        cells, broken = _cells(row, wanted)
        for name, kind in broken.items():
            wrong[f"column {name!r} holds {kind}, which is not a text or a number"].append(number)
        empty = [name for name in required if name not in broken and not one_spelling(cells[name])]
        for name in empty:
            empty_in[name].append(number)
        for name in attributes if empty else ():
            # what leaves one side out more often is a bias
            left_out_by[name][cells.get(name, "").strip()] += 1
        if not broken and not empty:
            members.setdefault(cells[columns.set].strip(), []).append(cells)
    mistakes = [f"{source}: {mistake} in {numbered(unit, lines)}" for mistake, lines in wrong.items()]
    ids = {name: [row.get(name) for _, row in rows] for name in filter(None, (columns.set, columns.id))}
    mistakes += [
        f"{source}: column {name!r} holds {lost}" for name, values in ids.items() if (lost := lost_digits(values))
    ]
    mistakes += [f"{source}: {text}" for text in _alike_sets(members)]
    mistakes += [
        f"{source}: {text}" for name, set_rows in members.items() for text in _set_mistakes(name, set_rows, columns)
    ]
    if not skip_empty:
        mistakes += [
            f"{source}: column {name!r} is empty in {numbered(unit, lines)}{MEND}" for name, lines in empty_in.items()
        ]
    sets = (
        [] if mistakes else [_document_set(name, set_rows, columns, attributes) for name, set_rows in members.items()]
    )
    if mistakes:
        raise DataError(listed(mistakes))
    if not sets:
        raise DataError(f"{source}: has no row without an empty cell in {' or '.join(map(repr, required))}")
    if empty_in:
        logger.warning("%s: %s", source, _left_out(unit, empty_in, left_out_by))
    _warn_of_capitals(members, source)
    return sets


def _warn_of_capitals(names: Iterable[str], source: str) -> None:
    if unlike := look_alike(names, spelling_key):
        shown = some_of([" and ".join(map(repr, spellings)) for spellings in unlike])
        logger.warning(
            "%s: sets differ only by capitals, and are taken as several: %s; write one of them", source, shown
        )


def _left_out(unit: str, empty_in: Mapping[str, Sequence[int]], by_value: Mapping[str, Mapping[str, int]]) -> str:
    """How many rows are left out, where, and of which values."""
    n = len({line for lines in empty_in.values() for line in lines})
    where = "; ".join(f"{name} in {numbered(unit, lines)}" for name, lines in empty_in.items())
    shown = {
        name: ", ".join(f"{value or '(empty)'} {count:,}" for value, count in sorted(counts.items()))
        for name, counts in by_value.items()
    }
    by = "; ".join(f"by {name}: {counts}" for name, counts in shown.items())
    return f"left out: {n:,} row{'' if n == 1 else 's'} with empty cells ({where}), {by}"


def _cells(row: Mapping[str, Any], wanted: Sequence[str]) -> tuple[dict[str, str], dict[str, str]]:
    """The cells of these columns as texts, and by column what those are that cannot be; nobody looks at other columns."""
    cells, broken = {}, {}
    for name in wanted:
        try:
            cells[name] = cell_text(row.get(name))
        except TypeError as error:
            broken[name] = f"a {str(error).partition(' ')[0]}"
    return cells, broken


def _alike_sets(names: Iterable[str]) -> Iterator[str]:
    """Sets whose names look the same; capitals may be all that tells two ids apart."""
    for spellings in look_alike(names):
        yield f"sets {some_of([ascii(name) for name in spellings])} have names that look the same; write one of them"


def _refuse_absent(rows: Sequence[Row], wanted: Sequence[str], columns: ColumnsSection, source: str) -> None:
    known = list(dict.fromkeys(str(name) for _, row in rows for name in row if name is not None))
    if absent := [name for name in wanted if name not in known]:
        is_usual = any(name in absent for name in {"set", "text"} - columns.model_fields_set)
        raise DataError(
            listed([f"{source}: has no column {shortened(name)}{did_you_mean(name, known)}" for name in absent])
            + f"\nits columns are {', '.join(map(shortened, known))}; say which is the set, the text and the attribute"
            + (NAMED if is_usual else "")
        )


def _set_mistakes(name: str, rows: Sequence[Mapping[str, str]], columns: ColumnsSection) -> Iterator[str]:
    for column in filter(None, (columns.topic, columns.split)):
        values = list(dict.fromkeys(row.get(column, "") for row in rows))
        if len(values) > 1:
            yield f"set {name!r} has several values in column {column!r}: {some_of(values)}; give all its rows the same"
    ids = [row[columns.id].strip() for row in rows] if columns.id else []
    where = f"set {name!r}: ids in column {columns.id!r}"
    if twice := repeated(ids):
        yield f"{where} occur more than once: {some_of(twice)}"
    for spellings in look_alike(ids):
        yield f"{where} look the same: {some_of([*map(ascii, spellings)])}; rename all but one"


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
