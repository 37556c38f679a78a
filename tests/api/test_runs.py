"""A run that lies in a folder is opened as it is, moved or unfinished, with pandas or without."""

import shutil
import sys

import pytest

import evenhand
from evenhand.api.runs import Run
from evenhand.errors import RecipeError, StorageError

pytestmark = pytest.mark.usefixtures("quick_commands")

RECIPE = {
    "name": "small", "corpus": {"path": "sample", "test": {"limit": 2}}, "rounds": 0,
    "model": {"name": "none"}, "generate": {"backend": "scripted", "plans": {"p": {"candidates": 2}}},
    "judges": {"words": {"kind": "length"}}, "reward": {"judges": ["words"]}, "evaluation": {"judges": ["words"]},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs") / "small"
    evenhand.run(RECIPE | {"output": str(out)}, {"evaluation.resamples": 200})
    return out


def test_a_run_that_was_moved_has_its_candidates_with_scores_and_its_report(folder, tmp_path):
    moved = tmp_path / "moved"
    shutil.copytree(folder, moved)
    run = evenhand.open_run(moved)
    assert run.recipe.name == "small" and run.folder == moved and run.adapter is None
    frame = run.candidates
    # two sets of two sides, and two candidates of each
    assert len(frame) == 8 and set(frame["phase"]) == {"evaluation/base"} and frame["words"].notna().all()
    assert list(frame.columns[:4]) == ["phase", "set", "side", "text"]
    assert {"system", "measure", "value"} <= set(run.report.columns) and len(run.report)
    assert len(run.pairs) == 0


def test_without_pandas_there_are_lists(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    run = evenhand.open_run(folder)
    assert len(run.candidates) == 8 and run.candidates[0]["words"] > 0 and run.pairs == []
    assert run.report[0]["system"]


def test_adapter_of_the_last_round_and_pairs_of_each(folder):
    made = evenhand.generate("sample", "none", backend="scripted", n=4, attribute="stance")
    pairs = evenhand.pairs(evenhand.rerank(evenhand.judge(made, {"words": {"kind": "length"}})))
    run = Run(folder, evenhand.open_run(folder).recipe.model_copy(update={"rounds": 3}))
    for name in ("round-00", "round-01"):
        (folder / name / "adapter").mkdir(parents=True)
        pairs.write(folder / name / "pairs.jsonl")
    try:
        assert run.adapter == folder / "round-01" / "adapter"
        assert list(run.pairs["phase"]) == ["round-00"] * len(pairs) + ["round-01"] * len(pairs)
        assert list(run.pairs["chosen"][: len(pairs)]) == [pair.chosen_text for pair in pairs]
    finally:
        for name in ("round-00", "round-01"):
            shutil.rmtree(folder / name)


def test_what_is_no_run_is_refused_and_nested_ones_are_named(folder, tmp_path):
    with pytest.raises(RecipeError, match=r"no run lies there, .*; open one of .*small"):
        evenhand.open_run(folder.parent)
    with pytest.raises(RecipeError, match=r"no run lies there.*evenhand loop RECIPE"):
        evenhand.open_run(tmp_path)
    shutil.copy(folder / "recipe.yaml", tmp_path)
    run = evenhand.open_run(tmp_path)
    assert len(run.candidates) == 0
    with pytest.raises(StorageError, match="has no report yet; the command that began the run"):
        _ = run.report
