"""The entries of summaries: lines, rows, elements, or ids and texts of one object, each with where it stands."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..config import SummaryColumnsSection
from ..errors import DataError
from ..records import DocumentSet
from ..storage import numbered_lines, read_text
from ..text.json_text import NotJsonError, parse_json
from ..text.mistakes import listed
from .frames import frame_rows
from .summary_columns import OTHER_TEXTS, TEXTS, is_named_text
from .summary_ids import ID_KEYS
from .table_files import is_table, refuse_office, table_rows

# where an entry stands, and what it is: a text, an object with one, or the error of a line that cannot be read
Entry = tuple[str, Any]
# what summaries are called, SET or SET/SIDE, and the set of each, in their order
Called = Mapping[str, DocumentSet]


def entries_of_file(
    path: Path, sets: Called, columns: SummaryColumnsSection, keys: Sequence[str] = ID_KEYS
) -> Iterator[Entry]:
    """The entries of a file; of an object with one of `keys`, it is one entry.

    Raises:
        StorageError: it cannot be read.
        DataError: it is nothing that can hold summaries.
    """
    refuse_office(path)
    if is_table(path):
        usual = (*TEXTS, *OTHER_TEXTS) if columns.text is None else (columns.text,)
        yield from ((f"{path}:{number}", row) for number, row in table_rows(path, usual))
        return
    text = read_text(path)
    start = text.lstrip()[:1]
    try:
        content = parse_json(text) if start in ("{", "[") else None
    except NotJsonError as error:
        content, broken = None, f"as one object it breaks in line {error.line}, which {error}"
    if content is not None:
        yield from entries_of(str(path), content, sets, columns, keys)
    elif start == "{":
        entries: list[Entry] = []
        for number, line in numbered_lines(text):
            try:
                entries.append((f"{path}:{number}", parse_json(line)))
            except NotJsonError as error:
                entries.append((f"{path}:{number}", error))
        errors = [f"{place}: {entry}" for place, entry in entries if isinstance(entry, NotJsonError)]
        if len(errors) == len(entries):
            is_lines = text.lstrip().partition("\n")[0].rstrip().endswith("}")
            neither = (
                f"begins like JSON, but is neither one object of set ids and texts nor JSON lines; {broken}; mend it"
            )
            raise DataError(listed(errors if is_lines else [f"{path}: {neither}"]))
        yield from entries
    else:
        lines = text.removesuffix("\n").split("\n") if text else []
        _refuse_json(path, lines)
        yield from ((f"{path}:{number}", line) for number, line in enumerate(lines, start=1))


def _refuse_json(path: Path, lines: Sequence[str]) -> None:
    """Refuse plain text that holds JSON: braces of objects and lists, or quotation marks of every line, would be measured."""
    kinds: dict[type, list[int]] = {}
    for number, line in enumerate(lines, start=1):
        with suppress(NotJsonError):
            kinds.setdefault(type(parse_json(line)), []).append(number)
    quoted = kinds.get(str, [])
    is_quoted = len(quoted) == sum(bool(line.strip()) for line in lines)
    if odd := [*kinds.get(dict, []), *kinds.get(list, []), *(quoted if is_quoted else [])]:
        raise DataError(
            f"{path}:{odd[0]}: is JSON in a file of plain text; write an object with a text in every line, or bare texts"
        )


def entries_of(
    source: str, content: Any, sets: Called, columns: SummaryColumnsSection, keys: Sequence[str] = ID_KEYS
) -> Iterator[Entry]:
    """The entries of a list or a data frame, or of an object of ids and texts."""
    try:
        rows = frame_rows(content)
    except DataError as error:
        raise DataError(f"{source}: {error}") from error
    content = content if rows is None else rows
    if isinstance(content, Mapping):
        # a file of a single record is one object too
        named = {*keys, columns.text, columns.id}
        is_record = any(key in named or is_named_text(key) for key in content) and not content.keys() & sets.keys()
        names = columns.id or keys[0], columns.text or TEXTS[0]
        records = [content] if is_record else [dict(zip(names, item, strict=True)) for item in content.items()]
        yield from ((source, record) for record in records)
    elif isinstance(content, Sequence) and not isinstance(content, str | bytes):
        yield from ((f"{source}: entry {number}", entry) for number, entry in enumerate(content, start=1))
    else:
        raise DataError(
            f"{source} are a {type(content).__name__}; give a dict of ids and texts, a list, or a data frame"
        )
