"""Packed attention on the CPU without a mask: dense parts, joined exactly.

The prompt attends to itself causally, and to the beginning that it continues; all candidates attend to the prompt side by side;
each attends to itself causally. Two parts are joined by their log-sum-exp l: out = sum_i exp(l_i - l) out_i with
l = logaddexp(l_1, l_2). Given the joined output and log-sum-exp, the kernel's backward pass of each part is that part of the
whole gradient. A mask would make the kernel work through every pair of tokens, seen or not.

Source: the split of the softmax is that of Milakov & Gimelshein 2018 (arXiv:1805.02867); the backward pass by parts that of
Liu et al. 2023 (arXiv:2310.01889).
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch

from .packing import Layout, Part, Span, taken

FORWARD = "_scaled_dot_product_flash_attention_for_cpu"
BACKWARD = f"{FORWARD}_backward"


def can_join(query: torch.Tensor, value: torch.Tensor) -> bool:
    """Whether the kernel is there and takes these tensors."""
    return (
        query.device.type == "cpu"
        and query.shape[-1] == value.shape[-1]
        and query.dtype == value.dtype
        and query.dtype in (torch.float32, torch.bfloat16)
        and hasattr(torch.ops.aten, FORWARD)
        and hasattr(torch.ops.aten, BACKWARD)
    )


def joined_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, layout: Layout, scaling: float
) -> torch.Tensor:
    """Attention of a packed sequence; all tensors and the result (1, heads, length, head size)."""
    joined: torch.Tensor = JoinedAttention.apply(query, key, value, layout, scaling)  # type: ignore[no-untyped-call]
    return joined


class JoinedAttention(torch.autograd.Function):
    """The parts of every span, forward and backward."""

    @staticmethod
    def forward(
        ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, layout: Layout, scaling: float
    ) -> torch.Tensor:
        kernel = partial(getattr(torch.ops.aten, FORWARD), scale=scaling)
        out, lse = _empty_like(query), query.new_empty(query.shape[:3], dtype=torch.float32)  # lse: (1, heads, length)
        for span in layout.spans:
            prompt, own = slice(span.start, span.prompt_end), slice(span.prompt_end, span.end)
            q, k, v = (each[:, :, prompt] for each in (query, key, value))
            found = kernel(q, k, v, 0.0, True)
            if span.before:
                found = _joined(found, kernel(q, *_seen(key, value, span.before), 0.0, False))
            out[:, :, prompt], lse[:, :, prompt] = found
            if not sum(span.own):
                continue
            on_prompt = kernel(query[:, :, own], *_seen(key, value, span.prompt), 0.0, False)
            rows, kept = _rows(layout, span)
            q, k, v = (_candidates(each, rows) for each in (query, key, value))
            on_self = [_packed(each, kept) for each in kernel(q, k, v, 0.0, True)]
            out[:, :, own], lse[:, :, own] = _joined(on_prompt, on_self)
        ctx.save_for_backward(query, key, value, out, lse)
        ctx.layout, ctx.scaling = layout, scaling
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        kernel = partial(getattr(torch.ops.aten, BACKWARD), scale=ctx.scaling)
        (grad,), (query, key, value, out, lse) = gradients, ctx.saved_tensors
        found = tuple(map(_empty_like, (query, key, value)))
        for span in ctx.layout.spans:
            prompt, own = slice(span.start, span.prompt_end), slice(span.prompt_end, span.end)
            g, q, k, v, o, s = (each[:, :, prompt] for each in (grad, query, key, value, out, lse))
            for whole, mine in zip(found, kernel(g, q, k, v, o, s, 0.0, True), strict=True):
                whole[:, :, prompt] = mine
            if span.before:
                _add(found, prompt, span.before, kernel(g, q, *_seen(key, value, span.before), o, s, 0.0, False))
            if not sum(span.own):
                continue
            g, q, o, s = (each[:, :, own] for each in (grad, query, out, lse))
            on_prompt = kernel(g, q, *_seen(key, value, span.prompt), o, s, 0.0, False)
            rows, kept = _rows(ctx.layout, span)
            g, q, k, v, o, s = (_candidates(each, rows) for each in (grad, query, key, value, out, lse))
            # a row's padding repeats its last token: nothing came of it, so nothing flows back through it
            g = g.masked_fill(~kept[:, None, :, None], 0)
            for whole, mine in zip(found, kernel(g, q, k, v, o, s, 0.0, True), strict=True):
                whole[:, :, own] = _packed(mine, kept)
            _add(found, own, span.prompt, on_prompt)
        return *found, None, None


def _seen(key: torch.Tensor, value: torch.Tensor, parts: Sequence[Part]) -> tuple[torch.Tensor, torch.Tensor]:
    return taken(key, parts), taken(value, parts)


def _joined(one: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Output and log-sum-exp of queries over two lots of keys, of those over each."""
    whole = torch.logaddexp(one[1], other[1])
    parts = [out * (lse - whole).exp()[..., None] for out, lse in (one, other)]
    return parts[0] + parts[1], whole


def _add(found: Sequence[torch.Tensor], rows: slice, parts: Sequence[Part], more: Sequence[torch.Tensor]) -> None:
    """Add gradients of the queries of `rows`, and of the keys and values at `parts`, to the whole ones."""
    found[0][:, :, rows] += more[0]
    for whole, mine in zip(found[1:], more[1:], strict=True):
        for (start, end), piece in zip(
            parts, torch.split(mine, [end - start for start, end in parts], dim=2), strict=True
        ):
            whole[:, :, start:end] += piece


def _rows(layout: Layout, span: Span) -> tuple[torch.Tensor, torch.Tensor]:
    """Places of each candidate's tokens, (candidates, longest), the last one repeated, and which of them are not repeats."""
    made = ("rows", span)
    if made not in layout.memo:
        lengths = [n for n in span.own if n]
        starts = [span.prompt_end + sum(lengths[:i]) for i in range(len(lengths))]
        steps = torch.arange(max(lengths))
        ends = torch.tensor(lengths)[:, None]
        layout.memo[made] = torch.tensor(starts)[:, None] + torch.minimum(steps, ends - 1), steps < ends
    rows: tuple[torch.Tensor, torch.Tensor] = layout.memo[made]
    return rows


def _candidates(tensor: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    """(1, heads, length, ...) -> (candidates, heads, longest, ...)."""
    return tensor[0][:, rows].transpose(0, 1).contiguous()


def _packed(tensor: torch.Tensor, kept: torch.Tensor) -> torch.Tensor:
    """(candidates, heads, longest, ...) -> (1, heads, tokens of all candidates, ...)."""
    return tensor.transpose(0, 1)[:, kept][None]


def _empty_like(tensor: torch.Tensor) -> torch.Tensor:
    """Room for (1, heads, length, size) whose heads of a token lie side by side, as the next layer reads them."""
    batch, heads, length, size = tensor.shape
    return tensor.new_empty(batch, length, heads, size).transpose(1, 2)
