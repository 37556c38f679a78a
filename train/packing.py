"""Groups of candidates as batches of packed sequences.

    request 0: prompt, candidate, candidate, ... | request 1: prompt, candidate, ... | padding

Candidates have all of their tokens there but the last one, which predicts nothing. Positions of each candidate go on where its
prompt ends, as if it stood alone behind it. What prompts begin with alike, as both sides of a document set do, is there once:

    shared beginning | rest of prompt 0, candidate, ... | rest of prompt 1, candidate, ... | padding

TRL's loss wants one row for each chosen and each rejected summary. A batch therefore says two things: the packed sequences
to run through the model (`passes`), and for each row of TRL's which of the resulting log-probabilities are its tokens
(`rows`). The rows hold the summaries alone, headed by one token of the prompt, so that TRL's own shift by one fits.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
import torch

from ..generate.prefixes import LEAST_SHARED, Segment, segments

# first place of a packed sequence, and one past the last
Part = tuple[int, int]


@dataclass(frozen=True)
class PackedSpan:
    """One prompt, or its end, and its candidates within a packed sequence."""

    start: int
    n_prompt: int
    # tokens of each candidate that lie in the sequence
    own: tuple[int, ...] = ()
    # where the beginnings lie that the prompt continues: spans without candidates, which those that
    # continue it follow
    before: tuple[Part, ...] = ()

    @property
    def prompt(self) -> tuple[Part, ...]:
        """Where the whole prompt lies."""
        return (*self.before, (self.start, self.prompt_end))

    @property
    def seen(self) -> tuple[Part, ...]:
        """Where all tokens lie that any token of the span sees."""
        return (*self.before, (self.start, self.end))

    @property
    def n_before(self) -> int:
        """Tokens that the prompt continues."""
        return sum(end - start for start, end in self.before)

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
        return self.n_before + self.n_prompt + max(self.own, default=0)


@dataclass(frozen=True)
class Layout:
    """The spans of a packed sequence, one after another."""

    spans: tuple[PackedSpan, ...]
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
            parts.append(torch.arange(span.n_prompt) + span.n_before)
            parts += [torch.arange(n) + span.n_before + span.n_prompt for n in span.own]
        return torch.cat(parts)

    def ends(self) -> torch.Tensor:
        """One past the last place from which each token is seen, (length,): those from its own place up to there see it."""
        places = []
        for span in self.spans:
            prompt_part = (span.start, span.prompt_end)
            places += [
                max(follower.end for follower in self.spans if follower is span or prompt_part in follower.before)
            ] * span.n_prompt
            for n, end in zip(span.own, accumulate(span.own, initial=span.prompt_end), strict=False):
                places += [end + n] * n
        return torch.tensor(places)


@dataclass(frozen=True)
class PackingCollator:
    """Makes a batch of training rows (`Group.columns`)."""

    pad_token_id: int
    # most tokens of a packed sequence; what does not fit goes into further passes, and a long group is split by candidates
    max_tokens: int
    # passes are padded to a multiple of this, so that fewer shapes are met
    pad_to_multiple_of: int | None = None
    # tokens that prompts must begin with alike to have them once
    least_shared: int = LEAST_SHARED

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
        sides = [
            (number, place)
            for side in ("chosen", "rejected")
            for number, group in enumerate(groups)
            for place in group[side]
        ]
        batch = self.pack(groups, sides)
        weights = torch.tensor([weight for group in groups for weight in group["weights"]])
        if bool((weights != 1).any()):
            batch["weights"] = weights
        if "slots" in groups[0]:
            batch["slots"] = np.array([slots for group in groups for slots in group["slots"]], dtype=float)
        for name in ("ref_chosen_logps", "ref_rejected_logps"):
            if name in groups[0]:
                batch[name] = torch.tensor([logp for group in groups for logp in group[name]])
        return batch

    def pack(self, groups: Sequence[Mapping[str, Any]], sides: Sequence[tuple[int, int]]) -> dict[str, Any]:
        """What is the same for all batches.

        Args:
            groups: prompts with their candidates, `prompt_ids` and `candidate_ids`.
            sides: group and candidate of each row of TRL's, those of the chosen summaries before those of the rejected ones.
        """
        passes, places = self._passes(groups)
        drawn = [
            (groups[number]["prompt_ids"][-1], groups[number]["candidate_ids"][place], places[number, place])
            for number, place in sides
        ]
        n_scored = sum(len(tensors["scored"]) for tensors in passes)
        return {
            "input_ids": _padded([[head, *ids] for head, ids, _ in drawn], self.pad_token_id),
            "completion_mask": _padded([[0] + [1] * len(ids) for _, ids, _ in drawn], 0),
            "attention_mask": torch.ones(sum(tensors["n_tokens"] for tensors in passes), dtype=torch.long),
            "passes": passes,
            "rows": _padded([list(range(first, first + len(ids))) for _, ids, first in drawn], n_scored),
        }

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
        bins: list[_Bin] = []
        for number, candidates, _ in pieces:
            piece = groups[number], candidates, number
            tried = [_Bin([*b.pieces, piece], self.least_shared) for b in bins]
            # tokens that the piece adds to each bin that has room: where its prompt's beginning is, they are fewest
            added = {
                i: new.n_tokens - bins[i].n_tokens for i, new in enumerate(tried) if new.n_tokens <= self.max_tokens
            }
            if added:
                best = min(added, key=lambda i: added[i])
                bins[best] = tried[best]
            else:
                bins.append(_Bin([piece], self.least_shared))
        places: dict[tuple[int, int], int] = {}
        passes, n_scored = [], 0
        for pass_bin in bins:
            packed = _Pass()
            for (group, candidates, number), end in zip(pass_bin.pieces, pass_bin.ends, strict=True):
                for place, first in packed.add(group, candidates, end).items():
                    places[number, place] = n_scored + first
            n_scored += len(packed.scored)
            passes.append(packed.tensors(self.pad_token_id, self.pad_to_multiple_of or 1))
        return passes, places


# a group, those of its candidates that go into a pass, and the number of the group
Piece = tuple[Mapping[str, Any], list[int], int]


class _Bin:
    """What goes into a pass, in the order of its prompts' tokens."""

    def __init__(self, pieces: list[Piece], least_shared: int) -> None:
        self.pieces = sorted(pieces, key=lambda piece: piece[0]["prompt_ids"])
        # the last segment of each piece's prompt in the tree of all
        self.ends = segments([tuple(group["prompt_ids"]) for group, _, _ in self.pieces], least_shared)
        distinct = {segment for end in self.ends for segment in end.path()}
        self.n_tokens = sum(len(segment.tokens) for segment in distinct) + sum(
            len(group["candidate_ids"][place]) - 1 for group, places, _ in pieces for place in places
        )


