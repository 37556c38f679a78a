"""Label Studio's export (JSON, full) as sheets: one for each person and page.

What the two tools count differently is mended and nothing else is: offsets are tried as code points, then as UTF-16 units (older
versions of Label Studio), and must give the text that the region holds. Skipped tasks are left out and counted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from ...errors import DataError
from ...storage import explain, listed
from ...text import fold
from .annotation import Span
from .label_studio import DOCUMENT, DOCUMENT_POINTS, OF_DOCUMENT, OF_SUMMARY, POINTS, TEXT, WITHOUT, summary_letters
from .sheet import AnnotationSheet, Decisions, ItemSheet, SummarySheet, trimmed

LeftOut = Counter[tuple[str, str]]


class _Data(BaseModel):
    id: str
    page: str
    set_id: str
    topic: str
    side: str
    document: str


class _Annotation(BaseModel):
    # a user's number, or a record with an address
    completed_by: int | dict[str, Any] | None = None
    was_cancelled: bool = False
    result: list[dict[str, Any]] = []


class _Task(BaseModel):
    data: dict[str, Any]
    meta: dict[str, Any] | None = None
    annotations: list[_Annotation] = Field(default_factory=list)


@dataclass(frozen=True)
class _Region:
    control: str
    label: str
    span: Span


def parse_export(path: Path, value: Any) -> tuple[list[AnnotationSheet], LeftOut]:
    """The sheets in an export that was read from `path`, and the tasks left out by reason and side.

    Raises:
        DataError: tasks are not ours, or their marks cannot be understood; all mistakes are listed by task, from 1.
    """
    mistakes: list[str] = []
    left_out: LeftOut = Counter()
    items: dict[tuple[str, str], list[ItemSheet]] = {}
    for number, raw in enumerate(value, start=1):
        try:
            task = _Task.model_validate(raw)
            data = _Data.model_validate(task.data)
            done = [each for each in task.annotations if not each.was_cancelled]
            if not done:
                left_out["skipped in Label Studio" if task.annotations else "not annotated", data.side] += 1
            for annotation in done:
                items.setdefault((data.page, _annotator(annotation, task)), []).append(
                    _item(task.data, data, annotation)
                )
        except ValidationError as error:
            mistakes.append(f"{path}: task {number}: {explain(error)}")
        except DataError as error:
            mistakes.append(f"{path}: task {number}: {error}")
    sheets = []
    for (page, annotator), mine in items.items():
        try:
            sheets.append(AnnotationSheet(page=page, annotator=annotator, items=tuple(mine)))
        except ValidationError as error:
            mistakes.append(f"{path}: {annotator!r} annotated a task twice, delete one annotation: {explain(error)}")
    if mistakes:
        raise DataError(listed(mistakes))
    return sheets, left_out


def _annotator(annotation: _Annotation, task: _Task) -> str:
    by = annotation.completed_by
    if isinstance(by, Mapping):
        by = by.get("email") or by.get("username") or by.get("id")
    name = by if by is not None else (task.meta or {}).get("annotator")
    if not str(name or "").strip():
        raise DataError("does not say who annotated it: neither 'completed_by' nor 'meta.annotator' is set")
    return str(name)


def _item(raw: Mapping[str, Any], data: _Data, annotation: _Annotation) -> ItemSheet:
    mistakes: list[str] = []
    letters = summary_letters(dict(raw))
    texts = {DOCUMENT: data.document} | {f"{TEXT}_{letter}": str(raw[f"{TEXT}_{letter}"]) for letter in letters}
    regions = _regions(annotation.result, texts, mistakes)
    ticks = _ticks(annotation.result)
    numbers, key_points = _points(regions, DOCUMENT_POINTS)
    summaries = []
    for letter in letters:
        own, points = _points(regions, f"{POINTS}_{letter}")
        summaries.append(
            SummarySheet(
                letter=letter,
                text=texts[f"{TEXT}_{letter}"],
                points=points,
                none=bool(ticks.get(f"none_{letter}")),
                omitted=_flags(ticks, OF_DOCUMENT, letter, numbers, mistakes),
                hallucinated=_flags(ticks, OF_SUMMARY, letter, own, mistakes),
            )
        )
    if mistakes:
        raise DataError(f"item {data.id!r}: {'; '.join(mistakes)}")
    without = tuple(r.span for r in regions if r.control == DOCUMENT_POINTS and r.label == WITHOUT)
    return ItemSheet(
        **data.model_dump(exclude={"page"}), key_points=key_points, without=without, summaries=tuple(summaries)
    )


def _regions(result: Sequence[Mapping[str, Any]], texts: Mapping[str, str], mistakes: list[str]) -> list[_Region]:
    found = []
    for each in result:
        if each.get("type") != "labels":
            continue
        value, text = each.get("value", {}), texts.get(str(each.get("to_name")))
        start, end, labels = value.get("start"), value.get("end"), value.get("labels")
        if text is None or not isinstance(start, int) or not isinstance(end, int) or not labels:
            mistakes.append(f"region {each.get('id')!r} needs a text of the task, 'start', 'end' and 'labels'")
            continue
        span = _placed(text, start, end, value.get("text"))
        if span is None:
            mistakes.append(
                f"region {each.get('id')!r}: {str(value.get('text'))[:60]!r} does not stand at {start} to {end}"
            )
        else:
            found += [_Region(str(each.get("from_name")), str(label), span) for label in labels]
    return found


def _placed(text: str, start: int, end: int, label: str | None) -> Span | None:
    units = text.encode("utf-16-le")
    before, inside = (
        part.decode("utf-16-le", errors="ignore") for part in (units[: 2 * start], units[2 * start : 2 * end])
    )
    for first, last in ((start, end), (len(before), len(before) + len(inside))):
        span = trimmed(text, first, last)
        # without a text there is nothing that could tell the two countings apart: the present one is taken
        if span and (label is None or fold(label.replace("\\n", " ")) == fold(span.label)):
            return span
    return None


def _points(regions: Sequence[_Region], control: str) -> tuple[list[str], tuple[tuple[Span, ...], ...]]:
    """The numbers in use and the key points they name, in the order of the numbers."""
    by_number: dict[str, list[Span]] = {}
    for region in regions:
        if region.control == control and region.label != WITHOUT:
            by_number.setdefault(region.label, []).append(region.span)
    numbers = sorted(by_number, key=lambda label: (len(label), label))
    return numbers, tuple(tuple(sorted(by_number[n], key=lambda span: span.start)) for n in numbers)


def _ticks(result: Sequence[Mapping[str, Any]]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for each in result:
        if each.get("type") == "choices":
            found.setdefault(str(each.get("from_name")), set()).update(
                map(str, each.get("value", {}).get("choices", []))
            )
    return found


def _flags(
    ticks: Mapping[str, set[str]], names: tuple[str, str], letter: str, numbers: Sequence[str], mistakes: list[str]
) -> Decisions:
    """Of each number whether it is ticked in the second list, None when in neither."""
    there, absent = (ticks.get(f"{name}_{letter}", set()) for name in names)
    both = sorted(there & absent)
    unknown = sorted((there | absent) - set(numbers))
    if both:
        mistakes.append(
            f"key points {', '.join(both)} are ticked both in {names[0]}_{letter} and in {names[1]}_{letter}"
        )
    if unknown:
        mistakes.append(
            f"key points {', '.join(unknown)} are ticked in {names[0]}_{letter} or {names[1]}_{letter}, but have no region"
        )
    return tuple(True if n in absent else False if n in there else None for n in numbers)
