"""Attention that ranks segments by their importance and looks at the important ones as if they stood nearest.

The model is called with position 0 for every token, so queries and keys come here un-rotated; un-rotated keys are what is cached.

    prefix tokens      ordinary causal attention at ordinary positions
    segment tokens     see the prefix, all other segments, and their own segment causally; one ranking a segment and head
    suffix tokens      see the prefix, all segments, and earlier suffix tokens; a ranking of each token and head

For a query at position P, a key of segment j stands at its base position b less the segment's shift s. Rotary scores depend on
differences of positions alone, so instead of the keys of every head, P - (b - s) is had by turning the query to P + s: a token
costs one turned query a segment and head, and keys are rotated once, at their base positions.

Source: Wang et al. 2024 (PINE, arXiv:2407.01100); docs/papers.md#ri-pine.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ....errors import ModelError
from ....generate.cascade import UNKNOWN
from .positions import Rotation, base_positions, ranked, rotation_for, segment_means, shifts

# the name under which transformers calls `pine_attention`
NAME = "evenhand_pine"
# query tokens whose scores are held at once
QUERIES_AT_ONCE = 128


def pine_attention(
    module: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, attention_mask: None, **options: Any
) -> tuple[torch.Tensor, None]:
    """Reweighted attention of one row, as transformers calls it; (1, tokens, heads, head size), and no weights.

    Args:
        module: the attention layer.
        query: (1, heads, tokens, head size), at position 0.
        key: (1, key-value heads, tokens, head size), at position 0.
        value: like `key`.
        attention_mask: none is made for an implementation of ours.
        options: `pine`, the row; `scaling` of the scores; what the layer says besides.

    Raises:
        ModelError: the layer attends in another way.
    """
    row: SegmentedRow = options["pine"]
    window = options.get("sliding_window")
    strange = [name for name in UNKNOWN if options.get(name) is not None]
    if window is not None and window < row.longest:
        strange.append(f"a window of {window} tokens, fewer than a prompt may have ({row.longest})")
    if query.shape[-1] != 2 * len(row.frequencies):
        strange.append("positions in a part of each head only")
    if strange:
        raise ModelError(f"attention with {', '.join(strange)} cannot be reweighted")
    out = row.attend(module.layer_idx, query[0], key[0], value[0], options["scaling"])
    return out.to(query.dtype).transpose(0, 1)[None], None


@dataclass(frozen=True)
class _Kept:
    """What a layer keeps of the tokens so far, each (key-value heads, tokens, head size)."""

    # un-rotated
    keys: torch.Tensor
    # the keys at their base positions, under `rotation`
    rotated: torch.Tensor
    values: torch.Tensor
    rotation: Rotation


class SegmentedRow:
    """One prompt of prefix, segments and suffix, and what is generated after it.

    Args:
        prefix_len: tokens of the prefix.
        segment_lens: tokens of each segment, none 0.
        rotary: the model's rotary embedding.
        longest: most tokens of a prompt and its answer.
    """

    def __init__(self, prefix_len: int, segment_lens: Sequence[int], rotary: Any, longest: int) -> None:
        assert all(segment_lens), "segments without tokens are dropped before"
        self.longest = longest
        self.n_tokens = 0
        self._prefix_len = prefix_len
        self._lens = list(segment_lens)
        self._end = prefix_len + sum(segment_lens)
        self._rotary = rotary
        self._rotation = Rotation(torch.empty(0), 1.0)
        self._layers: dict[int, _Kept] = {}

    @property
    def frequencies(self) -> torch.Tensor:
        """Frequencies of the rotary positions, (head size / 2,)."""
        return self._rotation.frequencies

    def copy(self) -> "SegmentedRow":
        """A row that goes on from here on its own."""
        row = SegmentedRow(self._prefix_len, self._lens, self._rotary, self.longest)
        row.n_tokens, row._rotation = self.n_tokens, self._rotation
        # kept tensors are replaced and never changed
        row._layers = dict(self._layers)
        return row

    def begin_pass(self, n_new: int) -> None:
        """Say that `n_new` tokens come next; the first pass has the whole prompt."""
        assert self.n_tokens or n_new > self._end, "the first pass has prefix, segments and a suffix"
        self.n_tokens += n_new
        rotation = rotation_for(self._rotary, self.n_tokens)
        device = rotation.frequencies.device
        self._base = base_positions(self._prefix_len, self._lens, self.n_tokens - self._end).to(device)
        self._lens_there = torch.tensor(self._lens, device=device)
        known = self._rotation
        if rotation.scaling != known.scaling or not torch.equal(rotation.frequencies, known.frequencies.to(device)):
            self._rotation = rotation

    def attend(
        self, layer: int, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scaling: float
    ) -> torch.Tensor:
        """Attention of the tokens of this pass in one layer, (heads, tokens, head size).

        Args:
            query: (heads, tokens, head size), rotated to position 0, which is not at all but for the rotation's factor.
            key: (key-value heads, tokens, head size), likewise.
            value: like `key`.
            scaling: factor of the scores.
        """
        n_new = query.shape[1]
        query = query / self._rotation.scaling
        cache = self._keep(layer, key / self._rotation.scaling, value)
        work = _Layer(query, cache, self.n_tokens - n_new, scaling)
        if n_new < self.n_tokens:
            return self._suffix(work, self.n_tokens - n_new)
        parts = [self._prefix(work)] if self._prefix_len else []
        parts += [self._segment(work, segment) for segment in range(len(self._lens))]
        return torch.cat([*parts, self._suffix(work, self._end)], dim=1)

    def _keep(self, layer: int, key: torch.Tensor, value: torch.Tensor) -> _Kept:
        old = self._layers.get(layer)
        keys = torch.cat([old.keys, key], dim=1) if old else key
        values = torch.cat([old.values, value], dim=1) if old else value
        if old and old.rotation is self._rotation:
            new = self._rotation.rotate(key, self._base[-key.shape[1] :]).to(key.dtype)
            rotated = torch.cat([old.rotated, new], dim=1)
        else:
            rotated = self._rotation.rotate(keys, self._base).to(key.dtype)
        self._layers[layer] = _Kept(keys, rotated, values, self._rotation)
        return self._layers[layer]

    def _prefix(self, work: "_Layer") -> torch.Tensor:
        n = self._prefix_len
        query = self._rotation.rotate(work.query[:, :n], self._base[:n]).to(work.query.dtype)
        out: torch.Tensor = torch.nn.functional.scaled_dot_product_attention(
            query[None],
            work.kept.rotated[None, :, :n],
            work.kept.values[None, :, :n],
            is_causal=True,
            scale=work.scaling,
            enable_gqa=True,
        )
        return out[0]

    def _bounds(self, segment: int) -> tuple[int, int]:
        """Place of a segment's first token, and one past its last."""
        first = self._prefix_len + sum(self._lens[:segment])
        return first, first + self._lens[segment]

    def _segment(self, work: "_Layer", segment: int) -> torch.Tensor:
        """What the tokens of one segment make of the prefix and of all segments."""
        first, end = self._bounds(segment)
        n_heads, n_segments = work.query.shape[0], len(self._lens)
        importance = work.query.new_zeros(n_heads, n_segments, dtype=torch.float32)
        # with one other segment there is nothing to rank
        for some in _blocks(first, end) if n_segments > 2 else ():
            importance += self._importance(work, some, segment).sum(dim=1)
        moved = shifts(ranked(importance, segment), self._lens_there)[:, None]  # (heads, 1, segments)
        return torch.cat([self._weighted(work, some, moved, (first, end)) for some in _blocks(first, end)], dim=1)

    def _suffix(self, work: "_Layer", first: int) -> torch.Tensor:
        """What the tokens from place `first` on, which are after all segments, make of everything before them."""
        parts = []
        for some in _blocks(first, self.n_tokens):
            moved = None
            if self._lens:
                moved = shifts(ranked(self._importance(work, some, None), None), self._lens_there)
            parts.append(self._weighted(work, some, moved, (self._end, self.n_tokens)))
        return torch.cat(parts, dim=1)

    def _importance(self, work: "_Layer", some: slice, segment: int | None) -> torch.Tensor:
        """Importance of each segment for some tokens, (heads, tokens, segments), from un-rotated queries and keys."""
        keys = work.kept.keys[:, self._prefix_len : self._end]
        scores = _grouped(work.queries(some), keys.transpose(1, 2)).float() * work.scaling
        if segment is not None:
            first, end = self._bounds(segment)
            scores[:, :, first - self._prefix_len : end - self._prefix_len] = float("-inf")
        return segment_means(scores.softmax(dim=-1), self._lens)

    def _weighted(
        self, work: "_Layer", some: slice, moved: torch.Tensor | None, causal: tuple[int, int]
    ) -> torch.Tensor:
        """Attention of some tokens, (heads, tokens, head size).

        Args:
            moved: shift of each segment, (heads, tokens or 1, segments); None without segments.
            causal: places of the keys that a token sees only up to its own; the others before their end it sees all.
        """
        dtype, keys = work.query.dtype, work.kept.rotated
        n_keys = self._end if causal[1] <= self._end else causal[1]
        query = self._rotation.rotate(work.queries(some), self._base[some])
        scores = _grouped(query.to(dtype), keys[:, :n_keys].transpose(1, 2)).float()
        for j in range(len(self._lens)):
            assert moved is not None
            first, end = self._bounds(j)
            turned = self._rotation.turn(query, moved[..., j]).to(dtype)
            scores[:, :, first:end] = _grouped(turned, keys[:, first:end].transpose(1, 2)).float()
        place = torch.arange(n_keys, device=scores.device)
        query_places = torch.arange(some.start, some.stop, device=scores.device)[:, None]
        hidden = (place >= causal[0]) & (place < causal[1]) & (place > query_places)  # (tokens, keys)
        weights = (scores * work.scaling).masked_fill(hidden, float("-inf")).softmax(dim=-1)
        return _grouped(weights.to(dtype), work.kept.values[:, :n_keys])


@dataclass(frozen=True)
class _Layer:
    """A pass of a row in one layer."""

    # un-rotated, (heads, tokens, head size)
    query: torch.Tensor
    kept: _Kept
    # place of the pass's first token
    start: int
    scaling: float

    def queries(self, places: slice) -> torch.Tensor:
        """Un-rotated queries of the tokens at these places."""
        return self.query[:, places.start - self.start : places.stop - self.start]


def _blocks(first: int, end: int) -> Iterator[slice]:
    for start in range(first, end, QUERIES_AT_ONCE):
        yield slice(start, min(start + QUERIES_AT_ONCE, end))


def _grouped(states: torch.Tensor, shared: torch.Tensor) -> torch.Tensor:
    """Product of each head's states, (heads, n, m), with what its group shares, (key-value heads, m, k): (heads, n, k)."""
    n_heads, n, m = states.shape
    product = states.reshape(shared.shape[0], -1, m) @ shared
    return product.reshape(n_heads, n, -1)
