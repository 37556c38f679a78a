"""Summaries of document sets from any file: one text for each set.

| file | how a summary finds its set |
| --- | --- |
| JSON lines with an id key: evenhand's best.jsonl, or anybody's `{"id": ..., "summary": ...}` | by id |
| a table (.csv, .tsv, .parquet) with such columns | by id |
| a JSON object, set id -> text | by id |
| JSON lines without ids, as `{"prediction": ...}` | by order |
| plain text, one summary a line; a blank line is an empty summary | by order |
| a JSON array of such objects or of texts | as lines of them |
| `even-handed`, `praising`: two made-up systems of the bundled reviews | by id |

A file that begins with `{` is JSON, any other is plain text unless it is an array; one whose name ends in .gz is unpacked.
An empty summary is kept as "": a system that wrote nothing is measured like any other.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..records import DocumentSet
from ..storage import NotJsonError, as_given, listed, numbered_lines, parse_json, read_text, shortened
from ..text import some_of
from .bundled import SUMMARIES, file_of
from .tables import SURPLUS, is_table, table_rows

# keys that may hold a set's id; the first one whose value is a known id counts
ID_KEYS = ("set_id", "set", "entity_id", "request_id", "id")
# keys that may hold the text; the first one that is there counts
TEXT_KEYS = ("summary", "prediction", "text")
# key by which some tell systems in one file
SYSTEM = "system"
# side of a summary of all documents
ALL = "all"

# between an id and a text on one line
SEPARATOR = re.compile(r"[\t,:;|]")

# where an entry stands, and what it is: a text, an object with one, or the error of a line that cannot be read
Entry = tuple[str, Any]


class Summaries(dict[str, str]):
    """The summary of each set by its id, in the order of the sets."""

    def __init__(self, texts: Mapping[str, str], *, by_order: bool) -> None:
        super().__init__(texts)
        # whether the file has no ids, so that its first summary went to the first set, and so on
        self.by_order = by_order


def read_summaries(path: Path, sets: Sequence[DocumentSet], *, allow_missing: bool = False) -> Summaries:
    """The summary of each set by its id, in the order of the sets; "" for an empty one.

    Args:
        path: a file as in the module's table. Of evenhand's own, `best.jsonl` with one summary of all documents a set
            (`task.scope: all`); a text that is null there, because no candidate has a reward, is a missing one.
        sets: the sets that are summarised.
        allow_missing: leave sets without a summary out of the result, for the caller to count. A file that goes by order
            needs a line for every set all the same.

    Raises:
        DataError: the file cannot be read, ids are unknown, missing or given twice, a text is not one, the number of lines is
            not that of the sets, ids stand under another key, or summaries are of one side each. All mistakes are listed, with
            the line where there is one.
    """
    return read_texts(path, [documents.id for documents in sets], allow_missing=allow_missing)


@as_given()
def read_texts(path: Path, names: Sequence[str], *, by_side: bool = False, allow_missing: bool = False) -> Summaries:
    """As `read_summaries`, by the ids alone; with `by_side` they are SET/SIDE, and a file may hold summaries of one side each."""
    entries = list(_entries_of_file(file_of(path, SUMMARIES), names))
    return _matched(str(path), entries, names, by_side=by_side, allow_missing=allow_missing)


def summaries_of(given: Any, names: Sequence[str], *, by_side: bool = False, allow_missing: bool = False) -> Summaries:
    """The summary of each set by its id: from ids and texts, objects with an id and a text, or texts in the order of the sets.

    Args:
        given: what a file of summaries in JSON would hold.
        names: ids of the sets.
        by_side: as of `read_texts`.
        allow_missing: as of `read_summaries`.

    Raises:
        DataError: as of `read_summaries`.
    """
    entries = list(_entries_of("summaries", given, names))
    return _matched("summaries", entries, names, by_side=by_side, allow_missing=allow_missing)


def _entries_of_file(path: Path, names: Sequence[str]) -> Iterator[Entry]:
    if is_table(path):
        yield from ((f"{path}:{number}", row) for number, row in table_rows(path, TEXT_KEYS))
        return
    text = read_text(path)
    start = text.lstrip()[:1]
    try:
        whole = parse_json(text) if start in ("{", "[") else None
    except NotJsonError as error:
        whole, broken = None, f"as one object it breaks in line {error.line}, which {error}"
    if whole is not None:
        yield from _entries_of(str(path), whole, names)
    elif start == "{":
        found: list[Entry] = []
        for number, line in numbered_lines(text):
            try:
                found.append((f"{path}:{number}", parse_json(line)))
            except NotJsonError as error:
                found.append((f"{path}:{number}", error))
        errors = [f"{place}: {entry}" for place, entry in found if isinstance(entry, NotJsonError)]
        if len(errors) == len(found):
            is_lines = text.lstrip().partition("\n")[0].rstrip().endswith("}")
            neither = (
                f"begins like JSON, but is neither one object of set ids and texts nor JSON lines; {broken}; mend it"
            )
            raise DataError(listed(errors if is_lines else [f"{path}: {neither}"]))
        yield from found
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


def _entries_of(source: str, given: Any, names: Sequence[str]) -> Iterator[Entry]:
    """The entries of a list, or of an object of ids and texts."""
    if isinstance(given, Mapping):
        # a file of a single record is one object too
        is_record = given.keys() & {*TEXT_KEYS, *ID_KEYS} and not given.keys() & set(names)
        records = [given] if is_record else [{ID_KEYS[0]: name, TEXT_KEYS[0]: text} for name, text in given.items()]
        yield from ((source, record) for record in records)
    elif isinstance(given, Sequence) and not isinstance(given, str | bytes):
        yield from ((f"{source}: entry {number}", entry) for number, entry in enumerate(given, start=1))
    else:
        raise DataError(f"{source} are a {type(given).__name__}; give a dict of ids and texts, or a list")


def _matched(
    source: str, entries: Sequence[Entry], names: Sequence[str], *, by_side: bool, allow_missing: bool
) -> Summaries:
    """Each entry's text under the id of its set."""
    records = [entry for _, entry in entries if isinstance(entry, Mapping)]
    if len(records) == len(entries):
        _refuse_textless(source, records)
        _refuse_systems(source, records)
    if not by_side:
        _refuse_sides(source, records)
    by_order = not any(key in record for record in records for key in ID_KEYS)
    if by_order:
        _refuse_ids(source, entries, names)
        if len(entries) != len(names):
            raise DataError(
                f"{source}: has {len(entries):,} summaries of {len(names):,} document sets; without ids there must be one for "
                "each, in their order"
            )
    known = dict.fromkeys(names)
    # id of a set -> its text, None where the file says that there is none, and the entry's place
    found: dict[str, tuple[str | None, str]] = {}
    mistakes = []
    for number, (place, entry) in enumerate(entries):
        try:
            if isinstance(entry, NotJsonError):
                raise entry
            name = names[number] if by_order else _id_of(entry, known)
            if name in found:
                raise DataError(f"set {name!r} has a summary already, in {found[name][1]}; keep one a set")
            # should the text be wrong, its set is not missed as well
            found[name] = ("", place)
            found[name] = (_text_of(entry), place)
        except DataError as error:
            mistakes.append(f"{place}: {error}")
    texts = {name: text for name in names if (text := found.get(name, (None, ""))[0]) is not None}
    if not allow_missing and (missing := [shortened(name) for name in names if name not in texts]):
        mistakes.append(
            f'{source}: has no summary of {some_of(missing)}; add it ("" if it is empty) or take the set out'
        )
    if mistakes:
        raise DataError(listed(mistakes))
    return Summaries(texts, by_order=by_order)


