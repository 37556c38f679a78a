import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest

from evenhand.evaluation.build import build_report
from evenhand.evaluation.page import render_page

ATTACK = "<script>alert('x')</script> & \"quoted\" <b>bold</b>"
VOID = {"meta", "br", "wbr", "link", "img", "hr", "input"}


class Outline(HTMLParser):
    """Tags, ids, links and whether every tag is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.open: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.headings: list[int] = []
        self.feed(text)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        named = dict(attrs)
        self.ids += [named["id"]] if named.get("id") else []
        self.links += [value for key, value in attrs if key in ("href", "src", "xlink:href") and value]
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def page_of(run: Any, probed: dict[str, Any] | None = None) -> str:
    return render_page(build_report(run.recipe, probed))


def probe_result(*, active: bool, difference: float, served: str | None) -> dict[str, Any]:
    rows = [] if served is None else [{"nearer": served}]
    return {"active": active, "probes": [{"difference": difference}], "engine": {"served": served, "candidates": rows}}


@pytest.fixture
def small_page(small_run: Any) -> str:
    return page_of(small_run, probe_result(active=True, difference=1.5, served="trained"))


def test_page_fetches_nothing_and_runs_nothing(small_page: str):
    outline = Outline(small_page)
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(outline.tags)
    assert all(link.startswith("#") for link in outline.links)
    assert "url(" not in small_page
    assert "@import" not in small_page
    assert "default-src 'none'" in small_page


def test_page_is_well_formed_and_its_links_lead_somewhere(small_page: str):
    outline = Outline(small_page)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)


def test_headings_do_not_skip_a_level(small_page: str):
    levels = Outline(small_page).headings
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_everything_from_data_is_escaped(make_run: Any):
    run = make_run(rounds=0, name=ATTACK)
    run.texts["a/left"] = ATTACK
    run.write(
        "evaluation/base",
        {"a/left": [(0.1, 0.2), (0.3, None)], "b/left": [(0.3, 0.2), (0.2, 0.9)]},
        candidate=lambda request, index: {"text": ATTACK, "issues": (ATTACK,), "contract_ok": False, "model": ATTACK},
        request=lambda request: {"topic": f'A "topic" {ATTACK}'},
    )
    run.receipt("evaluation/base", ATTACK, {ATTACK: 1, "left_out": [{"side": ATTACK, "reason": ATTACK, "count": 2}]})
    text = page_of(run)
    assert "<script" not in text
    assert "<b>bold" not in text
    assert "&lt;script&gt;alert(" in text
    assert Outline(text).open == []


def test_quotes_cannot_leave_an_attribute(make_run: Any):
    name = 'x" onmouseover="alert(1)'
    run = make_run(
        rounds=0, judges={"fit": {"kind": "alignment"}, name: {"kind": "rouge"}}, evaluation={"judges": [name]}
    )
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)], "b/left": [(0.3, 0.2)]})
    assert 'x" onmouseover' not in page_of(run)


def test_one_document_set_is_shown_without_an_interval(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {"a/left": [(0.1, 0.2), (0.3, 0.6)], "a/right": [(0.1, 0.2), (0.3, 0.4)]})
    text = page_of(run)
    assert "no interval" in text
    assert "It cannot be told whether" in text
    assert "nan" not in text


def test_report_that_only_counts_words_decides_nothing(make_run: Any):
    judges = {"overlap": {"kind": "rouge"}, "words": {"kind": "length"}}
    run = make_run(rounds=0, judges=judges, reward={"judges": ["overlap"]}, evaluation={"judges": ["words"]})
    run.write("evaluation/base", {"a/left": [(0.1, 7.0), (0.3, 9.0)], "b/left": [(0.1, 7.0), (0.3, 5.0)]})
    assert Outline(page_of(run)).open == []


def test_run_without_rounds_has_no_training_section(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", run.UNTRAINED)
    text = page_of(run)
    assert 'id="training"' not in text
    assert "No checkpoint was trained" in text
    assert "DPO+RR \u2212 rerank" not in text


def test_requests_without_a_perspective_have_no_section_on_sides(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)] * 3, "b/left": [(0.3, 0.2)] * 3})
    assert 'id="sides"' not in page_of(run)


def test_many_sides_keep_apart(make_run: Any):
    run = make_run(rounds=0)
    sides = ("east", "north", "south", "up", "west")
    scores = {f"{s}/{side}": [(0.1, 0.2), (0.3, 0.4)] for s in "ab" for side in sides}
    run.write("evaluation/base", scores, request=lambda request: {"sides": sides})
    assert Outline(page_of(run)).open == []


def test_inactive_adapter_is_told_at_the_top(small_run: Any):
    text = page_of(small_run, probe_result(active=False, difference=0.0, served="unclear"))
    assert text.index("INACTIVE") < text.index('id="scores"')


@pytest.mark.parametrize(
    ("served", "told"),
    [
        ("trained", "The engine served it: the log-probabilities it reported are nearer to the trained"),
        ("untrained", "The engine did not serve it"),
        (None, "Whether the engine served it was not checked: no candidate holds its tokens"),
    ],
)
def test_page_says_what_the_engine_made_of_the_adapter(small_run: Any, served: str | None, told: str):
    assert told in page_of(small_run, probe_result(active=served != "untrained", difference=1.5, served=served))


def test_undecidable_is_told_in_words_not_by_colour_alone(small_page: str):
    assert 'aria-label="cannot be told"' in small_page
    assert ">cannot tell<" in small_page
