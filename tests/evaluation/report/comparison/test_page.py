import csv
import io
from typing import Any

import pytest
from rich.console import Console

from evenhand.evaluation.pages import html, markdown, terminal
from evenhand.evaluation.pages.blocks import MOST_FIRST, Details, Items, tables
from evenhand.evaluation.pages.cells import Table
from evenhand.evaluation.pages.write import csv_files
from evenhand.evaluation.report.comparison.build import build_comparison
from evenhand.evaluation.report.comparison.contents import ByLength
from evenhand.evaluation.report.comparison.entries import NamedRecipe, read_entries
from evenhand.evaluation.report.comparison.findings import GONE_WITH_LENGTH
from evenhand.evaluation.report.comparison.page import page
from evenhand.evaluation.report.systems.words import judges_mean
from evenhand.evaluation.verdicts import CLEAR
from evenhand.number import Number

EVIL = "<script>alert(1)</script>|`x`"


@pytest.fixture
def comparison(small_run: Any) -> Any:
    return build_comparison(read_entries([NamedRecipe(EVIL, small_run.recipe)]))


def test_page_escapes_what_comes_from_data(comparison: Any):
    for text in (html.render(page(comparison)), markdown.render(page(comparison))):
        assert "<script" not in text
        assert "&lt;script&gt;" in text


def test_every_rendering_shows_every_score_and_test_and_the_rule_once(comparison: Any):
    for text in (html.render(page(comparison)), markdown.render(page(comparison))):
        assert text.count(CLEAR) == 1
        for value in ("0.300", "0.412", "0.400", "0.51", "+0.100", "no clear difference", "0.125"):
            assert value in text, value


def test_what_is_long_is_folded_below_a_row_for_each_entry(comparison: Any):
    body = page(comparison).body
    assert max(len(block.rows) for block in body if isinstance(block, Table)) == len(comparison.entries)
    folded = {each.name for each in tables(block for block in body if isinstance(block, Details))}
    assert folded >= {"scores by overlap", "differences by overlap", "ranking by overlap", "form and length"}


def test_more_findings_than_a_reader_takes_in_are_folded_and_all_are_told(comparison: Any):
    said = tuple(f"Finding number {place}." for place in range(MOST_FIRST + 3))
    made = page(comparison.model_copy(update={"findings": said}))
    first, more, *_ = made.findings
    assert isinstance(first, Items) and isinstance(more, Details)
    assert ([each.text for each in first.items], more.note) == ([*said[:MOST_FIRST]], "3")
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(terminal.render(made, whole=True))
    for text in (html.render(made), markdown.render(made), console.export_text()):
        assert all(each in text for each in (*said, "More findings"))
    assert "More findings" not in markdown.render(page(comparison.model_copy(update={"findings": said[:MOST_FIRST]})))


def test_what_a_judge_measures_is_said_once_and_where_judges_stand_first(comparison: Any):
    text = markdown.render(page(comparison))
    (said,) = {judges_mean(recipe, "overlap") for recipe in comparison.recipes.values()}
    assert text.count(said) == 1
    assert text.index("What the judges measure") < text.index(said) < text.index("## Scores")


def test_many_differences_that_go_with_length_are_a_table_and_few_are_none(comparison: Any):
    left = Number(value=0.03)
    told = [
        ByLength(
            pair=f"{name}{EVIL} against base", measure="overlap", value=0.1, share=0.7, words=(20.0, 25.0), at_equal_length=left,
            said="",
        )
        for name in "abcd"
    ]  # fmt: skip
    for count, is_there in ((3, False), (4, True)):
        found = page(comparison.model_copy(update={"by_length": tuple(told[:count])}))
        assert (GONE_WITH_LENGTH in markdown.render(found)) == is_there
        assert "gone-with-length-by-overlap.csv" not in csv_files(found) or is_there
    for text in (html.render(found), markdown.render(found)):
        assert text.count(" against base") == 4 and "<script" not in text
        assert all(each in text for each in ("20.0 \u2192 25.0", "+0.100", "70 %", "+0.030"))


def test_every_table_has_a_file(comparison: Any):
    files = csv_files(page(comparison))
    assert {"entries.csv", "scores-by-overlap.csv", "differences-by-overlap.csv", "ranking-by-overlap.csv"} <= set(
        files
    )
    header, *rows = csv.reader(io.StringIO(files["differences-by-overlap.csv"]))
    assert {row[header.index("verdict")] for row in rows} <= {"better", "worse", "no clear difference"}


@pytest.mark.parametrize("width", [80, 100])
def test_terminal_fits_and_has_the_scores(comparison: Any, width: int):
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(terminal.render(page(comparison)))
    lines = console.export_text().splitlines()
    assert any("30.0 %" in line or "41.2 %" in line for line in lines)
    assert max(len(line) for line in lines) <= width


def test_page_of_a_single_entry_has_no_tests(make_run: Any):
    run = make_run(rounds=0, generate={"backend": "scripted", "plans": {"greedy": {"candidates": 1}}})
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)]})
    made = page(build_comparison(read_entries([NamedRecipe("one", run.recipe)])))
    assert "Tests" not in [heading.text for heading in made.sections]
    assert made.title == "Only one entry."
