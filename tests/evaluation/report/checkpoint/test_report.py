import json
import os
from typing import Any

import pytest

from evenhand.config import Recipe
from evenhand.errors import DataError, StorageError
from evenhand.evaluation.gate.limits import GateRequest, parse_limit
from evenhand.evaluation.report.checkpoint.build import build_report
from evenhand.evaluation.report.checkpoint.report import check_finished, read_report, report
from evenhand.evaluation.report.named import REPORT_PAGE
from evenhand.runfolder.phases import GROUPS, JUDGEMENTS, open_phase
from evenhand.runfolder.processes import COMMAND, hold
from evenhand.storage import write_text


@pytest.fixture
def base_run(make_run: Any) -> Any:
    """A finished run without training, which needs no adapter probe."""
    run = make_run(rounds=0)
    run.write("evaluation/base", run.UNTRAINED)
    run.finish()
    return run


def test_report_writes_its_three_files_and_is_reused(base_run: Any):
    receipt, reused = report(base_run.recipe)
    assert set(receipt.outputs) == {"report.json", "report.md", "index.html", "details.html", "tables"}
    assert not reused
    assert report(base_run.recipe)[1]


def test_report_json_holds_everything_the_page_shows(base_run: Any):
    report(base_run.recipe)
    assert read_report(base_run.recipe) == build_report(base_run.recipe, None)
    content = json.loads((base_run.recipe.output / "report" / "report.json").read_text())
    assert set(content["differences"][0]) == {
        "measure", "system", "reference", "side", "value", "low", "high", "n", "n_sets", "verdict", "by_set",
    } | {"p_value", "adjusted"}  # fmt: skip
    # what all of them share stands once
    assert content["bootstrap"] == {"level": 0.95, "resamples": 500, "seed": 7}


def test_a_gate_stands_on_the_report_that_was_asked_for_one(base_run: Any):
    # means of one draw by hand: left 0.4, right 0.2; of four document sets there is no interval
    asked = GateRequest(tuple(map(parse_limit, ("worst_mean(overlap, zero-shot) < 0.3", "mean(faithfulness) < 3"))))
    report(base_run.recipe, asked)
    first, second = read_report(base_run.recipe).gate.rows
    assert (first.outcome, first.number, first.value) == (
        "cannot tell", "mean(overlap, right, zero-shot)", pytest.approx(0.2)
    )  # fmt: skip
    assert second.outcome == "missing"
    assert "overlap" in second.note
    assert not report(base_run.recipe)[1]
    assert read_report(base_run.recipe).gate is None


def test_what_a_report_can_be_asked_for(base_run: Any):
    built = build_report(base_run.recipe, None)
    mine = [each for each in REPORT_PAGE.read(built).numbers if each.measures == ("overlap",)]
    found = {(each.functions[0], each.side, each.system): each for each in mine}
    assert found["difference", "left", "rerank - zero-shot"].by_set == pytest.approx(
        {"a": 0.2, "b": 0, "c": 0.4, "d": 0}
    )
    # of document set a: left 0.3 and right 0.2, so left is 0.05 above their mean
    assert found["gap", "left", "zero-shot"].by_set["a"] == pytest.approx(0.05)
    assert built.sets == ("a", "b", "c", "d")


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
    assert read_report(base_run.recipe).title.startswith("1 document set, too few to tell")


def test_report_on_a_run_that_is_under_way_says_so(make_run: Any):
    run = make_run()
    run.write("evaluation/base", run.UNTRAINED)
    with hold(run.recipe.output):
        # else it would pass for the run's own last step
        del os.environ[COMMAND]
        with pytest.raises(StorageError, match=r"or a child of it is at work there"):
            report(run.recipe)


def test_a_report_before_any_run_says_that_there_is_none(make_run: Any):
    with pytest.raises(DataError, match=r"nothing has been run there yet; run: evenhand loop RECIPE"):
        report(make_run().recipe)


