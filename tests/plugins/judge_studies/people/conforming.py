"""What of this plug-in is held to what every thing of its kind must do: see tests/conformance.py."""

import json
from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bad_input.good_files import Given, document_sets, written
from sheets import make_item, make_sheet, write_phase

from evenhand.evaluation.pages.blocks import Page
from evenhand.plugins.judge_studies.people.agreement import group_agreement
from evenhand.plugins.judge_studies.people.annotations import scores
from evenhand.plugins.judge_studies.people.annotations.annotation import HumanUnit, read_annotation
from evenhand.plugins.judge_studies.people.annotations.label_studio import to_tasks
from evenhand.plugins.judge_studies.people.annotations.sheet import unblind
from evenhand.plugins.judge_studies.people.matching import covered, multiset_overlap, n_matched
from evenhand.plugins.judge_studies.people.page import blank_sheet, render_page, write_page
from evenhand.plugins.judge_studies.people.result_pages import agreement_page, results_page
from evenhand.plugins.judge_studies.people.results import human_results
from evenhand.records import DocumentSet
from evenhand.resampling import Bootstrap
from evenhand.text import words


def human_aggregate_of(given: dict[str, Any]) -> dict[str, Any]:
    annotations = [read_annotation(record) for record in given["records"]]
    units = [
        HumanUnit("anna", n, "topic", "left", "text", dict.fromkeys(each.summaries, "text"), each)
        for n, each in enumerate(annotations, start=1)
    ]
    said: dict[str, dict[str, Any]] = {}
    for each in human_results(units, {}, Bootstrap(resamples=100)).numbers:
        own = said.setdefault(each.system, {})
        own |= {"n": each.n} if each.measure == "coverage" else {}
        own |= {each.measure: each.value} if each.measure != "length" else {}
    return said


def highlights_of(a: list[Counter[Any]], b: list[Counter[Any]], threshold: float) -> dict[str, Any]:
    matched = n_matched(a, b, threshold)
    ratios = [(matched / len(each) if each else 0.0) if a or b else None for each in (a, b)]
    overlap = multiset_overlap(a, b, threshold)
    return {"matches": matched, "ratio_a": ratios[0], "ratio_b": ratios[1], "overlap": overlap}


def iaa_spans_of(given: dict[str, Any]) -> dict[str, Any]:
    return highlights_of(*(list(map(covered, given[side])) for side in "ab"), given["threshold"])


def iaa_strings_of(given: dict[str, Any]) -> dict[str, Any]:
    return highlights_of(*([Counter(words(text)) for text in given[side]] for side in "ab"), given["threshold"])


def human_scores_of(given: dict[str, Any]) -> dict[str, Any]:
    return asdict(scores.human_scores(read_annotation(given["record"]), given["method"]))


OPERATIONS = {
    "human_aggregate": human_aggregate_of,
    "iaa_spans": iaa_spans_of,
    "iaa_strings": iaa_strings_of,
    "human_scores": human_scores_of,
}


DRAWS = Bootstrap(resamples=100)


def human_scores(run: Any, folder: Path) -> Page:
    units = [unit for _, unit in unblind(make_sheet(*(make_item(f"{name}/left") for name in "abcdef")), None)]
    return results_page(human_results(units, {("not finished", "left"): 1}, DRAWS))


def agreement(run: Any, folder: Path) -> Page:
    units = {name: [unit for _, unit in unblind(make_sheet(annotator=name), None)] for name in ("anna", "ben")}
    return agreement_page(group_agreement(units, draws=2, seed=0))


def annotation(run: Any, folder: Path) -> str:
    return render_page(make_sheet(make_item(), make_item("ferry/right")))


PAGES = {"human_scores": human_scores, "agreement": agreement, "annotation": annotation}


def _sheet(folder: Path) -> Given:
    items = [make_item(f"ferry-{k}/{side}") for k in range(2) for side in ("left", "right")]
    path = written(folder / "anna.json", make_sheet(*items).model_dump(mode="json"))
    return Given(path, "json", ("human", "convert", path, "--to", "label-studio", "--out", folder / "tasks.json"))


def _key(folder: Path) -> Given:
    ferry = DocumentSet.model_validate(document_sets(1)[0])
    systems = {name: write_phase(folder / name, [ferry], {}) for name in ("base", "dpo")}
    sheet, key = blank_sheet(systems, limit=None, seed=1, annotator="anna")
    key_path, blank = write_page(folder / "page.html", sheet, key)
    value = json.loads(blank.read_text())
    for item, shown in zip(value["items"], sheet.items, strict=True):
        item["key_points"] = [[span.model_dump()] for span in shown.passages]
        for summary in item["summaries"]:
            summary |= {"none": True, "points": [], "omitted": [True] * len(item["key_points"]), "hallucinated": []}
    marks = written(folder / "anna.json", value)
    return Given(key_path, "json", ("human", "score", marks, key_path, "--resamples", 100))


def _scored(folder: Path) -> Given:
    given = _key(folder)
    return Given(folder / "anna.json", "json", given.arguments)


def _human_files(folder: Path) -> Given:
    document, summary = "Keep the ferry.\n\nNurses need it.", "The Left keeps it."
    shown = {"topic": "Ferry", "stance": "left", "input": "-", "document": document, "summaries": {"pine": summary}}
    marks = {
        "highlight_document": [[[{"start": 0, "end": 14, "label": "Keep the ferry"}], []], []],
        "highlight_summary_pine": ["keeps it"],
        "in_doc_nin_summary_pine_0": False,
        "nin_doc_in_summary_pine_0": True,
    }
    path = written(folder / "human_1.json", [marks])
    return Given(
        path, "json", ("human", "score", path, written(folder / "human_items_1.json", [shown]), "--resamples", 100)
    )


def _human_items(folder: Path) -> Given:
    given = _human_files(folder)
    return Given(folder / "human_items_1.json", "json", given.arguments)


def _label_studio(folder: Path) -> Given:
    tasks = []
    for number, task in enumerate(to_tasks(make_sheet(*(make_item(f"ferry-{k}/left") for k in range(2))))):
        task["annotations"][0] |= {"id": number, "completed_by": {"id": 1, "email": "anna@example.org"}}
        tasks.append({**task, "id": number, "predictions": []})
    path = written(folder / "export.json", tasks)
    return Given(path, "json", ("human", "convert", path, "--to", "evenhand", "--out", folder / "sheet.json"))


FILES = {
    "sheet": _sheet,
    "key": _key,
    "scored sheet": _scored,
    "human file": _human_files,
    "human items": _human_items,
    "label studio": _label_studio,
}
