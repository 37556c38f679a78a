"""A sheet: what one person marked on the annotation page, as the page exports and imports it; and the key to its blind letters.

    AnnotationSheet          who, on which page, and an item for each request
      ItemSheet              the document as shown, its key points, the passages that have none
        SummarySheet         a summary under its blind letter, its key points, and what was decided of each match

The texts stand in the sheet beside the marks, so a sheet can be read without the page. Offsets count the Unicode code points
of the text as shown, as Python does. A decision that was not made is null, and an item with one is not finished: it is
left out of every score and counted. The key says which system each letter stands for; it lies beside the page, and the annotator
does not get it. Source of what is asked: Ri et al. 2025, section 3, eqs. 1 and 2, and section 4.1; docs/papers.md#ri-human.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import AwareDatetime, Field, NonNegativeInt, StrictBool, model_validator

from .....errors import DataError
from .....records import LeftOut, Record, Text
from .....text import repeated, some_of
from .....text.digests import digest
from .....text.mistakes import explained, listed
from .....text.shown import shortened
from .annotation import Annotation, HumanUnit, Span, SummaryMarks

# without their version: browsers keep people's work under it, which cannot be made again
FORMAT: Final = "evenhand-human-annotations"
KEY_FORMAT: Final = "evenhand-human-key"
# between two passages of a document as shown
BREAK = "\n\n"
LINE_BREAKS = re.compile(r"(?:\r\n?|\n)\s*")

# parts that belong together
Point = Annotated[tuple[Span, ...], Field(min_length=1)]
# None: not decided yet
Decisions = tuple[StrictBool | None, ...]


class SummarySheet(Record):
    """One summary as shown, and what was said of it."""

    # the only name of its system that the annotator sees
    letter: Text
    text: Text
    # the key points seen in it
    points: tuple[Point, ...] = ()
    # True: the annotator says that it has no key point
    none: bool = False
    # of each key point of the document: it is not in the summary
    omitted: Decisions = ()
    # of each key point of the summary: it is not in the document
    hallucinated: Decisions = ()


class ItemSheet(Record):
    """One request as shown, and what was said of it."""

    # the request's id
    id: Text
    set_id: Text
    topic: str = ""
    side: Text
    # passages apart by a blank line
    document: Text
    key_points: tuple[Point, ...] = ()
    # passages said to have no key point
    without: tuple[Span, ...] = ()
    summaries: Annotated[tuple[SummarySheet, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _marks_belong_to_the_texts(self) -> "ItemSheet":
        spans = [span for point in self.key_points for span in point] + list(self.without)
        mistakes = list(_displaced(spans, self.document, "the document"))
        letters = [summary.letter for summary in self.summaries]
        if len(set(letters)) < len(letters):
            mistakes.append(f"letters {letters} name summaries twice")
        for summary in self.summaries:
            name = f"summary {summary.letter}"
            mistakes += _displaced([span for point in summary.points for span in point], summary.text, name)
            if summary.none and summary.points:
                mistakes.append(f"{name} is said to have no key point, but has {len(summary.points)}")
            for flags, points, field in (
                (summary.omitted, self.key_points, "'omitted'"),
                (summary.hallucinated, summary.points, "'hallucinated'"),
            ):
                if len(flags) != len(points):
                    mistakes.append(f"{field} of {name} has {len(flags)} decisions for {len(points)} key points")
        if mistakes:
            raise ValueError(f"item {self.id!r}: {', '.join(mistakes)}")
        return self

    @property
    def passages(self) -> list[Span]:
        """The document's passages and where they stand."""
        spans, start = [], 0
        for text in self.document.split(BREAK):
            spans.append(Span(start=start, end=start + len(text), label=text))
            start += len(text) + len(BREAK)
        return spans

    @property
    def shown(self) -> str:
        """Digest of everything that the page shows of it, whatever was marked."""
        texts = {summary.letter: summary.text for summary in self.summaries}
        return digest([self.id, self.set_id, self.topic, self.side, self.document, texts])

    @property
    def unfinished(self) -> str | None:
        """The first reason why the item is not finished; None when it is."""
        if self.unmarked:
            return self.unmarked
        if any(None in summary.omitted or None in summary.hallucinated for summary in self.summaries):
            return "match not decided"
        return None

    @property
    def unmarked(self) -> str | None:
        """The first reason why its key points are not all marked; None when they are, whatever was decided of matches."""
        marked = [span for point in self.key_points for span in point] + list(self.without)
        if not all(any(p.start < span.end and span.start < p.end for span in marked) for p in self.passages):
            return "passage neither marked nor said to have no key point"
        if not all(summary.points or summary.none for summary in self.summaries):
            return "summary neither marked nor said to have no key point"
        return None


class Stamp(Record):
    """A state of a sheet."""

    revision: NonNegativeInt
    time: AwareDatetime


