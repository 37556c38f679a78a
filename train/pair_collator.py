"""TRL's rows of one pair each, as batches of packed sequences: what shares a prompt in a micro-batch runs it once.

Rows, their order and how they are cut are TRL's, so that a step has the very pairs that it has there. Equal completions of a
prompt are one candidate.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from ..errors import DataError
from .packing import PackingCollator

# which end of a pair stays where it is longer than a pair may be, in TRL's words
TruncationMode = Literal["keep_start", "keep_end"]
# as many tokens as there are: a micro-batch runs in one pass, as TRL's does
NO_LIMIT = 2**31


@dataclass(frozen=True)
class PairCollator:
    """Makes the batch that `DataCollatorForPreference` would make, with packed sequences."""

    pad_token_id: int
    # most tokens of prompt and completion, and which end of them stays; None for all
    max_length: int | None = None
    truncation_mode: TruncationMode = "keep_start"
    pad_to_multiple_of: int | None = None

    def __call__(self, pairs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The batch, as `PackingCollator` describes it, with rows in the order of the pairs.

        Args:
            pairs: `prompt_ids`, `chosen_ids` and `rejected_ids`, and maybe `ref_chosen_logps` and `ref_rejected_logps`.

        Raises:
            DataError: nothing of a completion is left to be scored.
        """
        groups: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
        numbers: dict[tuple[int, ...], int] = {}
        sides, headless = [], []
        for side in ("chosen_ids", "rejected_ids"):
            for pair in pairs:
                prompt, completion = self._cut(pair["prompt_ids"], pair[side])
                # nothing comes before the first token, so that nothing predicts it
                headless.append(not prompt)
                if not prompt:
                    prompt, completion = completion[:1], completion[1:]
                if not completion:
                    raise DataError(
                        f"a pair has no token in {side!r} that could be scored (prompt {list(pair['prompt_ids'])[:8]} ..., "
                        f"{side} {list(pair[side])[:8]}); leave such pairs out"
                    )
                candidates = groups.setdefault(prompt, {})
                number = numbers.setdefault(prompt, len(numbers))
                sides.append((number, candidates.setdefault(completion, len(candidates))))
        packed = PackingCollator(self.pad_token_id, NO_LIMIT, self.pad_to_multiple_of)
        batch = packed.pack(
            [
                {"prompt_ids": list(prompt), "candidate_ids": [list(ids) for ids in candidates]}
                for prompt, candidates in groups.items()
            ],
            sides,
        )
        # losses that divide by the length count such a token
        batch["completion_mask"][:, 0] = torch.tensor(headless)
        for name in ("ref_chosen_logps", "ref_rejected_logps"):
            if name in pairs[0]:
                batch[name] = torch.tensor([pair[name] for pair in pairs])
        return batch

    def _cut(self, prompt: Sequence[int], completion: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """What TRL leaves of prompt and completion."""
        first, last = 0, len(prompt) + len(completion)
        if self.max_length is not None and self.truncation_mode == "keep_start":
            last = min(last, self.max_length)
        elif self.max_length is not None:
            first = max(0, last - self.max_length)
        n_prompt = len(prompt)
        return tuple(prompt[first:last]), tuple(completion[max(0, first - n_prompt) : max(0, last - n_prompt)])
