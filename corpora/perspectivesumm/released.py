"""The released sets of PerspectiveSumm: one JSON array, an element for each set.

A set says twice what its values' texts are: by its units, each with its values, and by `value_input`, which the published
numbers rest on. Both must agree, else the set is refused. `model_input` is not taken over: it is the units again, for tweets in
shuffled order, and whoever asks for summaries lays documents out anew.

Source: docs/papers.md#zhang-data.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from ...errors import DataError
from ...records import Document, DocumentSet
from ...storage import explain, listed, read_json
from ...text import did_you_mean

# names of speakers, or labels and ratings, which are numbers
Value = str | int


class ReleasedUnit(BaseModel):
    """An item; keys beside these are ignored."""

    text: str
    value: dict[str, Value]


class ReleasedMeta(BaseModel):
    """What the release says of a set; its `type` is "tweets" for some reviews too, so nothing is told by it."""

    model_config = ConfigDict(extra="allow")

    # the released files misspell the key
    separator: str = Field(validation_alias=AliasChoices("separator", "seperator"))


class ReleasedSet(BaseModel):
    """An element of the array; keys beside these are ignored."""

    units: list[ReleasedUnit] = Field(min_length=1)
    meta: ReleasedMeta
    # attribute -> text of each declared value
    value_input: dict[str, list[str]]
    # attribute -> declared values, in the same order
    value_mapping: dict[str, list[Value]]
    gold_summary: list[str] = []


def read_perspectivesumm(path: Path, attribute: str | None = None, *, split: str | None = None) -> list[DocumentSet]:
    """The document sets of a released file, in its order; their ids are the file's name and their number from 1.

    Args:
        path: a JSON array of sets, or the same packed as .gz.
        attribute: the one attribute to keep; None keeps all.
        split: the split that the sets are given; None gives none.

    Raises:
        StorageError: the file cannot be read.
        DataError: the file is no such array, or sets are wrong: an attribute or its order of values is missing, a unit is empty
            or has a value that is not declared, or units and `value_input` disagree. All are listed by number of the set.
    """
    return released_sets(read_json(path), path, attribute, split=split)


def released_sets(
    records: Any, path: Path, attribute: str | None = None, *, split: str | None = None
) -> list[DocumentSet]:
    """The document sets of a released file that was read already; see `read_perspectivesumm`."""
    if not isinstance(records, list) or not records:
        raise DataError(f"{path}: holds no list of sets; a JSON array as PerspectiveSumm releases it is expected")
    read: list[tuple[int, ReleasedSet]] = []
    mistakes = []
    for number, record in enumerate(records, start=1):
        try:
            read.append((number, ReleasedSet.model_validate(record)))
        except ValidationError as error:
            mistakes.append((number, explain(error)))
    _refuse_attribute(path, [released for _, released in read], attribute)
    mistakes += [(number, text) for number, released in read for text in _mistakes(released, attribute)]
    if mistakes:
        raise DataError(listed([f"{path}: set {number}: {text}" for number, text in sorted(mistakes)]))
    name = path.name.partition(".")[0]
    return [_document_set(f"{name}-{number:04d}", released, attribute, split) for number, released in read]


def _refuse_attribute(path: Path, sets: Sequence[ReleasedSet], attribute: str | None) -> None:
    """Refuse an attribute that no set has, once and not set by set."""
    known = list(dict.fromkeys(name for released in sets for name in released.value_mapping))
    if sets and attribute is not None and attribute not in known:
        raise DataError(
            f"{path}: no set has the attribute {attribute!r}{did_you_mean(attribute, known)} "
            f"Attributes are {', '.join(known) or 'none'}"
        )


def _mistakes(released: ReleasedSet, attribute: str | None) -> Iterable[str]:
    declared = released.value_mapping
    if attribute is not None and attribute not in declared:
        yield f"has no attribute {attribute!r}; it has {', '.join(declared) or 'none'}"
        return
    if not declared:
        yield "'value_mapping' declares no attribute"
    for number, unit in enumerate(released.units, start=1):
        if not unit.text.strip():
            yield f"unit {number} has an empty text; take it out"
    for name in [attribute] if attribute is not None else declared:
        if any(not str(value).strip() for value in declared[name]):
            yield f"'value_mapping' declares an empty value of {name}; name it"
        twice = [value for value, count in Counter(map(str, declared[name])).items() if count > 1]
        if twice:
            yield f"'value_mapping' declares values of {name} more than once: {', '.join(twice)}; keep one of each"
        yield from _undeclared(released, name) or _disagreements(released, name)


def _undeclared(released: ReleasedSet, attribute: str) -> list[str]:
    """Units without a declared value of the attribute."""
    values = released.value_mapping[attribute]
    shown = ", ".join(repr(value) for value in values)
    return [
        f"unit {number} has {attribute} {unit.value.get(attribute)!r}; declared in 'value_mapping' are {shown}"
        for number, unit in enumerate(released.units, start=1)
        if unit.value.get(attribute) not in values
    ]


def _disagreements(released: ReleasedSet, attribute: str) -> list[str]:
    """Values whose units, joined, are not what `value_input` says."""
    values = released.value_mapping[attribute]
    texts = released.value_input.get(attribute, [])
    if len(texts) != len(values):
        return [f"'value_input' has {len(texts)} texts of {attribute}, 'value_mapping' has {len(values)} values"]
    return [
        f"units of {attribute} {value!r}, joined by {released.meta.separator!r}, are not what 'value_input' says; "
        f"it has {len(text):,} characters, they have {len(joined):,}"
        for value, text in zip(values, texts, strict=True)
        if (joined := _joined(released, attribute, value)) != text
    ]


def _joined(released: ReleasedSet, attribute: str, value: Value) -> str:
    return released.meta.separator.join(unit.text for unit in released.units if unit.value[attribute] == value)


def _document_set(set_id: str, released: ReleasedSet, attribute: str | None, split: str | None) -> DocumentSet:
    kept = [attribute] if attribute is not None else list(released.value_mapping)
    values = {name: [str(value) for value in released.value_mapping[name]] for name in kept}
    units = [(unit.text, {name: str(unit.value[name]) for name in kept}) for unit in released.units]
    return DocumentSet(
        id=set_id,
        documents=numbered_documents(set_id, units),
        references=tuple(released.gold_summary),
        split=split,
        notes={"values": values, "separator": released.meta.separator, "meta": released.meta.model_extra or {}},
    )


def numbered_documents(set_id: str, units: Sequence[tuple[str, dict[str, str]]]) -> tuple[Document, ...]:
    """Documents of texts and attributes, their ids the set's with a number from 1."""
    return tuple(
        Document(id=f"{set_id}/{number}", text=text, attributes=attributes)
        for number, (text, attributes) in enumerate(units, start=1)
    )
