"""Repetition penalty and the ban on n-grams that come twice, for vLLM, over generated tokens or over the prompt as well.

vLLM has no such ban, and its penalty always looks at the prompt too, as transformers' does. A summary could then not use its
source's words, which shows as broken spelling; so the prompt is left out unless a sampling plan says `include_prompt`.
"""

from collections.abc import Sequence
from typing import Any

import torch
from vllm.sampling_params import SamplingParams
from vllm.v1.sample.logits_processor import AdapterLogitsProcessor

from ..records import Sampling
from .drawing import penalised
from .ngrams import NGramBan

# key of SamplingParams.extra_args that holds penalty, size of the n-grams, and whether the prompt is looked at
REPETITION = "evenhand_repetition"


def repetition_arguments(sampling: Sampling) -> dict[str, Any]:
    """Entries of SamplingParams.extra_args that ask for a sampling's penalty and ban; none where it has neither."""
    if sampling.repetition_penalty == 1 and not sampling.no_repeat_ngram_size:
        return {}
    return {REPETITION: [sampling.repetition_penalty, sampling.no_repeat_ngram_size, sampling.include_prompt]}


class Repetition(AdapterLogitsProcessor):
    """Lowers and rules out tokens of requests whose sampling parameters ask for it."""

    def is_argmax_invariant(self) -> bool:
        """Penalty and ban can change which token is the most likely one."""
        return False

    def new_req_logits_processor(self, params: SamplingParams) -> Any:
        """What one request asks for, None when it asks for nothing."""
        wanted = (params.extra_args or {}).get(REPETITION)
        return None if wanted is None else _Request(*wanted)


class _Request:
    """Penalty and ban of one request; each of its tokens is looked at once."""

    def __init__(self, penalty: float, ngram_size: int, include_prompt: bool) -> None:
        self._penalty = torch.tensor([penalty])
        self._ban = NGramBan(ngram_size) if ngram_size else None
        self._include_prompt = include_prompt
        # generated tokens that were looked at; None before the first step
        self._n_taken: int | None = None

    def __call__(self, prompt: list[int], generated: list[int], logits: torch.Tensor) -> torch.Tensor:
        """The logits of the next token, (vocabulary,)."""
        if self._n_taken is None:
            self._seen = torch.zeros_like(logits, dtype=torch.bool)
            self._take(prompt if self._include_prompt else [])
            self._n_taken = 0
        self._take(generated[self._n_taken :])
        self._n_taken = len(generated)
        found = penalised(logits[None], self._seen[None], self._penalty.to(logits.device))[0]
        if self._ban is not None:
            found[self._ban.banned()] = float("-inf")
        return found

    def _take(self, tokens: Sequence[int]) -> None:
        self._seen[list(tokens)] = True
        if self._ban is not None:
            self._ban.take(tokens)
