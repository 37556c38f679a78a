"""What a page of systems asks, and what it may say: every answer by the one rule of `significance`.

Whose summary is it? Where systems do not differ, each document set might as well have said the opposite of a difference, for all
judges, sides and pairs of systems at once. Half of the level is for what the headline says; all else has the other half. What
reranking adds, and what a reward's own judges say, differs by design: it is tested with all else and hands on no level, so it
makes nothing else clear. How often pages are wrong: docs/run-folder.md#verdicts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ....resampling import Bootstrap, Floats
from ...significance import Concluded, NullDraws, concluded, flipped

Half = Literal["headline", "others", "by design"]
HALVES: tuple[Half, ...] = ("headline", "others", "by design")


@dataclass(frozen=True)
class Question:
    """Differences that are tested: what each document set adds to each, and how much of it the set weighs, (sets, tests)."""

    half: Half
    # nan where a set has nothing
    added: Floats
    weights: Floats


def answers(questions: Sequence[Question], plan: Bootstrap) -> list[Concluded]:
    """What the rule says of the tests of each question of a page, in order."""
    by_half = {half: [each for each in questions if each.half == half] for half in HALVES}
    tests = {half: [_draws(its, plan)] if its else [] for half, its in by_half.items()}
    first, rest = concluded(tests["headline"], tests["others"], plan.level, tests["by design"])
    in_order, parts = iter([*first, *rest]), dict[Half, Iterator[Concluded]]()
    for half, its in by_half.items():
        if its:
            parts[half] = _split(next(in_order), [each.added.shape[1] for each in its])
    return [next(parts[each.half]) for each in questions]


def _draws(questions: Sequence[Question], plan: Bootstrap) -> NullDraws:
    added, weights = (np.hstack([getattr(each, name) for each in questions]) for name in ("added", "weights"))
    return flipped(added, weights, plan, only_largest=True)


def _split(found: Concluded, widths: Sequence[int]) -> Iterator[Concluded]:
    ends = np.cumsum(widths)[:-1]
    arrays = (np.split(each, ends) for each in (found.p_value, found.low, found.high))
    return (Concluded(*each) for each in zip(*arrays, strict=True))
