"""Decoding with transformers' own attention and cache: for models whose attention `cascade` does not know.

Every distinct prompt is prefilled once, padded on the left to the longest of its batch; its keys and values are then repeated for
its rows.
"""

from collections.abc import Sequence
from typing import Any

import torch

from .backend import Usage

# tokens of distinct prompts, padding included, that are prefilled side by side; a longer prompt is alone
TOKENS_PER_BATCH = 16384


class PaddedDecoder:
    """Starts and continues rows on any causal model of transformers."""

    def __init__(self, model: Any, usage: Usage) -> None:
        self._model = model
        self._usage = usage
        self._device = next(model.parameters()).device
        self._cache: Any = None

    def release(self) -> None:
        """Let go of everything that is kept."""
        self._cache = None

    def arrange(self, prompts: Sequence[tuple[int, ...]], most_rows: int) -> list[list[int]]:
        """Batches of places of `prompts`, to be started one by one: equal ones together, like lengths together."""
        order = sorted(range(len(prompts)), key=lambda i: (len(prompts[i]), prompts[i], i))
        batches: list[list[int]] = []
        for i in order:
            # the last is the longest, and all are padded to it
            n_distinct = len({prompts[k] for k in (*batches[-1], i)}) if batches else 0
            if not batches or len(batches[-1]) == most_rows or n_distinct * len(prompts[i]) > TOKENS_PER_BATCH:
                batches.append([])
            batches[-1].append(i)
        self._prompts = [[prompts[i] for i in batch] for batch in batches]
        return batches

    def start(self, batch: int) -> torch.Tensor:
        """Begin the rows of a batch, counted from 0; logits of their first tokens, (rows, vocabulary)."""
        prompts = self._prompts[batch]
        distinct = list(dict.fromkeys(prompts))
        length = max(map(len, distinct))
        # the mask hides the padding, so any token will do
        ids = torch.tensor([[0] * (length - len(p)) + list(p) for p in distinct], device=self._device)
        mask = torch.tensor([[0] * (length - len(p)) + [1] * len(p) for p in distinct], device=self._device)
        out = self._model(
            input_ids=ids,
            attention_mask=mask,
            position_ids=(mask.cumsum(dim=1) - 1).clamp(min=0),
            use_cache=True,
            logits_to_keep=1,
        )
        place = {prompt: i for i, prompt in enumerate(distinct)}
        rows = torch.tensor([place[prompt] for prompt in prompts], device=self._device)
        self._cache = out.past_key_values
        self._cache.batch_select_indices(rows)
        self._mask = mask[rows]
        self._positions = self._mask.sum(dim=1)  # (rows,)
        self._usage.add(sum(map(len, prompts)), sum(map(len, distinct)))
        logits: torch.Tensor = out.logits[rows, -1].float()
        return logits

    def step(self, tokens: Sequence[int]) -> torch.Tensor:
        """Give each row its next token; logits of the one after, (rows, vocabulary)."""
        self._mask = torch.cat([self._mask, self._mask.new_ones(len(tokens), 1)], dim=1)
        out = self._model(
            input_ids=torch.tensor(tokens, device=self._device)[:, None],
            attention_mask=self._mask,
            position_ids=self._positions[:, None],
            past_key_values=self._cache,
            use_cache=True,
        )
        self._positions = self._positions + 1
        logits: torch.Tensor = out.logits[:, -1].float()
        return logits

    def keep(self, rows: Sequence[int]) -> None:
        """Go on with these rows only."""
        chosen = torch.tensor(rows, device=self._device)
        self._cache.batch_select_indices(chosen)
        self._mask, self._positions = self._mask[chosen], self._positions[chosen]
