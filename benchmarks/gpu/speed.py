"""Shared-prefix DPO by kernel, with and without checkpointing, against TRL and the packed limit, on a model of one size.

A goal that is missed is a finding and no failure; a kernel that the check before the training refuses is one.
"""

import contextlib
import gc
import tempfile
from argparse import Namespace
from collections.abc import Mapping
from functools import partial
from typing import Any

from ...config import PACKED_ATTENTION
from ...errors import RecipeError
from ...estimate.devices import DEVICES
from ...extras import need
from ..measure import Table
from ..training import ALONE, APART, LIMIT, OURS, STOCK, TOGETHER, Bench
from .part import NotHere, Rows
from .trace import traced

# prompt and candidates: the published figures' size
N_PROMPT, N = 1400, 9
TINY = 60, 3
# for what is measured with one: the first that is here
KERNELS = ("flash_attention_3", "flash_attention_2", "torch_varlen", "flex_attention", "sdpa")
# requests of a pass: one, which leaves a fast card waiting for Python between its kernels, and what fills it
N_REQUESTS = 1, 4
# prompt of each side of a set, and candidates
SIDES = 2900, 9
# that TRL runs, all in one micro-batch, so that it fills the card
PAIRS = 4
# at least: model FLOPs utilisation, times TRL's speed, share of the packed limit's speed
GOALS = {"MFU": 0.4, "times TRL": 40.0, "of the limit": 0.9}
# of the larger model, whose kernels leave the card no time to wait
GOALS_8B = GOALS | {"of the limit": 0.95}


def measure(rows: Rows, *, is_tiny: bool, size: str) -> None:
    """Add rows for each kernel and number of requests, for what takes a step's time, and for one kernel with checkpointing."""
    sizes, of_sides = (TINY, TINY) if is_tiny else ((N_PROMPT, N), SIDES)
    with tempfile.TemporaryDirectory() as folder:
        for checkpointing, kernels in ((False, PACKED_ATTENTION), (True, PACKED_ATTENTION[:1])):
            bench = open_bench(folder, "tiny" if is_tiny else size, checkpointing=checkpointing)
            # TRL's, which no kernel of evenhand changes, comes from the first table
            tables: list[tuple[Table, int]] = []
            for attention in kernels:
                for n_requests in N_REQUESTS:
                    unit = "request" if n_requests == 1 else "requests"
                    name = f"{attention}, {n_requests} {unit}{', checkpointing' if checkpointing else ''}"
                    rows.check(name, partial(timed, bench, attention, sizes, n_requests, tables))
                if not checkpointing:
                    rows.check(f"{attention}, both sides of a set", partial(sides, bench, attention, of_sides))
            if not checkpointing:
                choose_first(bench)
                for name in (OURS, LIMIT):
                    path = rows.path.with_suffix(f".{name}.trace.json.gz")
                    (step,) = (each.run for each in bench.contenders(*sizes, N_REQUESTS[-1]) if each.name == name)
                    rows.check(f"kernels of {name}, {N_REQUESTS[-1]} requests", partial(traced, step, path))
            # the next models come before these would be let go
            del bench
            gc.collect()


def open_bench(folder: str, size: str, *, checkpointing: bool) -> Bench:
    """The trainers, on random weights of that size."""
    is_tiny = size == "tiny"
    options = Namespace(
        random=size, model=None, dtype="float32" if is_tiny else "bfloat16", attention="sdpa", quick=is_tiny,
        pairs=1 if is_tiny else PAIRS, pairwise_batch=PAIRS, repeats=1 if is_tiny else 3, peak=None, checkpointing=checkpointing,
    )  # fmt: skip
    return Bench(options, folder)