class AnnotationSheet(Record):
    """What one person marked on one page."""

    format: Literal["evenhand-human-annotations"] = FORMAT
    version: Literal[1] = 1
    # digest of everything the page shows: sheets of one page have the same letters
    page: Text
    # "" on a page that nobody has begun
    annotator: str
    # changes so far; 0 also in sheets of before there was a count, and in those from Label Studio
    revision: NonNegativeInt = 0
    # of the last change, in UTC; None: not known
    time: AwareDatetime | None = None
    # its states that left the page as files, itself among them
    exports: tuple[Stamp, ...] = ()
    items: Annotated[tuple[ItemSheet, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _ids_are_unique(self) -> "AnnotationSheet":
        if twice := repeated(item.id for item in self.items):
            raise ValueError(f"items {some_of(twice)} occur more than once; keep one of each")
        return self


def as_shown(texts: Sequence[str]) -> str:
    """Documents as one text whose passages, each without line breaks, stand apart by a blank line."""
    passages = (passage.strip() for text in texts for passage in LINE_BREAKS.split(text))
    return BREAK.join(passage for passage in passages if passage)


def trimmed(text: str, start: int, end: int) -> Span | None:
    """The stretch of `text` without the white space at its ends; None when nothing is left."""
    label = text[start:end]
    start += len(label) - len(label.lstrip())
    label = label.strip()
    return Span(start=start, end=start + len(label), label=label) if label else None


def _displaced(spans: Sequence[Span], text: str, name: str) -> Iterator[str]:
    for span in spans:
        if not span.label.strip() or text[span.start : span.end] != span.label:
            yield f"{span.label[:60]!r} is not at {span.start} to {span.end} of {name}"


class SystemSource(Record):
    """Where a system's summaries came from."""

    folder: Text
    # digest of its best.jsonl
    digest: Text


class PageKey(Record):
    """What the letters of a page stand for, and how the page was made."""

    format: Literal["evenhand-human-key"] = KEY_FORMAT
    version: Literal[1] = 1
    page: Text
    seed: int
    systems: dict[str, SystemSource]
    # item -> letter -> system
    letters: dict[str, dict[str, str]]
    # item -> digest of what the page shows of it
    shown: dict[str, Text]
    left_out: tuple[LeftOut, ...] = ()


def parse_sheet(path: Path, value: Any) -> AnnotationSheet:
    """The sheet in a value that was read from `path`.

    Raises:
        DataError: it is not a sheet, or marks do not belong to the texts; all mistakes are listed.
    """
    with explained(f"{path}: is not a sheet of annotations"):
        return AnnotationSheet.model_validate(value)


def parse_key(path: Path, value: Any) -> PageKey:
    """The key in a value that was read from `path`.

    Raises:
        DataError: it is not a key; all mistakes are listed.
    """
    with explained(f"{path}: is not the key of a page"):
        return PageKey.model_validate(value)


def unblind(sheet: AnnotationSheet, key: PageKey | None) -> list[tuple[ItemSheet, HumanUnit]]:
    """The items of a sheet with their units, summaries named by system; a decision that was not made counts as False.

    Args:
        sheet: what one person marked.
        key: of the sheet's page; None names summaries by their letters.

    Raises:
        DataError: the key lacks an item or a letter, or an item is not what the page shows; all are listed.
    """
    item_units, mistakes = [], []
    for number, item in enumerate(sheet.items, start=1):
        known = key.letters.get(item.id, {}) if key else {summary.letter: summary.letter for summary in item.summaries}
        unknown = [summary.letter for summary in item.summaries if summary.letter not in known]
        if unknown:
            mistakes.append(f"item {shortened(item.id)}: the key of page {sheet.page} does not know {some_of(unknown)}")
            continue
        if key and key.shown.get(item.id) != item.shown:
            mistakes.append(
                f"item {shortened(item.id)}: its texts or letters are not those of page {sheet.page}; give the sheet as it was "
                "exported"
            )
            continue
        named = {known[summary.letter]: summary for summary in item.summaries}
        order = [*(key.systems if key else ()), *named]
        ordered = {name: named[name] for name in dict.fromkeys(order) if name in named}
        marks = {
            name: SummaryMarks(
                points=tuple(" ".join(span.label for span in point) for point in summary.points),
                omitted=tuple(map(bool, summary.omitted)),
                hallucinated=tuple(map(bool, summary.hallucinated)),
            )
            for name, summary in ordered.items()
        }
        texts = {name: summary.text for name, summary in ordered.items()}
        annotation = Annotation(item.key_points, tuple((span,) for span in item.without), marks)
        unit = HumanUnit(sheet.annotator, number, item.topic, item.side, item.document, texts, annotation, item.set_id)
        item_units.append((item, unit))
    if mistakes:
        raise DataError(listed(mistakes))
    return item_units
