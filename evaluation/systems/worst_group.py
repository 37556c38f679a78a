"""Choosing among systems by their worst group, with the chance that the choice is right.

A mean over everybody hides who is badly served; the mean of the worst group does not. But the worst of several means
is noisy, and so is the best of several such. The chance that it is right is how often it comes out so in bootstrap draws of
the document sets; it counts as made only when its worst group is clearly better than every other system's, by Student's t
with the jackknife over sets, which holds its level over few of them, as draws do not.

Cells (a set and a group) in which any system has no
value are left out for all systems, so that all are compared on the same ones. Groups with few sets are shown and take
no part, and where fewer than two are left, nothing is chosen: the worst of one group means nothing.
"""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from ...fairness.groups.coverage import over
from ...records import Record
from ...resampling import (
    LEAST_SETS,
    MANY_SETS,
    NOISE,
    Bootstrap,
    Floats,
    effective_sets,
    in_blocks,
    largest_p_value,
    percentiles,
    t_interval,
)

# groups that a note names
MOST_NAMED = 3


class GroupMean(Record):
    """A group's mean under one system."""

    group: str
    mean: float | None
    # sets that it rests on
    n_sets: int
    # too few of them: shown, but never the worst group
    is_small: bool


class RatedSystem(Record):
    """A system by its worst group."""

    system: str
    groups: tuple[GroupMean, ...]
    # None when no group has enough sets
    group: str | None
    mean: float | None
    # bounds of the mean of the worst group, which group that is found again in each draw
    low: float | None
    high: float | None
    # share of the draws in which its worst group is the best of all systems', ties shared; None without draws
    chance_of_best: float | None


class WorstGroups(Record):
    """All systems by their worst groups."""

    systems: tuple[RatedSystem, ...]
    # the system to choose; None when it is not clear, or fewer than two groups have enough sets
    choice: str | None
    # of "another system's worst group is as good as that of the best", the largest of all others; None when nothing is compared
    p_value: float | None
    # cells of a set and a group without a value of some system
    left_out: int
    least_sets: int
    level: float
    resamples: int
    seed: int


def worst_groups(
    scores: ArrayLike,
    systems: Sequence[str],
    groups: Sequence[str],
    plan: Bootstrap,
    *,
    least_sets: int = LEAST_SETS,
    lower_is_better: bool = False,
) -> WorstGroups:
    """Each system's worst group, and the system whose worst group is best.

    Args:
        scores: of each system, document set and group, nan for none; shape (systems, sets, groups).
        systems: their names.
        groups: their names: sides, or attribute values.
        plan: of the draws; one less its level is also the p that makes a choice.
        least_sets: sets that a group needs.
        lower_is_better: whether low scores are good.

    Raises:
        DataError: the shape is another, or nothing is to be compared.
    """
    table = np.array(scores, dtype=float)
    if table.ndim != 3 or (len(systems), len(groups)) != (table.shape[0], table.shape[2]) or not systems or not groups:
        raise DataError(
            f"worst groups need scores of shape (systems, sets, groups) = ({len(systems)}, sets, {len(groups)}), at least one of "
            f"each, got {table.shape}"
        )
    whole = ~np.isnan(table).any(axis=0)  # (sets, groups)
    left_out = int((~whole & ~np.isnan(table).all(axis=0)).sum())
    table[:, ~whole] = np.nan
    n_sets = whole.sum(axis=0)  # (groups,)
    is_kept = n_sets >= max(1, least_sets)
    sign = -1.0 if lower_is_better else 1.0
    draws = _draws(sign * table[:, :, is_kept], plan)
    means = [_group_means(rows, groups, is_kept) for rows in table]
    rated = tuple(_rated(system, rows, sign) for system, rows in zip(systems, means, strict=True))
    if draws is not None:
        rated = _with_chances(rated, draws, sign, plan.level)
    best, p_value = _best(sign * table[:, :, is_kept])
    is_clear = p_value is not None and p_value <= 1 - plan.level
    return WorstGroups(
        systems=rated,
        choice=systems[best] if is_clear else None,
        p_value=p_value,
        left_out=left_out,
        least_sets=least_sets,
        **asdict(plan),
    )


def without_part(found: WorstGroups) -> str:
    """ "right: 8 sets, takes no part": the groups with too few sets; "" when there are none."""
    small = [
        f"{group.group}: {group.n_sets} set{'' if group.n_sets == 1 else 's'}"
        for group in found.systems[0].groups
        if group.is_small
    ]
    if not small:
        return ""
    more = [f"{len(small) - MOST_NAMED} more"] if len(small) > MOST_NAMED else []
    return f"{', '.join([*small[:MOST_NAMED], *more])}, {'takes' if len(small) == 1 else 'take'} no part"


