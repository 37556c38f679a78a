"""Blocks that say the same in HTML, Markdown, CSV and the terminal."""

import csv
import io

import pytest
from rich.console import Console

from evenhand.evaluation.pages import html, markdown, terminal
from evenhand.evaluation.pages.blocks import Charts, Code, Details, Facts, Heading, Items, Legend, Page, Prose
from evenhand.evaluation.pages.cells import Mark, NumberCell, Strip, Text
from evenhand.evaluation.pages.charts import Line, Point, panel, scale
from evenhand.evaluation.pages.markdown import plain
from evenhand.evaluation.pages.tables import count, group, row, table, without_zeros
from evenhand.evaluation.pages.words import MARK_NAMES
from evenhand.evaluation.pages.write import csv_files, write_page
from evenhand.number import Number

EVIL = '<script>alert("x")</script> | `y` [z](http://q)'
LONG = "rouge1_recall_against_key_points_of_the_source"


def a_page(*blocks, **options):
    given = {"kind": "test", "about": "about", "title": "A title", "warnings": (), "findings": (), "footer": "The end."}
    return Page(**given | {"body": blocks, "main": blocks} | options)


def printed(page, width=80):
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(terminal.render(page))
    return console.export_text()


def scores():
    heads = ("judge", "score", "plot", "verdict")
    strip = Strip((Mark(Number(value=0.25, low=0.1, high=0.5)), Mark(Number(value=0.2), None)))
    rows = [
        (LONG, NumberCell(0.25, (0.1, 0.5)), strip, Text("better", tone="better")),
        row(EVIL, NumberCell(None, (None, None)), Strip(()), Text("no clear difference", tone="unsure"), is_total=True),
    ]
    return table("the scores", heads, rows, scale=scale([0.1, 0.5], zero=True))


def everything():
    first, second = Number(value=0.1, low=0.0, high=0.2), Number(value=0.3, low=0.2, high=0.4)
    lines = [
        Line("base", 0, (Point(1, first), Point(2, second))),
        Line("dpo", 1, (Point(1, Number(value=0.2)),)),
    ]
    return (
        Heading("Scores", note="of all", lead="What follows."),
        Prose(EVIL, "lead", head="Head."),
        Legend((("better", "better"), (0, "left"), (None, "all"))),
        scores(),
        Items((Prose("one", head="First:"), Prose("two"))),
        Facts((("seed", count(1234)), ("model", Text(EVIL, style="code")))),
        Charts((panel("recall", "report", "draws", lines),)),
        Details("More", (Heading("Inner", 3), Code("a: ```b```\n"), table("inner", ("a", "b"), [("c", "d")]))),
    )


def test_data_is_escaped_everywhere():
    page = a_page(*everything(), title=EVIL, warnings=(EVIL,), about=EVIL, footer=EVIL)
    assert "<script" not in html.render(page)
    text = markdown.render(page)
    assert "<script" not in text and r"\[z](http" in text
    for line in text.splitlines():
        if line.startswith("|"):
            assert line.replace("\\|", "").count("|") in (3, 4)


def test_commands_are_code_and_options_are_not_broken():
    said = html.fragment([Prose("`evenhand judges audit SETS --out <F>` does; see (--least-group) and `x`.")])
    assert '<code>evenhand judges audit SETS <span class="option">--out</span> &lt;F&gt;</code> does' in said
    # what is no command of ours stays as it was written
    assert '(<span class="option">--least-group</span>) and `x`.' in said


def test_every_rendering_has_the_same_numbers_and_verdicts():
    page = a_page(*everything())
    for text in (html.render(page), markdown.render(page), printed(page)):
        for part in (
            "0.250",
            "0.100 to 0.500",
            "no interval",
            "no clear difference",
            "First:",
            "1,234",
            "What follows.",
        ):
            assert part in text, part


def test_line_chart_is_a_table_in_markdown_and_csv():
    page = a_page(*everything())
    assert "| 2 | 0.300 (0.200 to 0.400) | \u2013 |" in markdown.render(page)
    rows = list(csv.DictReader(io.StringIO(csv_files(page)["recall-by-draws.csv"])))
    assert rows[1] == {"draws": "2", "base": "0.3", "base low": "0.2", "base high": "0.4", "dpo": ""}


