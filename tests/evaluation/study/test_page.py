from typing import Any

import pytest
from rich.console import Console

from evenhand.evaluation.study.build import build_comparison
from evenhand.evaluation.study.entries import Named, read_entries
from evenhand.evaluation.study.markdown import render_markdown
from evenhand.evaluation.study.page import render_page
from evenhand.evaluation.study.table import comparison_table

EVIL = "<script>alert(1)</script>|`x`"


@pytest.fixture
def comparison(small_run: Any) -> Any:
    return build_comparison(read_entries([Named(EVIL, small_run.recipe)]))


def test_page_escapes_what_comes_from_data(comparison: Any):
    page = render_page(comparison)
    assert "<script" not in page
    assert "&lt;script&gt;" in page


def test_page_shows_every_score_and_test(comparison: Any):
    page = render_page(comparison)
    for value in ("0.300", "0.412", "0.400", "0.51", "+0.100", "cannot tell", "0.125"):
        assert value in page, value


def test_markdown_escapes_and_has_all_tables(comparison: Any):
    text = render_markdown(comparison)
    assert "<script" not in text
    for heading in (
        "## Entries",
        "## Scores by overlap",
        "## Ranking by overlap, one draw, all",
        "## Tests by overlap",
    ):
        assert heading in text


def test_terminal_table_fits_100_columns(comparison: Any):
    console = Console(width=100, record=True, file=open("/dev/null", "w"))  # noqa: SIM115, PTH123
    console.print(comparison_table(comparison))
    lines = console.export_text().splitlines()
    assert any("0.300" in line and "0.412" in line for line in lines)
    assert max(len(line) for line in lines) <= 100


def test_page_of_a_single_entry_has_no_tests(make_run: Any):
    run = make_run(rounds=0, generate={"backend": "scripted", "plans": {"greedy": {"candidates": 1}}})
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)]})
    page = render_page(build_comparison(read_entries([Named("one", run.recipe)])))
    assert 'id="tests"' not in page
    assert "Nothing to test" in page
