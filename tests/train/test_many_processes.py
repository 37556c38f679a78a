"""Rounds that continue an adapter, and rounds on two machines, on two CPU processes: what one process trains."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from launched import (
    distance,
    forget_after,
    launch_by_hand,
    logged,
    need_deepspeed,
    on_two_processes,
    record,
    two_processes,
)
from preference_groups import make_ranked_pairs

from evenhand.runfolder.phases import Phase
from evenhand.storage import write_jsonl
from evenhand.train.reference import REFERENCE_LOGPS
from evenhand.train.stage import training_stage
from evenhand.train.training import run_training

pytest.importorskip("trl")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_accelerate", "quick_python")]

OpenRound = Callable[..., Phase]
# Adam that steps by the gradient's size: as it is, it makes a whole step of a gradient that is nothing but rounding
STEPS = {
    "learning_rate": 1.0, "adam_epsilon": 1.0, "max_grad_norm": 0.0, "num_train_epochs": 2,
    # ZeRO-3 would have it, and then lose the gradients of several passes
    "gradient_checkpointing": False,
}  # fmt: skip
# nats
MOVED = 0.5


@pytest.fixture
def section(tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The section 'train': 8 requests of 1, 3 and 6 pairs, some too long for a pass. References are kept apart."""
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    write_jsonl(tmp_path / "pairs.jsonl", make_ranked_pairs(tokenizer))
    return {"max_tokens_per_pass": 130, "pairs": str(tmp_path / "pairs.jsonl")}


def train_here(phase: Phase) -> Phase:
    stage = training_stage(phase, processes=1)
    stage.run(lambda: run_training(phase, stage))
    return phase


@pytest.mark.parametrize(("kind", "reference"), [("ddp", "previous"), ("zero3", "initial"), ("fsdp2", "previous")])
def test_continued_adapter_is_trained_and_resumed_as_one_process_would(
    kind: str, reference: str, open_round: OpenRound, section: dict[str, Any], tmp_path: Path
) -> None:
    """The reference runs once, beforehand; who goes on takes what is kept."""
    if kind == "zero3":
        need_deepspeed()
    section |= {"reference": reference}
    kept = {"precompute_ref_log_probs": True, "save_steps": 1, "save_total_limit": 9}
    for name in ("many", "one"):
        train_here(open_round(name))
    one = open_round("one", 1, train=section, trainer=STEPS | {"gradient_accumulation_steps": 2})
    start = distance(train_here(one), open_round("one"))
    many = open_round("many", 1, train=section, trainer=STEPS | kept)
    launch_by_hand(many, config := two_processes(kind, tmp_path))
    assert record(many)["processes"] == 2
    assert logged(many) == pytest.approx(logged(one), abs=1e-5)
    assert start > 1e-2
    assert distance(many, one) < 1e-5
    assert REFERENCE_LOGPS.count() == 24  # 1, 3, 6, 1, 3, 6, 1, 3
    rewards = logged(many, "rewards/chosen")
    with closing(sqlite3.connect(REFERENCE_LOGPS.path)) as database, database:
        # of both summaries: the loss, which is of their difference, stays
        database.execute("UPDATE pairs SET chosen = chosen + ?, rejected = rejected + ?", (MOVED, MOVED))
    forget_after(many, step=3)
    launch_by_hand(many, config)
    assert logged(many, "rewards/chosen") == pytest.approx([*rewards[:3], rewards[3] - 0.1 * MOVED], abs=1e-4)
    assert logged(many) == pytest.approx(logged(one), abs=1e-5)
    assert distance(many, one) < 1e-5


@pytest.mark.parametrize("kind", ["ddp", "zero2"])
def test_requests_at_once_train_what_they_train_one_by_one(
    kind: str, open_round: OpenRound, section: dict[str, Any], tmp_path: Path
) -> None:
    if kind == "zero2":
        need_deepspeed()
    section |= {"global_batch_size": 8, "max_tokens_per_pass": 400}
    sizes = {"gradient_accumulation_steps": None, "per_device_train_batch_size": "auto"}
    one = train_here(open_round("one", train=section, trainer=STEPS | sizes | {"per_device_train_batch_size": 1}))
    many = open_round("many", train=section, trainer=STEPS | sizes)
    said = launch_by_hand(many, two_processes(kind, tmp_path))
    assert "of the 4 requests of a process in a step run at once" in said
    assert record(many)["per_device_train_batch_size"] > 1
    assert logged(many) == pytest.approx(logged(one), abs=1e-5)
    assert distance(many, one) < 1e-5


@pytest.mark.parametrize("name", ["zero3_multi_node", "fsdp2_multi_node"])
def test_two_machines_train_the_adapter_of_one(
    name: str, open_round: OpenRound, section: dict[str, Any], tmp_path: Path
) -> None:
    if name.startswith("zero3"):
        need_deepspeed()
    one = train_here(open_round("one", train=section, trainer=STEPS | {"gradient_accumulation_steps": 2}))
    many = open_round("many", train=section, trainer=STEPS)
    launch_by_hand(many, on_two_processes(name, tmp_path))
    assert (record(many)["processes"], record(many)["sharding"]) == (2, "zero3" if name.startswith("zero3") else "fsdp")
    assert logged(many) == pytest.approx(logged(one), abs=1e-5)
    assert distance(many, one) < 1e-5
