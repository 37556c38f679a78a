"""Import of PoliSum as its authors released it: one JSON list of items, an item for each side of an article pair.

In the released files the labels of every right-stance prompt are exchanged: the passages of the side asked for are always
printed first, under "Left:". An item's `document` is right. So the side of a block is told from `document`, never from its
label, and the prompts are not taken over; whoever asks for summaries builds them anew from the passages.

Source: Ri et al. 2025; docs/papers.md#ri-data.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from ..errors import DataError
from ..records import Document, DocumentSet, Text
from ..storage import digest, explain, listed, read_json
from ..text import fold

# a line that holds nothing but a side's label
LABEL = re.compile(r"^[ \t]*(Left|Right):[ \t\r]*$", re.MULTILINE)
BLANK_LINE = re.compile(r"\n\s*\n")
SIDES = ("left", "right")


class ReleasedItem(BaseModel):
    """An item of the authors' file; keys beside these are ignored."""

    topic: Text
    stance: Literal["left", "right"]
    input: str
    document: Text


@dataclass(frozen=True)
class Passages:
    """Both sides of an item, told apart by its `document`."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    # True when the labels in the released prompt say the opposite
    swapped: bool


@dataclass(frozen=True)
class ImportReport:
    """What an import found and did."""

    # items in the file
    items: int
    # document sets made of them
    sets: int
    # stance -> items whose labels were exchanged and are repaired
    repaired: dict[str, int]
    # items that repeat an earlier one word for word
    duplicates: int
    # sets of which the file has one stance only; their other side comes from that item's prompt
    single: int

    def __str__(self) -> str:
        repaired = ", ".join(f"{count} {side}" for side, count in self.repaired.items())
        return (
            f"{self.items} items in the file; exchanged labels repaired: {repaired}; "
            f"repeated items left out: {self.duplicates}; sets of a single item: {self.single}"
        )


@dataclass(frozen=True)
class ImportResult:
    """The imported document sets, in the file's order, and what was repaired or left out."""

    sets: list[DocumentSet]
    report: ImportReport


def import_polisum(path: Path, *, split: str | None = None, faithful_to_release: bool = False) -> ImportResult:
    """Document sets with a left and a right side from a file of the authors (`dev.json`, `test.json`).

    Args:
        path: a JSON list of items with `topic`, `stance`, `input` and `document`.
        split: the split that the sets are given; None gives none.
        faithful_to_release: keep the released prompts, labels exchanged as they are, in each set's
            notes["released_prompts"], for reproducing the paper. Sides are told from `document` all the same.

    Raises:
        StorageError: the file cannot be read.
        DataError: the file is no such list, an item is wrong, or two items of a pair disagree; all are listed by item number
            (from 1), with a code as in `import_record` where a prompt cannot be understood.
    """
    items, passages, mistakes = _read_items(path)
    mistakes += _disagreements(items, passages)
    if mistakes:
        raise DataError(listed([f"{path}: {mistake}" for mistake in mistakes]))
    groups: dict[str, list[int]] = {}
    for number in items:
        both = passages[number]
        groups.setdefault(_content(items[number].topic, both.left, both.right), []).append(number)
    sets = []
    for numbers in groups.values():
        both = passages[numbers[0]]
        prompts = {items[n].stance: items[n].input for n in numbers}
        notes = {"released_prompts": prompts} if faithful_to_release else None
        sets.append(paired_set(items[numbers[0]].topic, {"left": both.left, "right": both.right}, split, notes))
    stances = [Counter(items[n].stance for n in numbers) for numbers in groups.values()]
    swapped: Counter[str] = Counter(items[n].stance for n in items if passages[n].swapped)
    report = ImportReport(
        items=len(items),
        sets=len(sets),
        repaired={side: swapped[side] for side in SIDES},
        duplicates=sum(sum(counts.values()) - len(counts) for counts in stances),
        single=sum(len(counts) == 1 for counts in stances),
    )
    return ImportResult(sets, report)


def import_record(record: Mapping[str, Any]) -> Passages:
    """The passages of both sides of one item, stripped and in order.

    Raises:
        DataError: the item lacks a key, or its text begins with a code: `labels_not_found` when the prompt has not one line
            "Left:" and one line "Right:", `document_not_in_input` when `document` is neither block, `side_empty` when the
            other block is empty.
    """
    try:
        return _passages(ReleasedItem.model_validate(record))
    except ValidationError as error:
        raise DataError(explain(error)) from error


