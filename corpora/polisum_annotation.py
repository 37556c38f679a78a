"""Import of the documents that PoliSum's authors gave to annotators (`annotation.json`): a JSON list of items, one for each side.

An item is `{topic, stance, document}`, its passages parted by blank lines; it has no prompt, and no marks of anybody. Both sides
of a topic become one document set, for any recipe; or each item becomes an article whose excerpts a person still has to mark,
the input of `build-controlled`. Data of Ri, Deas and McKeown 2025 (arXiv:2506.15925).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ValidationError

from ..errors import DataError
from ..records import DocumentSet, Text
from ..storage import explain, listed, read_json
from ..text import fold
from .controlled.annotated import AnnotatedArticle
from .polisum import SIDES, paired_set, split_passages


class AnnotationItem(BaseModel):
    """An item of the authors' file; keys beside these are ignored."""

    topic: Text
    stance: Literal["left", "right"]
    document: Text

    @property
    def passages(self) -> tuple[str, ...]:
        """The document's passages, stripped and in order."""
        return split_passages(self.document)


@dataclass(frozen=True)
class AnnotationImport:
    """What an annotation file holds."""

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
            paired_set(topic, {side: sides.get(side, ()) for side in SIDES}, split)
            for topic, sides in self.topics.items()
        ]

    def articles(self) -> list[AnnotatedArticle]:
        """An article for each item, without excerpts; those of one topic have each other's key points as opposite points."""
        return [
            AnnotatedArticle(id=f"{each.id}/{side}", topic=each.id, side=side, passages=passages)
            for each, sides in zip(self.sets(), self.topics.values(), strict=True)
            for side, passages in sides.items()
        ]


def import_annotation(path: Path) -> AnnotationImport:
    """The documents of an annotation file of the authors.

    Raises:
        StorageError: the file cannot be read.
        DataError: it is no such list, an item is wrong, or a topic has two documents of one side; all are listed by item number
            (from 1).
    """
    records = read_json(path)
    if not isinstance(records, list) or not records:
        raise DataError(f"{path}: holds no list of items; the authors' annotation.json is expected")
    topics: dict[str, dict[str, tuple[str, ...]]] = {}
    duplicates = 0
    mistakes = []
    for number, record in enumerate(records, start=1):
        try:
            item = AnnotationItem.model_validate(record)
        except ValidationError as error:
            mistakes.append(f"{path}: item {number}: {explain(error)}")
            continue
        topic = fold(item.topic)
        sides = topics.setdefault(topic, {})
        if item.stance not in sides:
            sides[item.stance] = item.passages
        elif list(map(fold, sides[item.stance])) == list(map(fold, item.passages)):
            duplicates += 1
        else:
            mistakes.append(
                f"{path}: item {number}: topic {topic!r} has another document of side {item.stance!r} already, so it cannot be "
                "told which of them answers the other side; give each pair a title of its own"
            )
    if mistakes:
        raise DataError(listed(mistakes))
    return AnnotationImport(topics, len(records), duplicates)
