"""Summaries as plain text, one a line, and what only looks like it: tables, and JSON among the lines."""

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path

from ..errors import DataError
from ..storage import NotJsonError, parse_json
from .summary_reading import loosely

# between the cells of a table, or after an id
SEPARATOR = re.compile(r"[\t,;|:]")
TABLES = (".csv", ".tsv")
REMEDY = 'write JSON lines, {"id": ..., "summary": ...} for each set'


def plain_lines(
    path: Path, text: str, ids: Collection[str], keys: Sequence[str]
) -> tuple[list[tuple[int, str | None]], list[tuple[int, str]]]:
    """The lines of a plain text or of JSON strings with their numbers, and what is wrong with some of them.

    Args:
        path: where the text comes from, for errors; what is called .csv or .tsv is a table.
        text: of the file.
        ids: of the document sets; a line that begins with one and a separator is a row of a table.
        keys: names of a column of ids, which a header begins with.

    Raises:
        DataError: the text is a table.
    """
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    _refuse_table(path, lines, ids, keys)
    kinds = [kind_of_json(line) for line in lines]
    if lines and all(kind == "string" or not line.strip() for kind, line in zip(kinds, lines, strict=True)):
        return [(number, parse_json(line) if line.strip() else "") for number, line in enumerate(lines, start=1)], []
    mistakes = [
        (
            number,
            f"is a JSON {kind} in a file whose first line is plain text; write every summary as it stands, or every "
            'line as {"id": ..., "summary": ...}',
        )
        for number, kind in enumerate(kinds, start=1)
        # a line in quotation marks among others that have none is a quotation
        if kind in ("object", "array")
    ]
    return [*enumerate(lines, start=1)], mistakes


def kind_of_json(text: str) -> str | None:
    """What a text is that is JSON and would not be meant as it stands; None of any other, numbers included."""
    kind = {"{": "object", "[": "array", '"': "string"}.get(text.lstrip()[:1])
    if kind is None:
        return None
    try:
        parse_json(text)
    except NotJsonError:
        return None
    return kind


def _refuse_table(path: Path, lines: Sequence[str], ids: Collection[str], keys: Sequence[str]) -> None:
    if any(suffix.lower() in TABLES for suffix in path.suffixes[-2:]):
        raise DataError(f"{path}: is called a table, and its lines would be measured with ids and separators; {REMEDY}")
    if lines and any(cell in keys for cell in _first_cells(lines[0], 1)):
        raise DataError(f"{path}:1: is the header of a table, whose lines would be measured with their ids; {REMEDY}")
    known = {loosely(name) for name in ids}
    # an id may hold separators itself
    most = 1 + max((len(SEPARATOR.findall(name)) for name in ids), default=0)
    begun = {cell for line in lines for cell in _first_cells(line, most) if cell in known}
    # one such line may be a sentence that begins with its topic
    if len(begun) > 1 and 2 * len(begun) > sum(1 for line in lines if line.strip()):
        raise DataError(
            f"{path}: {len(begun):,} lines begin with the id of a document set and a separator, as in a table, and would be "
            f"measured with it; {REMEDY}"
        )


def _first_cells(line: str, most: int) -> Iterator[str]:
    """What stands before each of the first separators of a line, without quotation marks and as ids are compared."""
    row = line.lstrip(" |")
    for found in islice(SEPARATOR.finditer(row), most):
        yield loosely(row[: found.start()].strip(' "'))
