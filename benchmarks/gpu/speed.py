"""Shared-prefix DPO by kernel, with and without checkpointing, against TRL and the packed limit, on a model of one size.

A goal that is missed is a finding and no failure; a kernel that the check before the training refuses is one.
"""

import gc
import tempfile
from argparse import Namespace
from functools import partial
from typing import Any

from ...config import PACKED_ATTENTION
from ...errors import RecipeError
from ...estimate.devices import DEVICES
from ...extras import need
from ..measure import Table
from ..training import LIMIT, OURS, STOCK, Bench
from .part import NotHere, Rows

# prompt and candidates: the published figures' size
N_PROMPT, N = 1400, 9
TINY = 60, 3
# at least: model FLOPs utilisation, times TRL's speed, share of the packed limit's speed
GOALS = {"MFU": 0.4, "times TRL": 40.0, "of the limit": 0.9}


def measure(rows: Rows, *, is_tiny: bool, size: str) -> None:
    """Add a row for each kernel, without and with checkpointing."""
    with tempfile.TemporaryDirectory() as folder:
        for checkpointing in (False, True):
            bench = open_bench(folder, "tiny" if is_tiny else size, checkpointing=checkpointing)
            for attention in PACKED_ATTENTION:
                name = f"{attention}{', checkpointing' if checkpointing else ''}"
                rows.check(name, partial(timed, bench, attention, *(TINY if is_tiny else (N_PROMPT, N))))
            # the next models come before these would be let go
            del bench
            gc.collect()


def open_bench(folder: str, size: str, *, checkpointing: bool) -> Bench:
    """The trainers, on random weights of that size."""
    is_tiny = size == "tiny"
    options = Namespace(
        random=size, model=None, dtype="float32" if is_tiny else "bfloat16", attention="sdpa", quick=is_tiny, pairs=1,
        pairwise_batch=1, repeats=1 if is_tiny else 3, peak=None, checkpointing=checkpointing,
    )  # fmt: skip
    return Bench(options, folder)


def timed(bench: Bench, attention: str, n_prompt: int, n: int) -> dict[str, Any]:
    """The table of a kernel, and its figures beside the goals.

    Raises:
        NotHere: the kernel is not installed, or does not run on this device.
        AssertionError: it is wrong on this device.
    """
    choose(bench, attention)
    table = bench.table(n_prompt, n, (OURS, LIMIT, STOCK))
    if not table.row(OURS).runs:
        raise NotHere(f"{OURS}: {table.row(OURS).failure}")
    return {"table": table.as_json(), "shown": beside_goals(table, device_peak())}


def choose(bench: Bench, attention: str) -> None:
    """Take a kernel; the errors are those of `timed`."""
    try:
        reason = bench.attend(attention)
    except RecipeError as refusal:
        raise NotHere(str(refusal)) from refusal
    assert reason is None, reason


def device_peak() -> float | None:
    """TFLOP/s of this device on bfloat16 by its data sheet; None where it is not known."""
    cuda = need("torch", "a benchmark").cuda
    name = cuda.get_device_name().lower() if cuda.is_available() else ""
    return next((each.peak / 1e12 for key, each in DEVICES.items() if key.partition("-")[0] in name), None)


def beside_goals(table: Table, peak: float | None) -> dict[str, str]:
    """What was reached, each with its goal; "-" where something did not run or the device is not known."""
    ours = table.row(OURS)
    rate = ours.counts["TFLOP"] / ours.seconds if ours.seconds else None
    reached = {
        "MFU": rate / peak if rate and peak else None,
        "times TRL": table.time_ratio(STOCK, OURS),
        "of the limit": table.time_ratio(LIMIT, OURS),
    }
    shown = {"TFLOP/s": f"{rate:.3g}" if rate else "-"}
    for name, goal in GOALS.items():
        value = reached[name]
        shown[f"{name} (goal {goal:g})"] = (
            "-" if value is None else f"{value:.3g} {'reached' if value >= goal else 'missed'}"
        )
    peak_bytes = ours.peak_bytes
    return shown | {"peak GiB": "-" if peak_bytes is None else f"{peak_bytes / 2**30:.3g}"}
