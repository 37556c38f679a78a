"""The released sets of PerspectiveSumm: one JSON array, an element for each set.

A set says twice what its values' texts are: by its units, each with its values, and by `value_input`, which the published
numbers rest on. Both must agree, else the set is refused. `model_input` is not taken over: it is the units again, for tweets in
shuffled order, and whoever asks for summaries lays documents out anew.

Source: docs/papers.md#zhang-data.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from ...corpora.entries import BuiltSets, read_list, refuse_entries
from ...corpora.importers import Importer
from ...errors import DataError
from ...records import DocumentSet
from ...storage import read_json
from ...text import did_you_mean, repeated
from .raw import set_of_units

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

    units: list[ReleasedUnit]
    meta: ReleasedMeta
    # attribute -> text of each declared value
    value_input: dict[str, list[str]]
    # attribute -> declared values, in the same order
    value_mapping: dict[str, list[Value]]
    gold_summary: list[str] = []


def read_perspectivesumm(path: Path, attribute: str | None = None, *, split: str | None = None) -> list[DocumentSet]:
    """The document sets of a released file, in its order; their ids are the file's name and their number from 1.

    Sets without a text, which the authors' scripts write too, are left out; `count_empty` says how many.

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
    read, mistakes = read_list(path, ReleasedSet, records=records)
    empty = count_empty(records)
    if empty and empty == len(records):
        raise DataError(f"{path}: none of its {empty} sets has a text; import another file")
    read = [
        (number, released_set) for number, released_set in read if any(unit.text.strip() for unit in released_set.units)
    ]
    known = list(dict.fromkeys(name for _, released in read for name in released.value_mapping))
    if read and attribute is not None and attribute not in known:
        # once, and not set by set
        raise DataError(
            f"{path}: no set has the attribute {attribute!r}{did_you_mean(attribute, known)} "
            f"Attributes are {', '.join(known) or 'none'}"
        )
    mistakes += [(number, text) for number, released_set in read for text in _mistakes(released_set, attribute)]
    refuse_entries(path, "set", mistakes)
    name = path.name.partition(".")[0]
    sets = []
    for number, released_set in read:
        set_id = f"{name}-{number:04d}"
        attributes = [attribute] if attribute is not None else list(released_set.value_mapping)
        values = {key: [str(value) for value in released_set.value_mapping[key]] for key in attributes}
        units = [(unit.text, {key: str(unit.value[key]) for key in attributes}) for unit in released_set.units]
        notes = {
            "values": values,
            "separator": released_set.meta.separator,
            "meta": released_set.meta.model_extra or {},
        }
        sets.append(set_of_units(set_id, units, notes, references=tuple(released_set.gold_summary), split=split))
    return sets


def read_released(path: Path, attribute: str | None) -> BuiltSets:
    """The document sets of a released file, and how many of its sets have no text; see `read_perspectivesumm`."""
    records = read_json(path)
    sets = released_sets(records, path, attribute)
    return BuiltSets(sets, {"sets: without a text": empty} if (empty := count_empty(records)) else {})


def count_empty(records: Any) -> int:
    """How many sets of a released file have no text."""
    unit_lists = (
        [entry.get("units") for entry in records if isinstance(entry, dict)] if isinstance(records, list) else []
    )
    return sum(isinstance(units, list) and not any(_has_text(unit) for unit in units) for units in unit_lists)


def _has_text(unit: Any) -> bool:
    # anything else than a blank text is for the checks to speak of
    return not isinstance(unit, dict) or not isinstance(unit.get("text"), str) or bool(unit["text"].strip())


def _mistakes(released: ReleasedSet, attribute: str | None) -> Iterator[str]:
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
        if twice := repeated(map(str, declared[name])):
            yield f"'value_mapping' declares values of {name} more than once: {', '.join(twice)}; keep one of each"
        yield from _wrong_units(released, name)


def _wrong_units(released: ReleasedSet, attribute: str) -> Iterator[str]:
    """Units without a declared value of the attribute; if there are none, values whose units are not what `value_input` says."""
    values = released.value_mapping[attribute]
    strangers = [n for n, unit in enumerate(released.units, start=1) if unit.value.get(attribute) not in values]
    for number in strangers:
        yield (
            f"unit {number} has {attribute} {released.units[number - 1].value.get(attribute)!r}; declared in 'value_mapping' are "
            f"{', '.join(map(repr, values))}"
        )
    texts = released.value_input.get(attribute, [])
    if len(texts) != len(values):
        yield f"'value_input' has {len(texts)} texts of {attribute}, 'value_mapping' has {len(values)} values"
    elif not strangers:
        separator = released.meta.separator
        for value, text in zip(values, texts, strict=True):
            joined = separator.join(unit.text for unit in released.units if unit.value[attribute] == value)
            if joined != text:
                yield (
                    f"units of {attribute} {value!r}, joined by {separator!r}, are not what 'value_input' says; it has "
                    f"{len(text):,} characters, they have {len(joined):,}"
                )


PERSPECTIVESUMM = Importer(
    about="PerspectiveSumm's released JSON, all six sources; units and value texts must agree.",
    read=read_released,
    recognises=lambda head: head.is_array and "units" in head.keys,
    form="PerspectiveSumm's JSON array (elements with 'units')",
)
