import re
from typing import Any

import pytest

from evenhand.errors import DataError
from evenhand.evaluation.report.checkpoint.training_log import read_training
from evenhand.runfolder.phases import open_phase
from evenhand.storage import write_json

HISTORY = [
    {"step": 1, "loss": 0.69, "rewards/margins": 0.0, "epoch": 0.1},
    {"step": 2, "loss": 0.6, "rewards/margins": 0.2, "epoch": 0.2},
    {"step": 2, "train_runtime": 3.0},
]


@pytest.mark.parametrize("content", [HISTORY, {"log_history": HISTORY}])
def test_curves_are_read_in_a_fixed_order(small_run: Any, content: Any):
    write_json(open_phase(small_run.recipe, "round-00").folder / "training.json", content)
    loss, margins = read_training(small_run.recipe).curves
    assert (loss.round, loss.name, loss.points) == (0, "loss", ((1, 0.69), (2, 0.6)))
    assert (margins.name, margins.points) == ("rewards/margins", ((1, 0.0), (2, 0.2)))


def test_run_without_a_log_has_no_curves(small_run: Any):
    assert read_training(small_run.recipe) == ((), (), ())


def test_file_without_a_history_is_refused(small_run: Any):
    write_json(open_phase(small_run.recipe, "round-00").folder / "training.json", {"loss": 0.3})
    with pytest.raises(DataError, match=r"training\.json: has no log_history"):
        read_training(small_run.recipe)


def test_steps_and_what_the_log_says_against_them_are_told_of_each_round(small_run: Any):
    record = {
        "steps": 60, "batch": 16, "unit": "requests", "processes": 4, "per_device_train_batch_size": 2,
        "gradient_accumulation_steps": 2, "log_history": HISTORY, "counts": {"mean_tokens": {"chosen": 30, "rejected": 20}},
    }  # fmt: skip
    write_json(open_phase(small_run.recipe, "round-00").folder / "training.json", record)
    _, (note,), (warning,) = read_training(small_run.recipe)
    assert re.findall(r"\d+", note) == ["0", "60", "16", "2", "2", "4"]
    assert "round 0:" in warning and "have 30.0 tokens" in warning
