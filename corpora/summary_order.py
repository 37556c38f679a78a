"""Whether summaries without ids stand in the order of the sets, by whatever else they carry: counters, names, topics.

A file that goes by order is trusted only as far as nothing in it says otherwise. Results of batches come back in any order, with
a key that counts the requests; so every column that counts or names must agree with the order of the sets.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ..errors import DataError
from ..records import DocumentSet
from ..text import some_of, spelling_key
from ..text.shown import shortened
from .cells import cell_text
from .summary_columns import NAME_ID, JsonObject, parts_of, text_of_value

# last words of names of columns that grade, which may be the numbers from 1 on in any order
GRADES = frozenset("rank ranking score rating grade".split())
# last words of names of columns that count, and of those that name
COUNTERS = frozenset("index idx row line number nr num counter position pos seq sequence order item entry i".split())
IDENTIFIERS = frozenset("id ids uid uuid guid key identifier".split())
# unnamed index columns of pandas
UNNAMED = re.compile(r"(?:unnamed: ?\d+(?:_level_\d+)?)?", re.IGNORECASE)
DIGITS = re.compile(r"(\d+)")
# digits of a number that counts; letters of a name, and of the beginning of a document by which it is known
MOST_DIGITS, MOST_LETTERS, BEGINNING = 30, 500, range(20, 81)
# between an id and a text on one line, and behind a number that counts the lines
SEPARATOR = re.compile(r"[\t,:;|]")
NUMBERED = re.compile(r"\s*[(\[#]?(\d{1,9})[.):\t|,;\]]")
# a side of a request that asks for all of them
ALL = "all"
# what one entry has in a column
Values = tuple[str | int | float, ...]


def refuse_disorder(source: str, entries: Sequence[Any], sets: Mapping[str, DocumentSet], text: Any) -> None:
    """Refuse to go by order where entries carry something that is not in the order of the sets.

    Args:
        source: the file, for errors.
        entries: texts, or objects with one.
        sets: what the summaries are called, SET or SET/SIDE, and its set, in their order.
        text: the key of the summaries.

    Raises:
        DataError: entries hold ids, topics or documents of sets in another order, or a counter or an id of something else that
            does not count them; or ids of sets stand before the texts.
    """
    _refuse_ids(source, entries, sets, text)
    records = [entry for entry in entries if isinstance(entry, Mapping)]
    if len(entries) != len(sets) or len(entries) < 2:
        return
    owners = _owners(sets)
    if len(records) == len(entries):
        for name, column in _columns(records, text).items():
            # an entry may lack it
            column_sets = [documents for k, documents in enumerate(sets.values()) if k in column]
            _refuse_column(source, name, column, owners, [documents.id for documents in column_sets])
            _refuse_sources(source, name, list(column.values()), column_sets)
    texts = [text_of_value(entry.get(text)) if isinstance(entry, Mapping) else entry for entry in entries]
    numbers = [NUMBERED.match(summary) if isinstance(summary, str) else None for summary in texts]
    counted = [int(match[1]) for match in numbers if match]
    if len(counted) == len(texts) and _is_shuffled(counted):
        raise DataError(
            f"{source}: summaries begin with numbers that do not count up ({_some(counted)}); {_mend('them')}"
        )


def _refuse_ids(source: str, entries: Sequence[Any], sets: Mapping[str, DocumentSet], text: Any) -> None:
    """Refuse ids of sets under another key in another order, deeper, or before the texts."""
    known = {name.casefold(): name for name in sets}
    values = [_first(_values(entry, text), known) for entry in entries]
    if values == list(sets):
        return
    either = [value or _first(_beginnings(entry, text), known) for value, entry in zip(values, entries, strict=True)]
    if either and None not in either and len(set(either)) == len(either):
        where = _columns_of([entry for entry in entries if isinstance(entry, Mapping)], text, known)
        raise DataError(
            f"{source}: holds ids of document sets, {some_of([repr(name) for name in either])}, "
            + (f"under {shortened(where)}; say so: {NAME_ID.replace('COLUMN', where)}" if where
               else 'before or beside its texts; write {"id": ..., "summary": ...}')
            + ", or take the ids out if the summaries are in the order of the sets"
        )  # fmt: skip


def naming_column(records: Sequence[JsonObject], sets: Mapping[str, DocumentSet]) -> str:
    """The column of which every value is another set's id; "" where there is none."""
    return _columns_of(records, None, {name.casefold(): name for name in sets})


