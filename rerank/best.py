"""Best of n: the candidate of highest reward; on equal rewards one that keeps the contract, then the first drawn.

Source: Ri et al. 2025, section 4; docs/papers.md#ri-combine.
"""

from collections.abc import Sequence

from ..records import ScoredCandidate
from ..text import fold


def best_of(candidates: Sequence[ScoredCandidate]) -> ScoredCandidate | None:
    """The best candidate; None when none has a reward."""
    scored = [c for c in candidates if c.reward is not None]
    return max(scored, key=lambda c: (c.reward, c.candidate.contract_ok), default=None)


def first_of_each_text(texts: Sequence[str]) -> list[int]:
    """Places of the texts that no earlier one equals, white space folded."""
    first: dict[str, int] = {}
    for place, text in enumerate(texts):
        first.setdefault(fold(text), place)
    return list(first.values())
