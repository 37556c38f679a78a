"""FSDP2 on two processes of the CPU, by accelerate's own wrapping: what one process trains.

A training that is killed and continued, bit for bit, is a part of `benchmarks/gpu/run.sh --tiny`; see tests/benchmarks/gpu.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from launched import distance, launch_by_hand, logged, record, two_processes
from preference_groups import make_ranked_pairs

from evenhand.runfolder.phases import Phase
from evenhand.storage import write_jsonl
from evenhand.train.stage import training_stage
from evenhand.train.training import run_training

pytest.importorskip("trl")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("fresh_accelerate", "quick_python")]

OpenRound = Callable[..., Phase]
# SGD, because Adam makes a whole step of a gradient that is nothing but rounding
SGD = {"optim": "sgd", "learning_rate": 1.0, "max_grad_norm": 0.0}


def test_two_processes_train_what_one_trains(
    open_round: OpenRound, tokenizer: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Requests of 1, 3 and 6 pairs with weights, some too long for a pass: processes have unequally many passes."""
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    pairs = [
        pair.model_copy(update={"weight": (1.0, 0.5, 3.0)[i % 3]})
        for i, pair in enumerate(make_ranked_pairs(tokenizer))
    ]
    write_jsonl(tmp_path / "pairs.jsonl", pairs)
    section = {"max_tokens_per_pass": 130, "pairs": str(tmp_path / "pairs.jsonl")}
    plain = SGD | {"num_train_epochs": 2, "gradient_checkpointing": True}
    many = open_round("many", train=section, trainer=plain | {"precompute_ref_log_probs": True})
    one = open_round("one", train=section, trainer=plain | {"gradient_accumulation_steps": 2})
    said = launch_by_hand(many, two_processes("fsdp2", tmp_path))
    # the other process is sent its part of each weight: it holds no model of its own
    assert "process 0 has read 20 weights" in said
    assert "process 1 has read 0 weights" in said
    run_training(one, training_stage(one, processes=1))
    assert (record(many)["processes"], record(many)["sharding"]) == (2, "fsdp")
    assert logged(many) == pytest.approx(logged(one), abs=1e-5)
    assert distance(many, one) < 1e-5


def test_four_bit_weights_are_spread_and_train_what_one_process_trains(
    open_round: OpenRound, tokenizer: Any, tmp_path: Path
) -> None:
    pytest.importorskip("bitsandbytes")
    model = {"dtype": "bfloat16", "quantise": "nf4"}
    many = open_round("many", model=model, trainer=SGD)
    one = open_round("one", model=model, trainer=SGD | {"gradient_accumulation_steps": 2})
    for phase in (many, one):
        write_jsonl(phase.folder / "pairs.jsonl", make_ranked_pairs(tokenizer, 4))
    # accelerate's warning of weights that it leaves whole on every process
    assert "Excluding from FSDP2 sharding" not in launch_by_hand(many, two_processes("fsdp2", tmp_path))
    run_training(one, training_stage(one, processes=1))
    assert logged(many) == pytest.approx(logged(one), abs=1e-5)
