"""A packed kernel is tried before it trains with: a tiny group, on the device, against each sequence alone in float64.

Kernels change with devices, drivers and versions, and one that is wrong in its backward pass alone leaves the loss as it
should be. So outputs and gradients of each kind of layer that the model has are compared token by token and head by head. Head
size and ratio of heads are the model's own; windows, bounds of scores and the scale are cut, so that a kernel that leaves one out
shows it in so few tokens.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any

import torch

from ..errors import ModelError
from .attention import MASKED, PACKED, use_masks
from .packing import Layout, PackedSpan
from .probe import AttentionShape, probe

log = logging.getLogger(__name__)

# longer than the blocks that kernels work in; a candidate of one token, two prompts that begin alike, and padding
SPANS = (
    PackedSpan(0, 150, (70, 0, 33, 1)), PackedSpan(254, 20, (40, 17)), PackedSpan(331, 17),
    PackedSpan(348, 5, (9,), ((331, 348),)), PackedSpan(362, 3, (4, 2), ((331, 348),)), PackedSpan(371, 13),
)  # fmt: skip
# largest error of a token's head, in its size and the root mean square of all: more than twice what kernels that are right
# have, and less than what a key too many makes. float32 leaves room for the TF32 of a GPU
TOLERANCES = {torch.float32: 0.005, torch.float16: 0.02, torch.bfloat16: 0.08}
# a window and a bound of scores that matter in so few tokens, the share of the scale, and what the scores are spread by
WINDOW, SOFTCAP, SCALE, SPREAD = 40, 2.0, 0.6, 2.0
# how kernels refuse a device or a size
REFUSALS = (RuntimeError, ValueError, TypeError, AssertionError)

Attention = Callable[..., tuple[torch.Tensor, Any]]


def settle_attention(model: Any, accelerator: Any) -> dict[str, Any]:
    """Try the packed attention of a model where it is to train; explicit masks take its place where it is wrong.

    All processes take the masks if one has to. The main one warns.

    Args:
        model: a causal language model with packed attention, without adapter wrapper.
        accelerator: of the trainer.

    Returns:
        What training.json says of it: `asked`, `used`, `device`, `dtype`, `error` (the largest), `tolerance`, and the `reason`
        for masks.

    Raises:
        ModelError: the masks are wrong, too.
    """
    from accelerate.utils import gather_object
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    name, device = model.config._attn_implementation, accelerator.device
    computed = {"bf16": torch.bfloat16, "fp16": torch.float16}
    dtype = computed.get(accelerator.mixed_precision, model.dtype)
    implementation = next((key for key, packed in PACKED.items() if packed == name), name)
    error, reason = try_attention(ALL_ATTENTION_FUNCTIONS[name], probe(model).shapes, device, dtype)
    reasons = [failure for failure in gather_object([reason]) if failure]
    if reasons:
        reason = reasons[0]
        if accelerator.is_main_process:
            log.warning(
                "the attention %s is wrong on %s in %s (%s); training goes on with explicit masks, which are slower",
                implementation, device.type, str(dtype).removeprefix("torch."), reason,
            )  # fmt: skip
        use_masks(model)
        error, failed = try_attention(ALL_ATTENTION_FUNCTIONS[MASKED], probe(model).shapes, device, dtype)
        if failed:
            raise ModelError(
                f"attention with explicit masks is wrong on {device} as well ({failed}); this device or this torch cannot train "
                "the model"
            )
    return {
        "asked": implementation,
        "used": "masks" if reasons else implementation,
        "device": device.type,
        "dtype": str(dtype).removeprefix("torch."),
        "error": error,
        "tolerance": TOLERANCES[dtype],
        "reason": reason,
    }


def try_attention(
    attention: Attention, kinds: Sequence[AttentionShape], device: torch.device, dtype: torch.dtype
) -> tuple[float | None, str | None]:
    """The largest error of the output and of the gradients, and why the attention is wrong; None where it is right."""
    largest = 0.0
    for kind in kinds:
        try:
            errors = attention_errors(attention, kind, device, dtype)
        except REFUSALS as refusal:
            return None, f"{type(refusal).__name__}: {str(refusal).strip().splitlines()[0] if str(refusal) else ''}"
        for name, error in errors.items():
            # also where it is not a number
            if not error <= TOLERANCES[dtype]:
                return None, f"{name} off by {error:.2g} with {_told(kind)}, at most {TOLERANCES[dtype]:g} is usual"
            largest = max(largest, error)
    return largest, None


def attention_errors(
    attention: Attention, kind: AttentionShape, device: torch.device, dtype: torch.dtype, seed: int = 0
) -> dict[str, float]:
    """Error of the output, and of the gradients of queries, keys and values, each at its worst token and head."""
    layout = Layout(SPANS)
    heads = min(kind.heads, 2)
    window = None if kind.window is None else min(kind.window, WINDOW)
    softcap = None if kind.softcap is None else min(kind.softcap, SOFTCAP)
    scaling = kind.scaling * SCALE
    generator = torch.Generator().manual_seed(seed)
    n_queries = heads * kind.group
    sizes = (n_queries, kind.size), (heads, kind.size), (heads, kind.value_size), (n_queries, kind.value_size)
    shapes = [(1, n, layout.length, size) for n, size in sizes]
    query, key, value, goal = (torch.randn(shape, generator=generator) for shape in shapes)
    query = query * (SPREAD / (scaling * kind.size**0.5))
    drawn = [tensor.to(device, dtype).requires_grad_() for tensor in (query, key, value)]
    exact = [tensor.detach().to("cpu", torch.float64).requires_grad_() for tensor in drawn]
    with torch.enable_grad():
        # FlexAttention asks its layer whether it trains
        out, _ = attention(
            torch.nn.Identity(), *drawn, None, shared_prefix=layout, scaling=scaling, dropout=0.0, sliding_window=window,
            softcap=softcap,
        )  # fmt: skip
        results = [out.transpose(1, 2), *torch.autograd.grad(out, drawn, goal.to(device, dtype).transpose(1, 2))]
        wanted_out = alone(exact, scaling, window, softcap)
        gradient = goal.to(dtype).to(torch.float64)
        wanted = [wanted_out, *torch.autograd.grad(wanted_out, exact, gradient)]
    names = ("output", "gradient of queries", "gradient of keys", "gradient of values")
    return {name: _worst(*pair) for name, *pair in zip(names, results, wanted, strict=True)}


def alone(drawn: list[torch.Tensor], scaling: float, window: int | None, softcap: float | None) -> torch.Tensor:
    """Attention of each prompt, and of each candidate alone behind its whole prompt, (1, heads, length, head size)."""
    query, key, value = drawn
    group, parts = query.shape[1] // key.shape[1], []
    for span in SPANS:
        prompt = [place for part in span.prompt for place in range(*part)]
        first, behind = span.start, prompt[: span.n_before]
        for n in filter(None, (span.n_prompt, *span.own)):
            places = [*behind, *range(first, first + n)]
            k, v = (tensor[:, :, places].repeat_interleave(group, dim=1) for tensor in (key, value))
            scores = query[:, :, places] @ k.transpose(2, 3) * scaling
            if softcap is not None:
                scores = softcap * torch.tanh(scores / softcap)
            step = torch.arange(len(places))
            back = step[:, None] - step
            seen = (back >= 0) & (back < (window or len(places)))
            out = scores.masked_fill(~seen, float("-inf")).softmax(dim=-1) @ v
            parts.append(out[:, :, -n:])
            first, behind = first + n, prompt
    return torch.cat(parts, dim=2)


def _worst(result: torch.Tensor, wanted: torch.Tensor) -> float:
    sizes = wanted.norm(dim=-1)
    difference = (result.detach().to("cpu", torch.float64) - wanted.detach()).norm(dim=-1)
    errors = difference / (sizes + sizes.square().mean().sqrt()).detach()
    return float(errors.max()) if bool(errors.isfinite().all()) else float("inf")


def _told(kind: AttentionShape) -> str:
    return f"{kind.heads * kind.group} heads on {kind.heads} of size {kind.size}" + "".join(
        f", {feature}" for feature, value in (("a window", kind.window), ("bounded scores", kind.softcap)) if value
    )
