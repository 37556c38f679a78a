import json
from collections import Counter

import pytest
from sheets import write_phase

from evenhand.errors import DataError
from evenhand.evaluation.human.items import blank_sheet


@pytest.fixture
def write(tmp_path):
    return lambda name, sets, texts: write_phase(tmp_path / name / "evaluation" / name, sets, texts)


def copies(ferry, *names):
    return [ferry.model_copy(update={"id": name}) for name in names]


def systems(write, sets, **texts):
    names = ("base", "dpo", "debate")
    return {name: write(name, sets, texts.get(name, {})) for name in names}


def test_every_item_shows_the_sides_documents_and_every_system_under_a_letter(ferry, write):
    sheet, key = blank_sheet(systems(write, [ferry]), limit=None, seed=0)
    assert [item.id for item in sheet.items] == ["ferry/left", "ferry/right"]
    left = sheet.items[0]
    assert left.document == "The ferry is cheap. The town should keep it.\n\nNurses need the ferry at night."
    for item in sheet.items:
        assert [summary.letter for summary in item.summaries] == ["A", "B", "C"]
        shown = {key.letters[item.id][s.letter]: s.text for s in item.summaries}
        side = item.side.capitalize()
        assert shown == {name: f"The {side} of {name}." for name in ("base", "dpo", "debate")}
    assert key.page == sheet.page
    assert key.systems["dpo"].folder.endswith("dpo/evaluation/dpo")


def test_the_order_of_systems_changes_from_item_to_item_and_is_drawn_by_the_seed(ferry, write):
    folders = systems(write, copies(ferry, *(f"set-{i}" for i in range(60))))
    keys = [blank_sheet(folders, limit=None, seed=seed)[1] for seed in (0, 0, 1)]
    assert keys[0] == keys[1]
    assert keys[0].letters != keys[2].letters
    # 120 items, three systems: 40 expected under A, standard deviation 5.2
    first = Counter(letters["A"] for letters in keys[0].letters.values())
    assert all(abs(first[name] - 40) < 25 for name in folders)


def test_annotators_of_one_page_get_the_same_letters(ferry, write):
    folders = systems(write, [ferry])
    anna, ben = (blank_sheet(folders, limit=None, seed=0, annotator=name)[0] for name in ("anna", "ben"))
    assert (anna.page, anna.items) == (ben.page, ben.items)


def test_a_limit_draws_requests_and_counts_the_others(ferry, write):
    folders = systems(write, copies(ferry, *(f"set-{i}" for i in range(10))))
    sheet, key = blank_sheet(folders, limit=5, seed=3)
    ids = [item.id for item in sheet.items]
    assert len(set(ids)) == 5
    assert set(key.letters) == set(ids)
    # of 5, 2 or 3 are of each side
    assert sorted(Counter(item.side for item in sheet.items).values()) == [2, 3]
    assert sum(each.count for each in key.left_out) == 15
    assert {each.reason for each in key.left_out} == {"not drawn"}
    assert ids == [item.id for item in blank_sheet(folders, limit=5, seed=3)[0].items]


def test_a_request_without_a_summary_of_every_system_is_left_out_and_counted(ferry, write):
    folders = systems(write, [ferry], dpo={"ferry/left": None}, debate={"ferry/left": " "})
    sheet, key = blank_sheet(folders, limit=None, seed=0)
    assert [item.id for item in sheet.items] == ["ferry/right"]
    assert [(each.reason, each.side, each.count) for each in key.left_out] == [("no summary by dpo", "left", 1)]


def test_no_complete_request_is_refused(ferry, write):
    nothing = {"ferry/left": None, "ferry/right": None}
    with pytest.raises(DataError, match="nothing to annotate"):
        blank_sheet({"base": write("base", [ferry], nothing)}, limit=None, seed=0)


def test_systems_with_other_requests_are_refused_and_all_are_listed(ferry, write):
    changed = ferry.model_copy(update={"documents": ferry.documents[:1] + ferry.documents[2:]})
    folders = {"base": write("base", [ferry], {}), "dpo": write("dpo", [changed, *copies(ferry, "b")], {})}
    with pytest.raises(DataError) as caught:
        blank_sheet(folders, limit=None, seed=0)
    lines = str(caught.value).splitlines()
    assert lines[:3] == [
        f"request {name!r} of 'dpo' is not that of 'base'" for name in ("ferry/left", "b/left", "b/right")
    ]


def test_a_runs_folder_with_one_evaluation_phase_will_do(ferry, write):
    folder = write("base", [ferry], {})
    sheet, _ = blank_sheet({"base": folder.parents[1]}, limit=None, seed=0)
    assert len(sheet.items) == 2
    second = folder.with_name("round-00")
    second.mkdir()
    for path in folder.iterdir():
        (second / path.name).write_text(path.read_text())
    with pytest.raises(DataError, match=r"several evaluation phases; name one of them: .*base, .*round-00"):
        blank_sheet({"base": folder.parents[1]}, limit=None, seed=0)


def test_a_folder_that_is_no_phase_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"has no requests.jsonl and best.jsonl"):
        blank_sheet({"base": tmp_path}, limit=None, seed=0)


def test_labels_are_not_in_the_sheet(ferry, write):
    texts = {"ferry/left": "The Left.", "ferry/right": "The Right."}
    folders = {name: write(name, [ferry], texts) for name in ("zebra", "okapi")}
    sheet, _ = blank_sheet(folders, limit=None, seed=0)
    written = json.dumps(sheet.model_dump(mode="json"))
    assert "zebra" not in written
    assert "okapi" not in written


def test_without_a_seed_letters_cannot_be_guessed_and_the_key_has_the_seed(ferry, write):
    folders = systems(write, copies(ferry, *(f"set-{i}" for i in range(20))))
    keys = [blank_sheet(folders, limit=None, seed=None)[1] for _ in range(2)]
    # forty items in six orders each: the same letters would be chance of 1 in 6 ** 40
    assert keys[0].letters != keys[1].letters
    assert blank_sheet(folders, limit=None, seed=keys[0].seed)[1] == keys[0]


def test_the_key_knows_each_item_by_what_is_shown(ferry, write):
    sheet, key = blank_sheet(systems(write, [ferry]), limit=None, seed=0)
    assert key.shown == {item.id: item.shown for item in sheet.items}
    assert len(set(key.shown.values())) == 2
