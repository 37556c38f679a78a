"""Peak memory of this process, on blocks of known size."""

import subprocess
import sys
import time

import pytest

from evenhand.benchmarks.memory import ResidentMemory, memory_meter

pytest.importorskip("psutil")

MEBIBYTE = 2**20


def hold_for_a_moment(n_bytes):
    # written to, so that it is really there, and held for several samples
    block = bytearray(b"x") * n_bytes
    time.sleep(0.1)
    del block


def test_peak_holds_what_was_given_back_within_the_block():
    with ResidentMemory() as meter:
        hold_for_a_moment(200 * MEBIBYTE)
    assert 190 * MEBIBYTE < meter.peak_bytes < 400 * MEBIBYTE


def test_meter_may_be_used_again_and_forgets_the_last_block():
    meter = ResidentMemory()
    with meter:
        hold_for_a_moment(200 * MEBIBYTE)
    with meter:
        pass
    assert meter.peak_bytes < 50 * MEBIBYTE


def test_process_without_torch_measures_its_resident_memory():
    code = (
        "import sys; from evenhand.benchmarks.memory import memory_meter; "
        "print(type(memory_meter()).__name__, 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["ResidentMemory", "False"]


def test_meter_fits_the_device():
    torch = pytest.importorskip("torch")
    expected = "CudaMemory" if torch.cuda.is_available() else "ResidentMemory"
    assert type(memory_meter()).__name__ == expected
