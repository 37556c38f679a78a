"""The key to a page: which system each blind letter stands for. It lies beside the page and the annotator does not get it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import ValidationError

from ...errors import DataError
from ...records import LeftOut, Record, Text
from ...storage import explain, listed, shortened
from ...text import some_of
from .annotation import Annotation, SummaryMarks
from .released import HumanUnit
from .sheet import AnnotationSheet, ItemSheet, SummarySheet

FORMAT: Final = "evenhand-human-key"


class SystemSource(Record):
    """Where a system's summaries came from."""

    folder: Text
    # digest of its best.jsonl
    digest: Text


class PageKey(Record):
    """What the letters of a page stand for, and how the page was made."""

    format: Literal["evenhand-human-key"] = FORMAT
    version: Literal[1] = 1
    page: Text
    seed: int
    systems: dict[str, SystemSource]
    # item -> letter -> system
    letters: dict[str, dict[str, str]]
    # item -> digest of what the page shows of it
    shown: dict[str, Text]
    left_out: tuple[LeftOut, ...] = ()


def parse_key(path: Path, value: Any) -> PageKey:
    """The key in a value that was read from `path`.

    Raises:
        DataError: it is no key; all mistakes are listed.
    """
    try:
        return PageKey.model_validate(value)
    except ValidationError as error:
        raise DataError(f"{path}: is not a key of a page: {explain(error)}") from error


def unblind(sheet: AnnotationSheet, key: PageKey | None) -> list[tuple[ItemSheet, HumanUnit]]:
    """The items of a sheet with their units, summaries named by system; a decision that was not made counts as False.

    Args:
        sheet: what one person marked.
        key: of the sheet's page; None names summaries by their letters.

    Raises:
        DataError: the key lacks an item or a letter, or an item is not what the page shows; all are listed.
    """
    found, mistakes = [], []
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
        found.append((item, _unit(sheet.annotator, number, item, ordered)))
    if mistakes:
        raise DataError(listed(mistakes))
    return found


def _unit(annotator: str, number: int, item: ItemSheet, named: Mapping[str, SummarySheet]) -> HumanUnit:
    return HumanUnit(
        annotator=annotator,
        number=number,
        topic=item.topic,
        side=item.side,
        document=item.document,
        summaries={system: summary.text for system, summary in named.items()},
        annotation=Annotation(
            key_points=item.key_points,
            without=tuple((span,) for span in item.without),
            summaries={system: _marks(summary) for system, summary in named.items()},
        ),
        set_id=item.set_id,
    )


def _marks(summary: SummarySheet) -> SummaryMarks:
    return SummaryMarks(
        points=tuple(" ".join(span.label for span in point) for point in summary.points),
        omitted=tuple(bool(each) for each in summary.omitted),
        hallucinated=tuple(bool(each) for each in summary.hallucinated),
    )
