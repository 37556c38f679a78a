"""Floating-point operations that a model needs, whatever it really runs.

Counted as is usual for model FLOPs utilisation (Chowdhery et al. 2022, arXiv:2204.02311, appendix B): a multiplication and an
addition are two operations, attention counts what a causal mask leaves, recomputation and padding count nothing. With LoRA the
weights themselves get no gradient: a forward pass and one backward pass of the same size for the policy, a forward pass for the
reference. The adapter's own operations count nothing.
"""

from collections.abc import Sequence

from .sizes import Sizes

# attention multiplies queries with keys and weights with values; going back, both have two operands that need a gradient
ATTENTION_BACKWARD = 2


def step_flops(sizes: Sizes, n_prompt: int, n_candidates: Sequence[int], n_logits: int, *, reference: int = 1) -> float:
    """Operations of a LoRA step on one packed request, the reference included.

    Args:
        sizes: of the model without adapter.
        n_prompt: tokens of the prompt.
        n_candidates: tokens of each candidate that are run.
        n_logits: tokens whose logits are made.
        reference: forward passes of the reference, 0 where its log-probabilities are known.
    """
    n_tokens, n_seen = packed_tokens(n_prompt, n_candidates)
    return lora_flops(sizes, n_tokens, n_seen, n_logits, reference=reference)


def lora_flops(sizes: Sizes, n_tokens: float, n_seen: float, n_logits: float, *, reference: int = 1) -> float:
    """Operations of a LoRA step on whatever sequences; arguments as of `forward_flops` and `step_flops`."""
    forward = forward_flops(sizes, n_tokens, n_seen, n_logits)
    return forward * (2 + reference) + (ATTENTION_BACKWARD - 1) * attention_flops(sizes, n_seen)


def packed_tokens(n_prompt: int, n_candidates: Sequence[int]) -> tuple[int, float]:
    """Tokens of a packed request, and the pairs of tokens of which one sees the other."""
    n_seen = seen_from(0, n_prompt) + sum(seen_from(n_prompt, n) for n in n_candidates)
    return n_prompt + sum(n_candidates), n_seen


def seen_from(before: int, n: int) -> float:
    """Tokens that `n` tokens see together, themselves included, behind `before` others."""
    return n * before + n * (n + 1) / 2


def forward_flops(sizes: Sizes, n_tokens: float, n_seen: float, n_logits: float) -> float:
    """Operations of a forward pass.

    Args:
        sizes: of the model.
        n_tokens: that run through the layers.
        n_seen: tokens that these see, summed over them, themselves included.
        n_logits: tokens whose logits are made.
    """
    return 2 * (sizes.body * n_tokens + sizes.head * n_logits) + attention_flops(sizes, n_seen)


def attention_flops(sizes: Sizes, n_seen: float) -> float:
    """Operations of the products of queries with keys and of weights with values, all layers together."""
    return 2 * 2 * sizes.width * n_seen * sizes.layers
