"""Prompts as a tree of the token sequences that they share.

Prompts of one request begin alike: the documents first, then what is asked of them. Cut where they part, they become a tree of
segments, and each segment need go through a model once only. Pure arithmetic on token ids; nothing here knows a model.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

# tokens that a shared beginning needs to be worth a segment of its own: each level of the tree costs a pass through the model
LEAST_SHARED = 32


@dataclass(eq=False)
class Segment:
    """Tokens that the prompts below it share, after those of its parent."""

    parent: "Segment | None"
    tokens: tuple[int, ...]
    # place of its first token in the prompts
    start: int
    # segments above it
    level: int
    # what a model keeps of it while it is needed; None when it has not run
    kept: Any = None

    @property
    def end(self) -> int:
        """Length of a prompt that ends with this segment."""
        return self.start + len(self.tokens)

    def path(self) -> list["Segment"]:
        """The segments from the root to this one, which is the last."""
        found = [self]
        while (parent := found[-1].parent) is not None:
            found.append(parent)
        return found[::-1]


def segments(prompts: Sequence[tuple[int, ...]], shortest: int = LEAST_SHARED) -> list[Segment]:
    """The last segment of each prompt; it belongs to that prompt alone and has at least one token.

    Args:
        prompts: distinct and sorted, none empty.
        shortest: tokens of a beginning that is worth a segment of its own.
    """
    common = [n_common(first, second) for first, second in pairwise(prompts)]
    ends: dict[int, Segment] = {}
    # ranges of prompts below one parent
    pending: list[tuple[range, Segment | None]] = [(range(len(prompts)), None)]
    while pending:
        below, parent = pending.pop()
        start, level = (parent.end, parent.level + 1) if parent else (0, 0)
        for group in _alike(below, common, start + shortest):
            first = prompts[group[0]]
            if len(group) == 1:
                ends[group[0]] = Segment(parent, first[start:], start, level)
            else:
                shared = min(common[i] for i in group[:-1])
                pending.append((group, Segment(parent, first[start:shared], start, level)))
    return [ends[i] for i in range(len(prompts))]


def _alike(prompts: range, common: Sequence[int], shortest: int) -> Iterator[range]:
    """The range cut wherever neighbours share fewer than `shortest` tokens."""
    first = prompts.start
    for i in prompts:
        if i + 1 == prompts.stop or common[i] < shortest:
            yield range(first, i + 1)
            first = i + 1


def n_common(first: Sequence[int], second: Sequence[int]) -> int:
    """Tokens that both begin with, short of the last one of either: something must be left to run."""
    limit = min(len(first), len(second)) - 1
    return next((i for i in range(limit) if first[i] != second[i]), limit)
