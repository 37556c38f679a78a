"""How many tokens of packed requests fit into one pass with checkpointing, and how near the estimate comes to what they took."""

import tempfile
from functools import partial
from typing import Any

import torch

from ...config import LoraSection
from ...extras import need
from ...models.sizes import sizes_of
from ...train.groups import build_groups
from ...train.memory import Pass, Trained, activation_bytes, logits_bytes, shares, trainable, with_adapter
from ..memory import memory_meter, out_of_memory
from ..training import RANDOM, Bench, step
from .part import Rows
from .speed import N_PROMPT, TINY, N, choose_first, open_bench

# requests side by side: twice as many each time, until memory is out
MOST_DOUBLINGS, TINY_DOUBLINGS = 7, 2


def measure(rows: Rows, *, is_tiny: bool) -> None:
    """Add a row for each number of requests, and one for the estimate of the last that fitted."""
    size = "tiny" if is_tiny else "8b"
    fitted: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        bench = open_bench(folder, size, checkpointing=True)
        attention = choose_first(bench)
        for doubling in range(TINY_DOUBLINGS if is_tiny else MOST_DOUBLINGS):
            rows.check(f"requests: {2**doubling}", partial(_fit, bench, 2**doubling, fitted, is_tiny=is_tiny))
            if len(fitted) <= doubling:
                break
        if fitted:
            rows.check(
                f"estimate of {fitted[-1]['tokens']} tokens", partial(_estimate, size, bench, fitted[-1], attention)
            )


def _fit(bench: Bench, n_requests: int, fitted: list[dict[str, Any]], *, is_tiny: bool) -> dict[str, Any]:
    """Run that many requests in one pass; the figures also go to `fitted`, unless memory is out."""
    # each with tokens of its own: what prompts begin with alike would run once
    rows = [bench.pairs(*(TINY if is_tiny else (N_PROMPT, N)), at) for at in range(n_requests)]
    trainer = bench.shared_prefix
    batch = trainer.data_collator([group.columns for each in rows for group in build_groups(each)])
    (one,) = batch["passes"]
    lengths = [span.end - span.start for span in one["layout"].spans]
    figures = {"tokens": one["n_tokens"], "scored": len(one["scored"]), "requests": lengths}
    meter = memory_meter()
    try:
        with meter:
            step(trainer, batch)
            meter.settle()
    except out_of_memory():
        trainer.model.zero_grad()
        return figures | {"shown": {"tokens": str(figures["tokens"]), "GiB": "out of memory"}}
    fitted.append(figures | {"peak_bytes": meter.peak_bytes})
    return fitted[-1] | {
        "memory": meter.what,
        "shown": {"tokens": str(figures["tokens"]), "GiB": f"{meter.peak_bytes / 2**30:.3g}"},
    }


def _estimate(size: str, bench: Bench, fitted: dict[str, Any], attention: str) -> dict[str, Any]:
    """What `evenhand run estimate` says of such a pass. On the CPU the weights are not in what was measured."""
    transformers, accelerate = need("transformers", "an estimate"), need("accelerate", "an estimate")
    dtype = getattr(torch, bench.options.dtype)

    def bare() -> Any:
        with accelerate.init_empty_weights(include_buffers=True):
            return transformers.AutoModelForCausalLM.from_config(transformers.LlamaConfig(**RANDOM[size]), dtype=dtype)

    def adapted() -> Any:
        return with_adapter(bare(), LoraSection())

    trained = Trained(sizes_of(bare()), trainable(adapted()), dtype.itemsize, optimiser_bytes=0)
    held = shares("one GPU", trained, 1)
    has_masks = attention == "sdpa" and torch.cuda.is_available()
    one = Pass(tuple(fitted["requests"]), fitted["scored"], has_masks)
    parts = {
        "weights": held.weights,
        "adapter": held.adapter,
        "activations": activation_bytes(adapted, one, checkpointing=True),
        "logits": logits_bytes(bare(), fitted["scored"]),
    }
    whole = sum(parts.values())
    ratio = fitted["peak_bytes"] / whole
    return {
        "bytes": parts,
        "measured": ratio,
        "shown": {"tokens": str(fitted["tokens"]), "GiB": f"{whole / 2**30:.3g}"},
    }
