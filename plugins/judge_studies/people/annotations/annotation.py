"""One annotator's marks on documents and their summaries, and the authors' files of them: what was marked and what was shown.

    highlight_document             [key points, passages marked as having none]; a key point is a list of {start, end, label}
    highlight_summary_M            the key points seen in the summary of method M, as texts
    in_doc_nin_summary_M_k         key point k of the document is not in that summary
    nin_doc_in_summary_M_k         key point k of that summary is not in the document

A key point without a label does not count: it was begun and left, and has no flags.
Offsets count in the document as it was shown, its passages apart by a blank line. Some item files store single line breaks
instead, and some offsets are a few characters off. So the offsets are tried on the shown and on the stored text, and where
neither gives the marked text, the nearest place that has it is taken. Source: Ri et al. 2025, section 4.1;
docs/papers.md#ri-human.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, NonNegativeInt, TypeAdapter, ValidationError, model_validator

from .....errors import DataError
from .....records import Record, Text
from .....storage import read_json
from .....text.mistakes import explain, listed

SUMMARY = "highlight_summary_"
LINE_BREAKS = re.compile(r"\n+")


class Span(Record):
    """A stretch of a document that an annotator marked."""

    # first character, and the one behind the last
    start: NonNegativeInt
    end: NonNegativeInt
    # the text marked, as the file has it
    label: str

    @model_validator(mode="after")
    def _ends_after_its_start(self) -> "Span":
        if self.end < self.start:
            raise ValueError(f"ends at {self.end}, before its start at {self.start}")
        return self


# parts that belong together
KeyPoint = tuple[Span, ...]


@dataclass(frozen=True)
class SummaryMarks:
    """What an annotator said of one summary."""

    # the key points seen in it
    points: tuple[str, ...]
    # of each key point of the document: it is not in the summary
    omitted: tuple[bool, ...]
    # of each key point of the summary: it is not in the document
    hallucinated: tuple[bool, ...]


@dataclass(frozen=True)
class Annotation:
    """What an annotator said of one document and its summaries."""

    # key points of the document, those without a label left out
    key_points: tuple[KeyPoint, ...]
    # passages marked as having no key point
    without: tuple[KeyPoint, ...]
    # method -> marks on its summary
    summaries: dict[str, SummaryMarks]


_HIGHLIGHTS = TypeAdapter(tuple[tuple[KeyPoint, ...], tuple[KeyPoint, ...]])
_POINTS = TypeAdapter(tuple[str, ...])


def read_annotation(record: Mapping[str, Any]) -> Annotation:
    """The marks in a record of the released files.

    Raises:
        DataError: the record has no highlights, or flags or highlights are wrong or missing; all are listed.
    """
    try:
        key_points, without = _HIGHLIGHTS.validate_python(record.get("highlight_document"))
    except ValidationError as error:
        raise DataError(f"'highlight_document' needs key points and passages without: {explain(error)}") from error
    labelled = [k for k, point in enumerate(key_points) if _is_labelled(point)]
    summaries, mistakes = {}, list[str]()
    for key in record:
        if not key.startswith(SUMMARY):
            continue
        method = key.removeprefix(SUMMARY)
        try:
            points = _POINTS.validate_python(record[key])
        except ValidationError as error:
            mistakes.append(f"'{key}' needs a list of texts: {explain(error)}")
            points = ()
        seen = [k for k, point in enumerate(points) if point.strip()]
        summaries[method] = SummaryMarks(
            points=tuple(points[k] for k in seen),
            omitted=_flags(record, f"in_doc_nin_summary_{method}", labelled, mistakes),
            hallucinated=_flags(record, f"nin_doc_in_summary_{method}", seen, mistakes),
        )
    if mistakes:
        raise DataError(listed(mistakes))
    return Annotation(
        tuple(key_points[k] for k in labelled), tuple(point for point in without if _is_labelled(point)), summaries
    )


def _is_labelled(point: KeyPoint) -> bool:
    return any(span.label.strip() for span in point)


def _flags(record: Mapping[str, Any], name: str, places: Sequence[int], mistakes: list[str]) -> tuple[bool, ...]:
    flags = []
    for k in places:
        value = record.get(f"{name}_{k}")
        if isinstance(value, bool):
            flags.append(value)
        else:
            mistakes.append(f"'{name}_{k}' needs true or false, got {value!r}")
    return tuple(flags)


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
    # document set; "" where the file does not name it, as the authors' files do not
    set_id: str = ""

    @property
    def cluster(self) -> str:
        """Cluster of units that share evidence: the document set, or the topic where the set is not known."""
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
            shown_item = _Item.model_validate(item)
            document = LINE_BREAKS.sub("\n\n", shown_item.document)
            annotation = _placed(read_annotation(record), shown_item, document)
            topic, side = shown_item.topic, shown_item.stance
            units.append(HumanUnit(annotator, number, topic, side, document, shown_item.summaries, annotation))
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
            f"{path}: is not a list of records; the authors' human_N.json and human_items_N.json are expected"
        )
    return entries


def _placed(annotation: Annotation, item: _Item, shown: str) -> Annotation:
    if annotation.summaries.keys() != item.summaries.keys():
        raise DataError(
            f"summaries of {sorted(annotation.summaries)} are marked, but those of {sorted(item.summaries)} were shown"
        )

    def spans(points: Sequence[KeyPoint]) -> tuple[KeyPoint, ...]:
        marked = ([span for span in point if span.label.strip()] for point in points)
        return tuple(tuple(place_span(span, shown, item.document) for span in point) for point in marked)

    return replace(annotation, key_points=spans(annotation.key_points), without=spans(annotation.without))


def place_span(span: Span, shown: str, stored: str) -> Span:
    """The span where its label stands in the shown text, line breaks at its ends left out.

    Args:
        span: with offsets into either text, or near them.
        shown: the document with its passages apart by a blank line.
        stored: the document as it is in the file; only its line breaks may differ from those of `shown`.

    Raises:
        DataError: the label is not in the document.
    """
    bases = (base for base in (shown, stored) if base[span.start : span.end] == span.label)
    base = next(bases, None)
    label, text = span.label.replace("\n", ""), shown.replace("\n", "")
    if base is not None:
        start = span.start - base.count("\n", 0, span.start)
    else:
        expected = span.start - shown.count("\n", 0, span.start)
        # a lookahead, as places may overlap
        starts = (match.start() for match in re.finditer(f"(?={re.escape(label)})", text))
        start = min(starts, key=lambda place: abs(place - expected), default=-1)
    if start < 0:
        raise DataError(f"the marked text {span.label[:60]!r} is not in the document")
    places = [place for place, character in enumerate(shown) if character != "\n"]
    first, last = places[start], places[start + len(label) - 1]
    return Span(start=first, end=last + 1, label=shown[first : last + 1])
