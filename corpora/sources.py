"""Document sets from a file of any format that evenhand reads, told by content and not by name."""

from pathlib import Path
from typing import Any

from ..errors import DataError
from ..records import DocumentSet
from ..storage import NotJsonError, as_given, numbered_lines, parse_json, parse_json_of, read_text
from .coverage import UNNAMED, read_coverage_sets
from .perspectivesumm.released import released_sets
from .reader import documents_file, read_document_sets
from .tables import is_table

FORMATS = (
    "evenhand's JSON lines (objects with 'id' and 'documents'), PerspectiveSumm's JSON array (elements with 'units'), "
    "coverage-fairness JSON lines (objects with 'entity_id' and 'reviews'); all may be packed as .gz"
)


@as_given()
def read_any(path: Path, attribute: str | None = None) -> list[DocumentSet]:
    """The document sets of a file in evenhand's format, PerspectiveSumm's or that of coverage fairness, in order.

    Declared values of attributes, where the format has them, are in each set's notes["values"] and their order is that of
    every table; of PerspectiveSumm notes["separator"] is what joins the texts of a value.

    Args:
        path: the file; one whose name ends in .gz is unpacked. "sample" and "reviews" are the bundled corpora, as in recipes,
            unless files are called so.
        attribute: social attribute that every document must have; None asks for none.

    Raises:
        DataError: the file cannot be read, has none of these formats, or something in it is wrong; every mistake is listed.
    """
    path = documents_file(path)
    text = "" if is_table(path) else read_text(path)
    start = text.lstrip()[:1]
    if start == "[":
        records = parse_json_of(path, text)
        _refuse_polisum(path, records)
        return released_sets(records, path, attribute)
    if start == "{" and "reviews" in _keys_of_first(text):
        if attribute not in (None, UNNAMED):
            raise DataError(
                f"{path}: its labels are numbers, which do not say what they mean, so there is no attribute {attribute!r}; "
                f"make document sets with `evenhand import coverage {path} --labels NAME --out docs.jsonl` and give "
                f"these, or name the attribute {UNNAMED!r}"
            )
        return read_coverage_sets(path)
    if start != "{":
        raise DataError(
            f"{path}: is none of the formats of documents that can be read: {FORMATS}; make document sets of a table with "
            f"`evenhand import table {path} --set COLUMN --text COLUMN --attribute COLUMN --out docs.jsonl`"
        )
    return read_document_sets(path, attribute)


def first_keys(path: Path) -> frozenset[str]:
    """Keys of the first line of a file that is an object; none when no line is.

    Raises:
        StorageError: the file cannot be read.
    """
    return _keys_of_first(read_text(path))


def _keys_of_first(text: str) -> frozenset[str]:
    """Keys of the first line that is an object; none when no line is."""
    for _, line in numbered_lines(text):
        try:
            found = parse_json(line)
        except NotJsonError:
            continue
        if isinstance(found, dict):
            return frozenset(found)
    return frozenset()


def _refuse_polisum(path: Path, records: list[Any]) -> None:
    """Refuse PoliSum's list of items, which has to be imported first; the reader answers any other list."""
    if records and isinstance(records[0], dict) and "stance" in records[0]:
        raise DataError(
            f"{path}: is PoliSum's list of items; make document sets with `evenhand import polisum {path} --out docs.jsonl` "
            "and give these"
        )
