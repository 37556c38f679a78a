"""Floating-point operations that a training step needs, whatever it really runs.

Counted as is usual for model FLOPs utilisation (Chowdhery et al. 2022, arXiv:2204.02311, appendix B): a multiplication and an
addition are two operations, attention counts what a causal mask leaves, recomputation and padding count nothing. With LoRA the
weights themselves get no gradient: a forward pass and one backward pass of the same size for the policy, a forward pass for the
reference.
"""

from collections.abc import Sequence
from typing import Any

# forward pass of the policy, its backward pass, forward pass of the reference
PASSES = 3
# attention multiplies queries with keys and weights with values; going back, both have two operands that need a gradient
ATTENTION_PASSES = 4


def step_flops(model: Any, n_prompt: int, n_candidates: Sequence[int], n_logits: int) -> float:
    """Operations of a LoRA step on one packed request, the reference included.

    Args:
        model: a causal language model of transformers without adapter.
        n_prompt: tokens of the prompt.
        n_candidates: tokens of each candidate that are run.
        n_logits: tokens whose logits are made.
    """
    config = model.config.get_text_config()
    head = model.get_output_embeddings().weight.numel()
    embeddings = model.get_input_embeddings().weight.numel()
    tied = model.get_output_embeddings().weight is model.get_input_embeddings().weight
    body = sum(p.numel() for p in model.parameters() if p.ndim > 1) - embeddings - (0 if tied else head)
    width = config.num_attention_heads * (
        getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    )
    seen = n_prompt * (n_prompt + 1) / 2 + sum(n * n_prompt + n * (n + 1) / 2 for n in n_candidates)
    n_tokens = n_prompt + sum(n_candidates)
    matrices = PASSES * 2 * (body * n_tokens + head * n_logits)
    return float(matrices + ATTENTION_PASSES * 2 * 2 * width * seen * config.num_hidden_layers)
