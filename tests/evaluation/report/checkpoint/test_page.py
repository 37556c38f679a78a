import io
import json
import re
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import pytest
from rich.console import Console

from evenhand.errors import DataError, StorageError
from evenhand.evaluation.pages import html, markdown, terminal
from evenhand.evaluation.pages.blocks import Details, tables
from evenhand.evaluation.pages.cells import Table
from evenhand.evaluation.report.checkpoint.build import build_report
from evenhand.evaluation.report.checkpoint.page import (
    CURVES,
    curve_panels,
    flat_counts,
    ledger_table,
    page,
    training_panels,
)
from evenhand.evaluation.report.checkpoint.report import read_report
from evenhand.evaluation.report.systems.contents import StageRow, TrainingCurve
from evenhand.evaluation.verdicts import CLEAR
from evenhand.number import Number
from evenhand.records import LeftOut
from evenhand.storage import write_text

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
    return html.render(page(build_report(run.recipe, probed)))


def probe_result(*, active: bool, difference: float, served: str | None) -> dict[str, Any]:
    rows = [] if served is None else [{"nearer": served}]
    return {"active": active, "probes": [{"difference": difference}], "engine": {"served": served, "candidates": rows}}


@pytest.fixture
def small_page(small_run: Any) -> str:
    return page_of(small_run, probe_result(active=True, difference=1.5, served="trained"))


def test_page_fetches_nothing_and_runs_nothing(small_page: str):
    outline = Outline(small_page)
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(outline.tags)
    assert all(link.startswith("#") or link == "index.html" for link in outline.links)
    assert "url(" not in small_page
    assert "@import" not in small_page
    assert "default-src 'none'" in small_page


def test_page_is_well_formed_and_its_links_lead_somewhere(small_page: str):
    outline = Outline(small_page)
    assert outline.open == []
    assert len(outline.ids) == len(set(outline.ids))
    assert {link.removeprefix("#") for link in outline.links} - {"index.html"} <= set(outline.ids)


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
    run.receipt("evaluation/base", "rerank", {ATTACK: 1, "left_out": [{"side": ATTACK, "reason": ATTACK, "count": 2}]})
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
    assert "1 document set, too" in text
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
    assert "DPO+RR \u2212 rerank" not in text
    assert "prove nothing" in text and "were trained on" not in text


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


def test_sides_come_first_and_examples_are_folded(small_run: Any):
    made = page(build_report(small_run.recipe, None))
    assert [heading.text for heading in made.sections][:2] == ["Sides", "Scores"]
    examples = made.sections.index(next(h for h in made.sections if h.text == "Examples"))
    following = made.sections[examples + 1]
    body = list(made.body)
    inside = body[body.index(made.sections[examples]) + 1 : body.index(following)]
    assert inside and all(isinstance(block, Details) for block in inside)


@pytest.mark.parametrize(
    ("served", "told"),
    [
        ("trained", "The engine served it"),
        ("untrained", "The engine did not serve it"),
        (None, "was not checked"),
    ],
)
def test_page_says_what_the_engine_made_of_the_adapter(small_run: Any, served: str | None, told: str):
    assert told in page_of(small_run, probe_result(active=served != "untrained", difference=1.5, served=served))


def test_verdicts_are_words_and_not_colours_alone(small_page: str):
    assert 'aria-label="no clear difference"' in small_page


def test_rule_of_the_verdicts_is_said_once(small_page: str):
    assert small_page.count(CLEAR) == 1


def test_verdicts_follow_what_the_judge_calls_better(make_run: Any):
    judges = {
        "fit": {"kind": "alignment"},
        "length": {"kind": "length"},
        "opposing": {"kind": "alignment", "against": "opposing"},
    }
    run = make_run(rounds=0, judges=judges, evaluation={"judges": ["length", "opposing"], "resamples": 200})
    # the best by fit is longer and agrees more with the other side, in all sets
    run.write("evaluation/base", {f"{s}/left": [(0.1, 10, 0.1), (0.2, 30, 0.5)] for s in "abcdefgh"})
    found = {each.name: each for each in tables(page(build_report(run.recipe, None)).body)}
    verdicts = {name: verdict_of(found[f"differences by {name}"]) for name in ("fit", "length", "opposing")}
    assert verdicts == {"fit": ("better", "better"), "length": ("higher", "neutral"), "opposing": ("worse", "worse")}


