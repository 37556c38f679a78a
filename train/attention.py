"""Attention in a packed sequence: a candidate sees its prompt and itself.

| implementation | where | how |
| --- | --- | --- |
| sdpa | CPU, CUDA in half precision | the prompt causally, all candidates on it, each on itself; joined by their log-sum-exp |
| sdpa | elsewhere, sliding windows, softcapping | each span with an explicit mask |
| flex_attention | CUDA | one block-sparse mask for the whole sequence, compiled |
| flash_attention_2, flash_attention_3, torch_varlen | CUDA | prompts and candidates as sequences of their own: `varlen` |

Registered with transformers' AttentionInterface; the layout reaches it as the keyword argument `shared_prefix` of the model.
"""

from functools import partial
from typing import Any, NamedTuple

import torch

from ..config import AUTO_ATTENTION, PACKED_ATTENTION, TORCH_VARLEN, VARLEN_ATTENTION
from ..errors import RecipeError
from ..models.rope import global_rope
from .options import uses_cpu
from .packed_attention import flex, masked, sdpa
from .probe import probe
from .varlen import BY_KEY, open_kernel, varlen_attention

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


class PackingRefusal(NamedTuple):
    """Why a model cannot attend within packed sequences."""

    # the recipe's, that it is about
    key: str
    reason: str
    # whether TRL's own trainer can train the model
    has_stock: bool = True


def use_packed_attention(model: Any, attention: str | None = None, asked_by: str = BY_KEY) -> None:
    """Let a transformers model attend within packed sequences.

    Args:
        model: a causal language model, before any adapter wraps it.
        attention: one of `PACKED`, or `AUTO_ATTENTION`; None takes what the model was opened with.
        asked_by: what names the attention, as an error says it.

    Raises:
        RecipeError: its attention, or its architecture, cannot do that; says which can.
    """
    from transformers import AttentionInterface

    attention = attention or model.config._attn_implementation
    if attention == AUTO_ATTENTION:
        attention = fastest(model)
    if refusal := packing_refusal(model, attention):
        otherwise = "; or write train.trainer: pairwise" if refusal.has_stock else ""
        raise RecipeError(f"key '{refusal.key}': {refusal.reason}{otherwise}")
    if attention in PACKED.values():
        return
    function: Any = {"sdpa": sdpa, "flex_attention": flex}.get(attention)
    if attention in VARLEN_ATTENTION:
        function = partial(varlen_attention, kernel=open_kernel(attention, model.config, asked_by))
    if model.device.type == "cpu":
        refuse_cpu(attention, use_cpu=uses_cpu(), asked_by=asked_by)
    AttentionInterface.register(PACKED[attention], function)
    model.set_attn_implementation(PACKED[attention])


def fastest(model: Any) -> str:
    """What `AUTO_ATTENTION` is for a model: torch's own flash kernel where it runs, and sdpa elsewhere."""
    if not torch.cuda.is_available() or uses_cpu() or model.dtype not in (torch.bfloat16, torch.float16):
        return "sdpa"
    try:
        open_kernel(TORCH_VARLEN, model.config)
    except RecipeError:
        return "sdpa"
    return TORCH_VARLEN


def packing_refusal(model: Any, attention: str) -> PackingRefusal | None:
    """Why a model cannot attend within packed sequences; None where it can.

    Args:
        model: a causal language model, before any adapter wraps it.
        attention: the attention that it is to have, one of `PACKED` or of its values.
    """
    rope = global_rope(model.config)
    if rope:
        return PackingRefusal(
            "model.name",
            f"its rotary embedding ({rope}) depends on the longest sequence of a batch, so that requests cannot share a "
            "pass; take another model",
        )
    if attention not in PACKED and attention not in PACKED.values():
        return PackingRefusal(
            "model.attn_implementation",
            f"{attention!r} cannot keep the candidates of a prompt from seeing each other; write one of {', '.join(PACKED)}",
        )
    seen = probe(model)
    if seen.refusal:
        return PackingRefusal(
            "model.name",
            f"{model.config.model_type!r} models cannot train with a shared prefix: {seen.refusal}; take another model",
            seen.has_stock,
        )
    configs = {
        id(layer.config)
        for layer in model.modules()
        # attention, of which there is one a layer; other layers hold a configuration, too
        if hasattr(layer, "layer_idx") and isinstance(getattr(layer, "config", None), type(model.config))
    }
    if len(configs) > 1:
        return PackingRefusal(
            "model.name",
            "copied layers have a configuration of their own, so that they would attend as before, and candidates see each "
            "other; leave LoRA's layer_replication out, or load the copied layers from files",
        )
    return None


def refuse_cpu(attention: str, *, use_cpu: bool, asked_by: str = BY_KEY) -> None:
    """Refuse a kernel that has no backward pass where the training will run.

    Args:
        attention: value of `model.attn_implementation`.
        use_cpu: the accelerate configuration keeps the training from a GPU that may be here.
        asked_by: what names the attention, as an error says it.

    Raises:
        RecipeError: that is on the CPU, and the kernel is not sdpa.
    """
    if attention in PACKED and attention != "sdpa" and (use_cpu or not torch.cuda.is_available()):
        raise RecipeError(
            f"{asked_by}: {attention} has no backward pass on the CPU; write sdpa, or train on a machine with a GPU"
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
    return attention if attention == "flex_attention" or attention not in (AUTO_ATTENTION, *PACKED) else "eager"
