"""Attention in a packed sequence: a candidate sees its prompt and itself.

| implementation | where | how |
| --- | --- | --- |
| sdpa | CPU, CUDA in half precision | the prompt causally, all candidates on it, each on itself; joined by their log-sum-exp |
| sdpa | elsewhere, sliding windows, softcapping | each span with an explicit mask |
| flex_attention | CUDA | one block-sparse mask for the whole sequence, compiled |
| flash_attention_2, flash_attention_3, torch_varlen | CUDA | prompts and candidates as sequences of their own: `varlen` |

Registered with transformers' AttentionInterface; the layout reaches it as the keyword argument `shared_prefix` of the model.
"""

import os
from collections.abc import Callable
from functools import cache, partial
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention

from ..config import PACKED_ATTENTION, VARLEN_ATTENTION
from ..errors import RecipeError
from ..models.rope import global_rope
from .joined_attention import can_join, joined_attention
from .packing import Layout, PackedSpan, taken
from .varlen import open_kernel, varlen_attention

# model.attn_implementation -> name under which transformers calls the packed one. Without "flash" or "sdpa" in it, which
# transformers would take for its own
PACKED = dict(
    zip(
        PACKED_ATTENTION,
        ("evenhand_joined", "evenhand_flex", "evenhand_varlen_2", "evenhand_varlen_3", "evenhand_varlen"),
        strict=True,
    )
)
# with explicit masks whatever the recipe says
MASKED = "evenhand_masked"
# architectures whose attention is nothing but full or sliding-window attention through AttentionInterface
FAMILIES = ("llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text")


def use_packed_attention(model: Any, attention: str | None = None) -> None:
    """Let a transformers model attend within packed sequences.

    Args:
        model: a causal language model, before any adapter wraps it.
        attention: one of `PACKED`; None takes what the model was opened with.

    Raises:
        RecipeError: its attention, or its architecture, cannot do that; says which can.
    """
    from transformers import AttentionInterface

    attention = attention or model.config._attn_implementation
    if refusal := packing_refusal(model, attention):
        key, reason = refusal
        raise RecipeError(f"key '{key}': {reason}; or write train.trainer: pairwise")
    if attention in PACKED.values():
        return
    function: Any = {"sdpa": sdpa, "flex_attention": flex}.get(attention)
    if attention in VARLEN_ATTENTION:
        function = partial(varlen_attention, kernel=open_kernel(attention, model.config))
    if model.device.type == "cpu":
        refuse_cpu(attention, use_cpu=os.environ.get("ACCELERATE_USE_CPU", "").lower() == "true")
    AttentionInterface.register(PACKED[attention], function)
    model.set_attn_implementation(PACKED[attention])


def packing_refusal(model: Any, attention: str) -> tuple[str, str] | None:
    """Why a model cannot attend within packed sequences, behind the recipe's key that it is about; None where it can.

    Args:
        model: a causal language model, before any adapter wraps it.
        attention: the attention that it is to have, one of `PACKED` or of its values.
    """
    kind, rope = model.config.model_type, global_rope(model.config)
    if kind not in FAMILIES:
        return "model.name", (
            f"shared-prefix DPO does not know the attention of {kind!r} models; take one of {', '.join(FAMILIES)}"
        )
    if rope:
        return "model.name", (
            f"its rotary embedding ({rope}) depends on the longest sequence of a batch, so that requests cannot share a "
            "pass; take another model"
        )
    if attention not in PACKED and attention not in PACKED.values():
        return "model.attn_implementation", (
            f"{attention!r} cannot keep the candidates of a prompt from seeing each other; write one of {', '.join(PACKED)}"
        )
    return None


def refuse_cpu(attention: str, *, use_cpu: bool) -> None:
    """Refuse a kernel that has no backward pass where the training will run.

    Args:
        attention: value of `model.attn_implementation`.
        use_cpu: the accelerate configuration keeps the training from a GPU that may be here.

    Raises:
        RecipeError: that is on the CPU, and the kernel is not sdpa.
    """
    if attention in PACKED and attention != "sdpa" and (use_cpu or not torch.cuda.is_available()):
        raise RecipeError(
            f"key 'model.attn_implementation': {attention} has no backward pass on the CPU; write sdpa, or, if it "
            "trains on another machine, look at it there (`evenhand validate --elsewhere` looks at the rest here)"
        )


def use_masks(model: Any) -> None:
    """Let a model that attends within packed sequences do so with explicit masks, by nothing but plain operations."""
    from transformers import AttentionInterface

    AttentionInterface.register(MASKED, masked)
    model.set_attn_implementation(MASKED)


def loaded_with(attention: str) -> str:
    """With which attention transformers opens a model whose packed attention is `attention`, which then takes its place.

    It would fetch kernels itself, and has no sdpa for a model whose scores are bounded.
    """
    return attention if attention == "flex_attention" or attention not in PACKED else "eager"


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
