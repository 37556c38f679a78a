"""Packed passes of weights that are spread over processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl")

TESTS = Path(__file__).parents[1]


@pytest.mark.slow
def test_fsdp2_with_unequal_passes_gives_the_gradients_of_the_whole_model(tiny_model: Path) -> None:
    command = [
        sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2",
        str(TESTS / "train" / "fsdp2_on_two_processes.py"), str(tiny_model),
    ]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(TESTS), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    # the two may write at once, so their lines need not be apart
    assert all(f"process {rank}: equal" in done.stdout for rank in (0, 1))
