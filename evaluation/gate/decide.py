"""Verdicts of a gate: by interval, adjusted for how many limits and numbers there are, never by point.

Of `m` limits, of which one speaks of `k` numbers (the values of "worst_gap(coverage)"), each interval has the level
1 - (1 - level) / (m k), after Bonferroni: where all of them hold at once, so does that of their minimum and of their maximum.
How often a page that keeps its limits is said to break them was simulated: docs/gate.md.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic

import numpy as np

from ...config.gate import LEAST_GATED
from ...resampling import LEAST_SETS, NOISE, Bootstrap, Bounds, cut_to, exact_bounds, interval_by_sets, t_reach
from ..pages.words import few_label
from .baseline import Baseline
from .contents import Gate, GateRow
from .limits import GateRequest, Limit, parse_limit
from .names import MissingNumber, meant
from .numbers import SUMMARISED, NamedNumber
from .subject import P, PageKind, Subject

# where nothing is asked of it, and how more is allowed
EVERYTHING, EXAMPLE = parse_limit(f"{SUMMARISED} < 100 %"), f"{SUMMARISED} < 95 %"
BY_PAGE = "by the page's own test, corrected for all that it tests"
# of one interval; up to here the tails of adjusted levels have as many draws as those of a page
MOST_DRAWS = 20_000
INSIDE = "inside the expected range"
SMALL = "fewer sets have this value than --least-group asks for"
SKEWED = (
    ", as with fewer skewed numbers seem to break too often what they keep; least_sets of a --profile asks for fewer"
)
ALIKE = "all of its sets say the same, and are too few for so many limits"


def gated(page: P, kind: PageKind[P], request: GateRequest | None, baseline: Baseline | None = None) -> P:
    """The page with its verdicts.

    Args:
        page: numbers, with what each document set says of them.
        kind: of the page.
        request: limits; None leaves the page as it is.
        baseline: an earlier page; limits are then about the change since.

    Raises:
        DataError: the baseline is about other documents, or measured in another way.
    """
    if request is None:
        return page
    page_numbers = kind.read(page)
    if baseline is not None:
        baseline.refuse_unlike(page_numbers.subject)
    numbers, plan = page_numbers.numbers, page_numbers.plan
    limits = list(request.limits)
    if not any(limit.function == SUMMARISED for limit in limits) and _lacks_summaries(numbers):
        limits.append(EVERYTHING)
    gate = Gate(
        rows=tuple(_row(limit, numbers, baseline, plan, request) for limit in limits),
        level=plan.level,
        is_strict=request.is_strict,
        least_sets=request.least_sets,
        baseline="" if baseline is None else str(baseline.path),
    )
    return page.model_copy(update={"gate": gate})


@dataclass(frozen=True)
class Gating(Generic[P]):
    """Limits on a kind of page, and the earlier page that they are held against; none of either by default."""

    kind: PageKind[P]
    limits: GateRequest | None = None
    baseline: Baseline | None = None

    def refuse_before(self, subject: Callable[[], Subject]) -> None:
        """Refuse, before anything is measured, a baseline of other documents or measures; see `Baseline.refuse_before`."""
        if self.limits is not None and self.baseline is not None:
            self.baseline.refuse_before(self.limits.limits, subject())

    def judged(self, page: P) -> P:
        """The page with its verdicts; see `gated`."""
        return gated(page, self.kind, self.limits, self.baseline)


def unfit(number: NamedNumber) -> str:
    """Why no gate may act on a number; "" where one may. Whatever a gate demands of a measure stands here."""
    return "" if number.value is not None else number.withheld or "it is undefined"


def judged(
    limit: Limit, numbers: Sequence[NamedNumber], plan: Bootstrap, n_limits: int, least_sets: int = LEAST_GATED
) -> GateRow:
    """The verdict of a limit on the numbers that it is about.

    Args:
        limit: beyond what none of them must be.
        numbers: at least one.
        plan: level of all intervals together, draws and their seed.
        n_limits: of the gate.
        least_sets: that a number must rest on for a verdict.
    """
    if why := next((f"{number.words}: {why}" for number in numbers if (why := unfit(number))), ""):
        return _missing(limit, why)
    tested = [number for number in numbers if not number.is_few(least_sets)] or list(numbers)
    n = n_limits * len(tested)
    adjusted = Bootstrap(1 - (1 - plan.level) / n, min(plan.resamples * n, max(MOST_DRAWS, plan.resamples)), plan.seed)
    bounds = [(None, None) if number.is_few(least_sets) else _bounds(number, adjusted) for number in tested]
    farthest = max if limit.is_upper else min
    worst = farthest(tested, key=lambda number: number.value or 0.0)
    low, high = (_end([pair[place] for pair in bounds], place, limit) for place in (0, 1))
    near, far = (low, high) if limit.is_upper else (high, low)
    is_breach = near is not None and limit.is_beyond(near, NOISE)
    # what the page accuses is not passed, whatever the gate could tell by itself
    by_page = [number for number in numbers if not is_breach and number.is_accused(limit)]
    if by_page:
        is_breach, worst = True, farthest(by_page, key=lambda number: number.value or 0.0)
        low, high = worst.accused or (None, None)
    is_passed = far is not None and not limit.is_beyond(far, NOISE) and len(tested) == len(numbers)
    # what is shown has no end off the scale; verdicts are those of the whole interval
    low, high = cut_to(worst.reach, worst.value or 0.0, low, high)
    left_out = [number.side for number in numbers if number not in tested and number.side]
    needed = max((number.needed(least_sets) for number in tested if number.is_few(least_sets)), default=None)
    reason = ALIKE if needed is None else f"decided from {needed} sets on{SKEWED if needed > LEAST_SETS else ''}"
    reason = SMALL if any(number.has_few for number in tested) else reason
    is_inside = is_passed and all(number.is_inside for number in tested)
    notes = (
        BY_PAGE if by_page else reason if None in (low, high) else "",
        INSIDE if is_inside else "",
        f"{few_label()}: {', '.join(left_out)}" if left_out else "",
    )
    return GateRow(
        name=limit.name, limit=limit.text, number=worst.words, value=worst.value,
        low=None if is_inside else low, high=None if is_inside else high,
        outcome="breach" if is_breach else "passed" if is_passed else "cannot tell",
        level=adjusted.level, n_sets=len(worst.by_set), is_share=worst.is_share,
        is_difference=worst.is_difference, note="; ".join(filter(None, notes)),
    )  # fmt: skip


def _end(ends: Sequence[float | None], place: int, limit: Limit) -> float | None:
    """Lower or upper bound of the farthest of several numbers.

    The farthest is at least as far as each: its near bound is known from some of them, its far bound from all alone.
    """
    known = [end for end in ends if end is not None]
    is_near = (place == 0) == limit.is_upper
    if not known or (len(known) < len(ends) and not is_near):
        return None
    return max(known) if limit.is_upper else min(known)


def _bounds(number: NamedNumber, plan: Bootstrap) -> Bounds:
    """Exact bounds of a rate that is 0 or 1 in each set, and of a difference of rates that is the same in each, else bootstrap-t.

    Where `n` sets agree, of others no more may differ than the exact bound of 0 of `n`, each by as much as a difference can.
    """
    values = list(number.by_set.values())
    if number.value is None:
        return None, None
    if number.error:
        reach = t_reach(*number.error, plan.level)
        return number.value - reach, number.value + reach
    if number.is_inside:  # 0 by definition, whose spread says nothing
        return 0.0, 0.0
    if number.is_binary:
        return exact_bounds(number.value, len(values), plan.level)
    if number.is_rate and number.is_difference and np.ptp(np.round(values, 9)) == 0:
        reach = exact_bounds(0.0, len(values), plan.level)[1] * (1 + abs(number.value))
        return max(-1.0, number.value - reach), min(1.0, number.value + reach)
    return interval_by_sets(number.value, values, plan)


def _row(
    limit: Limit, numbers: Sequence[NamedNumber], baseline: Baseline | None, plan: Bootstrap, request: GateRequest
) -> GateRow:
    try:
        chosen = meant(limit, numbers)
        if limit.function == SUMMARISED:
            return _counted(limit, chosen[-1])
        if baseline is not None and not limit.is_now:
            chosen = [baseline.change(number) for number in chosen]
    except MissingNumber as error:
        return _missing(limit, str(error))
    return judged(limit, chosen, plan, len(request.limits), request.least_sets)


def _lacks_summaries(numbers: Sequence[NamedNumber]) -> bool:
    """Whether the last system, which limits are about, has no summary of something that was asked."""
    last = [number for number in numbers if SUMMARISED in number.functions][-1:]
    return any(number.value is not None and number.value < 1 - NOISE for number in last)


def _counted(limit: Limit, number: NamedNumber) -> GateRow:
    """The verdict on what is counted of this release, and no sample of others."""
    if number.value is None:
        return _missing(limit, f"{number.words}: it is undefined")
    is_beyond = limit.is_beyond(number.value, NOISE)
    return GateRow(
        name=limit.name, limit=limit.text, number=number.words, value=number.value, is_share=True,
        outcome="breach" if is_beyond else "passed",
        note=f"what has no summary counts against the release; a limit such as {EXAMPLE!r} allows some"
        if limit is EVERYTHING
        else "",
    )  # fmt: skip


def _missing(limit: Limit, why: str) -> GateRow:
    return GateRow(name=limit.name, limit=limit.text, outcome="missing", number="", note=why)