def test_csv_says_of_a_mark_what_the_page_says():
    page = a_page(table("t", ("a", "b"), [(Text("x"), NumberCell(0.1, tone="neutral"))]))
    assert MARK_NAMES["neutral"] in csv_files(page)["t.csv"]


def test_csv_has_numbers_as_they_are_and_runs_nothing():
    cells = ("=1+1", NumberCell(-0.123456789, (-0.2, 0.1), sign=True, tone="worse"), count(12345), Text("1,2"))
    page = a_page(table("t", ("name", "gap", "n", "label"), [cells]), table("t", ("a",), [("b",)]))
    files = csv_files(page)
    assert list(files) == ["t.csv", "t-2.csv"]
    assert list(csv.reader(io.StringIO(files["t.csv"]))) == [
        ["name", "gap", "gap low", "gap high", "gap verdict", "n", "label"],
        ["'=1+1", "-0.123456789", "-0.2", "0.1", "worse", "12345", "1,2"],
    ]


def test_kind_of_a_column_is_found_from_its_cells():
    assert [column.kind for column in scores().columns] == ["words", "number", "strip", "words"]


def test_groups_are_headed_and_a_column_of_the_csv():
    found = table("t", ("a", "b"), (group([("c", "d")], "first", "note"), group([("e", "f")], "second")))
    page = a_page(found)
    assert "| **first** note |  |" in markdown.render(page)
    assert csv_files(page)["t.csv"].splitlines() == ["group,a,b", "first,c,d", "second,e,f"]
    assert "first" in printed(page)


@pytest.mark.parametrize("width", [40, 80, 100])
def test_names_are_whole_in_the_terminal_and_lines_fit(width):
    wide = table(
        "wide",
        ("name", *(f"column {k}" for k in range(9))),
        [(LONG, *[NumberCell(0.5, (0, 1))] * 9)],
    )
    if width < len(LONG):
        wide = table("wide", ("name",), [("short",)])
    text = printed(a_page(wide), width)
    assert max(map(len, text.splitlines())) <= width
    assert (LONG if width > len(LONG) else "short") in text


def test_columns_of_zeros_become_a_sentence():
    found = table("t", ("phase", "failed", "made"), [("a", count(0), count(3))])
    rest, said = without_zeros(found)
    assert ([column.name for column in rest.columns], said) == (
        ["phase", "made"],
        "Not shown, since it is 0 in every row: failed.",
    )
    assert without_zeros(rest) == (rest, "")


def test_a_backslash_in_data_frees_no_link():
    assert markdown.plain(r"\[a](b)") == r"\\\[a](b)"


def test_markdown_fence_is_longer_than_any_in_the_text():
    assert "\n````\na: ```b```\n````\n" in markdown.render(a_page(Code("a: ```b```\n")))


def test_tables_of_an_earlier_page_go_only_where_the_folder_is_ours(tmp_path):
    write_page(a_page(table("old", ("a",), [("b",)])), tmp_path, "page.md")
    new = a_page(table("new", ("a",), [("b",)]))
    write_page(new, tmp_path, "page.md", is_ours=False)
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {"old.csv", "new.csv"}
    write_page(new, tmp_path, "page.md")
    assert {path.name for path in (tmp_path / "tables").iterdir()} == {"new.csv"}
    assert {path.name for path in tmp_path.iterdir()} == {"index.html", "page.md", "tables"}


# forms that GitHub and GitLab make links or calls of, anywhere in a text
CALLS = [
    "@team",
    "@org/team",
    "a@b.org",
    "#123",
    "org/repo#1",
    "GH-12",
    "gh-3",
    "!45",
    "https://e.org",
    "HTTP://e.org",
    "www.e.org",
    "ftp://e",
]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("around", ["{}", "left {}, right", "({})", "*{}*", "\uff20 {}", "x\u200b{}"])
def test_a_label_calls_nobody_in_a_pull_request(call, around):
    shown = plain(around.format(call))
    assert call not in shown
    # it looks as before
    assert shown.replace("&#8203;", "") == around.format(call)


@pytest.mark.parametrize("text", ["5 @ 3", "n # of sets", "C#", "a: b", "left/right", "50 %!", "1/2", "sets: 3//4"])
def test_what_calls_nobody_stays_as_it_is(text):
    assert plain(text) == text.replace("://", ":&#8203;//")


def test_control_characters_are_visible_in_markdown():
    assert plain("a\x1b[2J\u202eb") == "a\\\\x1b\\[2J\\\\u202eb"
