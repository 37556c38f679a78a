"""Attribute values: groups that are made of them, those that people write in two ways, and sets without two to compare.

What differs by capitals or as a number is written is no side of its own, unless groups say whose it is.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from ..config.groups import LEFT_OUT, REST, Members, band_of, groups_of, groups_text, number_of
from ..errors import DataError
from ..records import GROUPS, OF_NO_GROUP, RELEASED_PROMPTS, DocumentSet
from ..text import did_you_mean, in_order, look_alike, some_of, spelling_key, value_key
from ..text.mistakes import listed
from ..text.shown import shortened

logger = logging.getLogger(__name__)

# quotes and brackets around a value, and behind it a sentence's marks; not "+", "-", "#", "*" and "_", which names have
AROUND = re.compile("^[\\s\"'`(\\[{\u00ab\u2018\u201c\u201e]+|[\\s\"'`)\\]}\u00bb\u2019\u201c\u201d.,;:]+$")


def settled(
    sets: Sequence[DocumentSet],
    attributes: Iterable[str] = (),
    group: Sequence[Any] = (),
    place: str = "",
) -> list[DocumentSet]:
    """The sets whose documents have groups in place of values, where there are groups of an attribute.

    Each set's notes say which groups there are, in their order, and of which values.

    Args:
        sets: as they were read.
        attributes: those that the sets are grouped by; without any, the only one that they have.
        group: groups as `groups_of` reads them.
        place: where the sets are from, to begin each mistake with: "docs.csv: ".

    Raises:
        DataError: groups are wrong, leave values out or have no document, or other values are spellings of one; all are listed.
    """
    names = _named(sets, attributes)
    groupings = [_Grouping(name, members, sets) for name, members in groups_of(group, names).items()]
    if mistakes := [mistake for grouping in groupings for mistake in grouping.mistakes()]:
        raise DataError(listed([f"{place}{mistake}" for mistake in mistakes]))
    result = list(sets)
    for grouping in groupings:
        if values := [value for value, name in grouping.group_of.items() if name == LEFT_OUT]:
            shown = _with_counts(in_order(values), grouping.counts)
            logger.warning("%sleft out by the groups of %r: %s", place, grouping.attribute, shown)
        result = [grouping.apply(documents) for documents in result]
    _refuse_alike(result, names, place)
    return result


def _named(sets: Sequence[DocumentSet], attributes: Iterable[str]) -> list[str]:
    """These attributes, or else the only one that the documents have."""
    if names := list(attributes):
        return names
    known = list(dict.fromkeys(name for documents in sets for d in documents.documents for name in d.attributes))
    return known if len(known) == 1 else []


def groups_in(sets: Sequence[DocumentSet], attribute: str) -> str:
    """The groups that the values of an attribute are, "critical=1,2; praising=4,5"; "" where they are values as they came."""
    noted = sets[0].notes.get(GROUPS) if sets else None
    groups = noted.get(attribute) if isinstance(noted, dict) else None
    return groups if isinstance(groups, str) else ""


def n_of_no_group(sets: Sequence[DocumentSet], attribute: str) -> int:
    """How many documents the groups of an attribute left out of these sets."""
    noted = (documents.notes.get(OF_NO_GROUP) for documents in sets)
    counts = (note.get(attribute) for note in noted if isinstance(note, dict))
    return sum(n for n in counts if isinstance(n, int))


class _Grouping:
    """Groups of one attribute, and which of them each value is in."""

    def __init__(self, attribute: str, groups: Members, sets: Sequence[DocumentSet]) -> None:
        self.attribute, self.groups = attribute, groups
        self.counts = _counts(sets, [attribute])[attribute]
        owners = {value_key(member): name for name, members in groups.items() for member in members}
        bands = [(band, name) for name, members in groups.items() for member in members if (band := band_of(member))]
        self.rest = owners.get(REST)
        self.group_of = {
            value: owners.get(value_key(value)) or next((name for band, name in bands if value in band), self.rest)
            for value in self.counts
        }
        self.emptied = [
            documents.id
            for documents in sets
            if {self.group_of.get(d.attributes.get(attribute, "")) for d in documents.documents} == {LEFT_OUT}
        ]

    def mistakes(self) -> Iterator[str]:
        """What is wrong with the groups for these documents."""
        if not self.counts:
            # whoever reads documents says which attributes there are
            return
        values = in_order(self.counts)
        shown = _with_counts(values, self.counts)
        bands = [name for name, members in self.groups.items() if any(map(band_of, members))]
        if bands and not any(number_of(value) is not None for value in values):
            yield f"groups of numbers ({some_of(bands)}), and no value of {self.attribute!r} is one: {shown}"
            return
        if left_out := [value for value in values if self.group_of[value] is None]:
            known = [member for of_group in self.groups.values() for member in of_group if not band_of(member)]
            yield (
                f"values of {self.attribute!r} are in no group: {_with_counts(left_out, self.counts)}"
                f"{did_you_mean(left_out[0], known).rstrip('.')}; put each into one, give a group the rest: "
                f"NAME={REST}, or leave their documents out: {LEFT_OUT}={REST}"
            )
        if self.emptied:
            yield (
                f"sets have no document but those that {LEFT_OUT}= leaves out: {some_of([*map(shortened, self.emptied)])}; take "
                "these sets out of the file"
            )
        for value, group in self.group_of.items():
            if group and value_key(value) in map(value_key, self.groups.keys() - {group}):
                # the group's row would be read as that value's
                yield f"{shortened(value)} is in group {shortened(group)}, and another group has its name; choose another name"
        for name, members in self.groups.items():
            if name not in self.group_of.values():
                yield f"group {shortened(name)} ({', '.join(members)}) has no document; {self.attribute} is {shown}"

    def apply(self, documents: DocumentSet) -> DocumentSet:
        """The set with groups in place of values."""
        name = self.attribute
        points: dict[str, tuple[str, ...]] = {}
        for side, texts in documents.key_points.items():
            group = self.group_of.get(side) or side
            if group == LEFT_OUT:
                continue
            points[group] = (*points.get(group, ()), *texts)
        notes = {key: note for key, note in documents.notes.items() if key != RELEASED_PROMPTS}
        members = tuple(
            document.model_copy(
                update={"attributes": {**document.attributes, name: self.group_of[document.attributes[name]]}}
            )
            if name in document.attributes
            else document
            for document in documents.documents
            if self.group_of.get(document.attributes.get(name, "")) != LEFT_OUT
        )
        for key, note in (
            ("values", [group for group in self.groups if group != LEFT_OUT]),
            (GROUPS, groups_text(self.groups)),
            (OF_NO_GROUP, len(documents.documents) - len(members)),
        ):
            earlier = notes.get(key)
            if note:
                notes[key] = {**(earlier if isinstance(earlier, dict) else {}), name: note}
        return documents.model_copy(update={"documents": members, "key_points": points, "notes": notes})


def _with_counts(values: Sequence[str], counts: Mapping[str, int]) -> str:
    """ "'1' (12 documents), '2' (1)"."""
    shown = [f"{counts[value]:,}" for value in values]
    shown[0] += " document" if shown[0] == "1" else " documents"
    return some_of([f"{shortened(value)} ({n})" for value, n in zip(values, shown, strict=True)])


def _refuse_alike(sets: Sequence[DocumentSet], attributes: Iterable[str], place: str) -> None:
    """Refuse values that are spellings of one (capitals, numbers, truth values), with the documents of each.

    Other differences that nobody sees are gone from values.
    """
    if mistakes := [text for name, counts in _counts(sets, attributes).items() for text in _alike(name, counts)]:
        raise DataError(listed([f"{place}{text}" for text in mistakes]))


def single_valued(sets: Sequence[DocumentSet], attribute: str) -> str:
    """Why no set has documents of two values, "all documents have stance 'left'"; "" where one has, and without any set."""
    if not sets or any(len(documents.values(attribute)) > 1 for documents in sets):
        return ""
    if all(len(documents.documents) < 2 for documents in sets):
        return "every set has a single document, and a set holds all documents that are summarised together"
    values = {value for documents in sets for value in documents.values(attribute)}
    if len(values) == 1:
        return f"all documents have {attribute} {shortened(values.pop())}"
    return f"every set has documents of one {attribute} only"


def _counts(sets: Sequence[DocumentSet], attributes: Iterable[str]) -> Mapping[str, Counter[str]]:
    """By attribute, the documents of each value."""
    return {
        name: Counter(d.attributes[name] for documents in sets for d in documents.documents if name in d.attributes)
        for name in attributes
    }


def _alike(attribute: str, counts: Counter[str]) -> Iterator[str]:
    for spellings in look_alike(counts, value_key):
        shown = _with_counts(spellings, counts)
        if len({*map(spelling_key, spellings)}) == 1:
            yield f"values of {attribute!r} differ only by capitals: {shown}; write one of them"
            continue
        yield (
            f"values of {attribute!r} differ only in how a number or truth value is written: {shown}; write one of them, or, "
            f"where they are no numbers (versions, codes), put a letter before each: {'v' + spellings[0]!r}"
        )
    for spellings in look_alike(counts, lambda value: value_key(_bare(value))):
        # signs around numbers may say something else: "(0,10]" and "(0,10)"
        if len({*map(value_key, spellings)}) > 1 and not any(map(str.isdigit, "".join(spellings))):
            shown = _with_counts(spellings, counts)
            yield f"values of {attribute!r} differ only by quotes or marks around them: {shown}; write one of them"


def _bare(value: str) -> str:
    """The value without quotes and brackets around it and a sentence's marks behind it; itself where nothing is left."""
    return AROUND.sub("", value) or value