def _refuse_textless(source: str, records: Sequence[Mapping[str, Any]]) -> None:
    """Refuse records of which none has a text under a key that is known: one mistake, however many they are."""
    keys = dict.fromkeys(str(key) for record in records for key in record if key is not None)
    if records and not keys.keys() & {*TEXT_KEYS}:
        raise DataError(
            f"{source}: has no text; name it by one of {', '.join(TEXT_KEYS)} (what is there is called "
            f"{some_of([shortened(key) for key in keys])})"
        )


def _refuse_systems(source: str, records: Sequence[Mapping[str, Any]]) -> None:
    """Refuse a table of several systems, whose summaries of a set would be called too many."""
    systems = list(dict.fromkeys(str(record.get(SYSTEM)) for record in records))
    if len(systems) > 1:
        raise DataError(
            f"{source}: holds summaries of several systems ({some_of(systems)}, by {SYSTEM!r}); write a file for each of them"
        )


def _refuse_sides(source: str, records: Sequence[Mapping[str, Any]]) -> None:
    sides = list(dict.fromkeys(str(record["side"]) for record in records if record.get("side", ALL) != ALL))
    if sides:
        raise DataError(
            f"{source}: holds summaries of one side each ({some_of(sides)}); what is measured here is one summary of all "
            "documents of a set, so make summaries with `task.scope: all` (side 'all') and give their best.jsonl"
        )


