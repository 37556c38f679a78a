"""Summaries of document sets from any file: one text for each set.

| file | how a summary finds its set |
| --- | --- |
| JSON lines with an id key: evenhand's best.jsonl, or anybody's `{"id": ..., "summary": ...}` | by id |
| a JSON object, set id -> text | by id |
| JSON lines without ids, as `{"prediction": ...}` | by order |
| plain text, or JSON strings, one summary a line; a blank line is an empty summary | by order |

A file that begins with `{` is JSON, any other is plain text; one whose name ends in .gz is unpacked. An empty summary is kept
as "": a system that wrote nothing is measured like any other.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import DataError
from ..records import DocumentSet
from ..storage import NotJsonError, listed, numbered_lines, parse_json, read_text, shortened

# keys that may hold a set's id; the first one whose value is a known id counts
ID_KEYS = ("set_id", "entity_id", "request_id", "id")
# keys that may hold the text; the first one that is there counts
TEXT_KEYS = ("summary", "prediction", "text")
# side of a summary of all documents
ALL = "all"
# line of what stands in no line of its own
NOWHERE = 0
# stands for a text whose mistake is noted, so that it is not missed as well
MISTAKEN = ""
# ids that an error about many sets names
MOST_IDS = 5


class _Entries(dict[str, Any]):
    """A JSON object that keeps what stands under a repeated key."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


@dataclass
class _Reading:
    """What was read of a file so far, and what is wrong with the rest of it."""

    path: Path
    # ids of the sets, in their order
    ids: dict[str, None]
    # set id -> line and text; None where the file says that there is none
    texts: dict[str, tuple[int, str | None]] = field(default_factory=dict)
    mistakes: list[tuple[int, str]] = field(default_factory=list)
    # why the whole file is no JSON, if it is none
    whole: NotJsonError | None = None

    def add(self, line: int, set_id: str, text: str | None) -> None:
        if set_id not in self.ids:
            like = f"the documents' ids are like {next(iter(self.ids))!r}" if self.ids else "there are no document sets"
            self.mistakes.append((line, f"no document set has the id {set_id!r}; {like}"))
        elif set_id in self.texts:
            earlier = self.texts[set_id][0]
            place = f" in line {earlier}" if earlier else ""
            self.mistakes.append((line, f"set {set_id!r} has a summary{place} already; keep one a set"))
        else:
            self.texts[set_id] = (line, text)

    def result(self, allow_missing: bool) -> dict[str, str]:
        if not allow_missing:
            self._miss()
        if self.mistakes:
            # causes stand in lines, what follows from them in none
            ordered = sorted(self.mistakes, key=lambda mistake: (mistake[0] == NOWHERE, mistake[0]))
            places = [(f"{self.path}:{line}" if line else f"{self.path}", text) for line, text in ordered]
            raise DataError(listed([f"{place}: {text}" for place, text in places]))
        return {name: text for name in self.ids if (text := self.texts.get(name, (NOWHERE, None))[1]) is not None}

    def _miss(self) -> None:
        remedy = 'add one ("" if it is empty) or take the set out'
        for name, (line, text) in self.texts.items():
            if text is None and line != NOWHERE:
                self.mistakes.append((line, f"set {name!r} has no summary; {remedy}"))
        missing = [name for name in self.ids if self.texts.get(name, (NOWHERE, None)) == (NOWHERE, None)]
        if len(missing) == 1:
            self.mistakes.append((NOWHERE, f"set {missing[0]!r} has no summary; {remedy}"))
        elif missing:
            shown = ", ".join([*map(repr, missing[:MOST_IDS]), *(["..."] if len(missing) > MOST_IDS else [])])
            remedy = 'add one for each ("" if it is empty) or take the sets out'
            self.mistakes.append((NOWHERE, f"{len(missing):,} sets have no summary: {shown}; {remedy}"))


