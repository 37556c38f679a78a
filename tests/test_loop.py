"""The loop: every stage a process, killed anywhere and continued with the same result."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

pytest.importorskip("trl")

RECIPE = {
    "name": "kill",
    "seed": 3,
    "corpus": {"path": "sample", "train": {"split": "train", "limit": 6}, "test": {"split": "test", "limit": 3}},
    "generate": {
        "backend": "scripted",
        "requests_per_batch": 3,
        "engine": {"tokenize": True, "seconds_per_batch": 0.5},
        "plans": {"nucleus": {"candidates": 4, "max_tokens": 32}},
        "max_model_len": 2048,
    },
    "judges": {"rouge": {"kind": "rouge"}, "precision": {"kind": "rouge", "measure": "precision"}},
    "reward": {"judges": ["rouge"]},
    "pairs": {"mode": "top_bottom"},
    "lora": {"r": 4, "target_modules": ["q_proj", "v_proj"]},
    "trainer": {"learning_rate": 1e-3, "per_device_train_batch_size": 2, "save_strategy": "steps", "save_steps": 1},
    "evaluation": {"judges": ["precision"], "resamples": 200},
    "rounds": 1,
}
COMPARED = [
    "round-00/requests.jsonl", "round-00/candidates.jsonl", "round-00/judgements.jsonl", "round-00/best.jsonl",
    "round-00/pairs.jsonl", "evaluation/base/candidates.jsonl", "evaluation/round-00/candidates.jsonl",
    "evaluation/round-00/best.jsonl",
]  # fmt: skip


def write_recipe(folder: Path, model: Path) -> Path:
    path = folder / "recipe.yaml"
    values = RECIPE | {"output": str(folder / "run"), "model": {"name": str(model), "dtype": "float32"}}
    path.write_text(yaml.safe_dump(values))
    return path


def start(recipe: Path) -> "subprocess.Popen[bytes]":
    environment = {**os.environ, "EVENHAND_CACHE": str(recipe.parent / "cache")}
    with (recipe.parent / "output.txt").open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "evenhand.cli", "loop", str(recipe)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
        )


def finish(recipe: Path) -> None:
    status = start(recipe).wait(timeout=400)
    assert status == 0, (recipe.parent / "output.txt").read_text()[-4000:]


def kill_in(step: str, recipe: Path, after: float) -> None:
    """Start the loop, wait until the step has begun, kill the loop a little later."""
    log = recipe.parent / "run" / "logs" / f"{step}.log"
    loop = start(recipe)
    deadline = time.monotonic() + 300
    while not log.exists():
        assert loop.poll() is None, (recipe.parent / "output.txt").read_text()[-4000:]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(after)
    loop.send_signal(signal.SIGKILL)
    loop.wait()
    # the step's process follows its parent, so its locks are free
    time.sleep(0.5)


@pytest.mark.slow
def test_killed_in_every_stage_the_loop_ends_with_the_same_files(tmp_path, tiny_model):
    undisturbed, killed = tmp_path / "undisturbed", tmp_path / "killed"
    undisturbed.mkdir()
    killed.mkdir()
    finish(write_recipe(undisturbed, tiny_model))
    recipe = write_recipe(killed, tiny_model)
    kill_in("round-00-generate", recipe, after=6.0)
    for step, after in (
        ("round-00-judge", 1.2), ("round-00-rerank", 0.3), ("round-00-train", 12.0),
        ("evaluation-base-generate", 5.0), ("evaluation-round-00-judge", 0.6), ("report", 1.5),
    ):  # fmt: skip
        kill_in(step, recipe, after)
    finish(recipe)
    for name in COMPARED:
        assert (killed / "run" / name).read_bytes() == (undisturbed / "run" / name).read_bytes(), name
    assert (killed / "run" / "report" / "index.html").is_file()
    assert not list((killed / "run").rglob("*.partial.jsonl")), "a finished run keeps no journals"

    # a further run finds everything done
    (killed / "output.txt").unlink()
    started = time.monotonic()
    finish(recipe)
    said = (killed / "output.txt").read_text()
    assert said.count("reused") == 11, said
    assert time.monotonic() - started < 120
