"""What a recipe may say of training is what the installed TRL takes."""

import inspect
import re

import pytest

from evenhand.config.train import LOSS_TYPES, UNWEIGHTED, TrainSection, unfit_evaluation


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


@pytest.mark.parametrize("share", [0, 1, 1.5, -0.1, True])
def test_a_share_is_between_none_and_all(share):
    with pytest.raises(ValueError, match="eval_pairs"):
        TrainSection(eval_pairs=share)