def test_unfinished_run_leaves_no_report(make_run: Any):
    run = make_run()
    run.write("evaluation/base", run.UNTRAINED)
    with pytest.raises(DataError, match=r"evaluation/round-00: stage 'generate' has not finished"):
        report(run.recipe)
    assert not (run.recipe.output / "report" / "index.html").exists()


@pytest.fixture
def finished(small_run: Any) -> Any:
    """The small run with the receipts of its recipe."""
    small_run.finish()
    return small_run


def changed(recipe: Recipe, **changes: Any) -> Recipe:
    return Recipe.model_validate({**recipe.model_dump(), **changes})


def refusal(recipe: Recipe) -> str:
    with pytest.raises(DataError, match="evenhand loop RECIPE") as refused:
        check_finished(recipe)
    return str(refused.value)


def test_finished_run_is_let_through(finished: Any):
    check_finished(finished.recipe)


def test_what_only_the_report_depends_on_may_change(finished: Any):
    evaluation = finished.recipe.evaluation.model_dump() | {"resamples": 700, "level": 0.9}
    check_finished(changed(finished.recipe, evaluation=evaluation))


@pytest.mark.parametrize(
    ("changes", "stages"),
    [
        ({"seed": 8}, ["round-00: stage 'generate'", "evaluation/base: stage 'generate'"]),
        ({"task": {"sentences": 2}}, ["round-00: stage 'generate'"]),
        ({"judges": {"fit": {"kind": "rouge"}, "overlap": {"kind": "rouge"}}}, ["evaluation/base: stage 'judge'"]),
        ({"reward": {"judges": ["fit"], "combine": "z_mean"}}, ["evaluation/round-00: stage 'rerank'"]),
        ({"pairs": {"mode": "all"}}, ["round-00: stage 'rerank'"]),
        ({"trainer": {"beta": 0.5}}, ["round-00: stage 'train'"]),
        ({"rounds": 2}, ["round-01: stage 'generate' has not finished"]),
    ],
)
def test_another_recipe_is_refused_by_phase_and_stage(finished: Any, changes: dict[str, Any], stages: list[str]):
    message = refusal(changed(finished.recipe, **changes))
    for stage in stages:
        assert stage in message


def test_report_does_not_state_a_seed_that_made_nothing(finished: Any):
    with pytest.raises(DataError, match="evaluation/base: stage 'generate' ran with another recipe, another seed"):
        report(changed(finished.recipe, seed=8))
    assert not (finished.recipe.output / "report").exists()


def test_files_changed_by_hand_are_refused(finished: Any):
    path = open_phase(finished.recipe, "evaluation/base").folder / GROUPS
    write_text(path, path.read_text() + "\n")
    assert "evaluation/base: files of stage 'rerank' were changed" in refusal(finished.recipe)


def test_files_taken_away_are_refused_in_the_same_words(finished: Any):
    (open_phase(finished.recipe, "evaluation/base").folder / JUDGEMENTS).unlink()
    assert "evaluation/base: files of stage 'judge' were changed or taken away" in refusal(finished.recipe)


def test_adapter_that_no_training_left_is_refused(finished: Any):
    (open_phase(finished.recipe, "round-00").folder / "receipts" / "train.json").unlink()
    assert "round-00: stage 'train' has not finished" in refusal(finished.recipe)


def test_round_on_a_pair_file_of_its_own_needs_no_candidates(finished: Any):
    pairs = finished.recipe.output.parent / "pairs.jsonl"
    write_text(pairs, "{}\n")
    run = type(finished)(finished.recipe.output.parent / "other", train={"pairs": str(pairs)})
    run.write("evaluation/base", run.UNTRAINED)
    run.write("evaluation/round-00", run.TRAINED)
    run.finish()
    for stage in ("generate", "judge", "rerank"):
        (open_phase(run.recipe, "round-00").folder / "receipts" / f"{stage}.json").unlink()
    check_finished(run.recipe)
