"""Which decoder a model gets: the cascade where its attention is known to split into parts, else the padded one.

The cascade runs segments of prompts level by level, then rows side by side.
"""

import logging
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import torch
from transformers import AttentionInterface

from ..errors import ModelError
from ..models.adapters import open_adapter
from ..models.rope import global_rope
from ..models.small_copy import on_small_copy
from .backend import Usage
from .cascade import NAME, RowPass, SegmentPass, cascade_attention
from .padded import PaddedDecoder
from .prefixes import LEAST_SHARED, Segment, segments

log = logging.getLogger(__name__)

# values of model.attn_implementation for which the cascade may stand
REPLACED = ("sdpa", "flex_attention")
# largest mean difference of logits, in standard deviations of the logits: numbers differ in their last digits, and a token that
# sees too much or too little changes them by about one standard deviation
MOST_DIFFERENCE = {torch.float64: 1e-4, torch.float32: 1e-3, torch.bfloat16: 0.1, torch.float16: 0.1}
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


class Decoder(Protocol):
    """Runs a model on rows that are decoded side by side; rows are started in an order of its own."""

    def arrange(self, prompts: Sequence[tuple[int, ...]], most_rows: int) -> list[list[int]]:
        """Batches of places of `prompts`, each of at most `most_rows` rows, to be started one after another."""
        ...

    def start(self, batch: int) -> Any:
        """Begin the rows of a batch, counted from 0; logits of their first tokens, (rows, vocabulary)."""
        ...

    def step(self, tokens: Sequence[int]) -> Any:
        """Give each row its next token; logits of the one after, (rows, vocabulary)."""
        ...

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these rows only."""
        ...

    def release(self) -> None:
        """Let go of everything that is kept."""
        ...


def open_decoder(model: Any, adapter: Path | None, usage: Usage, longest: int) -> Decoder:
    """A decoder for the model and, where asked for, its adapter.

    The cascade is taken for architectures that it is known to be right for, and only when it gives the logits of a plain forward
    pass on a short example. Layers with a sliding window shorter than `longest` or bounded scores are beyond it.

    Args:
        model: a causal language model; its attention implementation may be changed.
        adapter: folder of a LoRA adapter.
        usage: where prefilled tokens are counted.
        longest: most tokens of a prompt and its answer.
    """
    plain = model.config._attn_implementation
    reason = _why_not(model, longest)
    if reason:
        log.warning("transformers: every distinct prompt is prefilled whole, because %s", reason)
        model.set_attn_implementation(plain)
    if adapter is not None:
        model = open_adapter(model, adapter)
    return PaddedDecoder(model, usage) if reason else CascadeDecoder(model, usage, longest)


def _why_not(model: Any, longest: int) -> str | None:
    """Why the cascade cannot be used; None after its attention was set and found right."""
    if model.config._attn_implementation not in REPLACED:
        return f"beginnings are shared with attn_implementation {' or '.join(REPLACED)}"
    rope = global_rope(model.config)
    if rope:
        return f"its rotary embedding ({rope}) depends on the longest sequence of a batch"
    try:
        # in which numbers hide nothing, and what bounds how far tokens see is met
        difference = on_small_copy(model, partial(_difference, longest=longest), reach=longest)
        allowed = MOST_DIFFERENCE[torch.float64]
        if difference <= allowed:
            difference, allowed = _difference(model, longest), MOST_DIFFERENCE[model.dtype]
    except ModelError as error:
        return str(error)
    if difference <= allowed:
        return None
    return f"logits of {type(model).__name__} differ from a plain pass by {difference:.2g} standard deviations"


@torch.inference_mode()
def _difference(model: Any, longest: int) -> float:
    """Mean difference of the cascade's logits from a plain pass's, in their standard deviation; the model keeps the cascade.

    Raises:
        ModelError: a layer attends in another way.
    """
    first, second = _example(model)
    model.set_attn_implementation("sdpa")
    tokens = torch.tensor([first, second], device=model.device)
    wanted = model(input_ids=tokens, use_cache=False).logits[:, -2:].float()
    AttentionInterface.register(NAME, cascade_attention)
    model.set_attn_implementation(NAME)
    decoder = CascadeDecoder(model, Usage(), longest)
    decoder.arrange([tuple(first[:-1]), tuple(second[:-1])], most_rows=2)
    logits = torch.stack([decoder.start(0), decoder.step([first[-1], second[-1]])], dim=1)
    return float((logits - wanted).abs().mean() / wanted.std())


def _example(model: Any) -> tuple[list[int], list[int]]:
    """Two token sequences of one length, the first before the second in order, that share more than their beginning's half."""
    size = model.config.get_text_config().vocab_size
    tokens = [37 * i % size for i in range(1, 2 * LEAST_SHARED)]
    shared = tokens[: LEAST_SHARED + 8]
    low, high = sorted([tokens[-1], tokens[-2]])
    rest = tokens[LEAST_SHARED + 8 : -2]
    return [*shared, low, *rest, low], [*shared, high, *rest, high]
