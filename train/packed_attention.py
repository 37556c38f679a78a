"""What a packed sequence attends with, as transformers calls it: dense parts that are joined, masks, or FlexAttention."""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from .joined_attention import can_join, joined_attention
from .packing import Layout, PackedSpan, taken


def sdpa(  # noqa: PLR0913 - as transformers calls it
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: Any,
    *,
    shared_prefix: Layout,
    scaling: float,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Packed attention with scaled_dot_product_attention, or the kernels below it.

    Args:
        module: the attention layer.
        query: (1, heads, length, head size).
        key: (1, key-value heads, length, head size).
        value: like `key`.
        attention_mask: not looked at, the layout says everything.
        shared_prefix: the layout.
        scaling: factor of the scores.
        dropout: share of the weights set to 0.
        sliding_window: positions that a token sees, itself included; None for all.
        softcap: bound of the scores (Gemma 2).

    Returns:
        (1, length, heads, head size), and no weights.
    """
    windowed = sliding_window is not None and any(span.reach > sliding_window for span in shared_prefix.spans)
    if not windowed and softcap is None and dropout == 0 and can_join(query, value):
        key, value = _repeated(query, key, value)
        return joined_attention(query, key, value, shared_prefix, scaling).transpose(1, 2).contiguous(), None
    return masked(
        module, query, key, value, attention_mask, shared_prefix=shared_prefix, scaling=scaling, dropout=dropout,
        sliding_window=sliding_window, softcap=softcap,
    )  # fmt: skip


def masked(  # noqa: PLR0913 - as transformers calls it
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: Any,
    *,
    shared_prefix: Layout,
    scaling: float,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Packed attention span by span with explicit masks; arguments as in `sdpa`."""
    key, value = _repeated(query, key, value)
    out = []
    for span in shared_prefix.spans:
        q = query[:, :, span.start : span.end]
        k, v = (taken(tensor, span.seen) for tensor in (key, value))
        mask = _span_mask(shared_prefix, span, sliding_window, query.device)
        if softcap is None:
            out.append(scaled_dot_product_attention(q, k, v, attn_mask=mask, dropout_p=dropout, scale=scaling))
        else:
            # scores bounded by tanh, which no kernel of scaled_dot_product_attention offers
            scores = softcap * torch.tanh(q @ k.transpose(2, 3) * scaling / softcap)
            out.append(scores.masked_fill(~mask, float("-inf")).softmax(dim=-1, dtype=torch.float32).to(v.dtype) @ v)
    return torch.cat(out, dim=2).transpose(1, 2).contiguous(), None


def _repeated(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Keys and values with as many heads as the queries."""
    groups = query.shape[1] // key.shape[1]
    if groups == 1:
        return key, value
    return key.repeat_interleave(groups, dim=1), value.repeat_interleave(groups, dim=1)


def flex(  # noqa: PLR0913 - as transformers calls it
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: Any,
    *,
    shared_prefix: Layout,
    sliding_window: int | None = None,
    **options: Any,
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """Packed attention with FlexAttention, as transformers calls it; arguments as in `sdpa`."""
    from transformers.integrations.flex_attention import flex_attention_forward

    mask = block_mask(shared_prefix, sliding_window, query.device)
    out: tuple[torch.Tensor, torch.Tensor | None] = flex_attention_forward(module, query, key, value, mask, **options)
    return out


@cache
def _compiled_mask() -> Callable[..., Any]:
    """What makes FlexAttention's masks, compiled for the first length, and for all at the second one."""
    from torch.nn.attention.flex_attention import create_block_mask

    compiled: Callable[..., Any] = torch.compile(create_block_mask)
    return compiled


def block_mask(layout: Layout, window: int | None, device: torch.device, make: Callable[..., Any] | None = None) -> Any:
    """FlexAttention's mask of a packed sequence, made once for all layers of the same window.

    Args:
        layout: of the packed sequence.
        window: positions that a token sees, itself included; None for all.
        device: of the tokens.
        make: torch's create_block_mask, compiled or not; None compiles it for CUDA.
    """
    from torch.nn.attention.flex_attention import create_block_mask

    key = ("blocks", window, device)
    if key not in layout.memo:
        ends, position_of = layout.ends().to(device), layout.positions().to(device)
        # a tensor also without a window, since each number would be compiled anew
        reach = torch.tensor(layout.length if window is None else window, device=device)

        def seen(_batch: Any, _head: Any, q: Any, k: Any) -> Any:
            return (k <= q) & (q < ends[k]) & (position_of[q] - position_of[k] < reach)

        n = layout.length
        make = make or (_compiled_mask() if device.type == "cuda" else create_block_mask)
        layout.memo[key] = make(seen, None, None, n, n, device=device)
    return layout.memo[key]


def _span_mask(layout: Layout, span: PackedSpan, window: int | None, device: torch.device) -> torch.Tensor:
    """Which of the tokens at `PackedSpan.seen` each token of a span sees, (tokens, tokens that any sees)."""
    key = ("mask", span, window, device)
    if key not in layout.memo:
        ends, position_of = layout.ends(), layout.positions()
        k = torch.cat([torch.arange(*part) for part in span.seen])
        q = torch.arange(span.start, span.end)[:, None]
        seen = (k <= q) & (q < ends[k])
        if window is not None:
            seen &= position_of[q] - position_of[k] < window
        layout.memo[key] = seen.to(device)
    mask: torch.Tensor = layout.memo[key]
    return mask
