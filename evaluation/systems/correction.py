"""One correction for everything that a page of systems concludes.

Its tests stand in parts, one for each question. What the headline says has half of the level, and all other questions together
have the other half; what is answered leaves its share to the others. If p-values hold, at most 5 % of the pages of equal systems
say anything. How often they do is in docs/run-folder.md#verdicts.

What reranking adds differs by design, and so does what a reward's own judges say: small p-values of these are in parts of their
own, and make no other difference clear.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Generic, TypeVar

from ...resampling import NOISE, Bootstrap, least_p_value
from ..verdicts import P, adjusted_in_parts, exchanges, holm, verdict
from .contents import Difference, Plane
from .pareto import all_unsure

D = TypeVar("D", bound=Difference)
# what is asked; the headline's question has half of the level
HEADLINE, FRONTS = "the headline", "planes of two judges"
# whether by judges of the report, or by those of the reward; and what is asked
Part = tuple[bool, str]


@dataclass(frozen=True)
class Corrected(Generic[D]):
    """What is told, with verdicts."""

    differences: list[D]
    planes: list[Plane]
    # of tests that are no paired differences, in order
    others: dict[Part, list[P]]
    # what to know where no difference is clear by itself
    few_together: str


def corrected(
    differences: Sequence[D],
    parts: Sequence[Part],
    planes: Sequence[Plane] = (),
    others: Mapping[Part, Sequence[P]] | None = None,
) -> Corrected[D]:
    """All of a page with adjusted p-values and verdicts.

    Args:
        differences: what is told, whose p-values are not adjusted.
        parts: of each.
        planes: with what is off the front by the correction of one plane.
        others: p-values of tests that are no paired differences, by part.
    """
    tests: dict[Part, list[P]] = {}
    for part, each in zip(parts, differences, strict=True):
        tests.setdefault(part, []).append(each.p_value)
    of_planes = (True, FRONTS)
    tests |= {part: list(p_values) for part, p_values in (others or {}).items()}
    tests[of_planes] = [each.p_value for each in planes]
    share = shares([part for part, p_values in tests.items() if any(p is not None for p in p_values)])
    found = adjusted_in_parts(tests, lambda smallest: holm(smallest, share))
    left = {part: iter(p_values) for part, p_values in found.items()}
    done = []
    for part, each in zip(parts, differences, strict=True):
        p = next(left[part])
        said = verdict((each.low, each.high), p, level=each.level, n_sets=each.n_sets)
        done.append(each.model_copy(update={"adjusted": p, "verdict": said}))
    return Corrected(
        differences=done,
        planes=[_in_plane(plane, p) for plane, p in zip(planes, found[of_planes], strict=True)],
        others={part: found[part] for part in others or ()},
        few_together=_few_together(differences, parts, share),
    )


def shares(asked: Collection[Part]) -> Callable[[Part], float]:
    """Of the level that parts have: half of it the headline's, and the rest all others' alike."""
    n_others = sum(what != HEADLINE for _, what in asked)
    has_headline = n_others < len(asked)

    def share(part: Part) -> float:
        if part[1] == HEADLINE:
            return 0.5 if n_others else 1.0
        return (0.5 if has_headline else 1.0) / n_others

    return share


def is_clear(p_value: P, level: float) -> bool:
    """Whether a corrected p-value is small enough."""
    return p_value is not None and p_value <= 1 - level


def _in_plane(plane: Plane, p_value: P) -> Plane:
    return plane if is_clear(p_value, plane.points[0].quality.level) else all_unsure(plane)


def _few_together(differences: Sequence[D], parts: Sequence[Part], share: Callable[[Part], float]) -> str:
    """What to know of the headline, or where there is none of the largest part, if no difference of it is clear alone; else "".

    After Benjamini and Hochberg `r` of `m` adjusted p-values are at most alpha only if the largest of these `r` was at most
    r alpha / m, and none is smaller than that of equal signs. "" where `too_few` is told, too.
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
    at_once = ceil(len(mine) * smallest[part] / (alpha * share(part)) - NOISE)
    if smallest[part] > alpha or at_once <= 1:
        return ""
    most = max(mine, key=lambda each: each.n_sets)
    tests = "the test" if len(mine) == 1 else f"{len(mine)} tests"
    others = "" if share(part) == 1 else " and for the other questions of the page"
    said = (
        f"{most.n_sets} document sets and {_n_exchanges(most):,} exchanges give no p below {smallest[part]:.2g}. Corrected for "
        f"{tests} of {part[1]}{others}, none is at most {alpha:.2g}"
    )
    if all(p > alpha * share(part) for part, p in smallest.items()):
        return f"{said}: no difference can be clear, however large; take more sets."
    unless = f"{at_once} of them are" if at_once <= len(mine) else "another question has a clear answer"
    return f"{said} unless {unless}: a difference by itself cannot be clear, however large."


def _n_exchanges(difference: Difference) -> int:
    plan = exchanges(Bootstrap(difference.level, difference.resamples, difference.seed))
    return plan.resamples if 2**difference.n_sets > plan.resamples else int(2**difference.n_sets)


def _least_p_value(difference: Difference) -> float:
    """Of its test: where not all exchanges are tried, the observed one counts among those drawn."""
    n = _n_exchanges(difference)
    return max(least_p_value(difference.n_sets), 0.0 if n == 2**difference.n_sets else 1 / (n + 1))