def _rated(system: str, rows: tuple[GroupMean, ...], sign: float) -> RatedSystem:
    """A system by its worst group, without draws."""
    worst = min((row for row in rows if not row.is_small), key=lambda row: sign * (row.mean or 0.0), default=None)
    group, mean = (worst.group, worst.mean) if worst else (None, None)
    return RatedSystem(system=system, groups=rows, group=group, mean=mean, low=None, high=None, chance_of_best=None)


def _with_chances(
    rated: Sequence[RatedSystem], draws: NDArray[np.float64], sign: float, level: float
) -> tuple[RatedSystem, ...]:
    """The systems with their intervals and chances; `draws` has shape (draws, systems), higher better."""
    lows, highs = percentiles(sign * draws, level)
    best = draws >= draws.max(axis=1, keepdims=True) - NOISE
    # the share of the draws in which each is best, ties shared
    chances = (best / best.sum(axis=1, keepdims=True)).mean(axis=0)
    columns = zip(rated, lows.tolist(), highs.tolist(), chances.tolist(), strict=True)
    return tuple(
        each.model_copy(update={"low": low, "high": high, "chance_of_best": chance})
        for each, low, high, chance in columns
    )


def _best(table: NDArray[np.float64]) -> tuple[int, float | None]:
    """The system whose worst group is best, and p of "that of another is as good"; `table` as given, higher better.

    None of one system and of one group, which make no choice.
    """
    n_systems, n_sets, n_groups = table.shape
    if n_systems < 2 or n_groups < 2:
        return 0, None
    known = ~np.isnan(table[0])  # (sets, groups)
    columns = np.nan_to_num(table).transpose(1, 0, 2).reshape(n_sets, -1)

    def worst(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        totals, counts = (
            sums[..., :-n_groups].reshape(*sums.shape[:-1], n_systems, n_groups),
            sums[..., None, -n_groups:],
        )
        return np.asarray(over(totals, counts).min(axis=-1))

    whole = np.hstack([columns, known])
    best = int(np.argmax(worst(whole.sum(axis=0))))
    others = [place for place in range(n_systems) if place != best]
    rests_on = np.repeat(known.any(axis=1)[:, None], len(others), axis=1)
    found = t_interval(lambda sums: worst(sums)[..., [best]] - worst(sums)[..., others], whole, rests_on, 0.95)
    # a page that calls no difference clear for want of sets makes no choice
    return best, largest_p_value(found.p_value, int(known.any(axis=1).sum()))


def _group_means(
    table: NDArray[np.float64], groups: Sequence[str], is_kept: NDArray[np.bool_]
) -> tuple[GroupMean, ...]:
    """The means of one system; `table` has shape (sets, groups)."""
    known = ~np.isnan(table)
    return tuple(
        GroupMean(
            group=group,
            mean=float(table[known[:, i], i].mean()) if known[:, i].any() else None,
            n_sets=int(known[:, i].sum()),
            is_small=not is_kept[i],
        )
        for i, group in enumerate(groups)
    )


def _draws(table: NDArray[np.float64], plan: Bootstrap) -> NDArray[np.float64] | None:
    """Mean of each system's worst group in each draw, higher better, shape (draws, systems); None when nothing can be drawn.

    A draw that leaves a group empty says nothing and is dropped.
    """
    n_systems, n_sets, n_groups = table.shape
    with_values = ~np.isnan(table[0]).all(axis=1) if n_groups else np.zeros(n_sets, dtype=bool)
    if with_values.sum() < 2:
        return None
    rows = table[:, with_values].transpose(1, 0, 2).reshape(with_values.sum(), n_systems * n_groups)
    drawn = mean_draws(rows, plan)
    worst: NDArray[np.float64] = drawn.reshape(-1, n_systems, n_groups).min(axis=2)
    whole = worst[~np.isnan(worst).any(axis=1)]
    return whole if len(whole) else None


def mean_draws(table: Floats, plan: Bootstrap) -> Floats:
    """Mean of each column under each draw of as many sets, (draws, columns); nan where a draw has no value of a column.

    Where every column has `MANY_SETS` or more, the means are drawn from the normal distribution that theirs comes to.

    Args:
        table: shape (sets, columns); nan is left out.
        plan: of the draws.
    """
    generator = np.random.default_rng(plan.seed)
    sums, counts = np.nan_to_num(table, nan=0.0), (~np.isnan(table)).astype(float)
    if counts.any(axis=0).all():
        means = sums.sum(axis=0) / counts.sum(axis=0)
        parts = (sums - means * counts) / counts.sum(axis=0)
        if min(map(effective_sets, parts.T), default=0) >= MANY_SETS:
            return generator.multivariate_normal(means, parts.T @ parts, size=plan.resamples)
    n, blocks = len(sums), []
    for rows in in_blocks(plan.resamples, n):
        weights = generator.multinomial(n, np.full(n, 1 / n), size=len(rows)).astype(float)
        totals = weights @ counts
        blocks.append(np.divide(weights @ sums, totals, out=np.full_like(totals, np.nan), where=totals > 0))
    return np.concatenate(blocks)
