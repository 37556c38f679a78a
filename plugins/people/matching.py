"""How much two annotators' highlights of one text overlap.

Two highlights may be matched when they share at least `threshold` of the smaller one; each is matched at most once, and as
many as possible are (a maximum bipartite matching: taking the first that fits may lose one).
Source: Ri et al. 2025, section 5.2; docs/papers.md#ri-agreement.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

# share of the smaller highlight that two matched ones have in common
THRESHOLD = 0.5

# (start, end) of each part of a highlight, end excluded
Parts = Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Overlap:
    """Overlap of two lists of highlights."""

    # highlights of the one list matched to one of the other
    matches: int
    # matches over the length of each list; 0 for an empty list, None when both are empty
    ratio_a: float | None
    ratio_b: float | None
    # mean of the two ratios
    overlap: float | None


def covered(parts: Parts, text: str | None = None) -> Counter[int]:
    """The places that a highlight covers, each once however its parts overlap."""
    places = {place for start, end in parts for place in range(start, end)}
    return Counter(place for place in places if text is None or text[place] != "\n")


def multiset_overlap(a: Sequence[Counter[Any]], b: Sequence[Counter[Any]], threshold: float) -> Overlap:
    """Overlap of highlights given as multisets of what they are made of."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    def may_match(first: Counter[Any], second: Counter[Any]) -> bool:
        smaller = min(first.total(), second.total())
        return smaller > 0 and (first & second).total() >= threshold * smaller

    if not a and not b:
        return Overlap(0, None, None, None)
    matches = 0
    if a and b:
        edges = np.array([[may_match(first, second) for second in b] for first in a])  # (a, b)
        matches = int((maximum_bipartite_matching(csr_array(edges), perm_type="column") >= 0).sum())
    ratio_a, ratio_b = (matches / len(each) if each else 0.0 for each in (a, b))
    return Overlap(matches, ratio_a, ratio_b, (ratio_a + ratio_b) / 2)
