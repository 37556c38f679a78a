"""A generation with a real engine that is killed half-way ends with the bytes of an undisturbed one."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

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


def start(folder: Path, model: Path, **changes: Any) -> "subprocess.Popen[bytes]":
    folder.mkdir(exist_ok=True)
    recipe = folder / "recipe.yaml"
    values = RECIPE | {
        "generate": RECIPE["generate"] | changes,
        "output": str(folder / "run"),
        "model": {"name": str(model), "dtype": "float32"},
    }
    recipe.write_text(yaml.safe_dump(values))
    with (folder / "output.txt").open("ab") as output:
        return subprocess.Popen(
            [sys.executable, "-m", "evenhand.cli", "generate", str(recipe)],
            stdout=output, stderr=subprocess.STDOUT, env={**os.environ, "EVENHAND_CACHE": str(folder / "cache")},
        )  # fmt: skip


def finish(folder: Path, model: Path) -> Path:
    status = start(folder, model).wait(timeout=MOST_SECONDS)
    assert status == 0, (folder / "output.txt").read_text()[-4000:]
    return folder / "run" / "round-00"


def n_batches(phase: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in phase.glob("receipts/generate.*.partial.jsonl"))


@pytest.fixture(scope="module")
def whole(tmp_path_factory, tiny_model):
    """The phase of a generation that nothing disturbed."""
    return finish(tmp_path_factory.mktemp("undisturbed"), tiny_model)


def test_killed_generation_continues_to_the_same_bytes(tmp_path, tiny_model, whole):
    killed = start(tmp_path / "killed", tiny_model)
    phase = tmp_path / "killed" / "run" / "round-00"
    deadline = time.monotonic() + MOST_SECONDS
    while n_batches(phase) == 0:
        assert killed.poll() is None, (tmp_path / "killed" / "output.txt").read_text()[-4000:]
        assert time.monotonic() < deadline
        time.sleep(0.005)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait() == -signal.SIGKILL
    assert 0 < n_batches(phase) < REQUESTS
    assert not (phase / "candidates.jsonl").exists()

    assert finish(tmp_path / "killed", tiny_model) == phase
    assert (phase / "candidates.jsonl").read_bytes() == (whole / "candidates.jsonl").read_bytes()
    assert (whole / "candidates.jsonl").read_bytes().count(b"\n") == REQUESTS * 4
    assert not list(phase.glob("receipts/*.partial.jsonl"))


def test_two_replicas_of_which_one_is_killed_leave_the_bytes_of_one_engine(tmp_path, tiny_model, whole):
    process = start(tmp_path / "replicas", tiny_model, replicas=2)
    phase = tmp_path / "replicas" / "run" / "round-00"
    deadline = time.monotonic() + MOST_SECONDS
    while n_batches(phase) == 0:
        assert process.poll() is None, (tmp_path / "replicas" / "output.txt").read_text()[-4000:]
        assert time.monotonic() < deadline
        time.sleep(0.005)
    psutil.Process(process.pid).children()[0].kill()
    assert process.wait(timeout=MOST_SECONDS) == 0, (tmp_path / "replicas" / "output.txt").read_text()[-4000:]
    assert (phase / "candidates.jsonl").read_bytes() == (whole / "candidates.jsonl").read_bytes()