def _columns_of(records: Sequence[JsonObject], text: Any, known: Mapping[str, str]) -> str:
    for name, column in _columns(records, text).items():
        hits = [known.get(_plain(value)) for value, *surplus in column.values() if not surplus]
        if hits and None not in hits and len({*hits}) == len(hits) == len(records) and "." not in name:
            return name
    return ""


def _first(forms: Iterator[str], known: Mapping[str, str]) -> str | None:
    return next((known[form] for form in forms if form in known), None)


def _plain(value: Any) -> str:
    return str(value).strip().casefold().removesuffix(f"/{ALL}")


def _values(entry: Any, text: Any) -> Iterator[str]:
    """What may be an id in an entry: values that are no summaries."""
    if isinstance(entry, Mapping):
        for key, value in entry.items():
            if isinstance(value, Mapping):
                yield from _values(value, text)
            elif key != text and isinstance(value, str | int):
                yield _plain(value)


def _beginnings(entry: Any, text: Any) -> Iterator[str]:
    """What stands before a separator at the beginning of a summary."""
    summary = text_of_value(entry.get(text)) if isinstance(entry, Mapping) else entry
    if isinstance(summary, str):
        ends = (match.start() for match in islice(SEPARATOR.finditer(summary), 3))
        yield from (summary[:end].strip().casefold() for end in ends)


def _columns(records: Sequence[JsonObject], text: Any) -> dict[str, dict[int, Values]]:
    """What records have in each column by their position, in those of objects within as "meta.no"; not the text."""
    columns: dict[str, dict[int, Values]] = {}
    for position, record in enumerate(records):
        for name, values in _flat(record, text):
            columns.setdefault(name, {})[position] = values
    return columns


def _flat(record: JsonObject, text: Any, above: str = "") -> Iterator[tuple[str, Values]]:
    for key, value in record.items():
        name = f"{above}{key}"
        if isinstance(value, Mapping):
            yield from _flat(value, text, f"{name}.")
        elif key is not None and (above or key != text):
            values = tuple(_leaves(value))
            if values:
                yield name, values


def _leaves(value: Any) -> Iterator[str | int | float]:
    """The texts and numbers of a value, also of lists and of objects in lists."""
    if isinstance(value, str | int | float):
        yield value
    elif isinstance(value, list | tuple | Mapping):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _leaves(part)


def _owners(sets: Mapping[str, DocumentSet]) -> dict[str, set[str]]:
    """By the form of a name, the sets that have it as their id, topic or a document's id."""
    owners: dict[str, set[str]] = {}
    for name, documents in sets.items():
        for form in (name, documents.id, documents.topic, *(document.id for document in documents.documents)):
            owners.setdefault(_form(form), set()).add(documents.id)
    owners.pop("", None)
    return owners


def _form(value: Any) -> str:
    """A name by its letters and digits alone, as names of files and columns have them; a number as it is; "" for no name."""
    text = cell_text(value)
    text = spelling_key(text).removesuffix(f"/{ALL}") if len(text) <= MOST_LETTERS else ""
    bare = "".join(filter(str.isalnum, text))
    return text if bare.isdigit() or not bare else bare