def _read_items(path: Path) -> tuple[dict[int, ReleasedItem], dict[int, Passages], list[str]]:
    """Items and their passages by number, and what is wrong with the others."""
    records = read_json(path)
    if not isinstance(records, list) or not records:
        raise DataError(f"{path}: holds no list of items; the authors' dev.json or test.json is expected")
    items, passages, mistakes = {}, {}, []
    for number, record in enumerate(records, start=1):
        try:
            item = ReleasedItem.model_validate(record)
            passages[number] = _passages(item)
            items[number] = item
        except ValidationError as error:
            mistakes.append(f"item {number}: {explain(error)}")
        except DataError as error:
            mistakes.append(f"item {number} ({item.topic!r}, {item.stance}): {error}")
    return items, passages, mistakes


def _passages(item: ReleasedItem) -> Passages:
    labels = list(LABEL.finditer(item.input))
    if sorted(label[1] for label in labels) != ["Left", "Right"]:
        raise DataError(
            "labels_not_found: 'input' needs one line 'Left:' and one line 'Right:', "
            f"it has {[label[0].strip() for label in labels]}"
        )
    first, second = labels
    blocks = {
        first[1].lower(): item.input[first.end() : second.start()].strip(),
        second[1].lower(): item.input[second.end() :].strip(),
    }
    other = "right" if item.stance == "left" else "left"
    # the item's own label first: should both blocks be equal, nothing was exchanged
    for label in (item.stance, other):
        if fold(blocks[label]) == fold(item.document):
            asked, opposing = blocks.pop(label), blocks.popitem()[1]
            if not opposing:
                raise DataError("side_empty: 'input' has no passages of the other side")
            sides = {item.stance: split_passages(asked), other: split_passages(opposing)}
            return Passages(sides["left"], sides["right"], swapped=label != item.stance)
    raise DataError(
        "document_not_in_input: 'document' is neither the text under 'Left:' nor the one under 'Right:', "
        "so which side is which cannot be told"
    )


def split_passages(block: str) -> tuple[str, ...]:
    """The passages of a block: separated by blank lines where it has some, else one a line."""
    parts = BLANK_LINE.split(block) if BLANK_LINE.search(block) else block.split("\n")
    return tuple(part.strip() for part in parts if part.strip())


def _content(topic: str, left: Sequence[str], right: Sequence[str]) -> str:
    """Digest of title and passages of both sides, white space aside: equal for the two items of a pair."""
    return digest([fold(topic), *([fold(text) for text in side] for side in (left, right))])


def _disagreements(items: Mapping[int, ReleasedItem], passages: Mapping[int, Passages]) -> Iterable[str]:
    """Items of one title that have the passages of one side in common, but not those of the other."""
    earlier: dict[tuple[str, str, str], tuple[int, str]] = {}
    for number, item in items.items():
        content = _content(item.topic, passages[number].left, passages[number].right)
        for side, texts in zip(SIDES, (passages[number].left, passages[number].right), strict=True):
            one_side = (fold(item.topic), side, digest([fold(text) for text in texts]))
            first, its_content = earlier.setdefault(one_side, (number, content))
            if its_content != content:
                yield (
                    f"items {first} and {number} ({item.topic!r}) have the same {side} passages, but not the same ones on "
                    "the other side; a pair must agree on both"
                )


def paired_set(
    topic: str, passages: Mapping[str, Sequence[str]], split: str | None, notes: Mapping[str, Any] | None = None
) -> DocumentSet:
    """The document set of a title and the passages of each of the two sides."""
    topic = fold(topic)
    slug = re.sub(r"[^a-z0-9]+", "-", topic.lower()).strip("-") or "topic"
    # titles repeat over different passages, so the name alone would not do
    set_id = f"{slug}-{_content(topic, passages['left'], passages['right'])[:8]}"
    documents = [
        Document(id=f"{set_id}/{side}-{number}", text=text, attributes={"stance": side})
        for side in SIDES
        for number, text in enumerate(passages[side], start=1)
    ]
    return DocumentSet(id=set_id, topic=topic, documents=tuple(documents), split=split, notes=dict(notes or {}))
