"""What a recipe may say, where several keys have to go together."""

import math

import pytest
from pydantic import ValidationError

from evenhand.config import BackendSection, CorpusSection, PairsSection, Plan, Recipe
from evenhand.records import Sampling

MINIMAL = {
    "name": "t",
    "output": "out",
    "model": {"name": "m"},
    "generate": {"plans": {"a": {"candidates": 2}, "b": {"candidates": 3}}},
    "judges": {"overlap": {"kind": "rouge"}, "length": {"kind": "length"}},
    "reward": {"judges": ["overlap"]},
    "evaluation": {"judges": ["length"]},
}


def test_the_shortest_recipe_is_whole():
    recipe = Recipe.model_validate(MINIMAL)
    assert recipe.corpus.path == "sample"
    assert recipe.rounds == 1
    assert recipe.wandb is None
    assert recipe.generate.n_candidates == 5


def test_a_resolved_recipe_reads_back_as_the_same():
    recipe = Recipe.model_validate(MINIMAL | {"trainer": {"beta": 0.1}, "wandb": {}})
    assert Recipe.model_validate(recipe.model_dump(mode="json")) == recipe


def test_greedy_candidates_must_not_be_repeated():
    assert Plan(temperature=0, candidates=1).candidates == 1
    with pytest.raises(
        ValidationError, match="greedy and gives 3 equal candidates; write candidates: 1 or a temperature"
    ):
        Plan(temperature=0, candidates=3)


def test_a_plans_sampling_is_all_but_the_number_of_candidates():
    assert Plan(top_p=0.9, candidates=3).sampling == Sampling(top_p=0.9)


def test_a_side_is_asked_for_once():
    with pytest.raises(ValidationError, match="sides names left more than once"):
        CorpusSection(sides=("left", "right", "left"))


def test_all_unknown_judges_are_named_with_the_known_ones():
    wrong = MINIMAL | {
        "reward": {"judges": ["overlpa"], "combine": "weighted", "weights": {"overlpa": 1, "size": 1}},
        "evaluation": {"judges": ["length", "x"]},
    }
    with pytest.raises(ValidationError) as caught:
        Recipe.model_validate(wrong)
    text = str(caught.value)
    assert "reward.judges names 'overlpa', which 'judges' does not have; did you mean 'overlap'?" in text
    assert "reward.weights names 'size', which 'judges' does not have." in text
    assert "evaluation.judges names 'x', which 'judges' does not have." in text
    assert "The recipe's judges are overlap, length." in text


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_numbers_are_finite(value):
    with pytest.raises(ValidationError, match="finite number"):
        PairsSection(least_margin=value)
    with pytest.raises(ValidationError, match=r"max_grad_norm is .*, which JSON cannot hold"):
        Recipe.model_validate(MINIMAL | {"trainer": {"max_grad_norm": value}})


@pytest.mark.parametrize(
    ("reward", "wrong"),
    [
        ({"combine": "mean", "weights": {"overlap": 1}}, "weights have no effect with combine: mean"),
        ({"combine": "weighted"}, "weights has no weight for judge 'overlap'"),
        ({"combine": "z_mean", "weights": {"overlap": 0}}, "weights are all 0"),
    ],
)
def test_weights_that_cannot_work_are_refused(reward, wrong):
    with pytest.raises(ValidationError, match=wrong):
        Recipe.model_validate(MINIMAL | {"reward": {"judges": ["overlap"]} | reward})


def test_a_backend_refuses_engine_keys_of_another():
    with pytest.raises(ValidationError, match="not known to backend transformers"):
        BackendSection(backend="transformers", engine={"gpu_memory_utilization": 0.5})


def test_attention_that_cannot_share_a_prefix_is_refused_with_those_that_can():
    model = {"name": "m", "attn_implementation": "flash_attention_2"}
    with pytest.raises(ValidationError, match=r"'flash_attention_2' cannot keep .*write sdpa or flex_attention, or"):
        Recipe.model_validate(MINIMAL | {"model": model})
    assert Recipe.model_validate(MINIMAL | {"model": model, "train": {"trainer": "pairwise"}})
    assert Recipe.model_validate(MINIMAL | {"model": model, "rounds": 0}), "nothing is trained"


def test_sampling_of_padded_batches_is_refused_with_the_other_trainer():
    trainer = {"train_sampling_strategy": "group_by_length"}
    with pytest.raises(ValidationError, match=r"train_sampling_strategy has no effect.*train\.trainer: pairwise"):
        Recipe.model_validate(MINIMAL | {"trainer": trainer})
    assert Recipe.model_validate(MINIMAL | {"trainer": trainer, "train": {"trainer": "pairwise"}})
