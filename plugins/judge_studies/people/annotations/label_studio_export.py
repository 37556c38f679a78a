"""Label Studio's export (JSON, full) as sheets: one for each person and page.

What the two tools count differently is mended and nothing else: the offsets of a task are tried as code points, then as UTF-16
units (older versions of Label Studio), and must give the texts of its regions. Skipped tasks are left out and counted.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, NonNegativeInt, ValidationError

from .....errors import DataError
from .....text import fold
from .....text.mistakes import explain, listed
from .annotation import Span
from .label_studio import DOCUMENT, DOCUMENT_POINTS, OF_DOCUMENT, OF_SUMMARY, POINTS, TEXT, WITHOUT
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


class _Labels(BaseModel):
    class LabelSpan(BaseModel):
        start: NonNegativeInt
        end: NonNegativeInt
        # None: there is nothing to check the offsets by
        text: str | None = None
        labels: Annotated[tuple[str, ...], Field(min_length=1)]

    id: str | None = None
    from_name: str
    to_name: str
    value: LabelSpan


class _Choices(BaseModel):
    class ChosenLabels(BaseModel):
        choices: tuple[str, ...]

    from_name: str
    value: ChosenLabels


R = TypeVar("R", bound=BaseModel)


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
            done = [annotation for annotation in task.annotations if not annotation.was_cancelled]
            if not done:
                left_out["skipped in Label Studio" if task.annotations else "not annotated", data.side] += 1
            for annotation in done:
                item = _item(task.data, data, annotation)
                items.setdefault((data.page, _annotator(annotation, task)), []).append(item)
        except ValidationError as error:
            mistakes.append(f"{path}: task {number}: {explain(error)}")
        except DataError as error:
            mistakes.append(f"{path}: task {number}: {error}")
    sheets = []
    for (page, annotator), sheet_items in items.items():
        try:
            sheets.append(AnnotationSheet(page=page, annotator=annotator, items=tuple(sheet_items)))
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
    letters = [key.removeprefix(f"{TEXT}_") for key in raw if key.startswith(f"{TEXT}_")]
    texts = {DOCUMENT: data.document} | {f"{TEXT}_{letter}": str(raw[f"{TEXT}_{letter}"]) for letter in letters}
    regions = _regions(annotation.result, texts, mistakes)
    ticks: dict[str, set[str]] = {}
    for choices in _parse(annotation.result, "choices", _Choices, mistakes):
        ticks.setdefault(choices.from_name, set()).update(choices.value.choices)
    numbers, key_points = _points(regions, DOCUMENT_POINTS)
    summaries = []
    for letter in letters:
        point_numbers, points = _points(regions, f"{POINTS}_{letter}")
        summaries.append(
            SummarySheet(
                letter=letter,
                text=texts[f"{TEXT}_{letter}"],
                points=points,
                none=bool(ticks.get(f"none_{letter}")),
                omitted=_flags(ticks, OF_DOCUMENT, letter, numbers, mistakes),
                hallucinated=_flags(ticks, OF_SUMMARY, letter, point_numbers, mistakes),
            )
        )
    if mistakes:
        raise DataError(f"item {data.id!r}: {'; '.join(mistakes)}")
    without = tuple(r.span for r in regions if r.control == DOCUMENT_POINTS and r.label == WITHOUT)
    return ItemSheet(
        **data.model_dump(exclude={"page"}), key_points=key_points, without=without, summaries=tuple(summaries)
    )


def _parse(result: Sequence[Mapping[str, Any]], kind: str, model: type[R], mistakes: list[str]) -> list[R]:
    """The results of a kind; those of other kinds are not ours."""
    records = []
    for raw in result:
        if raw.get("type") != kind:
            continue
        try:
            records.append(model.model_validate(raw))
        except ValidationError as error:
            mistakes.append(f"{kind} {raw.get('id')!r}: {explain(error)}")
    return records


def _regions(result: Sequence[Mapping[str, Any]], texts: Mapping[str, str], mistakes: list[str]) -> list[_Region]:
    """The marked stretches: all counted in code points, or all in UTF-16 units where only that gives the texts they hold."""
    marked = _parse(result, "labels", _Labels, mistakes)
    strangers = [region for region in marked if region.to_name not in texts]
    mistakes += [f"region {region.id!r}: the task has no text {region.to_name!r}" for region in strangers]
    marked = [region for region in marked if region.to_name in texts]
    spans = [_placed(texts[region.to_name], region.value, in_units=False) for region in marked]
    if None in spans:
        by_units = [_placed(texts[region.to_name], region.value, in_units=True) for region in marked]
        spans = spans if None in by_units else by_units
    regions = []
    for region, span in zip(marked, spans, strict=True):
        if span is None:
            where = f"{region.value.start} to {region.value.end}"
            mistakes.append(f"region {region.id!r}: {str(region.value.text)[:60]!r} is not at {where}")
        else:
            regions += [_Region(region.from_name, label, span) for label in region.value.labels]
    return regions


def _placed(text: str, value: _Labels.LabelSpan, *, in_units: bool) -> Span | None:
    """The stretch without the white space at its ends; None when it is not the text of the region.

    Args:
        text: what the region is in.
        value: where it is.
        in_units: whether its offsets count UTF-16 units, not code points.
    """
    start, end = value.start, value.end
    if in_units:
        units = text.encode("utf-16-le")
        start, end = (len(units[: 2 * place].decode("utf-16-le", errors="ignore")) for place in (start, end))
    span = trimmed(text, start, end)
    label = None if value.text is None else fold(value.text.replace("\\n", " "))
    return span if span and label in (None, fold(span.label)) else None


def _points(regions: Sequence[_Region], control: str) -> tuple[list[str], tuple[tuple[Span, ...], ...]]:
    """The numbers in use and the key points they name, in the order of the numbers."""
    by_number: dict[str, list[Span]] = {}
    for region in regions:
        if region.control == control and region.label != WITHOUT:
            by_number.setdefault(region.label, []).append(region.span)
    numbers = sorted(by_number, key=lambda label: (len(label), label))
    return numbers, tuple(tuple(sorted(by_number[n], key=lambda span: span.start)) for n in numbers)


def _flags(
    ticks: Mapping[str, set[str]], names: tuple[str, str], letter: str, numbers: Sequence[str], mistakes: list[str]
) -> Decisions:
    """Whether each number is ticked in the second list; None when it is in neither."""
    present, absent = (ticks.get(f"{name}_{letter}", set()) for name in names)
    contradictions = sorted(present & absent)
    unknown = sorted((present | absent) - set(numbers))
    if contradictions:
        mistakes.append(
            f"key points {', '.join(contradictions)} are ticked both in {names[0]}_{letter} and in {names[1]}_{letter}"
        )
    if unknown:
        mistakes.append(
            f"key points {', '.join(unknown)} are ticked in {names[0]}_{letter} or {names[1]}_{letter}, but have no region"
        )
    return tuple(True if n in absent else False if n in present else None for n in numbers)
