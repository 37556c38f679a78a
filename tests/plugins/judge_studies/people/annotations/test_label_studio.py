"""Sheets to Label Studio and back, and what its own export may hold."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sheets import make_item, make_sheet

from evenhand.errors import DataError
from evenhand.plugins.judge_studies.people.annotations.annotation import Span
from evenhand.plugins.judge_studies.people.annotations.label_studio import labelling_configuration, to_tasks
from evenhand.plugins.judge_studies.people.annotations.label_studio_export import parse_export
from evenhand.plugins.judge_studies.people.annotations.sheet import SummarySheet

EXPORT = Path("export.json")
TEXT = "Aye \U0001f6a2 \U0001f600 no, the ferry.\n\nNurses\u2028need it."


def task(**changes):
    """The task of one finished item, as Label Studio exports it."""
    (made,) = to_tasks(make_sheet())
    made["annotations"][0] |= {"id": 7, "completed_by": {"id": 1, "email": "anna@example.org"}}
    return json.loads(json.dumps(made | {"id": 1, "predictions": []} | changes))


def results(task, control):
    return [each for each in task["annotations"][0]["result"] if each["from_name"] == control]


def test_a_task_has_the_texts_and_a_region_for_each_span():
    made = task()
    assert made["data"]["document"] == make_item().document
    assert made["data"]["summary_A"].startswith("The Left keeps")
    values = [each["value"] for each in results(made, "document_points")]
    assert values == [
        {"start": 0, "end": 4, "text": "Keep", "labels": ["1"]},
        {"start": 8, "end": 9, "text": "\U0001f6a2", "labels": ["1"]},
        {"start": 12, "end": 26, "text": "Nurses need it", "labels": ["2"]},
    ]
    # A has the first key point and not the second; B has neither
    ticked = {name: results(made, name)[0]["value"]["choices"] for name in ("included_A", "omitted_A", "omitted_B")}
    assert ticked == {"included_A": ["1"], "omitted_A": ["2"], "omitted_B": ["1", "2"]}
    ids = [each["id"] for each in made["annotations"][0]["result"]]
    assert len(set(ids)) == len(ids)


def test_marks_can_be_given_as_predictions_and_a_blank_sheet_has_neither():
    (reviewed,) = to_tasks(make_sheet(), "predictions")
    assert "annotations" not in reviewed
    assert reviewed["predictions"][0]["model_version"] == "evenhand:anna"
    item = make_item(key_points=(), summaries=(SummarySheet(letter="A", text="The Left."),))
    (blank,) = to_tasks(make_sheet(item))
    assert not {"annotations", "predictions"} & blank.keys()


def test_the_configuration_names_every_control_that_results_name():
    root = ET.fromstring(labelling_configuration(make_sheet()))  # noqa: S314 (our own text)
    controls = {e.get("name"): e.get("toName") for e in root.iter() if e.tag in ("Labels", "Choices")}
    texts = {e.get("name"): e.get("value") for e in root.iter("Text")}
    data = task()["data"]
    for each in task()["annotations"][0]["result"]:
        assert controls[each["from_name"]] == each["to_name"]
        assert texts[each["to_name"]].removeprefix("$") in data
    labels = {e.get("name"): {label.get("value") for label in e} for e in root.iter("Labels")}
    for each in results(task(), "document_points"):
        assert set(each["value"]["labels"]) <= labels["document_points"]


@st.composite
def sheets(draw):
    """Marks of any kind: several spans a key point, decisions open, passages and summaries without."""

    def points(text, most):
        chosen = []
        for _ in range(draw(st.integers(0, most))):
            starts = draw(st.lists(st.integers(0, len(text) - 1), min_size=1, max_size=3, unique=True))
            spans = [Span(start=i, end=i + 1, label=text[i]) for i in sorted(starts) if text[i].strip()]
            if spans:
                chosen.append(tuple(spans))
        return tuple(chosen)

    def flags(n):
        return tuple(draw(st.lists(st.sampled_from([True, False, None]), min_size=n, max_size=n)))

    key_points = points(TEXT, 12)
    summaries = []
    for letter in "AB":
        own = points(TEXT, 3)
        summaries.append(
            SummarySheet(
                letter=letter, text=TEXT, points=own, none=not own and draw(st.booleans()),
                omitted=flags(len(key_points)), hallucinated=flags(len(own)),
            )
        )  # fmt: skip
    item = make_item(document=TEXT, key_points=key_points, summaries=tuple(summaries))
    without = item.passages[:1] if draw(st.booleans()) else []
    return make_sheet(item.model_copy(update={"without": tuple(without)}))


@given(sheets())
def test_a_sheet_survives_the_way_to_label_studio_and_back(sheet):
    tasks = json.loads(json.dumps(to_tasks(sheet)))
    found, left_out = parse_export(EXPORT, tasks)
    if "annotations" in tasks[0]:
        assert found == [sheet]
    else:
        assert (found, sum(left_out.values())) == ([], 1)


def test_the_person_who_annotated_in_label_studio_is_named():
    numbered = task()
    numbered["annotations"][0]["completed_by"] = 4
    assert [sheet.annotator for sheet in parse_export(EXPORT, [task()])[0]] == ["anna@example.org"]
    assert [sheet.annotator for sheet in parse_export(EXPORT, [numbered])[0]] == ["4"]


def test_offsets_in_utf_16_units_are_mended():
    made = task()
    # the ship is two units: what stands behind it is one further on, and what holds it is one longer
    _, ship, nurses = results(made, "document_points")
    ship["value"].update(start=8, end=10)
    nurses["value"].update(start=13, end=27)
    keeps, own = results(made, "points_A")
    keeps["value"].update(start=9, end=17)
    own["value"].update(start=18, end=28)
    assert parse_export(EXPORT, [made])[0][0].items == make_sheet().items


def test_a_region_without_its_text_counts_code_points():
    made = task()
    for each in results(made, "document_points"):
        del each["value"]["text"]
    assert parse_export(EXPORT, [made])[0][0].items == make_sheet().items


def test_skipped_and_untouched_tasks_are_left_out_and_counted():
    skipped = task()
    skipped["annotations"][0]["was_cancelled"] = True
    found, left_out = parse_export(EXPORT, [skipped, task(annotations=[])])
    assert found == []
    assert left_out == {("skipped in Label Studio", "left"): 1, ("not annotated", "left"): 1}


def test_all_mistakes_are_listed_by_task():
    moved, both, unknown, nobody, foreign = task(), task(), task(), task(), task(data={"text": "x"})
    results(moved, "document_points")[0]["value"].update(start=3, end=7)
    results(both, "included_A")[0]["value"]["choices"] = ["1", "2"]
    results(unknown, "included_A")[0]["value"]["choices"] = ["1", "9"]
    nobody["annotations"][0]["completed_by"] = None
    nobody["meta"] = None
    with pytest.raises(DataError) as caught:
        parse_export(EXPORT, [moved, both, unknown, nobody, foreign])
    lines = str(caught.value).splitlines()
    assert "task 1: item 'ferry/left': region 'document_points-1-0': 'Keep' is not at 3 to 7" in lines[0]
    assert "task 2: item 'ferry/left': key points 2 are ticked both in included_A and in omitted_A" in lines[1]
    assert (
        "task 3: item 'ferry/left': key points 9 are ticked in included_A or omitted_A, but have no region" in lines[2]
    )
    assert "task 4: does not say who annotated it" in lines[3]
    assert "task 5: 'id': is missing" in lines[4]


def test_two_annotations_of_a_task_by_one_person_are_refused():
    with pytest.raises(DataError, match=r"'anna@example.org' annotated a task twice"):
        parse_export(EXPORT, [task(), task()])


def result(control, kind, value, to_name="document"):
    return {"id": "r1", "from_name": control, "to_name": to_name, "type": kind, "value": value}


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (result("document_points", "labels", None), "'value'"),
        (result("document_points", "labels", {"start": 0, "end": 4, "text": 5, "labels": ["1"]}), "'value.text'"),
        (result("document_points", "labels", {"start": 0, "end": 4, "labels": "12"}), "'value.labels'"),
        (result("document_points", "labels", {"start": 0, "end": 4, "labels": []}), "'value.labels'"),
        (result("document_points", "labels", {"start": -4, "end": 4, "labels": ["1"]}), "'value.start'"),
        (
            result("document_points", "labels", {"start": 0, "end": 4, "labels": ["1"]}, "summary_Z"),
            "no text 'summary_Z'",
        ),
        (result("included_A", "choices", {"choices": None}), "'value.choices'"),
        (result("included_A", "choices", None), "'value'"),
    ],
)
def test_damaged_results_are_mistakes_of_their_task(damage, told):
    broken = task()
    broken["annotations"][0]["result"].append(damage)
    with pytest.raises(DataError) as caught:
        parse_export(EXPORT, [task(annotations=[]), broken])
    (line,) = str(caught.value).splitlines()
    assert line.startswith("export.json: task 2: item 'ferry/left': ")
    assert "'r1'" in line
    assert told in line


def test_a_task_counts_in_one_way_only():
    # "aa" twice behind an emoji: 3 to 5 is the second "aa" in code points and the first in units
    text = "\U0001f6a2aaaa b"
    item = make_item(document=text, key_points=(), summaries=(SummarySheet(letter="A", text="The Left."),))
    (made,) = to_tasks(make_sheet(item))
    values = [
        {"start": 3, "end": 5, "text": "aa", "labels": ["1"]},
        {"start": 7, "end": 8, "text": "b", "labels": ["2"]},
    ]
    results = [result("document_points", "labels", value) for value in values]
    made |= {"annotations": [{"completed_by": 4, "result": results}]}
    # "b" stands at 7 only in units, so the other region counts in units, too
    ((sheet,), _) = parse_export(EXPORT, [made])
    assert [(point[0].start, point[0].end) for point in sheet.items[0].key_points] == [(2, 4), (6, 7)]
