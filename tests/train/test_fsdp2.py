"""FSDP2 on two processes of the CPU, by accelerate's own wrapping: what one process trains, kills included."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from preference_groups import make_ranked_pairs

from evenhand.runfolder.phases import Phase
from evenhand.storage import file_digest, write_jsonl
from evenhand.train.launch import SHIPPED
from evenhand.train.stage import training_stage
from evenhand.train.training import run_training

pytest.importorskip("trl")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_accelerate")]

OpenRound = Callable[..., Phase]
RUNNER = Path(__file__).with_name("fsdp2_on_two_processes.py")
# SGD, because Adam makes a whole step of a gradient that is nothing but rounding
SGD = {"optim": "sgd", "learning_rate": 1.0, "max_grad_norm": 0.0}


def train_in_two(phase: Phase) -> str:
    """Train a round in two processes with the FSDP2 configuration that is shipped; what they said."""
    config = phase.recipe.output / "fsdp2.yaml"
    config.write_text(yaml.safe_dump(yaml.safe_load((SHIPPED / "fsdp2.yaml").read_text()) | {"use_cpu": True}))
    command = [
        sys.executable, "-m", "accelerate.commands.launch", "--config_file", str(config), "--num_processes", "2",
        "--main_process_port", "0", str(RUNNER), "--config", str(phase.recipe.output / "recipe.yaml"), "--phase", phase.name,
    ]  # fmt: skip
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500, check=False)
    assert done.returncode == 0, done.stderr[-5000:]
    return done.stderr


def losses(phase: Phase) -> list[float]:
    record = json.loads((phase.folder / "training.json").read_text())
    return [entry["loss"] for entry in record["log_history"] if "loss" in entry]


def test_two_processes_train_what_one_trains(open_round: OpenRound, tokenizer: Any, tmp_path: Path) -> None:
    """Requests of 1, 3 and 6 pairs with weights, some too long for a pass: processes have unequally many passes."""
    from safetensors.torch import load_file

    pairs = [
        pair.model_copy(update={"weight": (1.0, 0.5, 3.0)[i % 3]})
        for i, pair in enumerate(make_ranked_pairs(tokenizer))
    ]
    write_jsonl(tmp_path / "pairs.jsonl", pairs)
    section = {"max_tokens_per_pass": 130, "pairs": str(tmp_path / "pairs.jsonl")}
    plain = SGD | {"num_train_epochs": 2, "gradient_checkpointing": True}
    many = open_round("many", train=section, trainer=plain)
    one = open_round("one", train=section, trainer=plain | {"gradient_accumulation_steps": 2})
    said = train_in_two(many)
    # the other process is sent its part of each weight: it holds no model of its own
    assert "process 0 has read 20 weights" in said
    assert "process 1 has read 0 weights" in said
    run_training(one, training_stage(one, processes=1))
    record = json.loads((many.folder / "training.json").read_text())
    assert (record["processes"], record["sharding"]) == (2, "fsdp")
    assert losses(many) == pytest.approx(losses(one), abs=1e-5)
    ours, theirs = (load_file(phase.folder / "adapter" / "adapter_model.safetensors") for phase in (many, one))
    assert ours.keys() == theirs.keys()
    for name, weights in theirs.items():
        assert (ours[name] - weights).abs().max() < 1e-5, name


def test_four_bit_weights_are_spread_and_train_what_one_process_trains(open_round: OpenRound, tokenizer: Any) -> None:
    pytest.importorskip("bitsandbytes")
    model = {"dtype": "bfloat16", "quantise": "nf4"}
    many = open_round("many", model=model, trainer=SGD)
    one = open_round("one", model=model, trainer=SGD | {"gradient_accumulation_steps": 2})
    for phase in (many, one):
        write_jsonl(phase.folder / "pairs.jsonl", make_ranked_pairs(tokenizer, 4))
    # accelerate's warning of weights that it leaves whole on every process
    assert "Excluding from FSDP2 sharding" not in train_in_two(many)
    run_training(one, training_stage(one, processes=1))
    assert losses(many) == pytest.approx(losses(one), abs=1e-5)


def test_interrupted_training_ends_as_an_undisturbed_one_bit_for_bit(open_round: OpenRound, tokenizer: Any) -> None:
    phase = open_round(trainer={"num_train_epochs": 2, "save_steps": 1, "save_total_limit": 9})
    write_jsonl(phase.folder / "pairs.jsonl", make_ranked_pairs(tokenizer))
    train_in_two(phase)
    undisturbed, adapter = losses(phase), file_digest(phase.folder / "adapter")
    assert len(undisturbed) == 4  # 8 requests, 4 a step, 2 epochs
    # what a kill between the third step's checkpoint and the fourth would have left
    for left in ("training.json", "receipts/train.json"):
        (phase.folder / left).unlink()
    for folder in (phase.folder / "adapter", *phase.folder.glob("checkpoints/*/checkpoint-4")):
        shutil.rmtree(folder)
    train_in_two(phase)
    assert losses(phase) == undisturbed
    assert file_digest(phase.folder / "adapter") == adapter
