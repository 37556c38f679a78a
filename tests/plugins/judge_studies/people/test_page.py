"""The page's file; what it does in a browser is seen in test_page_in_browser.py."""

import base64
import hashlib
import json
import re
from collections import Counter
from html.parser import HTMLParser
from itertools import combinations

import pytest
from sheets import make_item, make_sheet, read_sheet, write_phase

from evenhand.errors import DataError
from evenhand.plugins.judge_studies.people.annotations.sheet import PageKey, SummarySheet, parse_key
from evenhand.plugins.judge_studies.people.page import (
    blank_sheet,
    embedded_json,
    orders,
    render_page,
    write_page,
)


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


HOSTILE = "</script><script>alert(1)</script> <!-- \u2028 \u2029 \" ' & <b onclick=x> {{ 1 }} \U0001f600"


class Elements(HTMLParser):
    """Start tags, and the text of scripts and styles."""

    def __init__(self, page):
        super().__init__()
        self.tags, self.texts, self.open = [], {}, None
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.open = (tag, dict(attributes).get("id")) if tag in ("script", "style") else None

    def handle_endtag(self, tag):
        self.open = None

    def handle_data(self, data):
        if self.open:
            self.texts[self.open] = self.texts.get(self.open, "") + data


def hostile_sheet():
    item = make_item(
        document=HOSTILE, topic=HOSTILE, key_points=(), summaries=(SummarySheet(letter="A", text=HOSTILE),)
    )
    return make_sheet(item, annotator=HOSTILE)


@pytest.mark.parametrize("sheet", [make_sheet(), hostile_sheet()])
def test_the_data_come_back_from_the_page_whatever_they_hold(sheet):
    page = Elements(render_page(sheet))
    assert json.loads(page.texts["script", "data"]) == sheet.model_dump(mode="json")
    assert [tag for tag, _ in page.tags].count("script") == 2
    assert "b" not in [tag for tag, _ in page.tags]


def test_nothing_in_the_embedded_data_can_end_their_element_or_a_line():
    text = embedded_json({"x": HOSTILE})
    assert not re.search("[<>&\u2028\u2029]", text)
    assert json.loads(text) == {"x": HOSTILE}


def test_the_page_loads_nothing_and_runs_only_its_own_script():
    page = Elements(render_page(make_sheet()))
    for tag, attributes in page.tags:
        assert not any(name.startswith("on") for name in attributes), tag
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith(("#", "data:"))
    (policy,) = (a["content"] for t, a in page.tags if a.get("http-equiv") == "Content-Security-Policy")
    for kind, text in (("script", page.texts["script", None]), ("style", page.texts["style", None])):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")


def test_no_element_is_made_from_text():
    script = Elements(render_page(make_sheet())).texts["script", None]
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|fetch\(|XMLHttpRequest", script
    )


def test_every_control_of_the_frame_has_a_name():
    page = Elements(render_page(make_sheet()))
    labelled = {attributes.get("for") for tag, attributes in page.tags if tag == "label"}
    for tag, attributes in page.tags:
        if tag in ("input", "select", "progress"):
            assert attributes["id"] in labelled or attributes.get("aria-label"), attributes


def test_page_key_and_blank_sheet_lie_side_by_side(tmp_path):
    sheet, key = make_sheet(), PageKey(page="p1", seed=0, systems={}, letters={}, shown={})
    paths = write_page(tmp_path / "out" / "page.html", sheet, key)
    assert [path.name for path in paths] == ["page.key.json", "page.json"]
    assert parse_key(paths[0], json.loads(paths[0].read_text())) == key
    assert read_sheet(paths[1]) == sheet


def test_the_key_of_another_page_is_not_overwritten(tmp_path):
    key = PageKey(page="p1", seed=3, systems={}, letters={"a": {"A": "base"}}, shown={})
    path = tmp_path / "page.html"
    write_page(path, make_sheet(), key)
    before = {each.name: each.read_text() for each in tmp_path.iterdir()}
    for changes in ({"page": "p2"}, {"letters": {"a": {"A": "dpo"}}}):
        with pytest.raises(DataError, match=r"key of another page \(p1\).*name another --out, or .*--seed 3"):
            write_page(path, make_sheet(annotator="new"), key.model_copy(update=changes))
    assert {each.name: each.read_text() for each in tmp_path.iterdir()} == before
    # the same page again
    write_page(path, make_sheet(annotator="new"), key)


@pytest.mark.parametrize("name", ["page.json", "page", "page.key.json"])
def test_a_page_that_its_own_companions_would_overwrite_is_refused(tmp_path, name):
    with pytest.raises(DataError, match=r"name a file that ends in \.html"):
        write_page(tmp_path / name, make_sheet(), PageKey(page="p1", seed=0, systems={}, letters={}, shown={}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("n_systems", range(1, 6))
def test_each_system_stands_in_each_position_equally_often(n_systems):
    for n_items in range(1, 14):
        sides = ["left" if place % 3 else "right" for place in range(n_items)]
        for seed in range(40):
            drawn = orders(sides, n_systems, seed)
            assert all(sorted(order) == list(range(n_systems)) for order in drawn)
            for side, most in ((None, 1), ("left", 2), ("right", 2)):
                shown = [order for order, own in zip(drawn, sides, strict=True) if side in (None, own)]
                counts = [sum(order[p] == s for order in shown) for s in range(n_systems) for p in range(n_systems)]
                assert max(counts) - min(counts) <= most


@pytest.mark.parametrize("n_systems", [2, 3, 4])
def test_of_two_systems_each_stands_before_the_other_equally_often(n_systems):
    for seed in range(40):
        drawn = orders(["left"] * 4 * n_systems, n_systems, seed)
        for a, b in combinations(range(n_systems), 2):
            assert sum(order.index(a) < order.index(b) for order in drawn) == 2 * n_systems


def test_four_items_of_two_systems_have_each_balanced_arrangement_about_equally_often():
    # 4 choose 2 are 6; of 3,000 seeds 500 each, standard deviation 20. Drawn item by item, 375 would be all alike
    found = Counter(tuple(order[0] for order in orders(["left", "right"] * 2, 2, seed)) for seed in range(3000))
    balanced = Counter(tuple(order[0] for order in orders(["left"] * 4, 2, seed)) for seed in range(3000))
    assert len(balanced) == 6
    assert all(abs(n - 500) < 130 for n in balanced.values())
    # so does any one item's letter A, whatever its place, side and the order in which systems were named
    for place in range(4):
        assert abs(sum(n for first, n in found.items() if first[place] == 0) - 1500) < 170


def test_the_first_item_does_not_say_what_the_next_ones_are():
    # three systems, six items: given item 1's order, each of the 6 orders occurs at item 2
    following = Counter(
        tuple(drawn[1]) for seed in range(3000) if (drawn := orders(["left"] * 6, 3, seed))[0] == [0, 1, 2]
    )
    assert len(following) >= 5