def verdict_of(table: Table) -> tuple[str, str | None]:
    (row,) = table.rows
    cell: Any = row.cells[[column.name for column in table.columns].index("verdict")]
    return cell.text, cell.tone


def test_ledger_puts_sides_beside_each_other():
    rows = [
        LeftOut(phase="round-00", stage="pairs", reason="margin", side="left", count=3),
        LeftOut(phase="round-00", stage="pairs", reason="margin", side="right", count=4),
        LeftOut(phase="round-00", stage="train", reason="too long", side="right", count=1),
    ]
    found = ledger_table(rows)
    assert [column.name for column in found.columns] == ["phase", "stage", "counted", "reason", "left", "right", "all"]
    assert [
        [getattr(cell, "value", None) or getattr(cell, "text", 0) for cell in row.cells][1:] for row in found.rows
    ] == [
        ["pairs", "", "margin", 3, 4, 7],
        ["train", "", "too long", 0, 1, 1],
    ]


def test_counts_are_flattened_without_what_was_left_out_and_zeros_are_together():
    counts = {"requests": 4, "a": 0, "contract_kept": {"left": 3}, "rate": 0.123456, "b": 0, "left_out": [{"count": 1}]}
    assert list(flat_counts(counts)) == [
        ("requests", "4"), ("contract kept, left", "3"), ("rate", "0.1235"), ("0", "a, b")
    ]  # fmt: skip


def test_page_says_what_servers_answered_and_cannot_be_repeated(small_run: Any):
    report = build_report(small_run.recipe, None)
    told = {"generate": {"repeatable": False}, "judge": {"repeatable": {"helpful": False, "fair": False}}, "rerank": {}}
    rows = [StageRow(phase="evaluation/base", stage=name, seconds=1, counts=counts) for name, counts in told.items()]
    made = report.provenance.model_copy(update={"stages": tuple(rows)})
    by_server = markdown.render(page(report.model_copy(update={"provenance": made})))
    assert ": candidates, helpful and" in by_server.partition("servers promise")[2]
    assert "servers promise" not in markdown.render(page(report))


def test_single_candidate_has_no_curve(make_run: Any):
    run = make_run(rounds=0, generate={"backend": "scripted", "plans": {"p": {"candidates": 1}}})
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)], "b/left": [(0.1, 0.2)]})
    report = build_report(run.recipe, None)
    assert curve_panels(report, report.judges) == []


def test_later_rounds_are_drawn_stronger(small_run: Any):
    report = build_report(small_run.recipe, None)
    curves = [{"round": r, "name": "loss", "points": ((1, 0.7), (2, 0.6))} for r in range(3)]
    report = type(report).model_validate({**report.model_dump(), "training": curves})
    (panel,) = training_panels(report)
    strengths = [line.strength for line in panel.lines]
    assert strengths == sorted(strengths)
    assert strengths[-1] == 1.0


def test_markdown_says_what_the_page_says(small_run: Any):
    made = page(build_report(small_run.recipe, None))
    text = markdown.render(made)
    assert text.startswith(f"# {made.overview.headline}\n") and f"\n\n{made.title}\n" in text
    assert "| **DPO \u2212 zero-shot**" in text
    assert "| all | +0.100 (no interval) | 0.125 | 0.251 | \u25cb no clear difference | 8 | 4 |" in text
    for heading in made.sections:
        assert f"## {heading.text}\n" in text
    for block in text.split("\n\n"):
        if block.startswith("|"):
            assert len({line.count("|") for line in block.splitlines()}) == 1


def test_data_cannot_write_html_columns_or_links_in_markdown(make_run: Any):
    run = make_run(rounds=0, name="<script>x</script>")
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)], "b/left": [(0.1, 0.3)]})
    run.receipt("evaluation/base", "train", {"left_out": [{"side": "a|b", "reason": "[x](http://y)\n<i>", "count": 1}]})
    text = markdown.render(page(build_report(run.recipe, None)))
    # the recipe stands in a fence
    assert "<script" not in text.partition("```")[0]
    assert r"| a\|b |" in text
    assert r"\[x](http:&#8203;//y) &lt;i&gt; |" in text


def printed(run: Any, width: int = 80, *, whole: bool = False) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(terminal.render(page(build_report(run.recipe, None)), whole=whole))
    return console.export_text()


@pytest.mark.parametrize("width", [80, 100])
def test_terminal_fits(small_run: Any, width: int):
    assert max(map(len, printed(small_run, width).splitlines())) <= width


