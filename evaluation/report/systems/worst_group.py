"""Choosing among systems by their worst group, with the chance that the choice is right.

A mean over everybody hides who is badly served; the mean of the worst group does not. But the worst of several means
is noisy, and so is the best of several such. The chance that it is right is how often it comes out so in bootstrap draws of
the document sets; it counts as made only when its worst group is clearly better than every other system's, see `questions`.

Cells (a set and a group) in which any system has no
value are left out for all systems, so that all are compared on the same ones. Groups with few sets are shown and take
no part, and where fewer than two are left, nothing is chosen: the worst of one group means nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from operator import not_

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from ....errors import DataError
from ....number import Number
from ....records import Record
from ....resampling import (
    LEAST_SETS,
    MANY_SETS,
    NOISE,
    Bootstrap,
    Floats,
    effective_sets,
    in_blocks,
    percentiles,
)
from ...significance import Concluded
from .questions import Question, answers

# groups that a note names
MOST_NAMED = 3


class RatedSystem(Number):
    """The mean of a system's worst group, which is its `side`; in each draw of its interval that is found again.

    Without a value where no group has enough sets.
    """

    # all groups: of those with too few sets the mean is shown, and they are never the worst
    groups: tuple[Number, ...]
    # share of the draws in which its worst group is the best of all systems', ties shared; None without draws
    chance_of_best: float | None


class WorstGroups(Record):
    """All systems by their worst groups."""

    # by which judge, and among how many candidates each system's summaries are chosen; neither where the page says it
    measure: str = Field(default="", exclude_if=not_)
    k: int = Field(default=0, exclude_if=not_)
    systems: tuple[RatedSystem, ...]
    # the system to choose; None when it is not clear, or fewer than two groups have enough sets
    choice: str | None
    # of "another system's worst group is as good as that of the best", corrected for everything that is tested with it; None when
    # nothing is compared
    adjusted: float | None
    # cells of a set and a group without a value of some system
    left_out: int
    least_sets: int

    def is_small(self, group: Number) -> bool:
        """Whether a group has too few sets to take part."""
        return group.n_sets < max(1, self.least_sets)


def worst_groups(
    scores: ArrayLike,
    systems: Sequence[str],
    groups: Sequence[str],
    plan: Bootstrap,
    *,
    least_sets: int = LEAST_SETS,
    lower_is_better: bool = False,
) -> WorstGroups:
    """Each system's worst group; the system whose worst group is best is chosen by the tests of `rivalry`.

    Args:
        scores: of each system, document set and group, nan for none; shape (systems, sets, groups).
        systems: their names.
        groups: their names: sides, or attribute values.
        plan: of the draws.
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
    is_complete = ~np.isnan(table).any(axis=0)  # (sets, groups)
    left_out = int((~is_complete & ~np.isnan(table).all(axis=0)).sum())
    table[:, ~is_complete] = np.nan
    n_sets = is_complete.sum(axis=0)  # (groups,)
    is_kept = n_sets >= max(1, least_sets)
    sign = -1.0 if lower_is_better else 1.0
    draws = _draws(sign * table[:, :, is_kept], plan)
    means = [_group_means(rows, groups) for rows in table]
    rated = tuple(_rated(system, rows, is_kept, sign) for system, rows in zip(systems, means, strict=True))
    if draws is not None:
        rated = _with_chances(rated, draws, sign, plan.level)
    return WorstGroups(
        systems=rated,
        choice=None,
        adjusted=None,
        left_out=left_out,
        least_sets=least_sets,
    )


def without_part(groups: WorstGroups) -> str:
    """ "right: 8 sets, takes no part": the groups with too few sets; "" when there are none."""
    small = [
        f"{group.side}: {group.n_sets} set{'' if group.n_sets == 1 else 's'}"
        for group in groups.systems[0].groups
        if groups.is_small(group)
    ]
    if not small:
        return ""
    remainder = [f"{len(small) - MOST_NAMED} more"] if len(small) > MOST_NAMED else []
    return f"{', '.join([*small[:MOST_NAMED], *remainder])}, {'takes' if len(small) == 1 else 'take'} no part"


