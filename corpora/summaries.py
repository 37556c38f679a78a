"""Summaries of document sets from any file: one text for each set.

| file | how a summary finds its set |
| --- | --- |
| JSON lines with an id key: evenhand's best.jsonl, or anybody's `{"id": ..., "summary": ...}` | by id |
| a JSON object, set id -> text | by id |
| JSON lines without ids, as `{"prediction": ...}` | by order |
| plain text, or JSON strings, one summary a line; a blank line is an empty summary | by order |
| a JSON array of such objects or strings | as lines of them |

A file that begins with `{` is JSON, any other is plain text unless it is an array; one whose name ends in .gz is unpacked. Going
by order is the last resort: what holds ids where nobody looks for them, a table or an object with a key of its own, is refused.
An empty summary is kept as "": a system that wrote nothing is measured like any other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..records import DocumentSet
from ..storage import NotJsonError, as_given, numbered_lines, parse_json, read_text, shortened
from .plain_summaries import kind_of_json, plain_lines
from .summary_reading import NOWHERE, Reading, Summaries, loosely

# keys that may hold a set's id; the first one whose value is a known id counts
ID_KEYS = ("set_id", "entity_id", "request_id", "id")
# keys that may hold the text; the first one that is there counts
TEXT_KEYS = ("summary", "prediction", "text")
# side of a summary of all documents
ALL = "all"
# stands for a text whose mistake is noted, so that it is not missed as well
MISTAKEN = ""


class _Entries(dict[str, Any]):
    """A JSON object that keeps what stands under a repeated key."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def read_summaries(path: Path, sets: Sequence[DocumentSet], *, allow_missing: bool = False) -> Summaries:
    """The summary of each set by its id, in the order of the sets; "" for an empty one.

    Args:
        path: a file as in the module's table. Of evenhand's own, `best.jsonl` with one summary of all documents a set
            (`task.scope: all`); a text that is null there, because no candidate has a reward, is a missing one.
        sets: the sets that are summarised.
        allow_missing: leave sets without a summary out of the result, for the caller to count. A file that goes by order
            needs a line for every set all the same.

    Raises:
        DataError: the file cannot be read, ids are unknown, missing or given twice, a text is none, the number of lines is
            not that of the sets, ids stand where they are not looked for, or summaries are of one side each. All mistakes are
            listed, with the line where there is one.
    """
    return read_texts(path, [documents.id for documents in sets], allow_missing=allow_missing)


@as_given()
def read_texts(path: Path, names: Sequence[str], *, by_side: bool = False, allow_missing: bool = False) -> Summaries:
    """As `read_summaries`, by the ids alone; with `by_side` they are SET/SIDE, and a file may hold summaries of one side each."""
    text = read_text(path)
    reading = Reading(path, dict.fromkeys(names), by_side=by_side)
    if kind_of_json(text) == "array":
        _read_array(reading, parse_json(text))
    elif not text.lstrip().startswith("{"):
        lines, reading.mistakes = plain_lines(path, text, reading.ids, ID_KEYS)
        _read_in_order(reading, lines)
    elif (entries := _map_of(text, reading)) is not None:
        _read_map(reading, entries)
    else:
        _read_records(reading, _records(text, reading))
    return reading.result(allow_missing)


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
    reading = Reading(Path("summaries"), dict.fromkeys(names), by_side=by_side)
    if isinstance(given, Mapping):
        _read_map(reading, given.items())
    elif isinstance(given, Sequence) and not isinstance(given, str | bytes):
        _read_array(reading, given)
    else:
        raise DataError(f"summaries are a {type(given).__name__}; give a dict of ids and texts, or a list")
    return reading.result(allow_missing)


def _read_array(reading: Reading, entries: Sequence[Any]) -> None:
    reading.counted = "entry"
    numbered = [*enumerate(entries, start=1)]
    if all(isinstance(entry, str) for entry in entries):
        _read_in_order(reading, numbered)
        return
    records = [(number, entry) for number, entry in numbered if isinstance(entry, dict)]
    is_of_texts = not records and any(isinstance(entry, str) for entry in entries)
    form = 'a text, "" if it is empty' if is_of_texts else '{"id": ..., "summary": ...}'
    for number, entry in numbered:
        if not isinstance(entry, str if is_of_texts else dict):
            reading.mistakes.append((number, f"is {shortened(entry)}; write every entry as {form}"))
    _read_records(reading, records)


def _read_records(reading: Reading, records: Sequence[tuple[int, dict[str, Any]]]) -> None:
    if not reading.by_side:
        _refuse_sides(reading.path, records)
    if any(key in record for _, record in records for key in ID_KEYS):
        for line, record in records:
            _read_record(reading, line, record)
        return
    _refuse_other_ids(reading, [record for _, record in records])
    _read_in_order(reading, [(line, _text_or_mistake(reading, line, record)) for line, record in records])


def _refuse_other_ids(reading: Reading, records: Sequence[Mapping[str, Any]]) -> None:
    """Refuse lines that would go by order although a key of another name holds ids of sets.

    A text that is a known id, blanks and case aside, is taken for one wherever it stands, in an object within the line too;
    numbers, which are much else too, if each line has another and all are known.
    """
    known = {loosely(name) for name in reading.ids}
    leaves = [dict(_leaves(record)) for record in records]
    for key in dict.fromkeys(key for each in leaves for key in each):
        values = [each.get(key) for each in leaves]
        numbers = {str(value) for value in values if isinstance(value, int) and not isinstance(value, bool)}
        texts = [
            value for value in values if isinstance(value, str) and loosely(value).removesuffix(f"/{ALL}") in known
        ]
        if texts or (len(numbers) == len(records) and numbers <= reading.ids.keys()):
            shown = texts[0] if texts else next(iter(numbers))
            raise DataError(
                f"{reading.path}: key {key!r} holds ids of document sets, {shown!r} for one, but an id is looked for at the "
                f"top of an object, under {', '.join(ID_KEYS)}; call the key 'id', or take it out if the summaries stand in the "
                "order of the sets"
            )


