"""Groups of candidates as batches of packed sequences.

    request 0: prompt, candidate, candidate, ... | request 1: prompt, candidate, ... | padding

Candidates have all of their tokens there but the last one, which predicts nothing. Positions of each candidate go on where its
prompt ends, as if it stood alone behind it.

TRL's loss wants one row for each chosen and each rejected summary. A batch therefore says two things: the packed sequences
to run through the model (`passes`), and for each row of TRL's which of the resulting log-probabilities are its tokens
(`rows`). The rows hold the summaries alone, headed by one token of the prompt, so that TRL's own shift by one fits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch.nn.utils.rnn import pad_sequence


@dataclass(frozen=True)
class Span:
    """One prompt and its candidates within a packed sequence."""

    start: int
    n_prompt: int
    # tokens of each candidate that lie in the sequence
    own: tuple[int, ...] = ()

    @property
    def prompt_end(self) -> int:
        """First token after the prompt."""
        return self.start + self.n_prompt

    @property
    def end(self) -> int:
        """First token after the span."""
        return self.prompt_end + sum(self.own)

    @property
    def reach(self) -> int:
        """Tokens of the prompt and the longest candidate: the farthest that one token looks back, and one more."""
        return self.n_prompt + max(self.own, default=0)


@dataclass(frozen=True)
class Layout:
    """The spans of a packed sequence, one after another."""

    spans: tuple[Span, ...]
    # what attention works out of it once for all layers: masks and indexes
    memo: dict[Any, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def length(self) -> int:
        """Tokens of the sequence."""
        return self.spans[-1].end

    def positions(self) -> torch.Tensor:
        """Position ids, (length,)."""
        parts = []
        for span in self.spans:
            parts.append(torch.arange(span.n_prompt))
            parts += [torch.arange(n) + span.n_prompt for n in span.own]
        return torch.cat(parts)

    def owners(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Number of the span, and of the candidate in it (-1 for the prompt), of each token; both (length,)."""
        spans, candidates = [], []
        for number, span in enumerate(self.spans):
            spans += [number] * (span.end - span.start)
            candidates += [-1] * span.n_prompt
            candidates += [place for place, n in enumerate(span.own) for _ in range(n)]
        return torch.tensor(spans), torch.tensor(candidates)


