"""The most unfair summaries, taken apart: which sentences take up whose documents."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...fairness.labelled import LabelledSummary
from .contents import Example
from .figures import Family, Figures


def most_unfair(figures: Figures, n: int) -> list[int]:
    """Places of the sets of highest unfairness, most unfair first, ties in their order; fair ones are none."""
    ranked = np.where(np.isnan(figures.unfairness), -np.inf, figures.unfairness)
    order = np.argsort(-ranked, kind="stable")[:n]
    return [int(place) for place in order if ranked[place] > 0]


def take_apart(
    family: Family, figures: Figures, items: Sequence[LabelledSummary | None], found: Sequence[Any], n: int
) -> list[Example]:
    """The n most unfair summaries of a system by a family; system and topic are left to the caller."""
    examples = []
    for place in most_unfair(figures, n):
        item = items[place]
        assert item is not None, "a set without summary has no unfairness"
        examples.append(family.example(item, found[place], float(figures.unfairness[place])))
    return examples
