"""Draws for vLLM: a seed for each candidate, repetition penalty, and the ban on n-grams that come twice.

With vLLM's own per-request seeds each row fills its whole vocabulary with random numbers at every step, and top-p sorts it; on
the CPU that takes a good part of a step. They also crash the CPU engine when a prompt is prefilled in chunks. Here the rows of a
step are drawn together, from one number each, by the function that the transformers backend draws with: equal seeds mean equal
texts there and here, as far as both compute equal logits.

vLLM has no ban on n-grams, and its penalty always looks at the prompt too, as transformers' does. A summary could then not use
its source's words, which shows as broken spelling; so the prompt is left out unless a sampling plan says `include_prompt`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from vllm.sampling_params import SamplingParams
from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor
from vllm.v1.sample.logits_processor.builtin import process_dict_updates

from ..records import Sampling
from .drawing import UsedTokens, draw_tokens, lower_used, random_numbers

# key of SamplingParams.extra_args for seed, min-p, top-k and top-p of a draw
DRAW = "evenhand_draw"
# key of SamplingParams.extra_args for penalty, size of the n-grams, and whether the prompt is looked at
REPETITION = "evenhand_repetition"


def draw_arguments(sampling: Sampling, seed: int) -> dict[str, Any]:
    """Entries of SamplingParams.extra_args that ask for draws from this seed; temperature stays vLLM's own."""
    return {DRAW: [seed, sampling.min_p, sampling.top_k, sampling.top_p]}


@dataclass(frozen=True)
class SeededRow:
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
        self._rows: dict[int, SeededRow] = {}
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


def _row(params: SamplingParams, _prompt: list[int] | None, output: list[int]) -> SeededRow | None:
    wanted = (params.extra_args or {}).get(DRAW)
    if wanted is None:
        return None
    seed, *filters = wanted
    # a draw after the last token is thrown away by the engine, but must have a number
    return SeededRow([*random_numbers(seed, params.max_tokens or 1), 0.0], (filters[0], filters[1], filters[2]), output)


def repetition_arguments(sampling: Sampling) -> dict[str, Any]:
    """Entries of SamplingParams.extra_args that ask for a sampling's penalty and ban; none where it has neither."""
    if not sampling.looks_back:
        return {}
    return {REPETITION: [sampling.repetition_penalty, sampling.no_repeat_ngram_size, sampling.include_prompt]}


class Repetition(LogitsProcessor):
    """Lowers and rules out tokens of requests whose sampling parameters ask for it."""

    def __init__(self, vllm_config: Any, device: torch.device, is_pin_memory: bool) -> None:
        self._rows: dict[int, RepetitionRow] = {}

    def is_argmax_invariant(self) -> bool:
        """Penalty and ban can change which token is the most likely one."""
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        """Follow requests that come, go and move."""
        process_dict_updates(self._rows, batch_update, _repetition_row)

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        """The logits, (requests, vocabulary), changed where a request asks for it."""
        for row in self._rows.values():
            row.used.take(row.output[row.n_taken :])
            row.n_taken = len(row.output)
        lower_used(logits, {index: row.used for index, row in self._rows.items()})
        return logits


@dataclass
class RepetitionRow:
    """A request that asks for a penalty or a ban."""

    used: UsedTokens
    # tokens generated so far; vLLM adds to it
    output: list[int]
    # those of them that were looked at
    n_taken: int = 0


def _repetition_row(params: SamplingParams, prompt: list[int] | None, output: list[int]) -> RepetitionRow | None:
    wanted = (params.extra_args or {}).get(REPETITION)
    if wanted is None:
        return None
    penalty, ngram_size, include_prompt = wanted
    return RepetitionRow(UsedTokens(penalty, ngram_size, (prompt or ()) if include_prompt else ()), output)
