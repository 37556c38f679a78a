"""Packed attention by kernels for sequences of variable length: no mask, no repeated heads.

The packed sequence is cut into its prompts and its candidates. Their queries lie side by side already; the keys and values of
a candidate are its prompt's and its own, gathered; those of a prompt are its own and the beginning's that it continues. Under a
causal mask aligned to the bottom right, which these kernels have, each query then sees what it sees where the candidate stands
alone behind its prompt.

Source: the split is that of PrefixGrouper (2025, arXiv:2506.05433).
"""

import importlib
import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch

from ..errors import RecipeError
from .packing import Layout

# model.attn_implementation -> module, function, and what brings it
LIBRARIES = {
    "flash_attention_2": ("flash_attn", "flash_attn_varlen_func", "pip install flash-attn --no-build-isolation"),
    "flash_attention_3": (
        "flash_attn_interface",
        "flash_attn_varlen_func",
        "build it in flash-attention's folder hopper",
    ),
    "torch_varlen": ("torch.nn.attention.varlen", "varlen_attn", "pip install 'torch>=2.11'"),
}
# what names an attention, as an error says it, where a recipe does
BY_KEY = "key 'model.attn_implementation'"
# head sizes that the kernels take
MOST_HEAD_SIZE, HEAD_SIZE_MULTIPLE = 256, 8

# takes queries, keys, values and cuts, and the keywords scale, window, softcap and dropout; gives (tokens, heads, head size)
Kernel = Callable[..., torch.Tensor]


class Cuts(NamedTuple):
    """The sequences of a packed one: their queries lie side by side, their keys are gathered."""

    # place of each key in the packed sequence, (keys,)
    keys: torch.Tensor
    # first query and first key of each sequence, and one past the last, int32, (sequences + 1,)
    starts: tuple[torch.Tensor, torch.Tensor]
    # queries and keys of the longest sequence
    longest: tuple[int, int]


def open_kernel(attention: str, config: Any, asked_by: str = BY_KEY) -> Kernel:
    """The kernel of a value of `model.attn_implementation`.

    Args:
        attention: one of `LIBRARIES`.
        config: of the model.
        asked_by: what names the attention, as an error says it.

    Raises:
        RecipeError: it is not installed, or cannot do what the model's attention needs.
    """
    module, name, remedy = LIBRARIES[attention]
    where = f"{asked_by}: {attention}"
    try:
        function = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise RecipeError(
            f"{where} needs {name} of {module}, which cannot be imported here ({error}): {remedy}, or write sdpa"
        ) from error
    known = inspect.signature(function).parameters.keys()
    usual = {"scale", "window_size"} if attention == "torch_varlen" else {"softmax_scale", "window_size"}
    wanted = dict.fromkeys(sorted(usual), "this version is too old")
    if getattr(config, "attn_logit_softcapping", None):
        wanted["softcap"] = f"{config.model_type} bounds its attention scores"
    if getattr(config, "attention_dropout", 0):
        wanted["dropout_p"] = "the model's attention_dropout is not 0"
    mistakes = [f"its kernel has no {key}, and {why}" for key, why in wanted.items() if key not in known]
    size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    if size > MOST_HEAD_SIZE or size % HEAD_SIZE_MULTIPLE:
        mistakes.append(f"heads of size {size} are none of 8, 16, ..., {MOST_HEAD_SIZE}")
    if mistakes:
        raise RecipeError(f"{where} cannot be used: {'; '.join(mistakes)}; write sdpa or flex_attention")
    if attention != "torch_varlen":
        return partial(flash, function)
    # before torch 2.12 its kernel shares heads without being asked
    return partial(torch_varlen, partial(function, enable_gqa=True) if "enable_gqa" in known else function)


