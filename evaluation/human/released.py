"""The authors' files of one annotator: the marks, and what was shown to the annotator, in the same order.

Offsets count in the document as it was shown, its passages apart by a blank line. Some item files store single line breaks
instead, and some offsets are a few characters off. So the offsets are tried on the shown and on the stored text, and where
neither gives the marked text, the nearest place that has it is taken. Source: Ri et al. 2025, section 4.1;
docs/papers.md#ri-human.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from ...errors import DataError
from ...records import Text
from ...storage import explain, listed, read_json
from .annotation import Annotation, KeyPoint, Span, read_annotation

LINE_BREAKS = re.compile(r"\n+")


@dataclass(frozen=True)
class HumanUnit:
    """One annotator's marks on one document and the summaries that were shown with it."""

    annotator: str
    # place in the annotator's file, from 1
    number: int
    topic: str
    side: str
    # as shown, passages apart by a blank line; spans of the annotation count in this text
    document: str
    # method -> text of its summary
    summaries: dict[str, str]
    annotation: Annotation
    # document set; "" where the file does not tell, as the authors' files do not
    set_id: str = ""

    @property
    def cluster(self) -> str:
        """What shares evidence with it: the document set, or the topic where the set is not told."""
        return self.set_id or self.topic

    @property
    def passages(self) -> list[str]:
        """The document's passages."""
        return [passage.strip() for passage in self.document.split("\n") if passage.strip()]


class _Item(BaseModel):
    topic: Text
    stance: Literal["left", "right"]
    document: Text
    summaries: Annotated[dict[str, str], Field(min_length=1)]


def read_human(marks: Path, items: Path, annotator: str) -> list[HumanUnit]:
    """The units of one annotator.

    Args:
        marks: JSON list of what was marked (`human_1.json`).
        items: JSON list of what was shown, in the same order (`human_items_1.json`).
        annotator: name for this annotator.

    Raises:
        StorageError: a file cannot be read.
        DataError: the files differ in length, or entries are wrong; all are listed by number, from 1.
    """
    records, shown = _read_list(marks), _read_list(items)
    if len(records) != len(shown):
        raise DataError(
            f"{marks} has {len(records)} entries, but {items} has {len(shown)}; they belong together one by one"
        )
    units, mistakes = [], []
    for number, (record, item) in enumerate(zip(records, shown, strict=True), start=1):
        try:
            units.append(_unit(annotator, number, record, _Item.model_validate(item)))
        except ValidationError as error:
            mistakes.append(f"{items}: entry {number}: {explain(error)}")
        except DataError as error:
            mistakes.append(f"{marks}: entry {number}: {error}")
    if mistakes:
        raise DataError(listed(mistakes))
    return units


def _read_list(path: Path) -> list[dict[str, Any]]:
    entries = read_json(path)
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise DataError(
            f"{path}: holds no list of records; the authors' human_N.json and human_items_N.json are expected"
        )
    return entries


def _unit(annotator: str, number: int, record: Mapping[str, Any], item: _Item) -> HumanUnit:
    annotation = read_annotation(record)
    if annotation.summaries.keys() != item.summaries.keys():
        raise DataError(
            f"summaries of {sorted(annotation.summaries)} are marked, but those of {sorted(item.summaries)} were shown"
        )
    shown = LINE_BREAKS.sub("\n\n", item.document)
    placed = replace(
        annotation,
        key_points=tuple(_placed(point, shown, item.document) for point in annotation.key_points),
        without=tuple(_placed(point, shown, item.document) for point in annotation.without),
    )
    return HumanUnit(annotator, number, item.topic, item.stance, shown, item.summaries, placed)


def _placed(point: KeyPoint, shown: str, stored: str) -> KeyPoint:
    return tuple(place_span(span, shown, stored) for span in point if span.label.strip())


def place_span(span: Span, shown: str, stored: str) -> Span:
    """The span where its label stands in the shown text, line breaks at its ends left out.

    Args:
        span: with offsets into either text, or near them.
        shown: the document with its passages apart by a blank line.
        stored: the document as it is in the file; only its line breaks may differ from those of `shown`.

    Raises:
        DataError: the label does not stand in the document.
    """
    bases = (base for base in (shown, stored) if base[span.start : span.end] == span.label)
    base = next(bases, None)
    label, text = _flat(span.label), _flat(shown)
    if base is not None:
        start = span.start - base.count("\n", 0, span.start)
    else:
        expected = span.start - shown.count("\n", 0, span.start)
        start = min(_occurrences(label, text), key=lambda found: abs(found - expected), default=-1)
    if start < 0:
        raise DataError(f"the marked text {span.label[:60]!r} does not stand in the document")
    places = [place for place, character in enumerate(shown) if character != "\n"]
    first, last = places[start], places[start + len(label) - 1]
    return Span(start=first, end=last + 1, label=shown[first : last + 1])


def _flat(text: str) -> str:
    return text.replace("\n", "")


def _occurrences(part: str, text: str) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)
