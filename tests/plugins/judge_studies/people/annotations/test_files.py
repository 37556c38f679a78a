import json

import pytest
from sheets import make_item, make_sheet

from evenhand.errors import DataError
from evenhand.plugins.judge_studies.people.annotations.files import read_annotations, read_sheets
from evenhand.plugins.judge_studies.people.annotations.label_studio import to_tasks
from evenhand.plugins.judge_studies.people.annotations.sheet import PageKey, SystemSource

SOURCE = SystemSource(folder="runs/a", digest="0" * 16)
KEY = PageKey(
    page="p1", seed=0, systems={"base": SOURCE, "dpo": SOURCE}, letters={"ferry/left": {"A": "dpo", "B": "base"}},
    shown={"ferry/left": make_item().shown},
)  # fmt: skip
UNMARKED = tuple(each.model_copy(update={"omitted": ()}) for each in make_item().summaries)
RELEASED_MARKS = {
    "highlight_document": [[[{"start": 0, "end": 14, "label": "Keep the ferry"}]], []],
    "highlight_summary_pine": ["keeps it"], "in_doc_nin_summary_pine_0": False, "nin_doc_in_summary_pine_0": True,
}  # fmt: skip
RELEASED_ITEM = {"topic": "Ferry", "stance": "left", "document": "Keep the ferry.", "summaries": {"pine": "The Left."}}


@pytest.fixture
def write(tmp_path):
    def write(name, value):
        path = tmp_path / name
        path.write_text(json.dumps(value.model_dump(mode="json") if hasattr(value, "model_dump") else value))
        return path

    return write


def test_files_of_every_kind_are_told_apart_in_any_order(write):
    tasks = to_tasks(make_sheet(annotator="ben"))
    paths = [
        write("items_1.json", [RELEASED_ITEM]), write("page.key.json", KEY), write("anna.json", make_sheet()),
        write("export.json", tasks), write("human_1.json", [RELEASED_MARKS]),
    ]  # fmt: skip
    found = read_annotations(paths)
    assert [(unit.annotator, list(unit.summaries)) for unit in found.units] == [
        ("anna", ["base", "dpo"]),
        ("ben", ["base", "dpo"]),
        ("human_1", ["pine"]),
    ]
    assert not found.left_out


def test_items_that_are_not_finished_are_left_out_and_counted_by_side(write):
    open_item = make_item(
        without=(), key_points=(), summaries=tuple(s.model_copy(update={"omitted": ()}) for s in make_item().summaries)
    )
    found = read_annotations([write("anna.json", make_sheet(open_item)), write("key.json", KEY)])
    assert found.units == []
    assert found.left_out == {("passage neither marked nor said to have no key point", "left"): 1}


def test_blind_summaries_need_the_key_of_their_page(write):
    sheet, other = write("anna.json", make_sheet()), write("key.json", KEY.model_copy(update={"page": "p2"}))
    with pytest.raises(DataError, match=r"anna.json: its summaries are blind; give the key of page p1"):
        read_annotations([sheet, other])
    (unit,) = read_annotations([sheet], highlights_only=True).units
    assert list(unit.summaries) == ["A", "B"]


def test_one_persons_item_marked_in_two_ways_and_a_sheet_without_a_name_are_both_told(write):
    paths = [
        write("one.json", make_sheet()),
        write("two.json", make_sheet(make_item(key_points=(), summaries=UNMARKED))),
    ]
    with pytest.raises(DataError) as caught:
        read_annotations([*paths, write("three.json", make_sheet(annotator=" ")), write("key.json", KEY)])
    first, second = str(caught.value).splitlines()
    assert "two.json: 'anna' has marked item 'ferry/left' in" in first
    assert "give one of the two" in first
    assert "three.json: does not say whose it is" in second


def test_unknown_files_and_lone_halves_are_all_listed(write):
    with pytest.raises(DataError) as caught:
        read_annotations([write("a.json", {"x": 1}), write("b.json", []), write("human_1.json", [RELEASED_MARKS])])
    lines = str(caught.value).splitlines()
    assert [line.partition(": is of an unknown kind")[1] != "" for line in lines] == [True, True, False]
    assert "1 files of the authors' marks (human_N.json), but 0 of what was shown" in lines[2]


def test_sheets_to_convert_may_be_blank(write):
    (sheet,), left_out = read_sheets(write("page.json", make_sheet(annotator="")))
    assert (sheet, sum(left_out.values())) == (make_sheet(annotator=""), 0)
    with pytest.raises(DataError, match="has no annotations to convert"):
        read_sheets(write("key.json", KEY))


def test_letters_are_no_names_when_there_is_more_than_one_page(write):
    sheets = [write("anna.json", make_sheet()), write("ben.json", make_sheet(annotator="ben", page="p2"))]
    with pytest.raises(DataError) as caught:
        read_annotations([*sheets, write("key.json", KEY)], highlights_only=True)
    assert str(caught.value).splitlines() == [
        f"{sheets[1]}: its summaries are blind; give the key of page p2 too (the .key.json beside the page)"
    ]
    keys = [write("key.json", KEY), write("key2.json", KEY.model_copy(update={"page": "p2"}))]
    assert len(read_annotations([*sheets, *keys], highlights_only=True).units) == 2


def test_highlights_are_there_before_matches_are_decided(write):
    item = make_item()
    undecided = [s.model_copy(update={"omitted": (None, None)}) for s in item.summaries]
    sheet = write("anna.json", make_sheet(item.model_copy(update={"summaries": tuple(undecided)})))
    assert len(read_annotations([sheet], highlights_only=True).units) == 1
    assert read_annotations([sheet, write("key.json", KEY)]).left_out == {("match not decided", "left"): 1}


def test_a_file_given_twice_is_refused(write):
    marks, items = write("human_1.json", [RELEASED_MARKS]), write("human_items_1.json", [RELEASED_ITEM])
    again = marks.parent / "." / ".." / marks.parent.name / "human_1.json"
    with pytest.raises(DataError, match=r"human_1.json: is given twice"):
        read_annotations([marks, items, again])


def test_a_document_marked_twice_by_one_person_with_the_same_system_is_refused(write):
    files = [write("human_1.json", [RELEASED_MARKS] * 2), write("human_items_1.json", [RELEASED_ITEM] * 2)]
    with pytest.raises(DataError, match=r"'human_1' has marked the document of entry 2 \(Ferry, left\)"):
        read_annotations(files)
    other = {"summaries": {"oak": "The Left."}}
    marks = {key.replace("pine", "oak"): value for key, value in RELEASED_MARKS.items()}
    files = [
        write("human_1.json", [RELEASED_MARKS, marks]),
        write("items.json", [RELEASED_ITEM, RELEASED_ITEM | other]),
    ]
    assert len(read_annotations(files).units) == 2
