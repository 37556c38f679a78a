"""Which decoder a model gets: the cascade where its attention is known to split into parts, else the padded one."""

import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import AttentionInterface

from ..errors import ModelError
from ..extras import need
from .backend import Usage
from .cascade import NAME, cascade_attention
from .cascade_decoder import CascadeDecoder
from .padded import PaddedDecoder
from .prefixes import LEAST_SHARED

if TYPE_CHECKING:
    from .transformers_backend import Decoder

log = logging.getLogger(__name__)

# largest mean difference of logits, in standard deviations of the logits: numbers differ in their last digits, and a token that
# sees too much or too little changes them by about one standard deviation
MOST_DIFFERENCE = {torch.float32: 1e-3, torch.bfloat16: 0.1, torch.float16: 0.1}


def open_decoder(model: Any, adapter: Path | None, usage: Usage, longest: int) -> "Decoder":
    """A decoder for the model and, where asked for, its adapter.

    The cascade is taken only when it gives the logits of a plain forward pass on a short example. It does not for layers with a
    sliding window shorter than `longest`, bounded scores or attention sinks, and for layers that are no attention.

    Args:
        model: a causal language model; its attention implementation may be changed.
        adapter: folder of a LoRA adapter.
        usage: where prefilled tokens are counted.
        longest: most tokens of a prompt and its answer.
    """
    plain = model.config._attn_implementation
    reason = _why_not(model, longest)
    if reason:
        log.info("prompts are decoded padded, and share no beginnings: %s", reason)
        model.set_attn_implementation(plain)
    if adapter is not None:
        model = need("peft", "an adapter").PeftModel.from_pretrained(model, adapter).eval()
    return PaddedDecoder(model, usage) if reason else CascadeDecoder(model, usage, longest)


@torch.inference_mode()
def _why_not(model: Any, longest: int) -> str | None:
    """Why the cascade cannot be used; None after its attention was set and found right."""
    if model.config._attn_implementation != "sdpa" or not getattr(model, "_supports_attention_backend", False):
        return f"attention {model.config._attn_implementation!r} of {type(model).__name__} cannot be replaced"
    first, second = _example(model)
    expected = (
        model(input_ids=torch.tensor([first, second], device=model.device), use_cache=False).logits[:, -2:].float()
    )
    AttentionInterface.register(NAME, cascade_attention)
    model.set_attn_implementation(NAME)
    decoder = CascadeDecoder(model, Usage(), longest)
    try:
        decoder.arrange([tuple(first[:-1]), tuple(second[:-1])])
        found = torch.stack([decoder.start(0, 2), decoder.step([first[-1], second[-1]])], dim=1)
    except ModelError as error:
        return str(error)
    difference = float((found - expected).abs().mean() / expected.std())
    if difference <= MOST_DIFFERENCE[model.dtype]:
        return None
    return f"logits of {type(model).__name__} differ from a plain pass by {difference:.2g} standard deviations"


def _example(model: Any) -> tuple[list[int], list[int]]:
    """Two token sequences of one length, the first before the second in order, that share more than their beginning's half."""
    size = model.config.get_text_config().vocab_size
    tokens = [37 * i % size for i in range(1, 2 * LEAST_SHARED)]
    shared = tokens[: LEAST_SHARED + 8]
    low, high = sorted([tokens[-1], tokens[-2]])
    rest = tokens[LEAST_SHARED + 8 : -2]
    return [*shared, low, *rest, low], [*shared, high, *rest, high]