def _refuse_ids(source: str, entries: Sequence[Entry], names: Sequence[str]) -> None:
    """Refuse to go by order where each entry has an id of its own set, under another key, deeper, or before its text."""
    known = {name.casefold(): name for name in names}
    found = [
        next((known[form] for form in _id_forms(entry) if form in known), None)
        for _, entry in entries
        if not isinstance(entry, NotJsonError)
    ]
    if found and None not in found and len(set(found)) == len(found):
        raise DataError(
            f"{source}: holds ids of document sets, {some_of([repr(name) for name in found])}, but an id is looked for under the "
            f'keys {", ".join(ID_KEYS)} alone; write {{"id": ..., "summary": ...}}, or take the ids out if the summaries '
            "are in the order of the sets"
        )


def _id_forms(entry: Any, *, is_text: bool = True) -> Iterator[str]:
    """What may be an id in an entry: values that are no summaries, and what stands before a separator at the beginning of one."""
    if isinstance(entry, Mapping):
        for key, value in entry.items():
            yield from _id_forms(value, is_text=key in TEXT_KEYS)
    elif isinstance(entry, str) and is_text:
        ends = (match.start() for match in islice(SEPARATOR.finditer(entry), 3))
        yield from (entry[:end].strip().casefold() for end in ends)
    elif isinstance(entry, str | int):
        yield str(entry).strip().casefold().removesuffix(f"/{ALL}")


def _id_of(entry: Any, known: Mapping[str, None]) -> str:
    """The id of an entry's set; a request of all documents is called SET/all."""
    given = {key: entry[key] for key in ID_KEYS if key in entry} if isinstance(entry, Mapping) else {}
    if not given:
        raise DataError(f'{shortened(entry)} has no id, but other entries do; write {{"id": ..., "summary": ...}}')
    # true and false are whole numbers to Python
    ids = [str(value) for value in given.values() if isinstance(value, str | int) and not isinstance(value, bool)]
    if not ids:
        key, value = next(iter(given.items()))
        raise DataError(f"{key!r} is {shortened(value)}; an id is a text or a whole number")
    for name in (form for each in ids for form in (each, each.removesuffix(f"/{ALL}"))):
        if name in known:
            return name
    like = f"the documents' ids are like {next(iter(known))!r}" if known else "there are no document sets"
    raise DataError(f"no document set has the id {shortened(ids[0])}; {like}")


def _text_of(entry: Any) -> str | None:
    """The text of an entry; None when it is null."""
    text = entry
    if isinstance(entry, Mapping):
        if None in entry:
            raise DataError(SURPLUS)
        key = next((key for key in TEXT_KEYS if key in entry), None)
        if key is None:
            raise DataError(f"has no text; name it by one of {', '.join(TEXT_KEYS)}")
        text = entry[key]
        if isinstance(text, Mapping) and "text" in text:
            # released predictions may be objects with a text of their own
            text = text["text"]
        elif text is None:
            return None
    if not isinstance(text, str):
        raise DataError(f"{shortened(text)} is not a text")
    return text