def flash(  # noqa: PLR0913 - what a kernel is asked
    function: Callable[..., Any],
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    cuts: Cuts,
    *,
    scale: float,
    window: int | None,
    softcap: float | None,
    dropout: float,
) -> torch.Tensor:
    """The call of flash-attn 2 and 3."""
    options = {"softcap": softcap or 0.0, "dropout_p": dropout}
    out = function(
        query,
        key,
        value,
        cu_seqlens_q=cuts.starts[0],
        cu_seqlens_k=cuts.starts[1],
        max_seqlen_q=cuts.longest[0],
        max_seqlen_k=cuts.longest[1],
        softmax_scale=scale,
        causal=True,
        # positions to the left and to the right, the token itself not counted; -1 for all
        window_size=(-1, -1) if window is None else (window - 1, 0),
        **{name: number for name, number in options.items() if number},
    )
    # flash-attn 3 gave the log-sum-exp, too, at first
    output: torch.Tensor = out[0] if isinstance(out, tuple) else out
    return output


def torch_varlen(  # noqa: PLR0913 - what a kernel is asked
    function: Callable[..., Any],
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    cuts: Cuts,
    *,
    scale: float,
    window: int | None,
    softcap: float | None,
    dropout: float,
) -> torch.Tensor:
    """The call of torch.nn.attention.varlen, which has neither bounded scores nor dropout."""
    assert not softcap, "models with bounded scores are refused"
    assert not dropout, "models with dropout of attention are refused"
    # (-1, 0) is how it says causal
    seen = (-1 if window is None else window - 1, 0)
    output: torch.Tensor = function(query, key, value, *cuts.starts, *cuts.longest, scale=scale, window_size=seen)
    return output


def varlen_attention(  # noqa: PLR0913 - as transformers calls it
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: Any,
    *,
    kernel: Kernel,
    shared_prefix: Layout,
    scaling: float,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Packed attention with `kernel`, as transformers calls it; other arguments as in `attention.sdpa`."""
    is_cut = sliding_window is not None and any(span.reach > sliding_window for span in shared_prefix.spans)
    window = sliding_window if is_cut else None
    cuts = find_cuts(shared_prefix, window, query.device)
    # norms of the heads leave autocast's type, which the linear layers before them had
    kind = query.device.type
    dtype = torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else query.dtype
    q, k, v = (tensor[0].transpose(0, 1).to(dtype) for tensor in (query, key, value))
    k, v = (Gathered.apply(tensor, cuts.keys) for tensor in (k, v))  # type: ignore[no-untyped-call]
    out = kernel(q.contiguous(), k, v, cuts, scale=scaling, window=window, softcap=softcap, dropout=dropout)
    return out[None], None


def find_cuts(layout: Layout, window: int | None, device: torch.device) -> Cuts:
    """Where a packed sequence is cut, made once for all layers of the same window.

    With a window, of what a sequence continues only that is gathered which its first token sees: positions are told from the end.
    """
    key = ("cuts", window, device)
    if key not in layout.memo:
        keys, queries, sizes = [], [], []
        for span in layout.spans:
            prompt = torch.cat([torch.arange(*part) for part in span.prompt])
            first, continued = span.start, prompt[: span.n_before]
            for n in filter(None, (span.n_prompt, *span.own)):
                seen = continued if window is None else continued[max(0, len(continued) - window + 1) :]
                keys += [seen, torch.arange(first, first + n)]
                queries.append(n)
                sizes.append(len(seen) + n)
                first, continued = first + n, prompt
        starts = (
            torch.tensor([0, *lengths]).cumsum(0, dtype=torch.int32).to(device, torch.int32)
            for lengths in (queries, sizes)
        )
        layout.memo[key] = Cuts(torch.cat(keys).to(device), (next(starts), next(starts)), (max(queries), max(sizes)))
    cuts: Cuts = layout.memo[key]
    return cuts


class Gathered(torch.autograd.Function):
    """Rows by their places; the gradients of a row's copies, as many as its request has candidates, are added up in float32."""

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, places: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(places)
        ctx.n = len(rows)
        return rows.index_select(0, places)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        ((grad,), (places,)) = gradients, ctx.saved_tensors
        total = grad.new_zeros(ctx.n, *grad.shape[1:], dtype=torch.float32)
        return total.index_add_(0, places, grad.float()).to(grad.dtype), None
