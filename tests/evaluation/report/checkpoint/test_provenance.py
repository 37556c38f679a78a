import json
from importlib.metadata import version
from typing import Any

from evenhand.evaluation.report.checkpoint.provenance import (
    model_signatures,
    read_receipts,
    templates,
    versions,
    write_manifest,
)
from evenhand.evaluation.report.checkpoint.report import report
from evenhand.runfolder.phases import open_phase
from evenhand.runfolder.stages import Receipt
from evenhand.storage import write_json


def test_receipts_come_in_the_order_of_the_loop(small_run: Any):
    for stage in ("train", "rerank", "judge", "generate", "extra"):
        small_run.receipt("round-00", stage, {})
    assert [(phase, receipt.stage) for phase, receipt in read_receipts(small_run.recipe)] == [
        ("round-00", "generate"),
        ("round-00", "judge"),
        ("round-00", "rerank"),
        ("round-00", "train"),
        ("round-00", "extra"),
        ("evaluation/base", "generate"),
        ("evaluation/round-00", "generate"),
    ]


def test_several_versions_of_a_library_are_all_told(small_run: Any):
    receipt = Receipt(stage="judge", inputs="0", outputs={}, seconds=1, counts={}, versions={"evenhand": "0.2.0"})
    folder = open_phase(small_run.recipe, "evaluation/base").folder
    write_json(folder / "receipts" / "judge.json", receipt.model_dump(mode="json"))
    assert versions(read_receipts(small_run.recipe)) == {"evenhand": "0.1.0, 0.2.0"}


def test_models_are_told_by_phase(small_run: Any):
    assert model_signatures(small_run.recipe) == {
        "evaluation/base": "tiny@evaluation/base",
        "evaluation/round-00": "tiny@evaluation/round-00",
    }


def test_prompts_are_told_by_phase(small_run: Any):
    assert templates(small_run.recipe)["evaluation/base"] == "test:000000"


def test_phase_without_candidates_has_no_model(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {}, without=["a/left"])
    assert model_signatures(run.recipe) == {}


def test_manifest_tells_seeds_signatures_hashes_and_what_was_left_out(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)], "b/left": [(0.1, None)]}, without=["c/left"])
    run.finish()
    report(run.recipe)  # which writes the manifest at its end
    content = json.loads((run.recipe.output / "manifest.json").read_text())
    assert content["seeds"] == {"run": 7, "bootstrap": 7}
    assert content["signatures"]["models"] == {"evaluation/base": "tiny@evaluation/base"}
    assert content["signatures"]["templates"] == {"evaluation/base": "test:000000"}
    assert content["signatures"]["judges"]["overlap"] == ["overlap|judge:rouge|v:0.1.0"]
    assert [(s["phase"], s["stage"]) for s in content["stages"]] == [
        ("evaluation/base", "generate"),
        ("evaluation/base", "judge"),
        ("evaluation/base", "rerank"),
        ("report", "report"),
    ]
    assert len(content["stages"][-1]["outputs"]["index.html"]) == 16
    assert [(r["stage"], r["side"], r["count"]) for r in content["left_out"]] == [
        ("generate", "left", 1),
        ("judge", "left", 1),
    ]
    assert content["seconds"] == round(sum(stage["seconds"] for stage in content["stages"]), 3)
    assert content["versions"]["evenhand"] == version("evenhand")


def test_manifest_of_a_run_under_way_holds_what_is_there(make_run: Any):
    content = json.loads(write_manifest(make_run().recipe).read_text())
    assert (content["stages"], content["left_out"], content["seconds"]) == ([], [], 0)
