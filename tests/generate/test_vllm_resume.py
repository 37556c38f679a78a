"""A generation with a real engine that is killed half-way ends with the bytes of an undisturbed one."""

import os
import signal
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from forked import Command, Server

pytest.importorskip("vllm")
pytestmark = pytest.mark.slow

# a command ends by then, on a busy machine too
MOST_SECONDS = 900
# three sets of two sides, a batch each
REQUESTS = 6
RECIPE: dict[str, Any] = {
    "name": "resume",
    "seed": 11,
    "corpus": {"train": {"split": "train", "limit": 3}, "test": {"split": "test", "limit": 1}},
    "generate": {
        "backend": "vllm",
        "requests_per_batch": 1,
        "max_model_len": 2048,
        # long enough that a batch takes a good part of a second
        "plans": {"nucleus": {"candidates": 4, "max_tokens": 192}},
    },
    "judges": {"recall": {"kind": "rouge"}},
    "reward": {"judges": ["recall"]},
    "evaluation": {"judges": ["recall"]},
}


def start(server: Server, folder: Path, model: Path, **changes: Any) -> Command:
    folder.mkdir(exist_ok=True)
    recipe = folder / "recipe.yaml"
    values = RECIPE | {
        "generate": RECIPE["generate"] | changes,
        "output": str(folder / "run"),
        "model": {"name": str(model), "dtype": "float32"},
    }
    recipe.write_text(yaml.safe_dump(values))
    return server.start(["generate", str(recipe)], folder, EVENHAND_CACHE=str(folder / "cache"))


def said(folder: Path) -> str:
    return (folder / "output.txt").read_text()[-4000:]


def finish(server: Server, folder: Path, model: Path) -> Path:
    assert start(server, folder, model).wait(MOST_SECONDS) == 0, said(folder)
    return folder / "run" / "round-00"


def wait_for_a_batch(command: Command, folder: Path) -> None:
    deadline = time.monotonic() + MOST_SECONDS
    while n_batches(folder / "run" / "round-00") == 0:
        assert command.wait(0.005) is None, said(folder)
        assert time.monotonic() < deadline


def n_batches(phase: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in phase.glob("receipts/generate.*.partial.jsonl"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory, tiny_model, engine_server):
    """The phase of a generation that nothing disturbed."""
    return finish(engine_server, tmp_path_factory.mktemp("undisturbed"), tiny_model)


def test_killed_generation_continues_to_the_same_bytes(tmp_path, tiny_model, whole, engine_server):
    folder = tmp_path / "killed"
    killed = start(engine_server, folder, tiny_model)
    wait_for_a_batch(killed, folder)
    os.kill(killed.pid, signal.SIGKILL)
    assert killed.wait(MOST_SECONDS) == -signal.SIGKILL
    phase = folder / "run" / "round-00"
    assert 0 < n_batches(phase) < REQUESTS
    assert not (phase / "candidates.jsonl").exists()

    assert finish(engine_server, folder, tiny_model) == phase
    assert (phase / "candidates.jsonl").read_bytes() == (whole / "candidates.jsonl").read_bytes()
    assert (whole / "candidates.jsonl").read_bytes().count(b"\n") == REQUESTS * 4
    assert not list(phase.glob("receipts/*.partial.jsonl"))


def test_two_replicas_of_which_one_is_killed_leave_the_bytes_of_one_engine(tmp_path, tiny_model, whole, engine_server):
    folder = tmp_path / "replicas"
    command = start(engine_server, folder, tiny_model, replicas=2)
    wait_for_a_batch(command, folder)
    # whose end is its replica's
    psutil.Process(command.pid).children()[0].kill()
    assert command.wait(MOST_SECONDS) == 0, said(folder)
    assert (folder / "run" / "round-00" / "candidates.jsonl").read_bytes() == (whole / "candidates.jsonl").read_bytes()
