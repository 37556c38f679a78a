"""The page's file; what it does in a browser is seen in test_page_in_browser.py."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import pytest
from sheets import make_item, make_sheet

from evenhand.errors import DataError
from evenhand.evaluation.human.key import PageKey, parse_key
from evenhand.evaluation.human.page import embedded_json, render_page, write_page
from evenhand.evaluation.human.sheet import SummarySheet, read_sheet

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
