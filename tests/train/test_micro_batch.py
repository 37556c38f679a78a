"""`per_device_train_batch_size: auto`: how many requests fit, and that the training is the accumulated one."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evenhand.config import Recipe
from evenhand.config.train import OF_MICRO_BATCHES
from evenhand.runfolder.phases import Phase
from evenhand.train.micro_batch import most_in_a_pass
from evenhand.train.options import accumulation, step_size
from evenhand.train.stage import training_stage

OpenRound = Callable[..., Phase]
AUTO: dict[str, Any] = {"per_device_train_batch_size": "auto", "gradient_accumulation_steps": None}


@pytest.mark.parametrize(
    ("requests", "lengths", "allowed", "expected"),
    [
        (8, [10] * 20, 1000, 8),
        (8, [10] * 20, 79, 4),
        (8, [10] * 20, 39, 2),
        # the longest count, not the mean
        (8, [10] * 19 + [60], 79, 2),
        (6, [10] * 20, 59, 3),
        (7, [10] * 20, 69, 1),
        (8, [100] * 20, 50, 1),
        # fewer requests than a step has
        (8, [10, 10], 20, 8),
    ],
)
def test_as_many_of_the_longest_as_fit(requests: int, lengths: list[int], allowed: int, expected: int) -> None:
    assert most_in_a_pass(requests, lengths, allowed) == expected


def test_no_micro_batch_has_more_than_a_pass() -> None:
    sampler = pytest.importorskip("evenhand.train.sampler")
    draw = random.Random(1)  # noqa: S311
    for _ in range(60):
        processes, requests = draw.choice([1, 2, 4]), draw.choice([2, 6, 8, 12])
        lengths = [draw.choice([5, 20, draw.randint(1, 300)]) for _ in range(processes * requests * 3)]
        allowed = draw.randint(300, 2000)
        size = most_in_a_pass(requests, lengths, allowed)
        shape = processes * requests, processes, requests // size
        assert sampler.RequestSampler(lengths, shape, 0, 7, lambda: 0).most_tokens(3) <= allowed


@pytest.mark.parametrize("loss", ["sigmoid", "ipo"])
def test_losses_and_adapter_are_those_of_accumulation(
    open_round: OpenRound, caplog: pytest.LogCaptureFixture, loss: str
) -> None:
    pytest.importorskip("trl")
    from evenhand.train.training import run_training

    caplog.set_level("INFO")
    weights, records = [], []
    for name, size in (("one", 1), ("auto", "auto")):
        # a dozen requests of which three or six fit into a pass
        trainer = AUTO | {"per_device_train_batch_size": size, "loss_type": loss, "learning_rate": 1e-3, "max_steps": 3}
        phase = open_round(name, train={"global_batch_size": 6, "max_tokens_per_pass": 250}, trainer=trainer)
        run_training(phase, training_stage(phase, 1))
        records.append(json.loads((phase.folder / "training.json").read_text("utf-8")))
        weights.append(adapter_weights(phase.folder))
    accumulated, auto = records
    assert (accumulated["per_device_train_batch_size"], accumulated["gradient_accumulation_steps"]) == (1, 6)
    assert (auto["per_device_train_batch_size"], auto["gradient_accumulation_steps"]) == (3, 2)
    assert accumulated["batch"] == auto["batch"] == 6
    assert (
        f"auto: {auto['per_device_train_batch_size']} of the 6 requests of a process in a step run at once"
        in caplog.text
    )
    for first, second in zip(accumulated["log_history"], auto["log_history"], strict=True):
        for key in first.keys() & {"loss", "grad_norm", "rewards/margins", "logps/chosen"}:
            assert first[key] == pytest.approx(second[key], rel=1e-4, abs=1e-5), key
    assert weights[0].keys() == weights[1].keys()
    for name, tensor in weights[0].items():
        assert (tensor - weights[1][name]).abs().max() < 1e-5, name


def adapter_weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return load_file(folder / "adapter" / "adapter_model.safetensors")


def test_steps_are_the_global_batchs_and_the_stage_is_another(open_round: OpenRound) -> None:
    train = {"global_batch_size": 12}
    auto = open_round("a", train=train, trainer=AUTO)
    assert accumulation(auto.recipe, 2) == 6
    assert step_size(auto.recipe, 2) == "12 requests a step"
    one = open_round("b", train=train, trainer=AUTO | {"per_device_train_batch_size": 1})
    shorter = open_round("c", train=train | {"max_tokens_per_pass": 100}, trainer=AUTO)
    assert len({training_stage(phase, 2).key for phase in (auto, one, shorter)}) == 3


@pytest.mark.parametrize(
    ("train", "trainer", "said"),
    [
        ({}, AUTO, "write train.global_batch_size"),
        ({"trainer": "pairwise", "global_batch_size": 4}, AUTO, "train.trainer: pairwise does not have"),
        *(
            ({"global_batch_size": 4}, AUTO | {"loss_type": ["sigmoid", loss]}, f"would change loss_type {loss}")
            for loss in OF_MICRO_BATCHES
        ),
    ],
)  # fmt: skip
def test_auto_is_refused_where_it_cannot_be(
    open_round: OpenRound, train: dict[str, Any], trainer: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        open_round(train=train, trainer=trainer)


def test_a_recipe_with_auto_is_read_back(open_round: OpenRound) -> None:
    recipe = open_round(train={"global_batch_size": 4}, trainer=AUTO).recipe
    assert Recipe.model_validate(recipe.model_dump(mode="json")) == recipe
