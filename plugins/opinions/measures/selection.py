"""Submodular fair selection: a summary of whole units, good by an objective, with a quota for each group.

Not to be confused with FairSumm of Li et al. 2025. Source: Dash et al. 2019; docs/papers.md#dash.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import DataError
from ....fairness.encoding import text_similarity
from ....fairness.groups.quotas import Notion, group_quotas
from .objective import Objective, ObjectivePlan, SelectedUnits, cluster_units


def equal_quotas(group_sizes: Mapping[str, int], length: int) -> dict[str, int]:
    """Equal units of each group, summing to `length`; where they do not divide evenly, the earlier groups give one more.

    Source: Dash et al. 2019; docs/papers.md#dash-quotas.

    Raises:
        DataError: a group has fewer units than its share, or there are fewer units than `length`.
    """
    quotas = group_quotas(group_sizes, length, "equal")
    share = length // max(len(group_sizes), 1)
    if short := {group: size for group, size in group_sizes.items() if size < share}:
        shortages = ", ".join(f"{group!r} has {size}" for group, size in short.items())
        raise DataError(f"an equal summary of {length} units takes {share} of each group or one more, but {shortages}")
    return quotas


def check_quotas(quotas: Mapping[str, int], group_sizes: Mapping[str, int], length: int) -> dict[str, int]:
    """The quota of every group; groups that `quotas` does not name have 0, and so may groups that are not there.

    Source: Dash et al. 2019; docs/papers.md#dash-quotas.

    Raises:
        DataError: a group is not known, a quota is no whole number from 0 to its group's size, or the sum is not `length`; all
            mistakes are told together.
    """
    strange = [group for group, quota in quotas.items() if group not in group_sizes and quota]
    wrong = [f"group {group!r} is not among {sorted(group_sizes)}" for group in strange]
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


# gains closer than this are tied
TIE = 1e-12
# a gain may seem to have grown by as much, which is rounding
ROUNDING = 1e-9
# candidates evaluated at once
BLOCK = 128
# the group of units without groups
ALL = "all"


@dataclass(frozen=True)
class Selection:
    """The units of a summary."""

    # positions in order of choice
    selected: tuple[int, ...]

    @property
    def in_source_order(self) -> tuple[int, ...]:
        """The positions as the summary lists them."""
        return tuple(sorted(self.selected))


def select(objective: Objective, groups: Sequence[str], quotas: Mapping[str, int]) -> Selection:
    """Greedy choice until every quota is met; at least half of the best value that the quotas allow.

    Each step takes the unit that adds most, among the groups below their quotas; ties within 1e-12 go to the lowest position
    (the released program takes the last). What a unit adds never grows, so a unit whose earlier gain is too small is not
    evaluated again: same choice, fewer evaluations (lazy greedy).

    Source: Fisher, Nemhauser and Wolsey 1978; docs/papers.md#dash-greedy. The released program's threshold for
    gains has no effect and is left out; where it pads an impossible quota with empty texts, this refuses.

    Args:
        objective: over the units of the source.
        groups: group of each unit.
        quotas: of each group; groups not named have 0.

    Raises:
        DataError: units and groups differ in number, or the quotas cannot be met.
    """
    if len(groups) != objective.n_units:
        raise DataError(f"{objective.n_units} units, but {len(groups)} groups; each unit needs its group")
    wanted = check_quotas(quotas, Counter(groups), sum(quotas.values()))
    names = list(wanted)
    number = {name: i for i, name in enumerate(names)}
    group = np.fromiter((number[name] for name in groups), dtype=np.intp, count=len(groups))  # (units,)
    n_left = np.array([wanted[name] for name in names], dtype=np.intp)  # (groups,)
    chosen, order = objective.start(), []
    bounds = np.full(len(groups), np.inf)  # what each unit can add at most
    while n_left.any():
        unit = _best(objective, chosen, bounds, np.flatnonzero((n_left[group] > 0) & (bounds > -np.inf)))
        objective.add(chosen, unit)
        order.append(unit)
        bounds[unit] = -np.inf
        n_left[group[unit]] -= 1
    return Selection(tuple(order))


def _best(
    objective: Objective, chosen: SelectedUnits, bounds: NDArray[np.float64], candidates: NDArray[np.intp]
) -> int:
    """The lowest of the candidates that add most; `bounds` takes the gains that were evaluated on the way."""
    ordered = candidates[np.argsort(-bounds[candidates], kind="stable")]
    best, seen = -np.inf, 0
    while seen < len(ordered) and bounds[ordered[seen]] >= best - ROUNDING * max(1.0, best):
        block = ordered[seen : seen + BLOCK]
        bounds[block] = objective.gains(chosen, block)
        best = max(best, float(bounds[block].max()))
        seen += len(block)
    fresh = ordered[:seen]
    return int(fresh[bounds[fresh] >= best - TIE].min())


def select_fair(
    units: Sequence[str],
    groups: Sequence[str] | None = None,
    quotas: Mapping[str, int] | Notion | None = None,
    length: int | None = None,
    plan: ObjectivePlan | None = None,
    similarity: ArrayLike | None = None,
) -> Selection:
    """A fair extractive summary of the units.

    Source: Dash et al. 2019; docs/papers.md#dash.

    Args:
        units: texts; repeated ones are different units.
        groups: group of each unit; without, all units are of one group, "all".
        quotas: of each group, or the notion by which they are made; without, the objective alone decides, which is the
            summary to compare a fair one with.
        length: units of the summary; may be left out when quotas are numbers.
        plan: the objective.
        similarity: of the units, shape (units, units); tf-idf cosine when not given.

    Raises:
        DataError: the parts do not fit together, or the quotas cannot be met.
    """
    groups = [ALL] * len(units) if groups is None else groups
    if length is None and not isinstance(quotas, Mapping):
        raise DataError("a summary needs its length, unless quotas are given as numbers")
    n_selected = sum(quotas.values()) if length is None and isinstance(quotas, Mapping) else length or 0
    if quotas is None:
        one_group = [ALL] * len(units)
        (free,) = select_batch(
            units, one_group, [group_quotas(Counter(one_group), n_selected, "equal")], plan, similarity
        )
        return free
    sizes = Counter(groups)
    if quotas == "equal":
        quotas = equal_quotas(sizes, n_selected)
    elif isinstance(quotas, str):
        quotas = group_quotas(sizes, n_selected, quotas)
    (selection,) = select_batch(units, groups, [check_quotas(quotas, sizes, n_selected)], plan, similarity)
    return selection


def select_batch(
    units: Sequence[str],
    groups: Sequence[str],
    batch: Iterable[Mapping[str, int]],
    plan: ObjectivePlan | None = None,
    similarity: ArrayLike | None = None,
) -> Iterator[Selection]:
    """A selection for each of the quota sets, for example of `biased_batch`, one after the other.

    Similarities and clusters of the units are computed once. Source: Dash et al. 2019; docs/papers.md#dash. Shandilya et al.
    2020, section IV.A.

    Args:
        units: texts.
        groups: group of each unit.
        batch: quotas of each summary.
        plan: the objective.
        similarity: of the units, shape (units, units); tf-idf cosine when not given.

    Raises:
        DataError: the parts do not fit together, or quotas cannot be met.
    """
    table = text_similarity(units) if similarity is None else np.asarray(similarity, dtype=float)
    if len(table) != len(units):
        raise DataError(f"{len(units)} units, but similarities of {len(table)}")
    clusters = cluster_units(table)
    for quotas in batch:
        yield select(Objective(table, clusters, sum(quotas.values()), plan), groups, quotas)
