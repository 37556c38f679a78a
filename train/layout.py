"""Where prompts and candidates lie in a packed sequence.

    request 0: prompt, candidate, candidate, ... | request 1: prompt, candidate, ... | padding

Candidates hold all of their tokens but the last one, which predicts nothing. Positions of each candidate go on where its
prompt ends, as if it stood alone behind it.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch


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

    def positions(self) -> "torch.Tensor":
        """Position ids, (length,)."""
        import torch

        parts = []
        for span in self.spans:
            parts.append(torch.arange(span.n_prompt))
            parts += [torch.arange(n) + span.n_prompt for n in span.own]
        return torch.cat(parts)

    def owners(self) -> "tuple[torch.Tensor, torch.Tensor]":
        """Number of the span, and of the candidate in it (-1 for the prompt), of each token; both (length,)."""
        import torch

        spans, candidates = [], []
        for number, span in enumerate(self.spans):
            spans += [number] * (span.end - span.start)
            candidates += [-1] * span.n_prompt
            candidates += [place for place, n in enumerate(span.own) for _ in range(n)]
        return torch.tensor(spans), torch.tensor(candidates)
