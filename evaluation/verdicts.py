"""When a difference is clear: p-values corrected for how many there are, and the verdict that rests on them."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from ..resampling import LEAST_SETS, NOISE, Bootstrap, Bounds

P = float | None
Part = TypeVar("Part", bound=Hashable)
Verdict = Literal["higher", "lower", "no clear difference"]
# patterns of signs, and exchanges of systems, at least: p is no smaller than one by that many, and is corrected for many tests
LEAST_EXCHANGES = 20_000
# what it takes to call a difference higher or lower than zero, as a page says it; anything less is no clear difference
CLEAR = "the interval excludes zero and the adjusted p-value is at most 1 less its level (0.05 for 95 %)"
# the rule of `significance`, as a page of systems says it
HOW_TESTED = (
    "p is how often the difference would be as large if whole document sets might as well have said the opposite; the "
    "adjusted p, how often the largest of all that is tested with it would. Half of the level is for the headline's question "
    "and half for all others, and where one half says something, the other has all of it. Intervals of differences are "
    "corrected likewise."
)


def exchanges(plan: Bootstrap) -> Bootstrap:
    """How the exchanges of tests are drawn, where intervals are by that plan."""
    return replace(plan, resamples=max(plan.resamples, LEAST_EXCHANGES))


def adjusted(p_values: Sequence[P]) -> list[P]:
    """The p-values after Benjamini and Hochberg (1995) over those that are there: shares of false findings, in [0, 1]."""
    from scipy.stats import false_discovery_control

    known = [p for p in p_values if p is not None]
    found = iter(false_discovery_control(known).tolist() if known else [])
    return [None if p is None else float(next(found)) for p in p_values]


def adjusted_in_parts(
    tests: Mapping[Part, Sequence[P]], over: Callable[[dict[Part, float]], Mapping[Part, float]]
) -> dict[Part, list[P]]:
    """The p-values of a page, in [0, 1]: in each part after Benjamini and Hochberg, and none counts unless its part does.

    The smallest of a part is the p-value of "nothing of it differs" (Simes 1986), which is corrected for the other parts
    (Meinshausen 2008).

    Args:
        tests: by part, p-values; None where there is none.
        over: corrects the p-values of parts for how many there are. A part without tests has no p-value.
    """
    within = {part: adjusted(p_values) for part, p_values in tests.items()}
    smallest = {part: min(known) for part, its in within.items() if (known := [p for p in its if p is not None])}
    said = over(smallest)
    return {part: [None if p is None else max(p, said.get(part, 1.0)) for p in its] for part, its in within.items()}


def is_clear(p_value: P, level: float) -> bool:
    """Whether a corrected p-value is small enough, at one less that level."""
    return p_value is not None and p_value <= 1 - level


def verdict(
    bounds: Bounds,
    adjusted_p: P,
    *,
    level: float,
    n_sets: int,
    least_sets: int = LEAST_SETS,
) -> Verdict:
    """Whether a number is above or below zero.

    Args:
        bounds: of its interval.
        adjusted_p: of the test, corrected for the number of tests.
        level: one less the level of the test.
        n_sets: what the number rests on.
        least_sets: with fewer there is no verdict.
    """
    least, most = bounds
    if least is None or most is None or n_sets < least_sets or not is_clear(adjusted_p, level):
        return "no clear difference"
    return "higher" if least > NOISE else "lower" if most < -NOISE else "no clear difference"