def test_terminal_rows_tell_scores_sides_and_interval(small_run: Any):
    text = " ".join(printed(small_run, whole=True).split())
    assert "overlap 0.300 \u2192 0.400 \u25cb+0.100 \u25cb+0.100 \u25cb+0.100 (no interval)" in text
    short = " ".join(printed(small_run).split())
    # sides: 0.4 and 0.2 before, a tenth more after
    assert "all 30.0 % \u2192 40.0 %; left 40.0 % \u2192 50.0 %; right 20.0 % \u2192 30.0 %" in short


def test_terminal_says_what_was_found_in_words(small_run: Any):
    text = " ".join(printed(small_run, 80, whole=True).split())
    for each in build_report(small_run.recipe, None).findings:
        assert f"{each.heading}. {each.text}" in text
    # a name of two systems alone is no heading
    assert "one draw: DPO \u2212" in text and "reranking: DPO+RR \u2212" in text


def test_the_headline_of_the_quickstarts_size_is_a_table_at_80_columns(small_run: Any):
    # four judges of long names, scores below 1 and intervals: no card for each number
    built = build_report(small_run.recipe, None)
    bounded = {"low": -0.023, "high": 0.097}
    left = Number(value=0.01, low=0.0, high=0.1)
    changed = [
        d.model_copy(update={"measure": "rouge1_key_points", "at_equal_length": left, "by_length": left, **bounded})
        for d in built.differences
    ]
    built = built.model_copy(
        update={
            "differences": tuple(changed),
            "deciding": ("rouge1_key_points",),
            "judges": tuple(
                j.model_copy(update={"name": "rouge1_key_points"}) for j in built.judges if j.role == "report"
            ),
            "scores": tuple(e.model_copy(update={"measure": "rouge1_key_points"}) for e in built.scores),
        }
    )
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(terminal.render(page(built), whole=True))
    assert any({"judge", "scores", "left", "right"} <= {*line.split()} for line in console.export_text().splitlines())


def test_training_says_what_its_curves_mean_where_it_has_some(small_run: Any):
    built = build_report(small_run.recipe, None)
    curve = TrainingCurve(round=0, name="loss", points=((1, 0.7), (2, 0.6)))
    assert CURVES not in markdown.render(page(built.model_copy(update={"training": ()})))
    assert CURVES in markdown.render(page(built.model_copy(update={"training": (curve,)})))


def test_terminal_comes_from_the_report_that_was_written(small_run: Any):
    with pytest.raises(StorageError, match=r"report\.json: cannot be read"):
        read_report(small_run.recipe)
    built = build_report(small_run.recipe, None)
    write_text(small_run.recipe.output / "report" / "report.json", built.model_dump_json())
    assert read_report(small_run.recipe) == built


@pytest.mark.parametrize(
    ("key", "schema"),
    [
        ("format", None),
        ("format", "evenhand-report/10"),
        ("schema_name", "evenhand-report/10"),
        ("schema_name", "evenhand-report/11"),
        ("format", "evenhand-comparison/3"),
    ],
)
def test_a_report_of_another_version_is_refused_with_what_to_do(small_run: Any, key: str, schema: str | None):
    old = build_report(small_run.recipe, None).model_dump(mode="json", exclude={"format"}) | {key: schema}
    content = {key: value for key, value in old.items() if value is not None}
    write_text(small_run.recipe.output / "report" / "report.json", json.dumps(content))
    with pytest.raises(
        DataError, match=r"report\.json: is not a report of this version; run evenhand report RECIPE again"
    ):
        read_report(small_run.recipe)


def test_many_sides_are_left_to_the_page(make_run: Any):
    run = make_run(rounds=0)
    sides = ("east", "north", "south", "west")
    scores = {f"{s}/{side}": [(0.1, 0.2), (0.3, 0.4)] for s in "ab" for side in sides}
    run.write("evaluation/base", scores, request=lambda request: {"sides": sides})
    text = printed(run)
    assert "north" not in text
    assert "all" in text


@pytest.mark.parametrize("name", ["[bold]judge[/bold]", "rouge1_recall_against_key_points"])
def test_judge_names_are_printed_as_they_are(make_run: Any, name: str):
    judges = {"fit": {"kind": "alignment"}, name: {"kind": "rouge"}}
    run = make_run(rounds=0, judges=judges, evaluation={"judges": [name], "resamples": 200})
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)], "b/left": [(0.1, 0.3)]})
    assert name in printed(run, whole=True)
