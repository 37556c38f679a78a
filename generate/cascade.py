"""Attention for decoding in which what prompts share is run once and kept once.

A pass of the model holds tokens of many segments, or one next token of many rows, packed into one sequence. Each token attends to
its own segment or row, and to every segment above; the parts are joined by their log-sum-exp l:

    out = sum_i exp(l_i - l) out_i,    l = log sum_i exp(l_i)

which is the softmax over all of them. So nothing is padded, nothing masked, and the keys and values of a prompt are neither
repeated for its rows nor copied as the rows grow.

Source: the split of the softmax is that of Milakov & Gimelshein 2018 (arXiv:1805.02867).
"""

from collections.abc import Sequence
from typing import Any

import torch

from ..errors import ModelError
from .prefixes import Segment

# the name under which transformers calls `cascade_attention`
NAME = "evenhand_cascade"
# room for a row's own tokens to begin with; doubled when it is full
FIRST_ROOM = 32
# arguments of an attention layer that change what a token sees, beyond what is before it
UNKNOWN = ("softcap", "s_aux", "sinks")

# a segment that some of a pass's tokens see, and which of them: first, and one past the last
Seen = tuple[Segment, int, int]
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
    out, lse = (torch.cat(tensors, dim=2) for tensors in zip(*parts, strict=True))
    return out, lse


def join(whole: Attended, part: Attended) -> None:
    """Take what another part of the keys gave into `whole`, which is float32 and changed in place."""
    out, lse = whole
    part_out, part_lse = part
    joined = torch.logaddexp(lse, part_lse)
    out.mul_((lse - joined).exp()[..., None]).addcmul_(part_out, (part_lse - joined).exp()[..., None])
    lse.copy_(joined)


def cascade_attention(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: None,
    **options: Any,
) -> tuple[torch.Tensor, None]:
    """Attention of packed tokens, as transformers calls it; (1, tokens, heads, head size), and no weights.

    Args:
        module: the attention layer.
        query: (1, heads, tokens, head size).
        key: (1, key-value heads, tokens, head size).
        value: like `key`.
        attention_mask: none is made for an implementation of ours.
        options: `cascade`, the pass that is under way; `scaling` of the scores; what the layer says besides.

    Raises:
        ModelError: the layer attends in another way.
    """
    window = options.get("sliding_window")
    unknown = [name for name in UNKNOWN if options.get(name) is not None]
    if unknown or query.shape[-1] != value.shape[-1] or (window is not None and window < options["cascade"].longest):
        raise ModelError(
            f"attention with {', '.join(unknown) or 'a window or unequal heads'} cannot be split into parts"
        )
    out = options["cascade"].attend(module.layer_idx, query, key, value, options["scaling"])
    return out.to(query.dtype).transpose(1, 2).contiguous(), None


class SegmentPass:
    """Segments of one level on their way through the model; their keys and values stay in `Segment.kept`."""

    def __init__(self, packed: Sequence[Segment], longest: int) -> None:
        self.longest = longest
        ends = [sum(len(segment.tokens) for segment in packed[: i + 1]) for i in range(len(packed))]
        self.places = [(end - len(segment.tokens), end) for segment, end in zip(packed, ends, strict=True)]
        self._packed = packed
        self._seen = _seen([segment.parent for segment in packed], self.places)
        for segment in packed:
            segment.kept = SegmentCache()

    def attend(self, layer: int, query: Any, key: Any, value: Any, scaling: float) -> torch.Tensor:
        """(1, heads, tokens, head size) of one layer."""
        attended: list[Attended] = []
        for segment, (first, end) in zip(self._packed, self.places, strict=True):
            q, k, v = (tensor[:, :, first:end] for tensor in (query, key, value))
            attended.append(attend(q, k, v, causal=True, scaling=scaling))
            segment.kept.layers[layer] = k.contiguous(), v.contiguous()
        out, lse = (torch.cat(parts, dim=2) for parts in zip(*attended, strict=True))
        return _join_seen((out, lse), self._seen, layer, query, scaling)


