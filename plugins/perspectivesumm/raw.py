"""What the builders from raw data share: lines of unknown encodings, and sets of texts with attributes."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ...records import Document, DocumentSet
from ...storage import numbered_lines, read_bytes


def decoded_lines(path: Path) -> list[tuple[int, str]]:
    """The lines of a file that are not blank, stripped, with their numbers; UTF-8, or Latin-1 where that fails.

    A file named .gz is unpacked. Latin-1 can read anything, so a file in a third encoding comes out with wrong letters, not
    with an error.

    Raises:
        StorageError: the file cannot be read, or is named .gz and damaged.
    """
    data = read_bytes(path)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return [(number, line.strip()) for number, line in numbered_lines(text)]


def set_of_units(
    set_id: str, units: Sequence[tuple[str, dict[str, str]]], notes: Mapping[str, Any], **fields: Any
) -> DocumentSet:
    """The set of these texts with their attributes; ids of documents are the set's with a number from 1.

    Args:
        set_id: of the set.
        units: texts and attributes.
        notes: "values" declares the values of each attribute in their order, "separator" joins the texts of a value.
        fields: other fields of the set.
    """
    documents = tuple(
        Document(id=f"{set_id}/{number}", text=text, attributes=attributes)
        for number, (text, attributes) in enumerate(units, start=1)
    )
    return DocumentSet(id=set_id, documents=documents, notes=dict(notes), **fields)
