"""Quotas: how many units of each group a fair summary takes."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Literal, get_args

from ...errors import DataError

# the same number from each group, or as many as is the group's share of the units
Notion = Literal["equal", "proportional"]


def group_quotas(group_sizes: Mapping[str, int], length: int, notion: Notion) -> dict[str, int]:
    """Units of each group, summing to `length`; no group gives more than it has.

    Each group first gets the whole part of its share, at most its size; the rest goes one by one to the group with the largest
    share minus quota so far among those with units left, ties to the earlier group. Computed with whole numbers and fractions.

    Source: Dash et al. 2019; docs/papers.md#dash-quotas.

    Args:
        group_sizes: units of each group, at least 0; their order settles ties.
        length: units of the summary, at least 0.
        notion: "equal" for length / groups each, "proportional" for length * size / units.

    Raises:
        DataError: the notion is not known, a size is negative, or there are fewer units than `length`.
    """
    if notion not in get_args(Notion):
        raise DataError(
            f"notion {notion!r} is not known; take one of {', '.join(get_args(Notion))}, or give the quotas"
        )
    total = sum(group_sizes.values())
    if min(group_sizes.values(), default=0) < 0 or not 0 <= length <= total:
        raise DataError(f"a summary of {length} units cannot be taken from groups of sizes {dict(group_sizes)}")
    share = {
        group: Fraction(length, len(group_sizes)) if notion == "equal" else Fraction(length * size, max(total, 1))
        for group, size in group_sizes.items()
    }
    given = {group: min(int(share[group]), size) for group, size in group_sizes.items()}
    for _ in range(length - sum(given.values())):
        open_groups = [group for group, size in group_sizes.items() if given[group] < size]
        given[max(open_groups, key=lambda group: share[group] - given[group])] += 1  # max keeps the first of equals
    return given


def check_quotas(quotas: Mapping[str, int], group_sizes: Mapping[str, int], length: int) -> dict[str, int]:
    """The quota of every group; groups that `quotas` does not name have 0.

    Source: Dash et al. 2019; docs/papers.md#dash-quotas.

    Raises:
        DataError: a group is not known, a quota is no whole number from 0 to its group's size, or the sum is not `length`; all
            mistakes are told together.
    """
    wrong = [f"group {group!r} is not among {sorted(group_sizes)}" for group in quotas if group not in group_sizes]
    wrong += [
        f"group {group!r} has {group_sizes[group]} units, quota {quota}"
        for group, quota in quotas.items()
        if group in group_sizes and not (0 <= quota <= group_sizes[group] and quota == int(quota))
    ]
    if sum(quotas.values()) != length:
        wrong.append(f"quotas sum to {sum(quotas.values())}, the summary has {length} units")
    if wrong:
        raise DataError(f"quotas cannot be met: {'; '.join(wrong)}")
    return {group: quotas.get(group, 0) for group in group_sizes}


def biased_batch(
    length: int, first: str, second: str, step: int, fixed: Mapping[str, int] | None = None
) -> tuple[dict[str, int], ...]:
    """Quotas of a batch of summaries that mix two opposed groups differently: `first` 0, step, 2 step, ..., `second` the rest.

    The mix is known by construction, so a batch is a test bed for any fairness score.

    Source: Shandilya et al. 2020, section IV.A.

    Args:
        length: units of each summary.
        first: the group that grows.
        second: the group that shrinks.
        step: units from one summary to the next, at least 1.
        fixed: quotas of the other groups, the same in all summaries.

    Raises:
        DataError: the step is below 1, a fixed quota is negative, the fixed quotas exceed the length, or a group is named twice.
    """
    fixed = dict(fixed or {})
    free = length - sum(fixed.values())
    if step < 1 or free < 0 or min(fixed.values(), default=0) < 0:
        raise DataError(f"a batch needs step >= 1 and fixed quotas from 0 to the length, got {step}, {fixed}, {length}")
    if len({first, second, *fixed}) < 2 + len(fixed):
        raise DataError(f"each group is named once, got {[first, second, *fixed]}")
    return tuple({first: a, second: free - a, **fixed} for a in range(0, free + 1, step))