class RowPass:
    """Rows that are decoded side by side: their next tokens on the way through the model, all earlier ones kept.

    Args:
        ends: the last segment of each row's prompt; rows that share segments stand together.
        longest: tokens that a row may have, its prompt included.
    """

    def __init__(self, ends: Sequence[Segment], longest: int, device: Any) -> None:
        self.longest = longest
        self._n_own = 0
        self._own: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self._set_ends(ends, device)

    def _set_ends(self, ends: Sequence[Segment], device: Any) -> None:
        self._ends = list(ends)
        self._starts = torch.tensor([segment.end for segment in ends], device=device)
        self._seen = _seen(ends, [(row, row + 1) for row in range(len(ends))])

    @property
    def positions(self) -> torch.Tensor:
        """Place of each row's next token, (rows,)."""
        return self._starts + self._n_own

    def advance(self) -> None:
        """The next tokens have run through all layers."""
        self._n_own += 1

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these rows only."""
        chosen = torch.tensor(rows, device=self._starts.device)
        self._own = {layer: (keys[chosen], values[chosen]) for layer, (keys, values) in self._own.items()}
        self._set_ends([self._ends[row] for row in rows], self._starts.device)

    def attend(self, layer: int, query: Any, key: Any, value: Any, scaling: float) -> torch.Tensor:
        """(1, heads, rows, head size) of one layer."""
        _, n_heads, n_rows, size = query.shape
        keys, values = self._grown(layer, key, value)
        # the heads that share keys and values become query tokens of one head: (rows, key-value heads, group, size)
        folded = query[0].transpose(0, 1).reshape(n_rows, keys.shape[1], -1, size)
        out, lse = attend(folded, keys, values, causal=False, scaling=scaling)
        own = out.reshape(1, n_rows, n_heads, size).transpose(1, 2), lse.reshape(1, n_rows, n_heads).transpose(1, 2)
        return _join_seen(own, self._seen, layer, query, scaling)

    def _grown(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The rows' own keys and values with those of the next tokens, (rows, key-value heads, tokens, size)."""
        n = self._n_own
        new = [tensor[0].transpose(0, 1) for tensor in (key, value)]
        kept = self._own.get(layer) or tuple(
            tensor.new_empty(*tensor.shape[:2], FIRST_ROOM, tensor.shape[2]) for tensor in new
        )
        if n == kept[0].shape[2]:
            kept = tuple(torch.cat([tensor, torch.empty_like(tensor)], dim=2) for tensor in kept)
        for each, tokens in zip(kept, new, strict=True):
            each[:, :, n] = tokens
        self._own[layer] = kept[0], kept[1]
        return kept[0][:, :, : n + 1], kept[1][:, :, : n + 1]


class SegmentCache:
    """What a segment leaves behind: keys and values of each layer, and the logits after its last token."""

    def __init__(self) -> None:
        self.layers: dict[int, tuple[torch.Tensor, torch.Tensor]] = {}
        self.logits: torch.Tensor | None = None


def _seen(lowest: Sequence[Segment | None], places: Sequence[tuple[int, int]]) -> list[Seen]:
    """Each segment that is one of `lowest` or above one, with the packed tokens below it, which are neighbours."""
    ranges: dict[Segment, tuple[int, int]] = {}
    for segment, (first, end) in zip(lowest, places, strict=True):
        for above in segment.path() if segment else []:
            ranges[above] = ranges.get(above, (first, end))[0], end
    return [(segment, first, end) for segment, (first, end) in ranges.items()]


def _join_seen(own: Attended, seen: Sequence[Seen], layer: int, query: torch.Tensor, scaling: float) -> torch.Tensor:
    """What the packed tokens made of their own segment or row, joined by what they make of the segments above."""
    if not seen:
        return own[0]
    out, lse = own[0].float(), own[1]
    for segment, first, end in seen:
        part = attend(query[:, :, first:end], *segment.kept.layers[layer], causal=False, scaling=scaling)
        join((out[:, :, first:end], lse[:, :, first:end]), part)
    return out
