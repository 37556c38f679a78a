"""One annotator's marks on one document and its summaries, from a record of the released files.

    highlight_document             [key points, passages marked as having none]; a key point is a list of {start, end, label}
    highlight_summary_M            the key points seen in the summary of method M, as texts
    in_doc_nin_summary_M_k         key point k of the document is not in that summary
    nin_doc_in_summary_M_k         key point k of that summary is not in the document

A key point without a label is none: it was begun and left, and has no flags.
Source: Ri et al. 2025, section 4.1; docs/papers.md#ri-human.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import NonNegativeInt, TypeAdapter, ValidationError, model_validator

from ...errors import DataError
from ...records import Record
from ...storage import explain, listed

SUMMARY = "highlight_summary_"


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
    labelled = [k for k, point in enumerate(key_points) if is_labelled(point)]
    methods = [key.removeprefix(SUMMARY) for key in record if key.startswith(SUMMARY)]
    mistakes: list[str] = []
    summaries = {method: _marks(record, method, labelled, mistakes) for method in methods}
    if mistakes:
        raise DataError(listed(mistakes))
    return Annotation(
        tuple(key_points[k] for k in labelled), tuple(point for point in without if is_labelled(point)), summaries
    )


def is_labelled(point: KeyPoint) -> bool:
    """Whether anything is marked."""
    return any(span.label.strip() for span in point)


def _marks(record: Mapping[str, Any], method: str, labelled: Sequence[int], mistakes: list[str]) -> SummaryMarks:
    try:
        points = _POINTS.validate_python(record[f"{SUMMARY}{method}"])
    except ValidationError as error:
        mistakes.append(f"'{SUMMARY}{method}' needs a list of texts: {explain(error)}")
        points = ()
    seen = [k for k, point in enumerate(points) if point.strip()]
    return SummaryMarks(
        points=tuple(points[k] for k in seen),
        omitted=_flags(record, f"in_doc_nin_summary_{method}", labelled, mistakes),
        hallucinated=_flags(record, f"nin_doc_in_summary_{method}", seen, mistakes),
    )


def _flags(record: Mapping[str, Any], name: str, places: Sequence[int], mistakes: list[str]) -> tuple[bool, ...]:
    found = []
    for k in places:
        value = record.get(f"{name}_{k}")
        if isinstance(value, bool):
            found.append(value)
        else:
            mistakes.append(f"'{name}_{k}' needs true or false, got {value!r}")
    return tuple(found)
