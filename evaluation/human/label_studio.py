"""Sheets as Label Studio tasks, and its labelling configuration.

A key point is a label, "1", "2", ...: regions with one number belong to one key point. What is decided of a match is a tick at
that number in one of two lists, so that what was not decided has no tick in either.

    document_points    labels of $document: key points, or "none" on a passage that has no key point
    points_A           labels of $summary_A: its key points
    none_A             choice: summary A has no key point
    included_A, omitted_A           key points of the document that are, or are not, in summary A
    supported_A, hallucinated_A     key points of summary A that are, or are not, in the document

Label Studio's formats: labelstud.io/guide/task_format and labelstud.io/tags/text (offsets count code points, the end excluded).
What is written here passed the checks of label-studio-sdk 2.1.2 (`LabelInterface.validate_annotation`, `validate_prediction`); it
was not tried in a running Label Studio.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal
from xml.etree import ElementTree as ET

from .annotation import Span
from .sheet import AnnotationSheet, Decisions, ItemSheet, SummarySheet

DOCUMENT, TEXT = "document", "summary"
DOCUMENT_POINTS, POINTS = "document_points", "points"
WITHOUT = "none"
# (list of what is there, list of what is not) of the key points of the document, and of those of a summary
OF_DOCUMENT = ("included", "omitted")
OF_SUMMARY = ("supported", "hallucinated")
# numbers offered for key points; more when a sheet has more
LEAST_NUMBERS = 20
META = ("page", "set_id", "topic", "side")
NAME = re.compile(r"[^\w-]")

Result = dict[str, Any]


def to_tasks(
    sheet: AnnotationSheet, marks: Literal["annotations", "predictions"] = "annotations"
) -> list[dict[str, Any]]:
    """The sheet's items as tasks to import into Label Studio.

    Args:
        sheet: blank or marked.
        marks: whether its marks come as annotations, or as predictions that somebody else is to review.
    """
    return [_task(sheet, item, marks) for item in sheet.items]


def _task(sheet: AnnotationSheet, item: ItemSheet, marks: Literal["annotations", "predictions"]) -> dict[str, Any]:
    task: dict[str, Any] = {
        "data": {
            "id": item.id,
            "page": sheet.page,
            "set_id": item.set_id,
            "topic": item.topic,
            "side": item.side,
            DOCUMENT: item.document,
            **{f"{TEXT}_{summary.letter}": summary.text for summary in item.summaries},
        },
        "meta": {"annotator": sheet.annotator},
    }
    result = list(_results(item))
    if result and marks == "annotations":
        task["annotations"] = [{"result": result, "was_cancelled": False}]
    elif result:
        task["predictions"] = [{"model_version": f"evenhand:{sheet.annotator}", "result": result}]
    return task


def _results(item: ItemSheet) -> Iterator[Result]:
    yield from _regions(DOCUMENT_POINTS, DOCUMENT, item.key_points)
    for place, span in enumerate(item.without):
        yield _region(DOCUMENT_POINTS, DOCUMENT, span, WITHOUT, f"{DOCUMENT_POINTS}-{WITHOUT}-{place}")
    for summary in item.summaries:
        text = f"{TEXT}_{summary.letter}"
        yield from _regions(f"{POINTS}_{summary.letter}", text, summary.points)
        if summary.none:
            yield _choices(f"none_{summary.letter}", text, [WITHOUT])
        for names, flags in ((OF_DOCUMENT, summary.omitted), (OF_SUMMARY, summary.hallucinated)):
            for name, wanted in zip(names, (False, True), strict=True):
                ticked = _numbers(flags, wanted)
                if ticked:
                    yield _choices(f"{name}_{summary.letter}", text, ticked)


def _regions(control: str, text: str, points: Sequence[Sequence[Span]]) -> Iterator[Result]:
    for number, point in enumerate(points, start=1):
        for place, span in enumerate(point):
            yield _region(control, text, span, str(number), f"{control}-{number}-{place}")


def _region(control: str, text: str, span: Span, label: str, name: str) -> Result:
    return {
        "id": NAME.sub("_", name),
        "from_name": control,
        "to_name": text,
        "type": "labels",
        "value": {"start": span.start, "end": span.end, "text": span.label, "labels": [label]},
    }


def _choices(control: str, text: str, ticked: list[str]) -> Result:
    return {
        "id": NAME.sub("_", control),
        "from_name": control,
        "to_name": text,
        "type": "choices",
        "value": {"choices": ticked},
    }


def _numbers(flags: Decisions, wanted: bool) -> list[str]:
    return [str(number) for number, flag in enumerate(flags, start=1) if flag is wanted]


def labelling_configuration(sheet: AnnotationSheet) -> str:
    """The configuration (XML) of a Label Studio project that takes the tasks of this sheet."""
    most = max([LEAST_NUMBERS, *(len(points) for item in sheet.items for points in _all_points(item))])
    numbers = [str(number) for number in range(1, most + 1)]
    view = ET.Element("View")
    # otherwise Label Studio shows, and some versions count, runs of white space as one
    ET.SubElement(view, "Style").text = ".htx-text { white-space: pre-wrap; }"
    ET.SubElement(view, "Header", value="$topic")
    ET.SubElement(view, "Header", value="Side: $side", size="5")
    _labels(view, DOCUMENT_POINTS, DOCUMENT, [*numbers, WITHOUT])
    ET.SubElement(view, "Text", name=DOCUMENT, value=f"${DOCUMENT}")
    letters = sorted({summary.letter for item in sheet.items for summary in item.summaries})
    for letter in letters:
        _summary(view, letter, numbers)
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def _all_points(item: ItemSheet) -> list[Sequence[Any]]:
    return [item.key_points, *(summary.points for summary in item.summaries)]


def _summary(view: ET.Element, letter: str, numbers: Sequence[str]) -> None:
    text = f"{TEXT}_{letter}"
    ET.SubElement(view, "Header", value=f"Summary {letter}")
    _labels(view, f"{POINTS}_{letter}", text, numbers)
    ET.SubElement(view, "Text", name=text, value=f"${text}")
    _ticks(view, f"none_{letter}", text, "This summary has no key point", [WITHOUT])
    asked = {
        "supported": f"Key points of summary {letter} that are in the document",
        "hallucinated": f"Key points of summary {letter} that are not in the document",
        "included": f"Key points of the document that are in summary {letter}",
        "omitted": f"Key points of the document that are not in summary {letter}",
    }
    for name, question in asked.items():
        _ticks(view, f"{name}_{letter}", text, question, numbers)


def _labels(view: ET.Element, name: str, text: str, labels: Sequence[str]) -> None:
    element = ET.SubElement(view, "Labels", name=name, toName=text)
    for label in labels:
        ET.SubElement(element, "Label", value=label)


def _ticks(view: ET.Element, name: str, text: str, question: str, values: Sequence[str]) -> None:
    ET.SubElement(view, "Header", value=question, size="5")
    element = ET.SubElement(view, "Choices", name=name, toName=text, choice="multiple", showInline="true")
    for value in values:
        ET.SubElement(element, "Choice", value=value)


def summary_letters(data: dict[str, Any]) -> list[str]:
    """Letters of the summaries in a task's data, in their order."""
    return [key.removeprefix(f"{TEXT}_") for key in data if key.startswith(f"{TEXT}_")]


def blank_summaries(data: dict[str, Any]) -> list[SummarySheet]:
    """The summaries in a task's data, without marks."""
    return [SummarySheet(letter=letter, text=data[f"{TEXT}_{letter}"]) for letter in summary_letters(data)]
