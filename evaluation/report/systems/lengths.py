"""Differences at equal length: what would be left of a difference if the summaries of both systems were as long.

Long summaries cover more, short ones are easier to get right, so most judges' scores go with length. How they do is read off the
candidates of one request by one policy, about their means, so that neither requests nor policies are taken for length. What the
curve of `evaluation.lengths` says of the lengths of both systems is the part of their difference that goes with length; the rest
is the difference at equal length. All are functions of sums over document sets, whose jackknife gives intervals that hold what
the curve does not know.
What is assumed, and how often it holds: docs/run-folder.md#length.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np

from ....fairness.groups.coverage import over
from ....number import Number
from ....resampling import NOISE, cluster_sums, t_interval
from ...lengths import COLUMNS, WIDTH, basis_of, bends_of, bounds_of, known_sums, line_of, rows_of_curve, slope_of
from .compare import Comparer
from .contents import Difference
from .ranked import Floats
from .systems import WORDS, PolicyOutput, System

# share of a difference from which on a page warns that it goes with length
MOST_OF_IT = 0.5


class Lengths:
    """How scores go with the length of summaries, and differences at equal length, of one page's requests."""

    def __init__(self, compare: Comparer, outputs: Sequence[PolicyOutput]) -> None:
        self.compare = compare
        # the same candidates chosen among in several ways count once
        self._outputs = list({output.candidates: output for output in outputs}.values())
        self._bends = bends_of([output.trait(WORDS) for output in self._outputs])
        self.curve = cache(self._curve)

    def slope(self, judge: str) -> Number | None:
        """The change of score that 10 % more words go with; None where no request has candidates of several lengths."""
        return slope_of(judge, self.curve(judge), self.compare.bootstrap.level)

    def parts(self, judge: str, first: System, second: System, side: str | None) -> dict[str, Number]:
        """The first minus the second at equal length, and the part that goes with length, by the names that differences have.

        Over the requests of a side or all; nothing where lengths say nothing.
        """
        curve = self.curve(judge)
        gaps = self._expected(judge, first) - self._expected(judge, second)  # (requests, 1 + WIDTH)
        is_asked = np.array([side in (None, of) for of in self.compare.request_sides])
        is_known = is_asked & ~np.isnan(gaps).any(axis=1)
        known_gaps = np.where(is_known[:, None], np.nan_to_num(gaps), 0.0)
        sums = np.concatenate([cluster_sums(np.c_[is_known, known_gaps], self.compare.sets), curve], axis=1)
        n_sets = int((sums[:, 0] > 0).sum())
        if not n_sets or not curve[:, -1].any():
            return {}
        level = self.compare.bootstrap.level
        intervals = t_interval(_parts, sums, np.repeat(sums[:, :1] > 0, 2, axis=1), level)
        return {
            name: Number(value=float(intervals.estimate[place]), low=low, high=high)
            for place, name in enumerate(("by_length", "at_equal_length"))
            for low, high in [bounds_of(n_sets, intervals.low[place], intervals.high[place], level)]
        }

    def _curve(self, judge: str) -> Floats:
        """The sums that each set adds to the curve, (sets, COLUMNS)."""
        rows = np.zeros((len(self.compare.sets), COLUMNS))
        for output in self._outputs:
            rows += rows_of_curve(output.trait(WORDS), output.column(judge), self._bends)
        return known_sums(cluster_sums(rows, self.compare.sets))

    def _expected(self, judge: str, system: System) -> Floats:
        """Score and place on the curve that a system has for each request, (requests, 1 + WIDTH); nan where it has none."""
        scores = system.output.column(judge)
        basis = basis_of(system.output.trait(WORDS), scores, self._bends)
        columns = [np.where(np.isnan(basis[..., 0]), np.nan, scores), *np.moveaxis(basis, -1, 0)]
        return np.array([system.output.ranked.expected_best(column, system.k) for column in columns], dtype=float).T


def share_by_length(difference: Difference) -> float | None:
    """Share of a clear difference that goes with length, where that is clear, too, and half of it or more."""
    part = difference.by_length
    if part is None or difference.verdict == "no clear difference" or not difference.value:
        return None
    share = (part.value or 0.0) / difference.value
    return share if is_by_length(difference) and share >= MOST_OF_IT else None


def is_by_length(difference: Difference) -> bool:
    """Whether the part of a difference that goes with length is clear."""
    part = difference.by_length or Number()
    return part.low is not None and part.high is not None and (part.low > NOISE or part.high < -NOISE)


def _parts(sums: Floats) -> Floats:
    """The part of the difference that goes with length, and the rest, (..., 2)."""
    means = over(sums[..., 1 : 2 + WIDTH], sums[..., :1])
    by_length = (line_of(sums[..., 2 + WIDTH :]) * means[..., 1:]).sum(axis=-1)
    return np.stack([by_length, means[..., 0] - by_length], axis=-1)
