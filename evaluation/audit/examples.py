"""The most unfair summaries, taken apart: which sentences take up whose documents."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...fairness.labelled import LabelledSummary
from .contents import Example, Line
from .figures import Family, Figures

# lines of a summary that an example shows, and characters of each
MOST_LINES, MOST_CHARACTERS = 200, 4000


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
        examples.append(_within_bounds(family.example(item, found[place], float(figures.unfairness[place]))))
    return examples


def _within_bounds(example: Example) -> Example:
    """The example without what nobody reads: a summary of megabytes would make a page of as many for every family."""
    lines = [line.model_copy(update={"text": _cut(line.text)}) for line in example.lines[:MOST_LINES]]
    if len(example.lines) > MOST_LINES:
        lines.append(Line(text=f"... and {len(example.lines) - MOST_LINES:,} more", takes={}, note="not shown"))
    return example.model_copy(update={"lines": tuple(lines)})


def _cut(text: str) -> str:
    return text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]} ..."
