"""One correction for everything that a page of systems concludes.

Its tests stand in parts, one for each question. What the headline says has half of the level, and all other questions together
have the other half; what is answered leaves its share to the others. If p-values hold, at most 5 % of the pages of equal systems
say anything. How often they do is in docs/run-folder.md#verdicts.

What reranking adds differs by design, and so does what a reward's own judges say: small p-values of these are in parts of their
own, and make no other difference clear.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Generic, TypeVar

from ...resampling import HEADLINE_SHARE, NOISE, least_p_value
from ..verdicts import LEAST_EXCHANGES, P, adjusted_in_parts, holm, is_clear, verdict
from .contents import Difference, JudgeNote, Plane
from .pareto import all_unsure

D = TypeVar("D", bound=Difference)
# what is asked; the headline's question has half of the level
HEADLINE, FRONTS = "the headline", "planes of two judges"
# whether by judges of the report, or by those of the reward; and what is asked
Part = tuple[bool, str]


@dataclass(frozen=True)
class Other:
    """A test that is no paired difference: by which judge, what it asks, and its p-value."""

    measure: str
    question: str
    p_value: P


@dataclass(frozen=True)
class Corrected(Generic[D]):
    """What is told, with verdicts."""

    differences: list[D]
    planes: list[Plane]
    # adjusted p-values of the other tests, in order
    others: list[P]
    # what to know where no difference is clear by itself
    few_together: str


def corrected(
    judges: Sequence[JudgeNote],
    differences: Sequence[D],
    questions: Sequence[str],
    planes: Sequence[Plane] = (),
    others: Sequence[Other] = (),
) -> Corrected[D]:
    """All of a page with adjusted p-values and verdicts.

    Args:
        judges: of the report; any other is of the reward alone.
        differences: what is told, whose p-values are not adjusted.
        questions: of each.
        planes: with what is off the front by the correction of one plane.
        others: what else is tested.
    """
    report = {judge.name for judge in judges if judge.role == "report"}
    parts = [(each.measure in report, what) for each, what in zip(differences, questions, strict=True)]
    parts_of_all = [
        *parts,
        *(({plane.quality, plane.fairness} <= report, FRONTS) for plane in planes),
        *((each.measure in report, each.question) for each in others),
    ]
    p_values = [each.p_value for each in differences]
    p_values += [*(plane.p_value for plane in planes), *(each.p_value for each in others)]
    share = _shares({part for part, p in zip(parts_of_all, p_values, strict=True) if p is not None})
    found = iter(_adjusted(parts_of_all, p_values, share))
    return Corrected(
        differences=[_judged(each, next(found)) for each in differences],
        planes=[_in_plane(each, next(found)) for each in planes],
        others=list(found),
        few_together=_few_together(differences, parts, share, p_values[len(differences) :]),
    )


def _adjusted(parts: Sequence[Part], p_values: Sequence[P], share: Callable[[Part], float]) -> list[P]:
    """The adjusted p-values, in order."""
    tests: dict[Part, list[P]] = {}
    for part, p in zip(parts, p_values, strict=True):
        tests.setdefault(part, []).append(p)
    found = adjusted_in_parts(tests, lambda smallest: holm(smallest, share))
    left = {part: iter(its) for part, its in found.items()}
    return [next(left[part]) for part in parts]


def _judged(each: D, p_value: P) -> D:
    said = verdict((each.low, each.high), p_value, level=each.level, n_sets=each.n_sets)
    return each.model_copy(update={"adjusted": p_value, "verdict": said})


def _in_plane(plane: Plane, p_value: P) -> Plane:
    told = plane if is_clear(p_value, plane.points[0].quality.level) else all_unsure(plane)
    return told.model_copy(update={"adjusted": p_value})


def _shares(asked: Collection[Part]) -> Callable[[Part], float]:
    """Of the level that parts have: half of it the headline's, and the rest all others' alike."""
    n_others = sum(what != HEADLINE for _, what in asked)
    has_headline = n_others < len(asked)

    def share(part: Part) -> float:
        if part[1] == HEADLINE:
            return HEADLINE_SHARE if n_others else 1.0
        return (1 - HEADLINE_SHARE if has_headline else 1.0) / n_others

    return share


def _few_together(
    differences: Sequence[D], parts: Sequence[Part], share: Callable[[Part], float], others: Sequence[P]
) -> str:
    """What to know of the headline, or where there is none of the largest part, if no difference of it is clear alone; else "".

    After Benjamini and Hochberg `r` of `m` adjusted p-values are at most alpha only if the largest of these `r` was at most
    r alpha / m, and none is smaller than that of equal signs. "" where `too_few` is told, too.

    Args:
        differences: what is told.
        parts: of each.
        share: of the level that a part has as long as no other one is answered.
        others: p-values of what else is tested, which may be as small as can be.
    """
    tested: dict[Part, list[D]] = {}
    for part, each in zip(parts, differences, strict=True):
        if each.p_value is not None:
            tested.setdefault(part, []).append(each)
    if not tested:
        return ""
    smallest = {part: min(map(_least_p_value, its)) for part, its in tested.items()}
    part = max(tested, key=lambda part: (part[1] == HEADLINE, len(tested[part])))
    mine, alpha = tested[part], 1 - tested[part][0].level
    # as long as no other question is answered, and when all are
    first, last = (ceil(len(mine) * smallest[part] / (alpha * of) - NOISE) for of in (share(part), 1.0))
    if smallest[part] > alpha or first <= 1:
        return ""
    most = max(mine, key=lambda each: each.n_sets)
    tests = "the test" if len(mine) == 1 else f"{len(mine)} tests"
    also = " and for the other questions of the page" if share(part) < 1 else ""
    said = (
        f"{most.n_sets} document sets and {_n_exchanges(most):,} exchanges give no p below {smallest[part]:.2g}. Corrected for "
        f"{tests} of {part[1]}{also}, none is at most {alpha:.2g}"
    )
    if all(p is None for p in others) and all(p > alpha * share(part) for part, p in smallest.items()):
        return f"{said}: no difference can be clear, however large; take more sets."
    if last > 1:
        return f"{said} unless {last} of them are: a difference by itself cannot be clear, however large."
    together = f"{first} of them are, or " if first <= len(mine) else ""
    return f"{said} unless {together}another question of the page has a clear answer."


def _n_exchanges(difference: Difference) -> int:
    return min(max(difference.resamples, LEAST_EXCHANGES), int(2**difference.n_sets))


def _least_p_value(difference: Difference) -> float:
    """Of its test: where not all exchanges are tried, the observed one counts among those drawn."""
    n = _n_exchanges(difference)
    return max(least_p_value(difference.n_sets), 0.0 if n == 2**difference.n_sets else 1 / (n + 1))