def _refuse_column(
    source: str, name: str, column: Mapping[int, Values], owners: Mapping[str, set[str]], sets: Sequence[str]
) -> None:
    """Refuse a column that names the sets in another order, or counts or names something else."""
    texts = [", ".join(map(cell_text, values)) for values in column.values()]
    distinct = set(texts)
    if len(distinct) == 1:
        return
    named_ids = [set[str]().union(*(owners.get(_form(value), ()) for value in values)) for values in column.values()]
    agrees = all(set_id in ids for set_id, ids in zip(sets, named_ids, strict=True))
    is_number = all(text.isdigit() for text in texts)
    n_named = len({text for text, ids in zip(texts, named_ids, strict=True) if ids})
    if agrees:
        return
    if all(named_ids) and (len(distinct) == len(texts) or not is_number):
        raise DataError(f"{source}: {_carries(name, texts)}, which name the sets in another order; {_mend(name)}")
    if not is_number and 2 <= n_named >= len(distinct) / 2 and _is_misplaced(named_ids, sets):
        raise DataError(
            f"{source}: {_carries(name, texts)}, which name other sets than those in their place; {_mend(name)}"
        )
    last = parts_of(name.rpartition(".")[2])[-1:]
    counts = 2 * len(distinct) > len(texts) and (UNNAMED.fullmatch(name) is not None or not COUNTERS.isdisjoint(last))
    numbers = _numbers(texts)
    if numbers and len({number - position for number, position in zip(numbers, column, strict=True)}) == 1:
        return
    is_custom = parts_of(name)[-2:] == ("custom", "id")
    identifies = not IDENTIFIERS.isdisjoint(last) and (len(distinct) == len(texts) or is_custom)
    # of dates and times nothing is concluded
    is_single = len(DIGITS.findall(texts[0])) == 1 and GRADES.isdisjoint(last)
    if (numbers and (counts or (is_single and _is_shuffled(numbers)))) or identifies:
        raise DataError(
            f"{source}: {_carries(name, texts)}, which do not count up in the order of the sets; {_mend(name)}"
        )


def _refuse_sources(source: str, name: str, values: Sequence[Values], sets: Sequence[DocumentSet]) -> None:
    """Refuse a column of sources or prompts that hold documents of other sets than those in their place."""
    texts = ["\n".join(map(cell_text, cells)) for cells in values]
    strange = [text for text, documents in zip(texts, sets, strict=True) if not _has_document(text, documents)]
    if any(_has_document(text, documents) for text in strange[:3] for documents in sets):
        raise DataError(
            f"{source}: {_carries(name, texts)}, which hold documents of other sets than those in their place; {_mend(name)}"
        )


def _has_document(text: str, documents: DocumentSet) -> bool:
    """Whether a text holds the beginning of a document of the set."""
    starts = (document.text.strip()[: BEGINNING.stop] for document in documents.documents)
    return any(len(start) >= BEGINNING.start and start in text for start in starts)


def _is_misplaced(named_ids: Sequence[set[str]], sets: Sequence[str]) -> bool:
    return any(ids and set_id not in ids for set_id, ids in zip(sets, named_ids, strict=True))


def _numbers(texts: Sequence[str]) -> list[int] | None:
    """The numbers that texts differ by, "request-7" by 7; None where they differ by anything else."""
    parts = [DIGITS.split(text) for text in texts]
    if len({len(pieces) for pieces in parts}) > 1 or len(parts[0]) == 1 or max(map(len, texts)) > MOST_LETTERS:
        return None
    if any(len(digits) > MOST_DIGITS for pieces in parts for digits in pieces[1::2]):
        return None
    # numbers written with zeros in front are equal to those without
    columns = [
        [int(digits) for digits in column] if k % 2 else column for k, column in enumerate(zip(*parts, strict=True))
    ]
    varying = [k for k, column in enumerate(columns) if len({*column}) > 1]
    return [int(digits) for digits in columns[varying[0]]] if len(varying) == 1 and varying[0] % 2 else None


def _is_shuffled(numbers: Sequence[int]) -> bool:
    """Whether numbers are those from 0 or 1 on, in another order; of two or three values that may be chance."""
    start = min(numbers)
    usual = list(range(start, start + len(numbers)))
    return len(numbers) > 3 and start in (0, 1) and list(numbers) != usual and sorted(numbers) == usual


def _carries(name: str, texts: Sequence[str]) -> str:
    return f"the summaries carry {shortened(name)} {_some(texts)}"


def _some(values: Sequence[Any]) -> str:
    shown = ", ".join(shortened(value) for value in values[:3])
    return f"{shown}, ..." if len(values) > 3 else shown


def _mend(name: str) -> str:
    label = "them" if name == "them" else shortened(name)
    return (
        f'write the ids of the sets under "id", or say which column has them: {NAME_ID}; if the summaries are in the order of '
        f"the sets, take {label} out"
    )
