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
    """The rule's results for the tests of each question of a page, in order."""
    by_half = {family: [question for question in questions if question.half == family] for family in HALVES}
    tests = {family: [_draws(group, plan)] if group else [] for family, group in by_half.items()}
    first, remaining = concluded(tests["headline"], tests["others"], plan.level, tests["by design"])
    in_order, parts = iter([*first, *remaining]), dict[Half, Iterator[Concluded]]()
    for family, group in by_half.items():
        if group:
            parts[family] = _split(next(in_order), [question.added.shape[1] for question in group])
    return [next(parts[question.half]) for question in questions]


def _draws(questions: Sequence[Question], plan: Bootstrap) -> NullDraws:
    added, weights = (np.hstack([getattr(question, name) for question in questions]) for name in ("added", "weights"))
    return flipped(added, weights, plan, only_largest=True)


def _split(answer: Concluded, widths: Sequence[int]) -> Iterator[Concluded]:
    ends = np.cumsum(widths)[:-1]
    arrays = (np.split(array, ends) for array in (answer.p_value, answer.low, answer.high))
    return (Concluded(*columns) for columns in zip(*arrays, strict=True))
