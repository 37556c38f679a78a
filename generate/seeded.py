"""Draws with a seed for each candidate, for vLLM.

With vLLM's own per-request seeds each row fills its whole vocabulary with random numbers at every step, and top-p sorts it; on
the CPU that takes a good part of a step. They also crash the CPU engine when a prompt is prefilled in chunks. Here the rows of a
step are drawn together, from one number each, by the function that the transformers backend draws with: equal seeds mean equal
texts there and here, as far as both compute equal logits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from vllm.sampling_params import SamplingParams
from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor
from vllm.v1.sample.logits_processor.builtin import process_dict_updates

from ..records import Sampling
from .drawing import draw_tokens, random_numbers

# key of SamplingParams.extra_args that holds seed, min-p, top-k and top-p of a draw
DRAW = "evenhand_draw"


def draw_arguments(sampling: Sampling, seed: int) -> dict[str, Any]:
    """Entries of SamplingParams.extra_args that ask for draws from this seed; temperature stays vLLM's own."""
    return {DRAW: [seed, sampling.min_p, sampling.top_k, sampling.top_p]}


@dataclass(frozen=True)
class Row:
    """A request that asks for draws from a seed."""

    # one number in [0, 1) for each token
    numbers: Sequence[float]
    # min-p, top-k, top-p
    filters: tuple[float, float, float]
    # tokens drawn so far; vLLM adds to it
    output: list[int]


class SeededDraw(LogitsProcessor):
    """Draws the next token of each request that asks for it and leaves vLLM's sampler no other."""

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        self._rows: dict[int, Row] = {}
        self._places = torch.tensor([])
        self._filters = torch.tensor([])

    def is_argmax_invariant(self) -> bool:
        """Called after the temperature, where vLLM draws; greedy requests are not touched."""
        return True

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow requests that come, go and move."""
        if process_dict_updates(self._rows, batch_update, _row):
            self._places = torch.tensor(sorted(self._rows))
            self._filters = torch.tensor([self._rows[i].filters for i in sorted(self._rows)], dtype=torch.float64)

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """The logits, (requests, vocabulary); of a row that was drawn only the drawn token's is left."""
        if not self._rows:
            return logits
        rows = [self._rows[i] for i in sorted(self._rows)]
        numbers = torch.tensor(
            [row.numbers[len(row.output)] for row in rows], dtype=torch.float64, device=logits.device
        )
        places = self._places.to(logits.device)
        min_p, top_k, top_p = self._filters.to(logits.device).unbind(dim=1)
        tokens = draw_tokens(logits[places], numbers, torch.ones_like(numbers), (min_p, top_k, top_p))
        logits[places] = float("-inf")
        logits[places, tokens] = 0
        return logits


def _row(params: SamplingParams, _prompt: list[int] | None, output: list[int]) -> Row | None:
    wanted = (params.extra_args or {}).get(DRAW)
    if wanted is None:
        return None
    seed, *filters = wanted
    # a draw after the last token is thrown away by the engine, but must have a number
    return Row([*random_numbers(seed, params.max_tokens or 1), 0.0], (filters[0], filters[1], filters[2]), output)
