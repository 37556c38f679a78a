import io
from typing import Any

import pytest
from rich.console import Console

from evenhand.errors import StorageError
from evenhand.evaluation.build import build_report
from evenhand.evaluation.table import result_table, summary_table
from evenhand.storage import write_text

WIDTH = 100


def printed(run: Any, width: int = WIDTH) -> str:
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(summary_table(build_report(run.recipe, None)))
    return console.export_text()


def test_table_fits_a_hundred_columns(small_run: Any):
    assert max(map(len, printed(small_run).splitlines())) <= WIDTH


def test_table_comes_from_the_report_that_was_written(small_run: Any):
    with pytest.raises(StorageError, match=r"report\.json: cannot be read"):
        result_table(small_run.recipe)
    write_text(
        small_run.recipe.output / "report" / "report.json", build_report(small_run.recipe, None).model_dump_json()
    )
    console = Console(width=WIDTH, record=True, file=io.StringIO())
    console.print(result_table(small_run.recipe))
    assert console.export_text() == printed(small_run)


def test_rows_tell_scores_sides_and_interval(small_run: Any):
    rows = [line.split() for line in printed(small_run).splitlines()]
    expected = "overlap 0.300 → 0.400 ▲+0.100 ▲+0.100 ▲+0.100 +0.100 to +0.100".split()
    assert expected in rows


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
    assert name in printed(run)
