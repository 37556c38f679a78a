"""Sheets that a person can check by eye, and the files of a phase from which pages are made."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from conftest import make_request

from evenhand.plugins.judge_studies.people.annotations.annotation import Span
from evenhand.plugins.judge_studies.people.annotations.sheet import (
    AnnotationSheet,
    ItemSheet,
    SummarySheet,
    parse_sheet,
)
from evenhand.records import BestSummary, DocumentSet
from evenhand.runfolder.phases import BEST, REQUESTS
from evenhand.storage import read_json, write_jsonl

# code points: "Keep it 🚢." is 0 to 10 ("🚢" is one), the blank line 10 to 12, "Nurses need it." 12 to 27
DOCUMENT = "Keep it \U0001f6a2.\n\nNurses need it."
SUMMARY_A = "The Left keeps \U0001f6a2 for nurses."
SUMMARY_B = "The Left says nothing."


def read_sheet(path: Path) -> AnnotationSheet:
    return parse_sheet(path, read_json(path))


def span(text: str, label: str) -> Span:
    """Where `label` first stands in `text`."""
    start = text.index(label)
    return Span(start=start, end=start + len(label), label=label)


def make_item(item_id: str = "ferry/left", **changes: object) -> ItemSheet:
    """A finished item: two key points; summary A has the first and one of its own, summary B has no key point."""
    values: dict[str, object] = {
        "id": item_id, "set_id": item_id.partition("/")[0], "topic": "The ferry", "side": item_id.partition("/")[2],
        "document": DOCUMENT,
        "key_points": ((span(DOCUMENT, "Keep"), span(DOCUMENT, "\U0001f6a2")), (span(DOCUMENT, "Nurses need it"),)),
        "summaries": (
            SummarySheet(
                letter="A", text=SUMMARY_A, points=((span(SUMMARY_A, "keeps \U0001f6a2"),), (span(SUMMARY_A, "for nurses"),)),
                omitted=(False, True), hallucinated=(False, True),
            ),
            SummarySheet(letter="B", text=SUMMARY_B, none=True, omitted=(True, True)),
        ),
    }  # fmt: skip
    return ItemSheet.model_validate(values | changes)


def make_sheet(*items: ItemSheet, annotator: str = "anna", page: str = "p1") -> AnnotationSheet:
    """A sheet of these items, or of one finished item."""
    return AnnotationSheet(page=page, annotator=annotator, items=items or (make_item(),))


def write_phase(
    folder: Path,
    sets: Sequence[DocumentSet],
    texts: Mapping[str, str | None],
    sides: Sequence[str] = ("left", "right"),
) -> Path:
    """requests.jsonl and best.jsonl of these sets, as reranking leaves them; a summary is a text, or None."""
    requests = [make_request(each, side) for each in sets for side in sides]
    best = [
        BestSummary(
            request_id=request.id, set_id=request.document_set.id, side=request.side, candidate_id=None,
            text=texts.get(request.id, f"The {request.side.capitalize()} of {folder.name}."), reward=None, scores={},
            n_candidates=1,
        )
        for request in requests
    ]  # fmt: skip
    write_jsonl(folder / REQUESTS, requests)
    write_jsonl(folder / BEST, best)
    return folder
