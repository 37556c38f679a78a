"""One rule for all that a page concludes: how often would something as large come up, had it been dealt otherwise?

Each test is a sum over document sets. What is random under its null is done anew many times: signs of whole sets are flipped, all
tests together, where systems are exchangeable ("whose summary is it?"), and labels of documents are dealt anew within each set,
for all systems together, where values are ("whose document is it?", see `fairness.groups.taste`). A test's p-value is how often
the largest standardised sum of all that is tested with it is as large as its own (Westfall and Young 1993).

Half of the level is for the question that the page is made for, half for all others together; where one half says something, the
other has the whole level (Holm 1979). What differs by design is tested with the others and hands on nothing. So at most 5 % of
the pages where there is nothing to say say anything. Intervals hold
what the same test does not refuse, so that one without zero and a clear verdict are the same thing.
How often it holds was simulated: docs/fairness-evidence.md#pages.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..resampling import LEAST_SETS, NOISE, Bootstrap, in_blocks

Floats = NDArray[np.float64]
# how often everything is dealt anew; p is no smaller than one by one more
DRAWS = 2_000


@dataclass(frozen=True)
class NullDraws:
    """Tests of one kind: standardised sums as they are, and their sizes in every draw."""

    # (tests,); nan where there is no test
    observed: Floats
    # (DRAWS, tests), at least 0; (DRAWS, 1) where of each draw the largest alone is kept
    drawn: Floats
    # what is added up, (sets, tests), 0 where a set says nothing, and how much of the tested quantity a set weighs
    added: Floats
    weights: Floats
    # variance of the sum over draws where it has a floor, (tests,), else 0
    floor: Floats

    @classmethod
    def beside(cls, parts: Sequence["NullDraws"]) -> "NullDraws":
        """Tests over the same sets, side by side."""
        return cls(
            np.concatenate([part.observed for part in parts]),
            np.hstack([part.drawn for part in parts]),
            np.hstack([part.added for part in parts]),
            np.hstack([part.weights for part in parts]),
            np.concatenate([part.floor for part in parts]),
        )

    def only(self, tests: Sequence[int]) -> "NullDraws":
        """Some of the tests."""
        places = list(tests)
        return NullDraws(
            self.observed[places], self.drawn[:, places], self.added[:, places], self.weights[:, places], self.floor[places]
        )  # fmt: skip

    @property
    def largest(self) -> Floats:
        """The largest of all tests in each draw, (DRAWS,)."""
        is_each = self.drawn.shape[1] == len(self.observed)
        drawn = self.drawn[:, ~np.isnan(self.observed)] if is_each else self.drawn
        return np.asarray(drawn.max(axis=1, initial=0.0))


@dataclass(frozen=True)
class Concluded:
    """The results of the rule for the tests of one kind, (tests,) each, nan where there is no test."""

    # corrected for all tests of the page, in [0, 1]
    p_value: Floats
    # bounds of the quantity, of the same correction; infinite where the sets do not bound it
    low: Floats
    high: Floats

    def at(self, test: int) -> tuple[float | None, float | None, float | None]:
        """p-value and bounds of one test; None where there is none, and of what sets do not bound."""
        p, low, high = (float(column[test]) for column in (self.p_value, self.low, self.high))
        return (
            None if math.isnan(p) else p,
            None if not math.isfinite(low) else low,
            None if not math.isfinite(high) else high,
        )


def standardised(added: Floats, floor: Floats | float = 0.0) -> Floats:
    """Sums over sets by the root of their sums of squares, or of the variance of the sum where that is larger, (..., tests).

    Args:
        added: by each set, (..., sets, tests).
        floor: a variance, (tests,).
    """
    scale = np.sqrt(np.maximum((added**2).sum(axis=-2), floor))
    return np.asarray(added.sum(axis=-2) / np.where(scale > NOISE, scale, np.inf))


def flipped(added: Floats, weights: Floats | None, plan: Bootstrap, *, only_largest: bool = False) -> NullDraws:
    """Tests of "each set might as well have said the opposite", with the same signs for all of them.

    Args:
        added: what each set adds to each difference, (sets, tests); nan for nothing.
        weights: how much of the difference it weighs, of the same shape; None: alike, where it adds something.
        plan: seed of the signs.
        only_largest: keep of each draw the largest of all tests: of pages with thousands of them.
    """
    is_there = ~np.isnan(added)
    known = np.where(is_there, added, 0.0)
    weighs = is_there.astype(float) if weights is None else np.where(is_there, weights, 0.0)
    observed = np.where(is_there.sum(axis=0) > 1, standardised(known), np.nan)
    unit = np.where(np.isnan(observed), 0.0, known / np.maximum(np.sqrt((known**2).sum(axis=0)), NOISE))
    sizes = (
        np.abs(signs[rows] @ unit)
        for signs in _signs(len(added), plan.seed)
        for rows in in_blocks(len(signs), unit.shape[1])
    )
    drawn = np.concatenate([size.max(axis=1, initial=0.0, keepdims=True) if only_largest else size for size in sizes])
    return NullDraws(observed, drawn, known, weighs, np.zeros(added.shape[1]))


def exchanged(difference: Callable[[Floats], Floats], first: Floats, second: Floats, plan: Bootstrap) -> NullDraws:
    """Tests of "each set might as well be the other system's", of differences that are no sums over sets, without bounds.

    Signs of what sets say of a mean of absolute gaps find far more differences than there are.

    Args:
        difference: of sums of the columns of both, (..., 2 * columns), to the differences, (..., tests).
        first: columns of a system, (sets, columns).
        second: those of the other, of the same sets.
        plan: seed of the exchanges.
    """
    middle, half_gap = (first + second).sum(axis=0) / 2, (first - second) / 2

    def by_signs(signs: Floats) -> Floats:
        shift = signs @ half_gap
        return difference(np.concatenate([middle + shift, middle - shift], axis=-1))

    gaps = by_signs(np.ones(len(half_gap)))
    drawn = np.concatenate([by_signs(signs) for signs in _signs(len(half_gap), plan.seed)])
    known = ~np.isnan(drawn)
    # what leaves nothing to compare counts as differing
    scale = np.sqrt(np.where(known, drawn**2, 0.0).sum(axis=0) / np.maximum(1, known.sum(axis=0)))
    scale = np.where(scale > NOISE, scale, np.inf)
    nothing = np.zeros((len(half_gap), len(gaps)))
    observed = np.where(len(half_gap) > 1, gaps / scale, np.nan)
    return NullDraws(observed, np.where(known, np.abs(drawn) / scale, np.inf), nothing, nothing, nothing.sum(axis=0))


@dataclass(frozen=True)
class Unit:
    """Documents among which labels are dealt: of a set."""

    # what each document has beyond what is expected of it, summing to 0, by each system, (systems, documents)
    leftover: Floats
    # of each document, from 0
    labels: NDArray[np.intp]
    # how much the unit weighs in the tested quantities, (systems,)
    weight: Floats


def dealt(units: Sequence[Unit], n_labels: int, plan: Bootstrap) -> NullDraws:
    """Tests of "these labels might as well be those of other documents of the set", dealt alike for all systems.

    Each label's sum is divided by the root of its units' squares, as few may make all of it, or of its variance over deals where
    that is larger, as few units have few squares; in every deal anew.

    Args:
        units: of one label or several; of one they say nothing.
        n_labels: how many there are.
        plan: seed of the deals.

    Returns:
        Tests of each system and label, those of a system side by side.
    """
    telling = [unit for unit in units if len(np.unique(unit.labels)) > 1]
    n_systems = len(units[0].leftover) if units else 0
    shape = len(telling), n_systems, n_labels
    added, weights, floor, is_there = np.zeros(shape), np.zeros(shape), np.zeros(shape[1:]), np.zeros(shape[1:])
    for row, unit in enumerate(telling):
        np.add.at(added[row].T, unit.labels, unit.leftover.T)
        weights[row] = unit.weight[:, None]
        floor += _variance(unit, n_labels)
        is_there += np.outer(unit.weight, np.bincount(unit.labels, minlength=n_labels))
    sums, squares = np.zeros((2, DRAWS, n_systems, n_labels))
    generator = np.random.default_rng(plan.seed)
    for alike in _by_size(telling):
        _deal(alike, sums, squares, generator)
    scale = np.sqrt(np.maximum(squares, floor))
    drawn = np.abs(sums) / np.where(scale > NOISE, scale, np.inf)
    n_tests = n_systems * n_labels
    flat, variance = added.reshape(len(telling), n_tests), floor.ravel()
    observed = np.where(is_there.ravel() > 0, standardised(flat, variance), np.nan)
    return NullDraws(observed, drawn.reshape(DRAWS, n_tests), flat, weights.reshape(len(telling), n_tests), variance)


def _variance(unit: Unit, n_labels: int) -> Floats:
    """The variance of each label's sum over deals, (systems, labels): of sums drawn without replacement."""
    n, counts = len(unit.labels), np.bincount(unit.labels, minlength=n_labels)
    return np.asarray((unit.leftover**2).sum(axis=1)[:, None] * counts * (n - counts) / (n * (n - 1)))


