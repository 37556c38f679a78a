"""Differences at equal length: what would be left of a difference if the summaries of both systems were as long.

Long summaries cover more, short ones are easier to get right, so most judges' scores go with length. How they do is read off the
candidates of one request by one policy, about their means, so that neither requests nor policies are taken for length. The curve
is a broken line in the logarithm of words, bent at the quartiles: a straight one takes what is far too short for good. What it
says of the lengths of both systems is the part of their difference that goes with length; the rest is the difference at equal
length. All are functions of sums over document sets, whose jackknife gives intervals that hold what the curve does not know.
What is assumed, and how often it holds: docs/run-folder.md#length.
"""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from ....fairness.groups.coverage import over
from ....resampling import LEAST_SETS, NOISE, Bounds, cluster_sums, defined, least_p_value, t_interval
from .compare import Comparer
from .contents import AtEqualLength, Difference, LengthSlope
from .ranked import Floats
from .systems import WORDS, PolicyOutput, System

# shares of candidates that are shorter than each bend of the curve
BENDS = (0.25, 0.5, 0.75)
# columns of the curve: its slope, and the change of it at each bend
WIDTH = 1 + len(BENDS)
# of what a request adds to it, see `_rows`
COLUMNS = WIDTH + WIDTH**2 + WIDTH + 1
# a slope is what so many times the words go with
LONGER = 1.1
# directions of the curve that vary less than this share of the one that varies most are not known
LEAST_VARIATION = 1e-10
# share of a difference from which on a page warns that it goes with length
MOST_OF_IT = 0.5


class Lengths:
    """How scores go with the length of summaries, and differences at equal length, of one page's requests."""

    def __init__(self, compare: Comparer, outputs: Sequence[PolicyOutput]) -> None:
        self.compare = compare
        # the same candidates chosen among in several ways count once
        self._outputs = list({output.candidates: output for output in outputs}.values())
        self._bends = _bends([output.trait(WORDS) for output in self._outputs])
        self.curve = cache(self._curve)

    def slope(self, judge: str) -> LengthSlope | None:
        """What 10 % more words go with; None where no request has candidates of several lengths."""
        return _length_slope(judge, self.curve(judge), self.compare.bootstrap.level)

    def at_equal_length(self, judge: str, first: System, second: System, side: str | None) -> AtEqualLength | None:
        """The first minus the second at equal length, over the requests of a side or all; None where lengths say nothing."""
        curve = self.curve(judge)
        both = self._expected(judge, first) - self._expected(judge, second)  # (requests, 1 + WIDTH)
        is_asked = np.array([side in (None, of) for of in self.compare.request_sides])
        kept = is_asked & ~np.isnan(both).any(axis=1)
        ours = np.where(kept[:, None], np.nan_to_num(both), 0.0)
        sums = np.concatenate([cluster_sums(np.c_[kept, ours], self.compare.sets), curve], axis=1)
        n_sets = int((sums[:, 0] > 0).sum())
        if not n_sets or not curve[:, -1].any():
            return None
        level = self.compare.bootstrap.level
        found = t_interval(_parts, sums, np.repeat(sums[:, :1] > 0, 2, axis=1), level)
        explained = _bounds(n_sets, found.low[0], found.high[0], level)
        low, high = _bounds(n_sets, found.low[1], found.high[1], level)
        return AtEqualLength(
            mean=float(found.estimate[1]),
            low=low,
            high=high,
            by_length=float(found.estimate[0]),
            by_length_low=explained[0],
            by_length_high=explained[1],
        )

    def _curve(self, judge: str) -> Floats:
        """What each set adds to the curve, (sets, COLUMNS)."""
        rows = np.zeros((len(self.compare.sets), COLUMNS))
        for output in self._outputs:
            rows += _rows(output.trait(WORDS), output.column(judge), self._bends)
        return _known(cluster_sums(rows, self.compare.sets))

    def _expected(self, judge: str, system: System) -> Floats:
        """Score and place on the curve that a system has for each request, (requests, 1 + WIDTH); nan where it has none."""
        scores = system.output.column(judge)
        basis = _basis(system.output.trait(WORDS), scores, self._bends)
        columns = [np.where(np.isnan(basis[..., 0]), np.nan, scores), *np.moveaxis(basis, -1, 0)]
        return np.array([system.output.ranked.expected_best(each, system.k) for each in columns], dtype=float).T


def slope_among(judge: str, words: Floats, scores: Floats, sets: Sequence[str], level: float) -> LengthSlope | None:
    """What 10 % more words go with among the summaries of a row; None where no row has several lengths.

    Args:
        judge: whose scores they are.
        words: of each summary, (rows, most summaries); nan for none.
        scores: likewise.
        sets: the document set of each row.
        level: of the interval.
    """
    return _length_slope(judge, _known(cluster_sums(_rows(words, scores, _bends([words])), sets)), level)