def read_summaries(path: Path, sets: Sequence[DocumentSet], *, allow_missing: bool = False) -> dict[str, str]:
    """The summary of each set by its id, in the order of the sets; "" for an empty one.

    Args:
        path: a file as in the module's table. Of evenhand's own, `best.jsonl` with one summary of all documents a set
            (`task.scope: all`); a text that is null there, because no candidate has a reward, is a missing one.
        sets: the sets that are summarised.
        allow_missing: leave sets without a summary out of the result, for the caller to count. A file that goes by order
            needs a line for every set all the same.

    Raises:
        StorageError: the file cannot be read.
        DataError: ids are unknown, missing or given twice, a text is none, the number of lines is not that of the sets, or
            summaries are of one side each. All mistakes are listed, with the line where there is one.
    """
    text = read_text(path)
    reading = _Reading(path, dict.fromkeys(documents.id for documents in sets))
    if not text.lstrip().startswith("{"):
        _read_in_order(reading, _plain_lines(text, reading))
        return reading.result(allow_missing)
    entries = _map_of(text, reading)
    if entries is not None:
        _read_map(reading, entries)
        return reading.result(allow_missing)
    records = _records(text, reading)
    _refuse_sides(path, records)
    if any(key in record for _, record in records for key in ID_KEYS):
        for line, record in records:
            _read_record(reading, line, record)
    else:
        _read_in_order(reading, [(line, _text_or_mistake(reading, line, record)) for line, record in records])
    return reading.result(allow_missing)


def _plain_lines(text: str, reading: _Reading) -> list[tuple[int, str | None]]:
    if _kind_of_json(text) == "array":
        raise DataError(f"{reading.path}: is a JSON array; write one summary a line, or an object of set ids and texts")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    kinds = [_kind_of_json(line) for line in lines]
    if lines and all(kind == "string" or not line.strip() for kind, line in zip(kinds, lines, strict=True)):
        return [(number, parse_json(line) if line.strip() else "") for number, line in enumerate(lines, start=1)]
    for number, kind in enumerate(kinds, start=1):
        # a line in quotation marks among others that have none is a quotation
        if kind in ("object", "array"):
            reading.mistakes.append(
                (
                    number,
                    f"is a JSON {kind} in a file whose first line is plain text; write every summary as it stands, or every "
                    'line as {"id": ..., "summary": ...}',
                )
            )
    return [(number, line) for number, line in enumerate(lines, start=1)]


def _kind_of_json(text: str) -> str | None:
    """What a text is that is JSON and would not be meant as it stands; None of any other, numbers included."""
    kind = {"{": "object", "[": "array", '"': "string"}.get(text.lstrip()[:1])
    if kind is None:
        return None
    try:
        parse_json(text)
    except NotJsonError:
        return None
    return kind


def _read_in_order(reading: _Reading, lines: Sequence[tuple[int, str | None]]) -> None:
    if reading.mistakes:
        # the count means nothing while lines are broken
        reading.result(allow_missing=True)
    if len(lines) != len(reading.ids):
        raise DataError(
            f"{reading.path}: has {len(lines):,} summaries of {len(reading.ids):,} document sets; without ids there must be "
            "one for each, in their order"
        )
    for name, (line, text) in zip(reading.ids, lines, strict=True):
        reading.texts[name] = (line, text)


def _map_of(text: str, reading: _Reading) -> list[tuple[str, Any]] | None:
    """The entries of a file that is one object of ids and texts, repeated keys kept; None when it is lines of records."""
    try:
        entries = parse_json(text, _Entries)
    except NotJsonError as error:
        reading.whole = error
        return None
    # a file of a single record is one object too
    is_record = entries.keys() & {*TEXT_KEYS, *ID_KEYS} and not entries.keys() & reading.ids.keys()
    return None if is_record else entries.pairs


def _read_map(reading: _Reading, entries: Iterable[tuple[str, Any]]) -> None:
    for name, text in entries:
        is_text = text is None or isinstance(text, str)
        if not is_text:
            reading.mistakes.append((NOWHERE, f"{shortened(name)} has {shortened(text)}, which is no text"))
        reading.add(NOWHERE, name, text if is_text else MISTAKEN)


def _records(text: str, reading: _Reading) -> list[tuple[int, dict[str, Any]]]:
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


def _read_record(reading: _Reading, line: int, record: dict[str, Any]) -> None:
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


def _text_or_mistake(reading: _Reading, line: int, record: dict[str, Any]) -> str | None:
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
