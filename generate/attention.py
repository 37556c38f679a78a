"""Attention on a part of what a token sees, and the parts joined to the whole."""

import torch

FLASH = "_scaled_dot_product_flash_attention_for_cpu"
# query tokens whose scores are held at once where there is no fused kernel
QUERIES_AT_ONCE = 256

# output (batch, heads, tokens, size), and the log of the sum of the exponentials of its scores (batch, heads, tokens)
Attended = tuple[torch.Tensor, torch.Tensor]


def attend(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *, causal: bool, scaling: float) -> Attended:
    """Softmax attention and its log-sum-exp, which is float32.

    Args:
        query: (batch, heads, tokens, size).
        key: (batch, key-value heads, key tokens, size); the number of heads is a multiple of theirs.
        value: like `key`.
        causal: query token i sees the keys 0 to i; otherwise all.
        scaling: factor of the scores.
    """
    if query.device.type == "cpu" and hasattr(torch.ops.aten, FLASH):
        out, lse = getattr(torch.ops.aten, FLASH)(query, key, value, 0.0, causal, scale=scaling)
        return out, lse
    return attend_plainly(query, key, value, causal=causal, scaling=scaling)


def attend_plainly(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, *, causal: bool, scaling: float
) -> Attended:
    """The same without a fused kernel, a few hundred query tokens at a time; scores are float32, whatever the inputs are."""
    batch, heads, tokens, size = query.shape
    # the heads that share keys and values stand side by side, so nothing is repeated for them
    grouped = query.reshape(batch, key.shape[1], -1, tokens, size)
    keys = key.float().transpose(2, 3)
    parts = []
    for first in range(0, tokens, QUERIES_AT_ONCE):
        some = grouped[:, :, :, first : first + QUERIES_AT_ONCE]
        n = some.shape[3]
        # (batch, key-value heads, heads of each, n, key tokens)
        scores = some.reshape(batch, key.shape[1], -1, size).float() @ keys * scaling
        scores = scores.reshape(batch, key.shape[1], -1, n, key.shape[2])
        if causal:
            hidden = torch.ones(scores.shape[3:], dtype=torch.bool, device=scores.device).triu(first + 1)
            scores = scores.masked_fill(hidden, float("-inf"))
        lse = scores.logsumexp(dim=-1)
        weights = (scores - lse[..., None]).exp().to(value.dtype).flatten(2, 3)
        parts.append(((weights @ value).reshape(batch, heads, n, size), lse.reshape(batch, heads, n)))
    out, lse = (torch.cat(each, dim=2) for each in zip(*parts, strict=True))
    return out, lse


def join(whole: Attended, part: Attended) -> None:
    """Take what another part of the keys gave into `whole`, which is float32 and changed in place."""
    out, lse = whole
    part_out, part_lse = part
    joined = torch.logaddexp(lse, part_lse)
    out.mul_((lse - joined).exp()[..., None]).addcmul_(part_out, (part_lse - joined).exp()[..., None])
    lse.copy_(joined)