def _leaves(record: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What an object and the objects within it hold besides texts, each with its keys joined by points."""
    objects = [("", record)]
    while objects:
        outer, inner = objects.pop()
        for key, value in inner.items():
            if isinstance(value, dict):
                objects.append((f"{outer}{key}.", value))
            elif key not in TEXT_KEYS:
                yield f"{outer}{key}", value


def _read_in_order(reading: Reading, lines: Sequence[tuple[int, str | None]]) -> None:
    if reading.mistakes:
        # the count means nothing while lines are broken
        reading.result(allow_missing=True)
    if len(lines) != len(reading.ids):
        raise DataError(
            f"{reading.path}: has {len(lines):,} summaries of {len(reading.ids):,} document sets; without ids there must be "
            "one for each, in their order"
        )
    reading.by_order = True
    for name, (line, text) in zip(reading.ids, lines, strict=True):
        reading.texts[name] = (line, text)


def _map_of(text: str, reading: Reading) -> list[tuple[str, Any]] | None:
    """The entries of a file that is one object of ids and texts, repeated keys kept; None when it is lines of records."""
    try:
        entries = parse_json(text, _Entries)
    except NotJsonError as error:
        reading.whole = error
        return None
    # a file of a single record is one object too
    is_record = entries.keys() & {*TEXT_KEYS, *ID_KEYS} and not entries.keys() & reading.ids.keys()
    return None if is_record else entries.pairs


def _read_map(reading: Reading, entries: Iterable[tuple[str, Any]]) -> None:
    for name, text in entries:
        is_text = text is None or isinstance(text, str)
        if not is_text:
            reading.mistakes.append((NOWHERE, f"{shortened(name)} has {shortened(text)}, which is no text"))
        reading.add(NOWHERE, name, text if is_text else MISTAKEN)


def _records(text: str, reading: Reading) -> list[tuple[int, dict[str, Any]]]:
    """The objects of JSON lines with their line numbers; blank lines are skipped.

    Raises:
        DataError: no line is an object.
    """
    records = []
    for number, line in numbered_lines(text):
        try:
            record = parse_json(line)
        except NotJsonError as error:
            reading.mistakes.append((number, str(error)))
            continue
        if isinstance(record, dict):
            records.append((number, record))
        else:
            reading.mistakes.append((number, "is no JSON object; one summary a line is expected"))
    if not records and text.split("\n", 1)[0].rstrip().endswith("}"):
        # each line is meant as an object, so each has its own mistake
        reading.result(allow_missing=True)
    if not records:
        broken = reading.whole
        place = f"as one object it breaks in line {broken.line}, which {broken}; " if broken else ""
        raise DataError(
            f"{reading.path}: begins like JSON, but is neither one object of set ids and texts nor JSON lines; {place}mend it, "
            "or let the first line of a plain text begin otherwise than with {"
        )
    return records


def _refuse_sides(path: Path, records: Iterable[tuple[int, dict[str, Any]]]) -> None:
    sides = list(dict.fromkeys(str(record["side"]) for _, record in records if record.get("side", ALL) != ALL))
    if sides:
        raise DataError(
            f"{path}: holds summaries of one side each ({', '.join(sides[:5])}); what is measured here is one summary of all "
            "documents of a set, so make summaries with `task.scope: all` (side 'all') and give their best.jsonl"
        )


def _read_record(reading: Reading, line: int, record: dict[str, Any]) -> None:
    ids = _ids(record)
    text = _text_or_mistake(reading, line, record)
    wrong = next((key for key in ID_KEYS if key in record), None)
    if ids:
        reading.add(line, next((name for name in ids if name in reading.ids), ids[0]), text)
    elif wrong:
        reading.mistakes.append((line, f"{wrong!r} is {shortened(record[wrong])}; an id is a text or a whole number"))
    else:
        reading.mistakes.append((line, f"has no id, but other lines do; add one of {', '.join(ID_KEYS)}"))


def _ids(record: dict[str, Any]) -> list[str]:
    """What may be the id of the record's set; a request of all documents is called SET/all."""
    values = [record[key] for key in ID_KEYS if key in record]
    # true and false are whole numbers to Python
    given = [str(value) for value in values if isinstance(value, str | int) and not isinstance(value, bool)]
    return [form for name in given for form in dict.fromkeys((name, name.removesuffix(f"/{ALL}")))]


def _text_or_mistake(reading: Reading, line: int, record: dict[str, Any]) -> str | None:
    """The record's text; None when it is null."""
    key = next((key for key in TEXT_KEYS if key in record), None)
    if key is None:
        reading.mistakes.append((line, f"has no text; name it by one of {', '.join(TEXT_KEYS)}"))
        return MISTAKEN
    text = record[key]
    if isinstance(text, dict) and "text" in text:
        # released predictions may be objects with a text of their own
        text = text["text"]
    if text is not None and not isinstance(text, str):
        reading.mistakes.append((line, f"{key!r} is {shortened(text)}, which is no text"))
        return MISTAKEN
    return text