def _by_size(units: Sequence[Unit]) -> list[list[Unit]]:
    by_size: dict[int, list[Unit]] = {}
    for unit in units:
        by_size.setdefault(len(unit.labels), []).append(unit)
    return [by_size[size] for size in sorted(by_size)]


def _deal(units: Sequence[Unit], sums: Floats, squares: Floats, generator: np.random.Generator) -> None:
    """Add the sums of units of as many documents each, and their squares, to those of every draw, (draws, systems, labels)."""
    orders = [np.argsort(unit.labels, kind="stable") for unit in units]
    labels = np.stack([unit.labels[order] for unit, order in zip(units, orders, strict=True)])
    # systems first, (systems, units, documents); documents of a label side by side
    leftover = np.stack([unit.leftover[:, order] for unit, order in zip(units, orders, strict=True)], axis=1)
    starts = np.flatnonzero(np.diff(labels, axis=1, prepend=-1).ravel())
    one_hot = (labels.ravel()[starts][:, None] == np.arange(sums.shape[-1])).astype(float)
    places = np.arange(labels.shape[1], dtype=np.int32)
    rows = np.arange(len(units), dtype=np.int32)[:, None] * labels.shape[1]
    for draws in in_blocks(DRAWS, 8 * labels.size):
        shuffled = generator.permuted(np.broadcast_to(places, (len(draws), *labels.shape)), axis=-1) + rows
        for system, system_leftover in enumerate(leftover):
            parts = np.add.reduceat(system_leftover.ravel()[shuffled.reshape(len(draws), -1)], starts, axis=1)
            sums[draws, system] += parts @ one_hot
            squares[draws, system] += parts**2 @ one_hot