@dataclass(frozen=True)
class PackingCollator:
    """Makes a batch of training rows (`Group.columns`)."""

    pad_token_id: int
    # most tokens of a packed sequence; what does not fit goes into further passes, and a long group is split by candidates
    max_tokens: int
    # passes are padded to a multiple of this, so that fewer shapes are met
    pad_to_multiple_of: int | None = None

    def __call__(self, groups: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """The batch.

        Returns:
            input_ids, completion_mask: (2 pairs, 1 + longest), the chosen summaries and then the rejected ones: what TRL reads.
            attention_mask: ones, one for each token that runs through the model.
            passes: the packed sequences.
            rows: (2 pairs, longest), place of each summary token among the scored positions of all passes; one past the
                last for padding.
            weights: (pairs,), only where they are not all 1.
            slots: (pairs, 4, slots), only where the rows have them; an array, because DeepSpeed would round a tensor.
            ref_chosen_logps, ref_rejected_logps: (pairs,), only where the rows have them.
        """
        passes, places = self._passes(groups)
        drawn = [
            (group["prompt_ids"][-1], group["candidate_ids"][place], places[number, place])
            for side in ("chosen", "rejected")
            for number, group in enumerate(groups)
            for place in group[side]
        ]
        n_scored = sum(len(one["scored"]) for one in passes)
        batch: dict[str, Any] = {
            "input_ids": _padded([[head, *ids] for head, ids, _ in drawn], self.pad_token_id),
            "completion_mask": _padded([[0] + [1] * len(ids) for _, ids, _ in drawn], 0),
            "attention_mask": torch.ones(sum(one["n_tokens"] for one in passes), dtype=torch.long),
            "passes": passes,
            "rows": _padded([list(range(first, first + len(ids))) for _, ids, first in drawn], n_scored),
        }
        weights = torch.tensor([weight for group in groups for weight in group["weights"]])
        if bool((weights != 1).any()):
            batch["weights"] = weights
        if "slots" in groups[0]:
            batch["slots"] = np.array([slots for group in groups for slots in group["slots"]], dtype=float)
        for name in ("ref_chosen_logps", "ref_rejected_logps"):
            if name in groups[0]:
                batch[name] = torch.tensor([logp for group in groups for logp in group[name]])
        return batch

    def _passes(self, groups: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], dict[tuple[int, int], int]]:
        """The passes, and the first scored position of each (group, candidate) over all passes."""
        # (group, candidates, tokens) of each piece: the whole group, or parts of it that fit, each with the prompt
        pieces: list[tuple[int, list[int], int]] = []
        for number, group in enumerate(groups):
            for place, ids in enumerate(group["candidate_ids"]):
                n = len(ids) - 1
                if place and pieces[-1][2] + n <= self.max_tokens:
                    _, candidates, tokens = pieces.pop()
                    pieces.append((number, [*candidates, place], tokens + n))
                else:
                    pieces.append((number, [place], len(group["prompt_ids"]) + n))
        bins: list[list[tuple[int, list[int], int]]] = []
        for piece in pieces:
            fits = (b for b in bins if sum(other[2] for other in b) + piece[2] <= self.max_tokens)
            found = next(fits, None)
            if found is None:
                bins.append([piece])
            else:
                found.append(piece)
        places: dict[tuple[int, int], int] = {}
        passes, n_scored = [], 0
        for taken in bins:
            packed = _Pass()
            for number, candidates, _ in taken:
                for place, first in packed.add(groups[number], candidates).items():
                    places[number, place] = n_scored + first
            n_scored += len(packed.scored)
            passes.append(packed.tensors(self.pad_token_id, self.pad_to_multiple_of or 1))
        return passes, places


class _Pass:
    """A packed sequence that is being put together."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.spans: list[Span] = []
        # places of the sequence whose next token is scored, and that token
        self.scored: list[int] = []
        self.targets: list[int] = []

    def add(self, group: Mapping[str, Any], candidates: Sequence[int]) -> dict[int, int]:
        """Append the prompt and these candidates; the first scored position of each."""
        start, firsts = len(self.ids), {}
        self.ids += group["prompt_ids"]
        last_of_prompt = len(self.ids) - 1
        for place in candidates:
            tokens = group["candidate_ids"][place]
            firsts[place] = len(self.scored)
            # the prompt's last token predicts each candidate's first
            self.scored += [last_of_prompt, *range(len(self.ids), len(self.ids) + len(tokens) - 1)]
            self.targets += tokens
            self.ids += tokens[:-1]
        own = tuple(len(group["candidate_ids"][place]) - 1 for place in candidates)
        self.spans.append(Span(start, len(group["prompt_ids"]), own))
        return firsts

    def tensors(self, pad_token_id: int, multiple: int) -> dict[str, Any]:
        """The pass as the model takes it; padding is a span of its own, seen by nothing and scored nowhere."""
        n_tokens = len(self.ids)
        padding = -n_tokens % multiple
        spans = [*self.spans, Span(n_tokens, padding)] if padding else self.spans
        layout = Layout(tuple(spans))
        return {
            "input_ids": torch.tensor([self.ids + [pad_token_id] * padding]),
            "position_ids": layout.positions()[None],
            "scored": torch.tensor(self.scored),
            "targets": torch.tensor([self.targets]),
            "layout": layout,
            "n_tokens": n_tokens,
        }


def _padded(rows: Sequence[Sequence[int]], value: int) -> torch.Tensor:
    padded: torch.Tensor = pad_sequence([torch.tensor(row) for row in rows], batch_first=True, padding_value=value)
    return padded