class _Pass:
    """A packed sequence that is being put together."""

    def __init__(self) -> None:
        self.ids: list[int] = []
        self.spans: list[PackedSpan] = []
        # where the beginnings lie that prompts share
        self.shared: dict[Segment, Part] = {}
        # places of the sequence whose next token is scored, and that token
        self.scored: list[int] = []
        self.targets: list[int] = []

    def add(self, group: Mapping[str, Any], candidates: Sequence[int], end: Segment) -> dict[int, int]:
        """Append these candidates and what is not there yet of the prompt, which `end` ends; their first scored positions."""
        before: tuple[Part, ...] = ()
        for segment in end.path()[:-1]:
            if segment not in self.shared:
                span = PackedSpan(len(self.ids), len(segment.tokens), before=before)
                self.spans.append(span)
                self.shared[segment] = span.start, span.end
                self.ids += segment.tokens
            before = (*before, self.shared[segment])
        start, firsts = len(self.ids), {}
        self.ids += end.tokens
        last_of_prompt = len(self.ids) - 1
        for place in candidates:
            tokens = group["candidate_ids"][place]
            firsts[place] = len(self.scored)
            # the prompt's last token predicts each candidate's first
            self.scored += [last_of_prompt, *range(len(self.ids), len(self.ids) + len(tokens) - 1)]
            self.targets += tokens
            self.ids += tokens[:-1]
        lengths = tuple(len(group["candidate_ids"][place]) - 1 for place in candidates)
        self.spans.append(PackedSpan(start, len(end.tokens), lengths, before))
        return firsts

    def tensors(self, pad_token_id: int, multiple: int) -> dict[str, Any]:
        """The pass as the model takes it; padding is a span of its own, seen by nothing and scored nowhere."""
        n_tokens = len(self.ids)
        padding = -n_tokens % multiple
        spans = [*self.spans, PackedSpan(n_tokens, padding)] if padding else self.spans
        layout = Layout(tuple(spans))
        return {
            "input_ids": torch.tensor([self.ids + [pad_token_id] * padding]),
            "position_ids": layout.positions()[None],
            "scored": torch.tensor(self.scored),
            "targets": torch.tensor([self.targets]),
            "layout": layout,
            "n_tokens": n_tokens,
        }


def taken(tensor: torch.Tensor, parts: Sequence[Part]) -> torch.Tensor:
    """What lies at these places of (1, heads, length, ...); a copy only where it is several parts."""
    pieces = [tensor[:, :, start:end] for start, end in parts]
    return pieces[0] if len(pieces) == 1 else torch.cat(pieces, dim=2)


def _padded(rows: Sequence[Sequence[int]], value: int) -> torch.Tensor:
    # a tensor of each row would take eight times as long
    padded = np.full((len(rows), max(map(len, rows))), value)
    for row, values in zip(padded, rows, strict=True):
        row[: len(values)] = values
    return torch.from_numpy(padded)