def _signs(n_sets: int, seed: int) -> Iterator[Floats]:
    """Patterns in blocks, (draws, sets): where there are no more of them than draws, each as often as the others."""
    generator = np.random.default_rng(seed)
    is_few = 2**n_sets <= DRAWS
    patterns = generator.permutation(np.arange(DRAWS) % 2**n_sets) if is_few else np.zeros(DRAWS, dtype=np.intp)
    for rows in in_blocks(DRAWS, n_sets):
        marks = (
            patterns[rows, None] >> np.arange(n_sets) & 1 if is_few else generator.integers(2, size=(len(rows), n_sets))
        )
        yield np.asarray(marks * 2.0 - 1.0, dtype=np.float64)


def concluded(
    first: Sequence[NullDraws], remaining: Sequence[NullDraws], level: float, by_design: Sequence[NullDraws] = ()
) -> tuple[list[Concluded], list[Concluded]]:
    """All tests of a page, by the two halves of the level.

    Args:
        first: tests of the question that the page is made for, by kind.
        remaining: all others.
        level: one less that of the tests, and of the intervals.
        by_design: tests of what nobody doubts to differ: in the half of the others, whose level they do not hand on.

    Returns:
        of the first, and of the others with those by design last.
    """
    kinds = (list(first), [*remaining, *by_design])
    families = [_Half.of(tests) for tests in kinds]
    n_halves = 1.0 if sum(family.n_tests > 0 for family in families) < 2 else 2.0
    says = [
        family.smallest(tests) * n_halves <= 1 - level
        for family, tests in zip(families, (first, remaining), strict=True)
    ]
    factors = [1.0 if says[1] else n_halves, 1.0 if says[0] else n_halves]
    results = [
        [family.judged(draws, factor, level) for draws in tests]
        for family, factor, tests in zip(families, factors, kinds, strict=True)
    ]
    return results[0], results[1]


