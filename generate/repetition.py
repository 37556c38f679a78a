"""Repetition penalty over generated tokens only, for vLLM.

vLLM's own penalty, like the published runs', also punishes tokens of the prompt; a summary could then not use its source's
words, which shows as broken spelling. Source: specification of the seed paper, section 8.5, warning (b).
"""

from collections.abc import Sequence
from typing import Any

import torch
from vllm.sampling_params import SamplingParams
from vllm.v1.sample.logits_processor import AdapterLogitsProcessor

# key of SamplingParams.extra_args that holds the penalty
PENALTY = "evenhand_repetition_penalty"


def penalise(generated: Sequence[int], logits: torch.Tensor, penalty: float) -> torch.Tensor:
    """Logits of one next token, shape (vocabulary,), with those of already generated tokens lowered in place.

    Source: Keskar et al. 2019 (arXiv:1909.05858), section 4.1, in the form used by transformers: positive logits are
    divided by the penalty, negative ones multiplied.
    """
    if generated:
        seen = torch.tensor(sorted(set(generated)), device=logits.device)
        chosen = logits[seen]
        logits[seen] = torch.where(chosen > 0, chosen / penalty, chosen * penalty)
    return logits


class GeneratedRepetitionPenalty(AdapterLogitsProcessor):
    """Applies `penalise` to requests whose sampling parameters ask for it."""

    def is_argmax_invariant(self) -> bool:
        """The penalty can change which token is the most likely one."""
        return False

    def new_req_logits_processor(self, params: SamplingParams) -> Any:
        """The penalty of one request, None when it asks for none."""
        penalty = (params.extra_args or {}).get(PENALTY, 1.0)
        if penalty == 1.0:
            return None
        return lambda generated, logits: penalise(generated, logits, penalty)
