"""Import of PoliSum as its authors released it: JSON lists of items, an item for each side of an article pair.

`import_polisum` reads the items with the released prompts (`dev.json`, `test.json`). In the released files the labels of every
right-stance prompt are exchanged: the passages of the side asked for are always printed first, under "Left:". An item's
`document` is right. So the side of a block follows from `document`, never from its label, and the prompts are not taken over;
whoever asks for summaries builds them anew from the passages.

`import_annotation` reads the documents that the authors gave to annotators (`annotation.json`): items of `{topic, stance,
document}`, passages parted by blank lines, without a prompt or anybody's marks. Both sides of a topic become one document set;
or each item becomes an article whose excerpts a person still has to mark, the input of `judges controlled`.

Source: Ri et al. 2025; docs/papers.md#ri-data.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel

from ...corpora.annotated import AnnotatedArticle
from ...corpora.entries import read_list, refuse_entries
from ...corpora.importers import Importer
from ...errors import DataError
from ...records import RELEASED_PROMPTS, Document, DocumentSet, Text
from ...text import fold
from ...text.digests import digest

# a line that holds nothing but a side's label
LABEL = re.compile(r"^[ \t]*(Left|Right):[ \t\r]*$", re.MULTILINE)
BLANK_LINE = re.compile(r"\n\s*\n")
SIDES = ("left", "right")


class AnnotationItem(BaseModel):
    """An item of the documents for annotators; keys beside these are ignored."""

    topic: Text
    stance: Literal["left", "right"]
    document: Text


class ReleasedItem(AnnotationItem):
    """An item with the released prompt."""

    input: str


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
            (from 1), with a code as in `passages_of` where a prompt cannot be understood.
    """
    read, mistakes = read_list(path, ReleasedItem)
    items, passages = {}, {}
    for number, item in read:
        try:
            passages[number] = passages_of(item)
            items[number] = item
        except DataError as error:
            mistakes.append((number, f"{item.stance} of {item.topic!r}: {error}"))
    refuse_entries(path, "item", [*mistakes, *_disagreements(items, passages)])
    groups: dict[str, list[int]] = {}
    for number, item in items.items():
        sides = passages[number]
        groups.setdefault(_content(item.topic, sides.left, sides.right), []).append(number)
    sets = []
    for numbers in groups.values():
        sides = passages[numbers[0]]
        prompts = {items[n].stance: items[n].input for n in numbers}
        notes = {RELEASED_PROMPTS: prompts} if faithful_to_release else None
        sets.append(_paired_set(items[numbers[0]].topic, {"left": sides.left, "right": sides.right}, split, notes))
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


def passages_of(item: ReleasedItem) -> Passages:
    """The passages of both sides of an item, stripped and in order.

    Raises:
        DataError: its text begins with a code: `labels_not_found` when the prompt has not one line "Left:" and one line "Right:",
            `document_not_in_input` when `document` is neither block, `side_empty` when the other block is empty.
    """
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
    opposite = "right" if item.stance == "left" else "left"
    # the item's own label first: should both blocks be equal, nothing was exchanged
    for label in (item.stance, opposite):
        if fold(blocks[label]) == fold(item.document):
            supporting, opposing = blocks.pop(label), blocks.popitem()[1]
            if not opposing:
                raise DataError("side_empty: 'input' has no passages of the other side")
            sides = {item.stance: split_passages(supporting), opposite: split_passages(opposing)}
            return Passages(sides["left"], sides["right"], swapped=label != item.stance)
    raise DataError(
        "document_not_in_input: 'document' is neither the text under 'Left:' nor the one under 'Right:', "
        "so it is unknown which side is which"
    )


def split_passages(block: str) -> tuple[str, ...]:
    """The passages of a block: separated by blank lines where it has some, else one a line."""
    parts = BLANK_LINE.split(block) if BLANK_LINE.search(block) else block.split("\n")
    return tuple(part.strip() for part in parts if part.strip())


def _content(topic: str, left: Sequence[str], right: Sequence[str]) -> str:
    """Digest of title and passages of both sides, white space aside: equal for the two items of a pair."""
    return digest([fold(topic), *([fold(text) for text in side] for side in (left, right))])


def _disagreements(items: Mapping[int, ReleasedItem], passages: Mapping[int, Passages]) -> Iterable[tuple[int, str]]:
    """Numbers of items of one title that have the passages of one side in common, but not those of the other."""
    earlier: dict[tuple[str, str, str], tuple[int, str]] = {}
    for number, item in items.items():
        content = _content(item.topic, passages[number].left, passages[number].right)
        for side, texts in zip(SIDES, (passages[number].left, passages[number].right), strict=True):
            one_side = (fold(item.topic), side, digest([fold(text) for text in texts]))
            first, its_content = earlier.setdefault(one_side, (number, content))
            if its_content != content:
                yield (
                    number,
                    f"has the same {side} passages as item {first} ({item.topic!r}), but not the same ones on the other side; a "
                    "pair must agree on both",
                )


def _paired_set(
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


@dataclass(frozen=True)
class AnnotationImport:
    """What a file of documents for annotators holds."""

    # topic -> side -> passages, in the file's order
    topics: dict[str, dict[str, tuple[str, ...]]]
    # items in the file, and those that repeat an earlier one word for word
    items: int
    duplicates: int

    def __str__(self) -> str:
        single = sum(len(sides) == 1 for sides in self.topics.values())
        return (
            f"{self.items} items in the file; repeated items left out: {self.duplicates}; topics of one side: {single}"
        )

    def sets(self, split: str | None = None) -> list[DocumentSet]:
        """A document set for each topic."""
        return [
            _paired_set(topic, {side: sides.get(side, ()) for side in SIDES}, split)
            for topic, sides in self.topics.items()
        ]

    def articles(self) -> list[AnnotatedArticle]:
        """An article for each item, without excerpts; those of one topic have each other's key points as opposite points."""
        return [
            AnnotatedArticle(id=f"{documents.id}/{side}", topic=documents.id, side=side, passages=passages)
            for documents, sides in zip(self.sets(), self.topics.values(), strict=True)
            for side, passages in sides.items()
        ]


def import_annotation(path: Path) -> AnnotationImport:
    """The documents that the authors gave to annotators.

    Raises:
        StorageError: the file cannot be read.
        DataError: it is not such a list, an item is wrong, or a topic has two documents of one side; all are listed by item
            number (from 1).
    """
    topics: dict[str, dict[str, tuple[str, ...]]] = {}
    duplicates = 0
    items, mistakes = read_list(path, AnnotationItem)
    for number, item in items:
        topic = fold(item.topic)
        sides = topics.setdefault(topic, {})
        passages = split_passages(item.document)
        if item.stance not in sides:
            sides[item.stance] = passages
        elif list(map(fold, sides[item.stance])) == list(map(fold, passages)):
            duplicates += 1
        else:
            wrong = (
                f"topic {topic!r} has another document of side {item.stance!r} already, so which of them answers the other side "
                "is unclear; give each pair a title of its own"
            )
            mistakes.append((number, wrong))
    refuse_entries(path, "item", mistakes)
    return AnnotationImport(topics, len(items), duplicates)


# the verb has options of its own
POLISUM = Importer(
    about="The PoliSum authors' JSON.",
    recognises=lambda head: head.is_array and head.keys >= AnnotationItem.model_fields.keys(),
    form="PoliSum's list of items",
)