@dataclass(frozen=True)
class _Half:
    """The largest of all tests of a half in each draw, ascending."""

    largest: Floats
    n_tests: int

    @classmethod
    def of(cls, tests: Sequence[NullDraws]) -> "_Half":
        """The half of tests of several kinds, whose draws are taken side by side."""
        n_tests = int(sum((~np.isnan(draws.observed)).sum() for draws in tests))
        if not n_tests:
            return cls(np.empty(0), 0)
        largest = np.sort(np.max([draws.largest for draws in tests], axis=0))
        return cls(largest, n_tests)

    def smallest(self, tests: Sequence[NullDraws]) -> float:
        """The p-value of the largest of some of its tests, before it is corrected for the other half; 1 without any."""
        known = [np.abs(draws.observed[~np.isnan(draws.observed)]) for draws in tests]
        largest_sum = max((sizes.max(initial=0.0) for sizes in known), default=0.0)
        return float(_as_large(self.largest, np.array([largest_sum]))[0]) if any(map(len, known)) else 1.0

    def judged(self, tests: NullDraws, factor: float, level: float) -> Concluded:
        """p-values times the factor, and bounds at the level by it."""
        if not self.n_tests:
            return Concluded(*np.full((3, len(tests.observed)), np.nan))
        p_value = np.minimum(1.0, _as_large(self.largest, np.abs(tests.observed)) * factor)
        p_value = np.where(np.isnan(tests.observed), np.nan, p_value)
        # as many draws may be as large as what is clear
        n_allowed = int(np.floor((1 - level) / factor * (1 + len(self.largest)) + NOISE)) - 1
        critical = self.largest[-1 - n_allowed] if n_allowed >= 0 else np.inf
        return Concluded(p_value, *bounds(tests, float(critical)))


def _as_large(largest: Floats, observed: Floats) -> Floats:
    threshold = observed - NOISE * np.maximum(1.0, observed)
    n_below = np.searchsorted(largest, np.nan_to_num(threshold), side="left")
    return np.asarray((1 + len(largest) - n_below) / (1 + len(largest)))


def bounds(tests: NullDraws, critical: float) -> tuple[Floats, Floats]:
    """Every size of a quantity that its test does not refuse, once each set's weight times it is taken off, (tests,) each.

    |T - dM| <= c sqrt(max(sum (t - dm)^2, floor)) is so between the roots of two quadratic equations in d. Infinite where the
    sets do not bound it, and with fewer than `LEAST_SETS`.
    """
    total, mass = tests.added.sum(axis=0), tests.weights.sum(axis=0)
    square = critical**2
    is_few = (tests.weights > 0).sum(axis=0) < LEAST_SETS
    with np.errstate(divide="ignore", invalid="ignore"):
        a = mass**2 - square * (tests.weights**2).sum(axis=0)
        b = total * mass - square * (tests.added * tests.weights).sum(axis=0)
        c = total**2 - square * (tests.added**2).sum(axis=0)
        root = np.sqrt(np.maximum(b**2 - a * c, 0.0))
        low, high = (b - root) / a, (b + root) / a
        reach = critical * np.sqrt(tests.floor) / mass
        low, high = np.minimum(low, total / mass - reach), np.maximum(high, total / mass + reach)
    unbounded = is_few | ~(a > 0)
    low, high = np.where(unbounded, -np.inf, low), np.where(unbounded, np.inf, high)
    unknown = np.isnan(tests.observed) | ~(mass > 0)
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)