def _rated(system: str, rows: tuple[Number, ...], is_kept: NDArray[np.bool_], sign: float) -> RatedSystem:
    """A system by its worst group, without draws."""
    large = [row for row, is_large in zip(rows, is_kept, strict=True) if is_large]
    worst = min(large, key=lambda row: sign * (row.value or 0.0), default=Number())
    return RatedSystem(system=system, groups=rows, side=worst.side, value=worst.value, chance_of_best=None)


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
        system.model_copy(update={"low": low, "high": high, "chance_of_best": chance})
        for system, low, high, chance in columns
    )


@dataclass(frozen=True)
class Rivalry:
    """Tests of "its worst group is as good as that of the best": of all systems and groups, as any may be best and worst."""

    best: str
    question: Question
    # tests of the best system against every other one, and 1 where they are of that order, else -1
    place: NDArray[np.intp]
    sign: NDArray[np.intp]

    def p_value(self, answer: Concluded) -> float:
        """The p-value of "another system's worst group is as good", the largest of all others."""
        bound = np.where(self.sign > 0, answer.low[self.place], -answer.high[self.place])
        return float(np.where(bound > NOISE, answer.p_value[self.place], 1.0).max())


def rivalry(scores: ArrayLike, groups: WorstGroups, *, lower_is_better: bool = False) -> Rivalry | None:
    """The tests of a choice; None of one system and of one group, which make none.

    Args:
        scores: as `worst_groups` takes them.
        groups: what it gave for them.
        lower_is_better: whether low scores are good.
    """
    large = [place for place, group in enumerate(groups.systems[0].groups) if not groups.is_small(group)]
    if len(groups.systems) < 2 or len(large) < 2:
        return None
    sign = -1.0 if lower_is_better else 1.0
    table = sign * np.array(scores, dtype=float)[:, :, large]
    table[:, np.isnan(table).any(axis=0)] = np.nan
    means = np.nanmean(table, axis=1)  # (systems, groups)
    worst, best = means.argmin(axis=1), int(means.min(axis=1).argmax())
    places = {
        (system, of, rival, rival_group): place
        for place, (system, rival, of, rival_group) in enumerate(
            (system, rival, of, rival_group)
            for system, rival in combinations(range(len(table)), 2)
            for of, rival_group in product(range(len(large)), repeat=2)
        )
    }
    added = np.array(
        [table[system, :, of] - table[rival, :, rival_group] for system, of, rival, rival_group in places]
    ).T
    against = [
        ((best, worst[best], rival, worst[rival]), 1)
        if best < rival
        else ((rival, worst[rival], best, worst[best]), -1)
        for rival in range(len(table))
        if rival != best
    ]
    return Rivalry(
        best=groups.systems[best].system,
        question=Question("by design", added, (~np.isnan(added)).astype(float)),
        place=np.array([places[pairing] for pairing, _ in against]),
        sign=np.array([direction for _, direction in against]),
    )


def with_choice(groups: WorstGroups, tests: Rivalry | None, answer: Concluded | None, level: float) -> WorstGroups:
    """The systems by their worst groups, with the choice that their page makes."""
    if tests is None or answer is None:
        return groups
    p_value = tests.p_value(answer)
    choice = tests.best if p_value <= 1 - level else None
    return groups.model_copy(update={"choice": choice, "adjusted": p_value})


def choice_alone(
    scores: ArrayLike, groups: WorstGroups, plan: Bootstrap, *, lower_is_better: bool = False
) -> WorstGroups:
    """The systems by their worst groups, with the choice that is made where nothing else is tested with it; see `rivalry`."""
    tests = rivalry(scores, groups, lower_is_better=lower_is_better)
    return with_choice(groups, tests, answers([tests.question], plan)[0] if tests else None, plan.level)


def _group_means(table: NDArray[np.float64], groups: Sequence[str]) -> tuple[Number, ...]:
    """The means of one system; `table` has shape (sets, groups)."""
    known = ~np.isnan(table)
    return tuple(
        Number(
            side=group,
            value=float(table[known[:, i], i].mean()) if known[:, i].any() else None,
            n_sets=int(known[:, i].sum()),
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
    complete_draws = worst[~np.isnan(worst).any(axis=1)]
    return complete_draws if len(complete_draws) else None


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