def timed(
    bench: Bench, attention: str, sizes: tuple[int, int], n_requests: int, tables: list[tuple[Table, int]]
) -> dict[str, Any]:
    """The table of a kernel, and its figures beside the goals.

    Args:
        bench: the trainers.
        attention: the kernel.
        sizes: tokens of the prompt, and candidates.
        n_requests: of a pass.
        tables: those before with their numbers of requests, of which the first has TRL as well; this one is added.

    Raises:
        NotHere: the kernel is not installed, or does not run on this device.
        AssertionError: it is wrong on this device.
    """
    choose(bench, attention)
    table = bench.table(*sizes, (OURS, LIMIT, *(() if tables else (ALONE, STOCK))), n_requests)
    if not table.row(OURS).runs:
        raise NotHere(f"{OURS}: {table.row(OURS).failure}")
    tables.append((table, n_requests))
    first, n_first = tables[0]
    goals = GOALS_8B if bench.options.random == "8b" else GOALS
    return {"table": table.as_json(), "shown": beside_goals(table, first, n_requests / n_first, device_peak(), goals)}


def sides(bench: Bench, attention: str, sizes: tuple[int, int]) -> dict[str, Any]:
    """Both sides of a document set: what their prompts begin with alike once, and twice; errors as of `timed`."""
    choose(bench, attention)
    table = bench.sides(*sizes)
    gain = table.time_ratio(APART, TOGETHER)
    return {"table": table.as_json(), "shown": {"once, not twice": _times(gain)}}


def _times(ratio: float | None) -> str:
    return "-" if ratio is None else f"{ratio:.3g} times as fast"


def choose(bench: Bench, attention: str) -> None:
    """Take a kernel; the errors are those of `timed`."""
    try:
        reason = bench.attend(attention)
    except RecipeError as refusal:
        raise NotHere(str(refusal)) from refusal
    assert reason is None, reason


def choose_first(bench: Bench) -> str:
    """Take the first of KERNELS that runs here; its name."""
    for attention in KERNELS:
        # one that is wrong is for the part `kernels` to say
        with contextlib.suppress(NotHere, AssertionError):
            choose(bench, attention)
            return attention
    raise NotHere("no kernel runs here")


def device_peak() -> float | None:
    """TFLOP/s of this device on bfloat16 by its data sheet; None where it is not known."""
    cuda = need("torch", "a benchmark").cuda
    name = cuda.get_device_name().lower() if cuda.is_available() else ""
    return next((each.peak / 1e12 for key, each in DEVICES.items() if key.partition("-")[0] in name), None)


def beside_goals(
    table: Table, first: Table, times: float, peak: float | None, goals: Mapping[str, float] = GOALS
) -> dict[str, str]:
    """What was reached, each with its goal; "-" where something did not run or the device is not known.

    Args:
        table: with evenhand and the limit.
        first: with TRL, and with each candidate alone, on the same models.
        times: requests of the table for each of the first one's.
        peak: of the device, in TFLOP/s.
        goals: by name.
    """
    ours = table.row(OURS)
    rate = ours.counts["TFLOP"] / ours.seconds if ours.seconds else None
    # theirs take as long for each of several requests: a micro-batch of one fills the card
    trl, alone = (seconds and times * seconds for seconds in (first.row(name).seconds for name in (STOCK, ALONE)))
    reached = {
        "MFU": rate / peak if rate and peak else None,
        "times TRL": trl / ours.seconds if trl and ours.seconds else None,
        "of the limit": table.time_ratio(LIMIT, OURS),
    }
    shown = {
        "TFLOP/s": f"{rate:.3g}" if rate else "-",
        "each candidate alone": _times(alone / ours.seconds if alone and ours.seconds else None),
    }
    for name, goal in goals.items():
        value = reached[name]
        shown[f"{name} (goal {goal:g})"] = (
            "-" if value is None else f"{value:.3g} {'reached' if value >= goal else 'missed'}"
        )
    peak_bytes = ours.peak_bytes
    return shown | {"peak GiB": "-" if peak_bytes is None else f"{peak_bytes / 2**30:.3g}"}
