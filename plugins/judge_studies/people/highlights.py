"""What two annotators highlighted in one text, and the texts of which they highlighted least in common."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import not_
from typing import Any

from pydantic import Field

from ....records import Record
from ....text import words
from .annotations.annotation import HumanUnit
from .matching import THRESHOLD, covered, multiset_overlap

Highlights = Sequence[Counter[Any]]
# of each kind of text
MOST_EXAMPLES = 2


@dataclass(frozen=True)
class PairOfMarks:
    """A text and what two annotators marked in it."""

    # what the text is made of, in order: characters by their places, or tokens
    units: Sequence[Any]
    a: Highlights
    b: Highlights


class HighlightedText(Record):
    """A text with what two annotators highlighted in it."""

    topic: str
    side: str
    # who wrote it; "" of a document
    system: str = Field(default="", exclude_if=not_)
    text: str
    # annotator -> first character of each highlight, and the one behind its last
    highlights: dict[str, tuple[tuple[int, int], ...]]
    # of the two, in [0, 1]
    overlap: float


def of_document(a: HumanUnit, b: HumanUnit) -> PairOfMarks:
    """What two annotators marked in a document."""
    places = [place for place, character in enumerate(a.document) if character != "\n"]
    first, second = (
        [covered([(s.start, s.end) for s in point], unit.document) for point in unit.annotation.key_points]
        for unit in (a, b)
    )
    return PairOfMarks(places, first, second)


def of_summary(a: HumanUnit, b: HumanUnit, system: str) -> PairOfMarks:
    """What two annotators marked in a system's summary."""
    first, second = ([Counter(words(point)) for point in unit.annotation.summaries[system].points] for unit in (a, b))
    return PairOfMarks(words(a.summaries[system]), first, second)


def least_agreed(shared: Sequence[tuple[HumanUnit, HumanUnit]]) -> tuple[HighlightedText, ...]:
    """The summaries, then the documents, of which two annotators who both marked something highlighted least in common.

    Args:
        shared: units of two annotators on the same document and summaries.
    """
    summaries = (example for a, b in shared for system in a.summaries for example in _example(a, b, system))
    documents = (example for a, b in shared for example in _example(a, b, ""))
    return tuple(
        example
        for examples in (summaries, documents)
        for example in sorted(examples, key=lambda example: example.overlap)[:MOST_EXAMPLES]
    )


def _example(a: HumanUnit, b: HumanUnit, system: str) -> Iterator[HighlightedText]:
    """The text, where both marked something and not the same."""
    marks = of_summary(a, b, system) if system else of_document(a, b)
    overlap = multiset_overlap(marks.a, marks.b, THRESHOLD)
    if marks.a and marks.b and overlap is not None and overlap < 1:
        yield HighlightedText(
            topic=a.topic,
            side=a.side,
            system=system,
            text=a.summaries[system] if system else a.document,
            highlights={unit.annotator: tuple(_places(unit, system)) for unit in (a, b)},
            overlap=overlap,
        )


def _places(unit: HumanUnit, system: str) -> Iterator[tuple[int, int]]:
    """Where the highlights stand; those of summaries are texts, which are looked for."""
    if not system:
        yield from ((span.start, span.end) for point in unit.annotation.key_points for span in point)
        return
    for point in unit.annotation.summaries[system].points:
        start = unit.summaries[system].find(point.strip())
        if start >= 0:
            yield start, start + len(point.strip())
