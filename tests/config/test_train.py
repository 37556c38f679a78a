"""What a recipe may say of training is what the installed TRL takes."""

import inspect
import re

import pytest

from evenhand.config.train import (
    LOSS_TYPES,
    UNWEIGHTED,
    LoraSection,
    TrainSection,
    unfit_evaluation,
    without_effect,
)


def test_the_losses_are_those_of_the_installed_trl():
    trainer = pytest.importorskip("trl").DPOTrainer
    assert set(re.findall(r'loss_type == "(\w+)"', inspect.getsource(trainer))) == set(LOSS_TYPES)
    assert set(UNWEIGHTED) < set(LOSS_TYPES)


@pytest.mark.parametrize(
    ("eval_pairs", "trainer", "said"),
    [
        (
            None,
            {"eval_strategy": "steps"},
            "trainer.eval_strategy 'steps' needs pairs that are not trained on: write train.eval",
        ),
        (0.1, {}, "train.eval_pairs has no effect without trainer.eval_strategy"),
        (0.1, {"eval_strategy": "no"}, "train.eval_pairs has no effect without trainer.eval_strategy"),
        (
            0.1,
            {"eval_strategy": "steps", "eval_steps": 5, "save_steps": 10, "load_best_model_at_end": True},
            "must be a saved",
        ),
        (0.1, {"eval_strategy": "steps", "eval_steps": 5, "save_steps": 10}, None),
        (0.1, {"eval_strategy": "steps", "load_best_model_at_end": True}, None),
        (None, {}, None),
    ],
)
def test_evaluated_pairs_and_the_evaluation_need_each_other(eval_pairs, trainer, said):
    mistakes = list(unfit_evaluation(trainer, TrainSection(eval_pairs=eval_pairs)))
    assert [said in mistake for mistake in mistakes] == ([True] if said else [])


def test_no_pairs_are_left_out_of_an_evaluation():
    keys = {"eval_strategy": "epoch", "dataloader_drop_last": True}
    (mistake,) = unfit_evaluation(keys, TrainSection(trainer="pairwise", eval_pairs=0.1))
    assert "trainer.dataloader_drop_last would leave pairs out of the evaluation" in mistake
    assert not list(unfit_evaluation({"dataloader_drop_last": True}, TrainSection(trainer="pairwise")))


@pytest.mark.parametrize("schedule", ["reduce_lr_on_plateau", "greedy", "linear"])
def test_schedules_that_follow_a_metric_may_name_it(schedule):
    keys = {"eval_strategy": "epoch", "lr_scheduler_type": schedule, "metric_for_best_model": "rewards/accuracies"}
    assert bool(list(without_effect(keys, LoraSection()))) == (schedule == "linear")


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.1, True])
def test_a_share_is_between_none_and_all(share):
    with pytest.raises(ValueError, match="eval_pairs"):
        TrainSection(eval_pairs=share)
