"""Packed attention without a mask: dense parts, joined exactly.

The prompt attends to itself causally, and to the beginning that it continues; all candidates attend to the prompt side by side;
each attends to itself causally. Two parts are joined by their log-sum-exp l: out = sum_i exp(l_i - l) out_i with
l = logaddexp(l_1, l_2). Given the joined output and log-sum-exp, the kernel's backward pass of each part is that part of the
whole gradient. A mask would make the kernel work through every pair of tokens, seen or not. The kernels are those of
scaled_dot_product_attention, which itself gives no log-sum-exp.

Source: the split of the softmax is that of Milakov & Gimelshein 2018 (arXiv:1805.02867); the backward pass by parts that of
Liu et al. 2023 (arXiv:2310.01889).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch

from .packing import Layout, PackedSpan, Part, taken

Tensors = Sequence[torch.Tensor]


class CpuKernel:
    """Dense attention on the CPU."""

    dtypes = (torch.float32, torch.bfloat16)
    # with AMX its way back takes a quarter less time than in bfloat16, and for sequences as short as summaries a fifth of it
    backward_dtype: torch.dtype | None = torch.float32
    forward_name = "_scaled_dot_product_flash_attention_for_cpu"

    @staticmethod
    def takes(size: int) -> bool:
        """Whether it takes a head size."""
        return size > 0

    @staticmethod
    def forward(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, causal: bool, scaling: float) -> Tensors:
        """Output (1, heads, queries, head size) and log-sum-exp (1, heads, queries), float32."""
        results: Tensors = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, 0.0, causal, scale=scaling
        )
        return results

    @staticmethod
    def backward(
        grad: torch.Tensor, qkv: Tensors, out: torch.Tensor, lse: torch.Tensor, causal: bool, scaling: float
    ) -> Tensors:
        """Gradients of queries, keys and values."""
        gradients: Tensors = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward(
            grad, *qkv, out, lse, 0.0, causal, scale=scaling
        )
        return gradients


class CudaKernel:
    """Dense flash attention on CUDA; see `CpuKernel`."""

    dtypes = (torch.float16, torch.bfloat16)
    backward_dtype: torch.dtype | None = None
    forward_name = "_scaled_dot_product_flash_attention"

    @staticmethod
    def takes(size: int) -> bool:
        """Whether it takes a head size: others scaled_dot_product_attention itself would pad."""
        return size % 8 == 0 and size <= 256

    @staticmethod
    def forward(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, causal: bool, scaling: float) -> Tensors:
        """See `CpuKernel`."""
        out, lse, *_ = torch.ops.aten._scaled_dot_product_flash_attention(query, key, value, 0.0, causal, scale=scaling)
        return out, lse

    @staticmethod
    def backward(
        grad: torch.Tensor, qkv: Tensors, out: torch.Tensor, lse: torch.Tensor, causal: bool, scaling: float
    ) -> Tensors:
        """See `CpuKernel`."""
        # what a dropout would have drawn by
        drawn = (
            torch.empty(2, dtype=torch.uint64, device=grad.device),
            torch.empty((), dtype=torch.uint64, device=grad.device),
        )
        # no sequences of several lengths: their ends must be undefined. The kernel reads a part of a log-sum-exp wrongly
        gradients: Tensors = torch.ops.aten._scaled_dot_product_flash_attention_backward(
            grad,
            *qkv,
            out,
            lse.contiguous(),
            None,
            None,
            qkv[0].shape[2],
            qkv[1].shape[2],
            0.0,
            causal,
            *drawn,
            scale=scaling,
        )
        return gradients


Kernel = type[CpuKernel] | type[CudaKernel]
KERNELS: dict[str, Kernel] = {"cpu": CpuKernel, "cuda": CudaKernel}


def can_join(query: torch.Tensor, value: torch.Tensor) -> bool:
    """Whether there is a kernel that takes these tensors."""
    kernel = KERNELS.get(query.device.type)
    return (
        kernel is not None
        and (query.device.type != "cuda" or torch.version.hip is None)
        and query.shape[-1] == value.shape[-1]
        and kernel.takes(query.shape[-1])
        and query.dtype == value.dtype
        and query.dtype in kernel.dtypes
        and hasattr(torch.ops.aten, kernel.forward_name)
        and hasattr(torch.ops.aten, f"{kernel.forward_name}_backward")
    )


class How(NamedTuple):
    """What attention of a packed sequence depends on besides its tensors."""

    layout: Layout
    scaling: float
    kernel: Kernel


def joined_attention(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    layout: Layout,
    scaling: float,
    kernel: Kernel | None = None,
) -> torch.Tensor:
    """Attention of a packed sequence; all tensors and the result (1, heads, length, head size).

    Args:
        query: of all tokens.
        key: of all tokens, with as many heads.
        value: like `key`.
        layout: who sees whom.
        scaling: factor of the scores.
        kernel: another one than that of the device.
    """
    how = How(layout, scaling, kernel or KERNELS[query.device.type])
    joined: torch.Tensor = JoinedAttention.apply(query, key, value, how)  # type: ignore[no-untyped-call]
    return joined


class JoinedAttention(torch.autograd.Function):
    """The parts of every span, forward and backward."""

    @staticmethod
    def forward(ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, how: How) -> torch.Tensor:
        layout, scaling, kernel = how
        out, lse = _empty_like(query), query.new_empty(query.shape[:3], dtype=torch.float32)  # lse: (1, heads, length)
        for span in layout.spans:
            prompt, candidates = slice(span.start, span.prompt_end), slice(span.prompt_end, span.end)
            q, k, v = (tensor[:, :, prompt] for tensor in (query, key, value))
            result = kernel.forward(q, k, v, True, scaling)
            if span.before:
                result = _joined(result, kernel.forward(q, *_seen(key, value, span.before), False, scaling))
            out[:, :, prompt], lse[:, :, prompt] = result
            if not sum(span.own):
                continue
            on_prompt = kernel.forward(query[:, :, candidates], *_seen(key, value, span.prompt), False, scaling)
            rows = _rows(layout, span, query.device)
            q, k, v = (_candidates(tensor, rows) for tensor in (query, key, value))
            on_self = [_packed(tensor, rows) for tensor in kernel.forward(q, k, v, True, scaling)]
            out[:, :, candidates], lse[:, :, candidates] = _joined(on_prompt, on_self)
        ctx.save_for_backward(query, key, value, out, lse)
        ctx.how = how
        return out

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        layout, scaling, kernel = ctx.how
        *saved, lse = ctx.saved_tensors
        grad, query, key, value, out = (
            tensor.to(kernel.backward_dtype or tensor.dtype) for tensor in (*gradients, *saved)
        )
        totals = tuple(map(_empty_like, (query, key, value)))
        for span in layout.spans:
            prompt, candidates = slice(span.start, span.prompt_end), slice(span.prompt_end, span.end)
            g, q, k, v, o, s = (tensor[:, :, prompt] for tensor in (grad, query, key, value, out, lse))
            for total, part in zip(totals, kernel.backward(g, (q, k, v), o, s, True, scaling), strict=True):
                total[:, :, prompt] = part
            if span.before:
                on_beginning = kernel.backward(g, (q, *_seen(key, value, span.before)), o, s, False, scaling)
                _add(totals, prompt, span.before, on_beginning)
            if not sum(span.own):
                continue
            g, q, o, s = (tensor[:, :, candidates] for tensor in (grad, query, out, lse))
            on_prompt = kernel.backward(g, (q, *_seen(key, value, span.prompt)), o, s, False, scaling)
            rows = _rows(layout, span, query.device)
            g, q, k, v, o, s = (_candidates(tensor, rows) for tensor in (grad, query, key, value, out, lse))
            # a row's padding repeats its last token: nothing came of it, so nothing flows back through it
            g = g.masked_fill(rows.is_padding[:, None, :, None], 0)
            for total, part in zip(totals, kernel.backward(g, (q, k, v), o, s, True, scaling), strict=True):
                total[:, :, candidates] = _packed(part, rows)
            _add(totals, candidates, span.prompt, on_prompt)
        return *(total.to(saved[0].dtype) for total in totals), None


def _seen(key: torch.Tensor, value: torch.Tensor, parts: Sequence[Part]) -> tuple[torch.Tensor, torch.Tensor]:
    return taken(key, parts), taken(value, parts)


def _joined(first: Sequence[torch.Tensor], second: Sequence[torch.Tensor]) -> tuple[torch.Tensor, torch.Tensor]:
    """Output and log-sum-exp of queries over two lots of keys, of those over each."""
    total = torch.logaddexp(first[1], second[1])
    parts = [out * (lse - total).exp()[..., None] for out, lse in (first, second)]
    return parts[0] + parts[1], total


def _add(totals: Sequence[torch.Tensor], rows: slice, parts: Sequence[Part], gradients: Sequence[torch.Tensor]) -> None:
    """Add gradients of the queries of `rows`, and of the keys and values at `parts`, to the whole ones."""
    totals[0][:, :, rows] += gradients[0]
    for total, gradient in zip(totals[1:], gradients[1:], strict=True):
        for (start, end), piece in zip(
            parts, torch.split(gradient, [end - start for start, end in parts], dim=2), strict=True
        ):
            total[:, :, start:end] += piece


class CandidateRows(NamedTuple):
    """The candidates of a span as rows of one length."""

    # of each row's tokens, (candidates, longest); the last one is repeated
    places: torch.Tensor
    # like `places`: whether a token is such a repeat
    is_padding: torch.Tensor
    # where all others lie in `places`, one row after another, in the order of the sequence
    kept: torch.Tensor


def _rows(layout: Layout, span: PackedSpan, device: torch.device) -> CandidateRows:
    key = ("rows", span, device)
    if key not in layout.memo:
        lengths = [n for n in span.own if n]
        starts = [span.prompt_end + sum(lengths[:i]) for i in range(len(lengths))]
        steps, ends = torch.arange(max(lengths)), torch.tensor(lengths)[:, None]
        places, is_padding = torch.tensor(starts)[:, None] + torch.minimum(steps, ends - 1), steps >= ends
        # found on the CPU, since a GPU would be waited for
        (kept,) = is_padding.logical_not().flatten().nonzero(as_tuple=True)
        layout.memo[key] = CandidateRows(*(tensor.to(device) for tensor in (places, is_padding, kept)))
    rows: CandidateRows = layout.memo[key]
    return rows


def _candidates(tensor: torch.Tensor, rows: CandidateRows) -> torch.Tensor:
    """(1, heads, length, ...) -> (candidates, heads, longest, ...)."""
    tokens = tensor[0].transpose(0, 1).index_select(0, rows.places.flatten())
    return tokens.reshape(*rows.places.shape, *tokens.shape[1:]).transpose(1, 2)


def _packed(tensor: torch.Tensor, rows: CandidateRows) -> torch.Tensor:
    """(candidates, heads, longest, ...) -> (1, heads, tokens of all candidates, ...)."""
    return tensor.transpose(1, 2).flatten(0, 1).index_select(0, rows.kept).transpose(0, 1)[None]


def _empty_like(tensor: torch.Tensor) -> torch.Tensor:
    """Room for (1, heads, length, size) whose heads of a token lie side by side, as the next layer reads them."""
    batch, heads, length, size = tensor.shape
    return tensor.new_empty(batch, length, heads, size).transpose(1, 2)
