"""How much two annotators' highlights of one text overlap.

Two highlights may be matched when they share at least `threshold` of the smaller one; each is matched at most once, and as
many as possible are (a maximum bipartite matching: taking the first that fits may lose one).
Source: Ri et al. 2025, section 5.2; docs/papers.md#ri-agreement.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

# share of the smaller highlight that two matched ones have in common
THRESHOLD = 0.5

# (start, end) of each part of a highlight, end excluded
Parts = Sequence[tuple[int, int]]


def covered(parts: Parts, text: str | None = None) -> Counter[int]:
    """The places that a highlight covers, each once however its parts overlap."""
    places = {place for start, end in parts for place in range(start, end)}
    return Counter(place for place in places if text is None or text[place] != "\n")


def n_matched(a: Sequence[Counter[Any]], b: Sequence[Counter[Any]], threshold: float) -> int:
    """Highlights of the one list matched to one of the other, given as multisets of what they are made of."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    def may_match(first: Counter[Any], second: Counter[Any]) -> bool:
        smaller = min(first.total(), second.total())
        return smaller > 0 and (first & second).total() >= threshold * smaller

    if not a or not b:
        return 0
    edges = np.array([[may_match(first, second) for second in b] for first in a])  # (a, b)
    return int((maximum_bipartite_matching(csr_array(edges), perm_type="column") >= 0).sum())


def multiset_overlap(a: Sequence[Counter[Any]], b: Sequence[Counter[Any]], threshold: float) -> float | None:
    """Mean over two lists of the share of highlights that are matched, in [0, 1]; None when both are empty."""
    if not a and not b:
        return None
    matched = n_matched(a, b, threshold)
    return sum(matched / len(highlights) if highlights else 0.0 for highlights in (a, b)) / 2
