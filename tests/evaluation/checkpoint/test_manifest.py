import json
from importlib.metadata import version
from typing import Any

from evenhand.evaluation.checkpoint.manifest import write_manifest
from evenhand.evaluation.checkpoint.report import report


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
