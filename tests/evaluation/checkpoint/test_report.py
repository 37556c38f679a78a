import json
import os
from typing import Any

import pytest

from evenhand.errors import DataError, StorageError
from evenhand.evaluation.checkpoint.build import build_report
from evenhand.evaluation.checkpoint.report import read_report, report
from evenhand.runfolder.processes import COMMAND, hold


@pytest.fixture
def base_run(make_run: Any) -> Any:
    """A finished run without training, which needs no adapter probe."""
    run = make_run(rounds=0)
    run.write("evaluation/base", run.UNTRAINED)
    run.finish()
    return run


def test_report_writes_its_three_files_and_is_reused(base_run: Any):
    receipt, reused = report(base_run.recipe)
    assert set(receipt.outputs) == {"report.json", "report.md", "index.html", "tables"}
    assert not reused
    assert report(base_run.recipe)[1]


def test_report_json_holds_everything_the_page_shows(base_run: Any):
    report(base_run.recipe)
    assert read_report(base_run.recipe) == build_report(base_run.recipe, None)
    content = json.loads((base_run.recipe.output / "report" / "report.json").read_text())
    assert set(content["differences"][0]) == {
        "measure", "signature", "subject", "side", "mean", "low", "high", "n", "n_sets", "left_out", "level",
        "resamples", "seed", "verdict",
    }  # fmt: skip


def test_same_inputs_give_the_same_bytes(base_run: Any):
    report(base_run.recipe)
    folder = base_run.recipe.output / "report"
    before = {path.name: path.read_bytes() for path in folder.glob("*.*") if path.is_file()}
    (folder / "receipts" / "report.json").unlink()
    report(base_run.recipe)
    assert before == {path.name: path.read_bytes() for path in folder.glob("*.*") if path.is_file()}


def test_new_scores_make_a_new_report(base_run: Any):
    report(base_run.recipe)
    base_run.write("evaluation/base", {"a/left": base_run.UNTRAINED["a/left"]})
    base_run.finish()
    _, reused = report(base_run.recipe)
    assert not reused
    assert read_report(base_run.recipe).title.startswith("It cannot be told")


def test_report_on_a_run_that_is_under_way_says_so(make_run: Any):
    run = make_run()
    run.write("evaluation/base", run.UNTRAINED)
    with hold(run.recipe.output):
        # else it would pass for the run's own last step
        del os.environ[COMMAND]
        with pytest.raises(StorageError, match=r"or a child of it is at work there"):
            report(run.recipe)


def test_unfinished_run_leaves_no_report(make_run: Any):
    run = make_run()
    run.write("evaluation/base", run.UNTRAINED)
    with pytest.raises(DataError, match=r"evaluation/round-00: stage 'generate' has not finished"):
        report(run.recipe)
    assert not (run.recipe.output / "report" / "index.html").exists()
