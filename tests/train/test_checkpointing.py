"""Gradient checkpointing: who decides, that all that is learnt is the same, and what is written of it."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from preference_groups import make_ranked_pairs

from evenhand.runfolder.phases import Phase
from evenhand.storage import write_jsonl
from evenhand.train.stage import training_stage

pytest.importorskip("trl")

from evenhand.train.checkpointing import (
    DECIDED,
    asks_for_checkpointing,
    free_bytes,
    largest_pass,
    settle_checkpointing,
)
from evenhand.train.memory import Pass, TrainMemory
from evenhand.train.training import run_training

pytestmark = pytest.mark.usefixtures("fresh_accelerate")
OpenRound = Callable[..., Phase]


def trained(phase: Phase) -> tuple[dict[str, Any], dict[str, Any]]:
    """Record and adapter of a training."""
    from safetensors.torch import load_file

    run_training(phase, training_stage(phase, processes=1))
    return json.loads((phase.folder / "training.json").read_text()), load_file(
        phase.folder / "adapter" / "adapter_model.safetensors"
    )


def machine(monkeypatch: pytest.MonkeyPatch, free: int) -> None:
    """A machine with so many free bytes."""
    monkeypatch.setattr("psutil.virtual_memory", lambda: SimpleNamespace(available=free))


def test_what_is_learnt_is_the_same_with_and_without(
    open_round: OpenRound, tokenizer: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {}
    # a byte is not enough, all that there is certainly is
    for name, free in (("short", 1), ("plenty", 2**60)):
        machine(monkeypatch, free)
        # plain gradient descent: a step is as large as the gradient
        phase = open_round(name, trainer={"optim": "sgd", "learning_rate": 1.0, "max_steps": 2})
        write_jsonl(phase.folder / "pairs.jsonl", make_ranked_pairs(tokenizer))
        made[name] = trained(phase)
    (short, again), (plenty, plain) = made["short"], made["plenty"]
    assert short["dpo_config"]["gradient_checkpointing"] is True
    assert plenty["dpo_config"]["gradient_checkpointing"] is False
    assert [each["loss"] for each in short["log_history"] if "loss" in each] == pytest.approx(
        [each["loss"] for each in plenty["log_history"] if "loss" in each], abs=1e-6
    )
    assert again.keys() == plain.keys()
    for key, weight in plain.items():
        assert (weight - again[key]).abs().max() <= 1e-5 * weight.abs().max()
    # and it is said why
    said = short["gradient_checkpointing"]
    assert (said["on"], said["asked"], said["usable_gib"]) == (True, "auto", 0.0)
    assert said["needs_gib"]["plain"] > 0
    assert "GiB" in said["why"]


def arguments(folder: Path, device: str = "cpu") -> Any:
    """What is read of the trl.DPOConfig."""
    torch = pytest.importorskip("torch")
    return SimpleNamespace(
        output_dir=str(folder), world_size=1, process_index=0, device=torch.device(device), gradient_checkpointing=None
    )


@pytest.mark.parametrize("on", [False, True])
def test_trainers_read_what_was_decided_under_every_name_that_it_has(
    open_round: OpenRound, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on: bool
) -> None:
    trl = pytest.importorskip("trl")
    own = trl.DPOConfig(output_dir=str(tmp_path), use_cpu=True, gradient_checkpointing=not on)
    machine(monkeypatch, 1 if on else 2**60)
    settle_checkpointing(open_round(), own, MATERIAL, None)
    names = {name for name in vars(own) if name in ("gradient_checkpointing", "activation_checkpointing")}
    assert names and {getattr(own, name) for name in names} == {on}


GROUP = {"prompt_ids": [1] * 9, "candidate_ids": [[1, 2, 3], [1, 2]]}
MATERIAL: Any = SimpleNamespace(rows=[GROUP, GROUP | {"prompt_ids": [1] * 5}, GROUP | {"prompt_ids": [1] * 7}])


def test_resumed_training_goes_on_as_it_was_started_unless_the_recipe_says_otherwise(
    open_round: OpenRound, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    phase, own, checkpoint = open_round(), arguments(tmp_path), tmp_path / "checkpoint-2"
    machine(monkeypatch, 2**60)
    first = settle_checkpointing(phase, own, MATERIAL, None)
    assert not own.gradient_checkpointing
    machine(monkeypatch, 1)
    assert settle_checkpointing(phase, own, MATERIAL, checkpoint) == first
    # who ran out of memory all the same, says so and goes on from the checkpoint
    told = open_round(trainer={"gradient_checkpointing": True})
    assert settle_checkpointing(told, own, MATERIAL, checkpoint).asked is True
    assert own.gradient_checkpointing is True
    assert settle_checkpointing(phase, own, MATERIAL, checkpoint).on
    # nothing was trained yet
    machine(monkeypatch, 2**60)
    assert not settle_checkpointing(phase, own, MATERIAL, None).on
    (tmp_path / DECIDED).unlink()
    assert not settle_checkpointing(phase, own, MATERIAL, checkpoint).on


@pytest.mark.parametrize("asked", ["auto", True, False])
def test_a_trained_adapter_stays_whatever_is_asked(open_round: OpenRound, asked: Any) -> None:
    other = open_round(trainer={"gradient_checkpointing": asked, "gradient_checkpointing_kwargs": {}})
    assert training_stage(other, 1).key == training_stage(open_round(), 1).key


def test_it_is_on_where_memory_is_not_known_or_the_weights_are_spread(
    open_round: OpenRound, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "nothing tells" in settle_checkpointing(open_round(), arguments(tmp_path, "mps"), MATERIAL, None).why
    monkeypatch.setenv("ACCELERATE_USE_DEEPSPEED", "true")
    monkeypatch.setenv("ACCELERATE_DEEPSPEED_ZERO_STAGE", "3")
    found = settle_checkpointing(open_round(), arguments(tmp_path, "mps"), MATERIAL, None)
    assert (found.on, found.why) == (True, "ZeRO-3 is for models that do not fit")
    assert not settle_checkpointing(open_round(), arguments(tmp_path), MATERIAL, None).on


@pytest.mark.parametrize(("usable", "on"), [(99, True), (100, False)])
def test_it_is_on_where_a_pass_does_not_fit_without(usable: int, on: bool) -> None:
    memory = TrainMemory("DDP", True, 2, 50, 10, {"plain": 35, "checkpointing": 5}, 5)
    assert asks_for_checkpointing(memory, usable) is on


def test_processes_of_a_machine_share_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    machine(monkeypatch, 900)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "3")
    assert free_bytes(torch.device("cpu")) == 300


@pytest.mark.parametrize(
    ("sections", "processes", "expected"),
    [
        # a prompt of nine tokens, and of candidates of three and two tokens all but the last; five tokens are scored
        ({"trainer": {"per_device_train_batch_size": 1}}, 1, Pass((12,), 5)),
        ({}, 1, Pass((12, 10), 10)),
        ({"train": {"max_tokens_per_pass": 16}}, 1, Pass((12, 4), 10)),
        # the last step of an epoch may have two for a process
        ({"trainer": {"per_device_train_batch_size": 1}}, 2, Pass((12, 10), 10)),
    ],
)
def test_the_largest_pass_is_that_of_the_longest_requests(
    open_round: OpenRound, sections: Any, processes: int, expected: Pass
) -> None:
    assert largest_pass(open_round(**sections), MATERIAL, processes, is_cpu=True) == expected


def test_the_largest_pass_of_pairs_is_padded_to_the_longest(open_round: OpenRound) -> None:
    row = {"prompt_ids": [1] * 4, "chosen_ids": [1, 2], "rejected_ids": [1, 2, 3]}
    pairs: Any = SimpleNamespace(rows=[row, row | {"prompt_ids": [1] * 6, "rejected_ids": [1]}])
    phase = open_round(train={"trainer": "pairwise"})
    # two pairs at once, each with two summaries: six and two tokens, of which no more than three are scored
    assert largest_pass(phase, pairs, 1, is_cpu=True) == Pass((8,) * 4, 4 * 3)


def test_explicit_masks_are_counted_where_sdpa_makes_them(open_round: OpenRound) -> None:
    flash = open_round(model={"attn_implementation": "flash_attention_2", "dtype": "bfloat16"})
    masks = [largest_pass(phase, MATERIAL, 1, is_cpu=False).has_masks for phase in (open_round(), flash)]
    assert masks == [True, False]
