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
from .sheet import AnnotationSheet

DOCUMENT, TEXT = "document", "summary"
DOCUMENT_POINTS, POINTS = "document_points", "points"
WITHOUT = "none"
# (list of what is there, list of what is not) of the key points of the document, and of those of a summary
OF_DOCUMENT = ("included", "omitted")
OF_SUMMARY = ("supported", "hallucinated")
# numbers offered for key points; more when a sheet has more
LEAST_NUMBERS = 20
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
    tasks = []
    for item in sheet.items:
        data = {"id": item.id, "page": sheet.page, "set_id": item.set_id, "topic": item.topic, "side": item.side}
        texts = {DOCUMENT: item.document} | {f"{TEXT}_{summary.letter}": summary.text for summary in item.summaries}
        task: dict[str, Any] = {"data": data | texts, "meta": {"annotator": sheet.annotator}}
        result = list(_regions(DOCUMENT_POINTS, DOCUMENT, item.key_points))
        result += (_region(DOCUMENT_POINTS, DOCUMENT, s, WITHOUT, place) for place, s in enumerate(item.without))
        for summary in item.summaries:
            text = f"{TEXT}_{summary.letter}"
            result += _regions(f"{POINTS}_{summary.letter}", text, summary.points)
            if summary.none:
                result.append(_choices(f"none_{summary.letter}", text, [WITHOUT]))
            for names, flags in ((OF_DOCUMENT, summary.omitted), (OF_SUMMARY, summary.hallucinated)):
                for name, wanted in zip(names, (False, True), strict=True):
                    if ticked := [str(number) for number, flag in enumerate(flags, start=1) if flag is wanted]:
                        result.append(_choices(f"{name}_{summary.letter}", text, ticked))
        if result and marks == "annotations":
            task["annotations"] = [{"result": result, "was_cancelled": False}]
        elif result:
            task["predictions"] = [{"model_version": f"evenhand:{sheet.annotator}", "result": result}]
        tasks.append(task)
    return tasks


def _regions(control: str, text: str, points: Sequence[Sequence[Span]]) -> Iterator[Result]:
    for number, point in enumerate(points, start=1):
        for place, span in enumerate(point):
            yield _region(control, text, span, str(number), place)


def _region(control: str, text: str, span: Span, label: str, place: int) -> Result:
    value = {"start": span.start, "end": span.end, "text": span.label, "labels": [label]}
    name = NAME.sub("_", f"{control}-{label}-{place}")
    return {"id": name, "from_name": control, "to_name": text, "type": "labels", "value": value}


def _choices(control: str, text: str, ticked: list[str]) -> Result:
    name = NAME.sub("_", control)
    return {"id": name, "from_name": control, "to_name": text, "type": "choices", "value": {"choices": ticked}}


def labelling_configuration(sheet: AnnotationSheet) -> str:
    """The configuration (XML) of a Label Studio project that takes the tasks of this sheet."""
    summaries = [summary for item in sheet.items for summary in item.summaries]
    points = [*(item.key_points for item in sheet.items), *(summary.points for summary in summaries)]
    numbers = [str(number) for number in range(1, max(LEAST_NUMBERS, *map(len, points)) + 1)]
    view = ET.Element("View")
    # otherwise Label Studio shows, and some versions count, runs of white space as one
    ET.SubElement(view, "Style").text = ".htx-text { white-space: pre-wrap; }"
    ET.SubElement(view, "Header", value="$topic")
    ET.SubElement(view, "Header", value="Side: $side", size="5")
    _labels(view, DOCUMENT_POINTS, DOCUMENT, [*numbers, WITHOUT])
    ET.SubElement(view, "Text", name=DOCUMENT, value=f"${DOCUMENT}")
    for letter in sorted({summary.letter for summary in summaries}):
        text = f"{TEXT}_{letter}"
        ET.SubElement(view, "Header", value=f"Summary {letter}")
        _labels(view, f"{POINTS}_{letter}", text, numbers)
        ET.SubElement(view, "Text", name=text, value=f"${text}")
        questions = {
            "none": ("This summary has no key point", [WITHOUT]),
            "supported": (f"Key points of summary {letter} that are in the document", numbers),
            "hallucinated": (f"Key points of summary {letter} that are not in the document", numbers),
            "included": (f"Key points of the document that are in summary {letter}", numbers),
            "omitted": (f"Key points of the document that are not in summary {letter}", numbers),
        }
        for name, (question, values) in questions.items():
            ET.SubElement(view, "Header", value=question, size="5")
            ticks = {"name": f"{name}_{letter}", "toName": text, "choice": "multiple", "showInline": "true"}
            element = ET.SubElement(view, "Choices", ticks)
            for value in values:
                ET.SubElement(element, "Choice", value=value)
    ET.indent(view)
    return ET.tostring(view, encoding="unicode") + "\n"


def _labels(view: ET.Element, name: str, text: str, labels: Sequence[str]) -> None:
    element = ET.SubElement(view, "Labels", name=name, toName=text)
    for label in labels:
        ET.SubElement(element, "Label", value=label)
