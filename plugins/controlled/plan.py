"""Which key points the summaries of a controlled set are made of, and what follows from it.

Three anchors come first: all key points, adversarial points alone, points of the other side alone. The mixtures after them
have their coverage and their faithfulness on opposite sides of one half, so that a metric of the one cannot score on the other
by accident. What such a summary is made of tells its coverage and its faithfulness (`ground_truth` of `corpora/controlled.py`).

Source: Ri et al. 2025, section 3.1; docs/papers.md#ri-controlled.
"""

from dataclasses import dataclass

import numpy as np

from ...errors import DataError


@dataclass(frozen=True)
class PlannedSummary:
    """The points a summary is to be made of: their places in the article's lists, ascending."""

    relevant: tuple[int, ...] = ()
    opposite: tuple[int, ...] = ()
    adversarial: tuple[int, ...] = ()


def controlled_plan(relevant: int, opposite: int) -> list[tuple[int, int]]:
    """The mixtures: (relevant, opposite) counts r >= 1, o >= 0 in lexicographic order, the anchors not among them.

    A pair is taken when r/R > 1/2 and r/(r+o) < 1/2, or r/R < 1/2 and r/(r+o) > 1/2; exact halves are left out.

    Args:
        relevant: key points of the article, R.
        opposite: points of its other side.
    """
    return [
        (r, o)
        for r in range(1, relevant + 1)
        for o in range(opposite + 1)
        if (2 * r > relevant and r < o) or (2 * r < relevant and r > o)
    ]


def plan_summaries(
    relevant: int, opposite: int, adversarial: int, generator: np.random.Generator
) -> list[PlannedSummary]:
    """The summaries of one article: the anchors, then the mixtures.

    The points of an anchor that has a choice are a non-empty subset, each subset as likely as any other; the points of a mixture
    are drawn without replacement. Relevant and adversarial points are never mixed, because an adversarial point is a relevant
    one turned into its contrary. An article without opposite or without adversarial points goes without that anchor.

    Args:
        relevant: key points of the article.
        opposite: points of its other side.
        adversarial: key points turned into their contrary.
        generator: the same state gives the same plan.

    Raises:
        DataError: the article has no key point.
    """
    if relevant < 1:
        raise DataError("an article without a key point has no controlled summaries; leave it out")
    planned = [PlannedSummary(relevant=tuple(range(relevant)))]
    if adversarial:
        planned.append(PlannedSummary(adversarial=_subset(adversarial, generator)))
    if opposite:
        planned.append(PlannedSummary(opposite=_subset(opposite, generator)))
    for r, o in controlled_plan(relevant, opposite):
        planned.append(PlannedSummary(relevant=_some(relevant, r, generator), opposite=_some(opposite, o, generator)))
    return planned


def _subset(n: int, generator: np.random.Generator) -> tuple[int, ...]:
    while True:
        mask = generator.random(n) < 0.5
        if mask.any():
            return tuple(np.flatnonzero(mask).tolist())


def _some(n: int, k: int, generator: np.random.Generator) -> tuple[int, ...]:
    return tuple(sorted(generator.choice(n, size=k, replace=False).tolist()))
