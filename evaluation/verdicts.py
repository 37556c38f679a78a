"""When a difference is clear: the verdict that rests on a corrected p-value and an interval, see `significance`."""

from dataclasses import replace

from ..number import Verdict
from ..resampling import LEAST_SETS, NOISE, Bootstrap, Bounds

P = float | None
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
    low, high = bounds
    if low is None or high is None or n_sets < least_sets or not is_clear(adjusted_p, level):
        return "no clear difference"
    return "higher" if low > NOISE else "lower" if high < -NOISE else "no clear difference"