def share_by_length(difference: Difference) -> float | None:
    """Share of a clear difference that goes with length, where that is clear, too, and half of it or more."""
    found = difference.at_equal_length
    if found is None or difference.verdict == "no clear difference" or difference.mean is None:
        return None
    share = found.by_length / difference.mean
    return share if is_by_length(found) and share >= MOST_OF_IT else None


def is_by_length(found: AtEqualLength) -> bool:
    """Whether some part of a difference clearly goes with length."""
    low, high = found.by_length_low, found.by_length_high
    return low is not None and high is not None and (low > NOISE or high < -NOISE)


def _bends(words: Sequence[Floats]) -> Floats:
    """Where the curve bends, in the logarithm of words."""
    known = np.concatenate([each[each > 0] for each in words]) if words else np.zeros(0)
    return np.log(np.quantile(known, BENDS)) if len(known) else np.zeros(len(BENDS))


def _line(logs: Floats, bends: Floats) -> Floats:
    return np.stack([logs, *(np.maximum(logs - bend, 0.0) for bend in bends)], axis=-1)


def _basis(words: Floats, scores: Floats, bends: Floats) -> Floats:
    """The curve's columns of each candidate, (requests, candidates, WIDTH); nan without a word or a score."""
    known = ~np.isnan(scores) & (words > 0)
    return np.where(known[..., None], _line(np.log(np.where(known, words, 1.0)), bends), np.nan)


def _rows(words: Floats, scores: Floats, bends: Floats) -> Floats:
    """What each request adds to the curve, (requests, COLUMNS): products with scores, with each other, growth, candidates."""
    basis = _basis(words, scores, bends)
    known = ~np.isnan(basis[..., 0])
    several = known & (known.sum(axis=1) > 1)[:, None]
    x, y = (about_mean(table, several) for table in (basis, scores[..., None]))
    longer = _line(np.where(known, basis[..., 0], 0.0) + np.log(LONGER), bends) - np.nan_to_num(basis)
    return np.concatenate(
        [
            np.einsum("rki,rk->ri", x, y[..., 0]),
            np.einsum("rki,rkj->rij", x, x).reshape(len(x), -1),
            np.where(several[..., None], longer, 0.0).sum(axis=1),
            several.sum(axis=1, keepdims=True),
        ],
        axis=1,
    )


def _known(sums: Floats) -> Floats:
    """The sums; zeros where no lengths differ, whatever is left of rounding."""
    return sums if sums[:, WIDTH : WIDTH + WIDTH**2].max(initial=0) > LEAST_VARIATION else np.zeros_like(sums)


def _length_slope(judge: str, sums: Floats, level: float) -> LengthSlope | None:
    has = sums[:, -1:] > 0
    if not has.any():
        return None
    found = t_interval(_slope, sums, has, level)
    low, high = _bounds(int(has.sum()), found.low[0], found.high[0], level)
    return LengthSlope(measure=judge, mean=float(found.estimate[0]), low=low, high=high)


def _bounds(n_sets: int, low: float, high: float, level: float) -> Bounds:
    """Those of an interval; none of few sets, nor of five that agree, as `cluster_interval` has it."""
    is_few = n_sets < LEAST_SETS or (high - low <= NOISE and least_p_value(n_sets) > 1 - level)
    return (None, None) if is_few else (defined(low), defined(high))


def about_mean(table: Floats, known: NDArray[np.bool_]) -> Floats:
    """Values less the mean of their row's known ones, (rows, candidates, columns); 0 where unknown."""
    values = np.where(known[..., None], table, 0.0)
    n = np.maximum(known.sum(axis=1), 1)[:, None, None]
    return np.where(known[..., None], values - values.sum(axis=1, keepdims=True) / n, 0.0)


def _line_of(sums: Floats) -> Floats:
    """The curve from the sums of `_rows`, (..., WIDTH)."""
    products = sums[..., :WIDTH, None]
    squares = sums[..., WIDTH : WIDTH + WIDTH**2].reshape(*sums.shape[:-1], WIDTH, WIDTH)
    return (np.linalg.pinv(squares, LEAST_VARIATION, hermitian=True) @ products)[..., 0]


def _slope(sums: Floats) -> Floats:
    """Mean growth of the curve, (..., 1)."""
    grown = over(sums[..., -1 - WIDTH : -1], sums[..., -1:])
    return (_line_of(sums) * grown).sum(axis=-1, keepdims=True)  # type: ignore[no-any-return]


def _parts(sums: Floats) -> Floats:
    """The part of the difference that goes with length, and the rest, (..., 2)."""
    means = over(sums[..., 1 : 2 + WIDTH], sums[..., :1])
    by_length = (_line_of(sums[..., 2 + WIDTH :]) * means[..., 1:]).sum(axis=-1)
    return np.stack([by_length, means[..., 0] - by_length], axis=-1)
