"""Decoding with `cascade`: segments of prompts level by level, then rows side by side."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from .backend import Usage
from .cascade import RowPass, SegmentPass
from .prefixes import Segment, segments

# tokens of small segments that go through the model in one pass; a longer segment has a pass of its own
TOKENS_PER_PASS = 2048


class CascadeDecoder:
    """Starts and continues rows on a model whose attention is `cascade_attention`."""

    def __init__(self, model: Any, usage: Usage, longest: int) -> None:
        self._model = model
        self._usage = usage
        self._longest = longest
        self._device = next(model.parameters()).device
        # the last segment of each row's prompt, batch by batch
        self._ends: list[list[Segment]] = []
        # segments that are kept
        self._live: set[Segment] = set()
        self._rows: RowPass | None = None

    def arrange(self, prompts: Sequence[tuple[int, ...]], most_rows: int) -> list[list[int]]:
        """Batches of places of `prompts`, to be started one after another: prompts that begin alike stand together."""
        order = sorted(range(len(prompts)), key=lambda i: (prompts[i], i))
        distinct = sorted(set(prompts))
        end_of = dict(zip(distinct, segments(distinct), strict=True))
        batches = [order[first : first + most_rows] for first in range(0, len(order), most_rows)]
        self._ends = [[end_of[prompts[i]] for i in batch] for batch in batches]
        return batches

    def start(self, batch: int) -> torch.Tensor:
        """Begin the rows of a batch, counted from 0; logits of their first tokens, (rows, vocabulary)."""
        # the rows before these are done; their keys and values should not stand beside a prefill
        self._rows = None
        ends = self._ends[batch]
        needed = list(dict.fromkeys(segment for end in ends for segment in end.path()))
        # rows below one segment are neighbours: what these rows do not need no later row needs
        for segment in self._live.difference(needed):
            segment.kept = None
        self._live = set(needed)
        new = [segment for segment in needed if segment.kept is None]
        for level in sorted({segment.level for segment in new}):
            for packed in _packs([segment for segment in new if segment.level == level]):
                self._run_segments(packed)
        self._usage.add(sum(end.end for end in ends), sum(len(segment.tokens) for segment in new))
        self._rows = RowPass(ends, self._longest, self._device)
        return torch.stack([end.kept.logits for end in ends])

    def _run_segments(self, packed: Sequence[Segment]) -> None:
        run = SegmentPass(packed, self._longest)
        tokens = [token for segment in packed for token in segment.tokens]
        positions = [place for segment in packed for place in range(segment.start, segment.end)]
        last = [end - 1 for _, end in run.places]
        logits = self._forward(tokens, positions, run, torch.tensor(last, device=self._device))
        for segment, after in zip(packed, logits, strict=True):
            segment.kept.logits = after

    def step(self, tokens: Sequence[int]) -> torch.Tensor:
        """Give each row its next token; logits of the one after, (rows, vocabulary)."""
        assert self._rows is not None, "no rows were started"
        logits = self._forward(tokens, self._rows.positions, self._rows, 0)
        self._rows.advance()
        return logits

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these rows only."""
        assert self._rows is not None, "no rows were started"
        self._rows.keep(rows)

    def release(self) -> None:
        """Let go of everything that is kept."""
        self._ends, self._live, self._rows = [], set(), None

    def _forward(self, tokens: Any, positions: Any, cascade: Any, logits_to_keep: Any) -> torch.Tensor:
        out = self._model(
            input_ids=torch.as_tensor(tokens, device=self._device)[None],
            position_ids=torch.as_tensor(positions, device=self._device)[None],
            use_cache=False,
            logits_to_keep=logits_to_keep,
            cascade=cascade,
        )
        logits: torch.Tensor = out.logits[0].float()
        return logits


def _packs(fresh: Sequence[Segment]) -> Iterator[list[Segment]]:
    """The segments in passes of at most TOKENS_PER_PASS tokens, or of one segment."""
    packed: list[Segment] = []
    size = 0
    for segment in fresh:
        if packed and size + len(segment.tokens) > TOKENS_PER_PASS:
            yield packed
            packed, size = [], 0
        packed.append(segment)
        size += len(segment.tokens)
    if packed:
        yield packed
