"""How many graphs FlexAttention compiles over packed sequences of rising length, and whether it stays right meanwhile.

A training meets a new length with almost every batch. Two graphs are usual for the masks and two for the attention, one for the
first length and one for all others; a graph more after that is a compilation in the middle of a training.
"""

import time
from functools import partial
from typing import Any

import torch
from torch._dynamo.utils import counters
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

from ...train import packed_attention
from ...train.packing import Layout, PackedSpan
from .part import Rows

# every other length with a window; after the first two all graphs are there
LENGTHS, WINDOW, SETTLED = 10, 50, 2
SCALING = 0.125
# of an output: flex sums in another order, and on a GPU in TF32
TOLERANCE = 0.01


def measure(rows: Rows, *, is_tiny: bool) -> None:
    """Add the row."""
    rows.check("flex_attention, ten lengths", partial(compile_all, is_tiny=is_tiny))


def compile_all(*, is_tiny: bool) -> dict[str, Any]:
    """Graphs after each length, and its seconds.

    Raises:
        AssertionError: a graph was made after the second length, or an output is wrong.
    """
    device, make = torch.device("cuda" if torch.cuda.is_available() and not is_tiny else "cpu"), None
    if device.type == "cpu":
        make = _eagerly()
    # FlexAttention asks its layer whether it trains; on the CPU it has no way back
    module = torch.nn.Identity().train(device.type != "cpu")
    graphs, seconds = [], []
    start = counters["stats"]["unique_graphs"]
    for step in range(LENGTHS):
        began = time.perf_counter()
        own = (40, 20 + step)
        used = 100 + 90 * step + sum(own)
        layout = Layout((PackedSpan(0, used - sum(own), own), PackedSpan(used, -used % 128)))
        drawn = [torch.randn(1, heads, layout.length, 64, device=device) for heads in (4, 2, 2)]
        query, key, value = (each.requires_grad_(device.type != "cpu") for each in drawn)
        window = WINDOW if step % 2 else None
        packed_attention.block_mask(layout, window, device, make)
        found, _ = packed_attention.flex(
            module, query, key, value, None, shared_prefix=layout, sliding_window=window, scaling=SCALING
        )
        if query.requires_grad:
            torch.autograd.grad(found.sum(), [query, key, value])
        wanted, _ = packed_attention.masked(
            module, query, key, value, None, shared_prefix=Layout(layout.spans), sliding_window=window, scaling=SCALING
        )
        error = float((found - wanted).abs().max())
        assert error <= TOLERANCE, f"off by {error:.2g} at {layout.length} tokens"
        graphs.append(counters["stats"]["unique_graphs"] - start)
        seconds.append(round(time.perf_counter() - began, 3))
    assert len(set(graphs[SETTLED:])) == 1, f"graphs after each length: {graphs}"
    assert graphs[-1] > 0, "nothing was compiled"
    return {"graphs": graphs, "seconds": seconds, "backend": "inductor" if make is None else "eager"}


def _eagerly() -> Any:
    """Compile with torch's eager backend, which counts graphs and makes no code; what makes the masks."""
    from transformers.integrations.flex_attention import WrappedFlexAttention

    compiled = staticmethod(torch.compile(flex_attention, backend="eager"))
    # one instance serves the process
    for name, value in {
        "_instance": None, "training": False, "_is_flex_compiled": True, "_compiled_flex_attention": compiled,
    }.items():  # fmt: skip
        setattr(WrappedFlexAttention, name, value)
    return torch.compile(create_block_mask, backend="eager")
