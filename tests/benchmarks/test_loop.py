"""The loop's benchmark: where a step's seconds go, and a small run."""

import json

import pytest

from evenhand.benchmarks.loop import PARTS, all_receipts, different_files, main, step_seconds
from evenhand.config import Recipe
from evenhand.loop import Step
from evenhand.runfolder.phases import TRAINING, open_phase
from evenhand.runfolder.stages import Receipt
from evenhand.storage import write_json


def receipt(stage, seconds, **spent):
    return Receipt(stage=stage, inputs="inputs", outputs={}, seconds=seconds, spent=spent, counts={}, versions={})


@pytest.fixture
def phase(tmp_path):
    values = {
        "name": "small", "output": tmp_path, "model": {"name": "none"}, "judges": {"recall": {"kind": "rouge"}},
        "generate": {"backend": "scripted", "plans": {"nucleus": {}}}, "reward": {"judges": ["recall"]},
        "evaluation": {"judges": ["recall"]},
    }  # fmt: skip
    return open_phase(Recipe.model_validate(values), "round-00")


def test_seconds_of_a_step_fall_into_parts_that_sum_to_the_wall(phase):
    found = step_seconds(30.0, Step("judge", phase), [receipt("judge", 26.0, loading=10.0, models=15.0)])
    assert found == {"start-up": 4.0, "loading": 10.0, "models": 15.0, "own": 1.0}
    assert sum(found.values()) == 30.0


def test_step_without_a_model_is_all_its_own(phase):
    assert step_seconds(3.0, Step("rerank", phase), [receipt("rerank", 1.0)]) == {
        "start-up": 2.0, "loading": 0.0, "models": 0.0, "own": 1.0
    }  # fmt: skip


def test_training_is_read_from_what_its_own_process_left(phase):
    # 100 s of wall, 80 of them in the process that trains, 70 in trainer.train()
    write_json(phase.folder / TRAINING, {"seconds": 80.0, "log_history": [{"loss": 0.7}, {"train_runtime": 70.0}]})
    found = step_seconds(100.0, Step("train", phase), [receipt("train", 97.0)])
    assert found == {"start-up": 20.0, "loading": 10.0, "models": 70.0, "own": 0.0}


def test_step_of_two_stages_has_the_seconds_of_both(tmp_path):
    receipts = [receipt("probe", 20.0, loading=8.0, models=11.0), receipt("report", 2.0)]
    for each in receipts:
        write_json(tmp_path / "receipts" / f"{each.stage}.json", each.model_dump(mode="json"))
    found = step_seconds(25.0, Step("report", None), all_receipts(tmp_path))
    # 20 + 2 of 25 s in stages; 1 s of the probe and 2 s of the report are their own
    assert found == {"start-up": 3.0, "loading": 8.0, "models": 11.0, "own": 3.0}


def test_files_with_other_bytes_or_none_are_named(tmp_path):
    for run, text in (("one", "a"), ("other", "b")):
        for name in ("round-00/candidates.jsonl", "evaluation/base/judgements.jsonl", "round-00/receipts/train.json"):
            path = tmp_path / run / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text if "train" in name or "judge" in name else "same")
    (tmp_path / "one/round-00/pairs.jsonl").write_text("")
    found = different_files(tmp_path / "one", tmp_path / "other")
    assert found == ["evaluation/base/judgements.jsonl", "round-00/pairs.jsonl"]


@pytest.mark.slow
def test_quick_run_times_every_step_from_nothing(tmp_path, capsys):
    output = tmp_path / "loop.json"
    arguments = ["--quick", "--repeats", "2", "--folder", str(tmp_path / "runs"), "--output", str(output)]
    main(arguments)
    (table,) = json.loads(output.read_text(encoding="utf-8"))["breakdowns"]
    names = [row["step"] for row in table["rows"]]
    assert names == [
        "evaluation/base generate",
        "evaluation/base judge",
        "evaluation/base rerank",
        "report",
        "all steps",
    ]
    for row in table["rows"]:
        assert all(row[part] >= 0 for part in PARTS)
        assert row["seconds"] >= row["start-up"] > 0
        # nothing here needs a model of any size
        assert 0.9 < row["outside"] <= 1
    assert "outside" in capsys.readouterr().out
    # two repeats, each in a folder of its own
    assert len(list((tmp_path / "runs").iterdir())) == 2
