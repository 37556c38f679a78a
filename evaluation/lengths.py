"""How scores go with the length of summaries: a broken line in the logarithm of words, and what 10 % more words go with.

The line is bent at the quartiles: a straight one takes what is far too short for good. It is read off the summaries of one row,
about their means, so that what rows differ in is not taken for length.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..fairness.groups.coverage import over
from ..number import Number
from ..resampling import LEAST_SETS, NOISE, Bounds, Floats, cluster_sums, defined, least_p_value, t_interval

# shares of candidates that are shorter than each bend of the curve
BENDS = (0.25, 0.5, 0.75)
# columns of the curve: its slope, and the change of it at each bend
WIDTH = 1 + len(BENDS)
# of what a request adds to it, see `rows_of_curve`
COLUMNS = WIDTH + WIDTH**2 + WIDTH + 1
# a slope is what so many times the words go with
LONGER = 1.1
# directions of the curve that vary less than this share of the one that varies most are not known
LEAST_VARIATION = 1e-10


def slope_among(judge: str, words: Floats, scores: Floats, sets: Sequence[str], level: float) -> Number | None:
    """The change of score that 10 % more words go with among the summaries of a row; None where no row has several lengths.

    Args:
        judge: whose scores they are.
        words: of each summary, (rows, most summaries); nan for none.
        scores: likewise.
        sets: the document set of each row.
        level: of the interval.
    """
    return slope_of(judge, known_sums(cluster_sums(rows_of_curve(words, scores, bends_of([words])), sets)), level)


def bends_of(words: Sequence[Floats]) -> Floats:
    """Where the curve bends, in the logarithm of words."""
    known = np.concatenate([counts[counts > 0] for counts in words]) if words else np.zeros(0)
    return np.log(np.quantile(known, BENDS)) if len(known) else np.zeros(len(BENDS))


def _line(logs: Floats, bends: Floats) -> Floats:
    return np.stack([logs, *(np.maximum(logs - bend, 0.0) for bend in bends)], axis=-1)


def basis_of(words: Floats, scores: Floats, bends: Floats) -> Floats:
    """The curve's columns of each candidate, (requests, candidates, WIDTH); nan without a word or a score."""
    known = ~np.isnan(scores) & (words > 0)
    return np.where(known[..., None], _line(np.log(np.where(known, words, 1.0)), bends), np.nan)


def rows_of_curve(words: Floats, scores: Floats, bends: Floats) -> Floats:
    """Sums that each request adds to the curve, (requests, COLUMNS): products with scores and each other, growth, candidates."""
    basis = basis_of(words, scores, bends)
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


def known_sums(sums: Floats) -> Floats:
    """The sums; zeros where no lengths differ, whatever is left of rounding."""
    return sums if sums[:, WIDTH : WIDTH + WIDTH**2].max(initial=0) > LEAST_VARIATION else np.zeros_like(sums)


def slope_of(judge: str, sums: Floats, level: float) -> Number | None:
    """Mean growth of a judge's curve over 10 % more words, from sums by document set; None where no row has several lengths."""
    has = sums[:, -1:] > 0
    if not has.any():
        return None
    interval = t_interval(_slope, sums, has, level)
    low, high = bounds_of(int(has.sum()), interval.low[0], interval.high[0], level)
    return Number(measure=judge, value=float(interval.estimate[0]), low=low, high=high)


def bounds_of(n_sets: int, low: float, high: float, level: float) -> Bounds:
    """The bounds of an interval; none of few sets, nor of five that agree, as `cluster_interval` has it."""
    is_few = n_sets < LEAST_SETS or (high - low <= NOISE and least_p_value(n_sets) > 1 - level)
    return (None, None) if is_few else (defined(low), defined(high))


def about_mean(table: Floats, known: NDArray[np.bool_]) -> Floats:
    """Values less the mean of their row's known ones, (rows, candidates, columns); 0 where unknown."""
    values = np.where(known[..., None], table, 0.0)
    n = np.maximum(known.sum(axis=1), 1)[:, None, None]
    return np.where(known[..., None], values - values.sum(axis=1, keepdims=True) / n, 0.0)


def line_of(sums: Floats) -> Floats:
    """The curve from the sums of `rows_of_curve`, (..., WIDTH)."""
    products = sums[..., :WIDTH, None]
    squares = sums[..., WIDTH : WIDTH + WIDTH**2].reshape(*sums.shape[:-1], WIDTH, WIDTH)
    return (np.linalg.pinv(squares, LEAST_VARIATION, hermitian=True) @ products)[..., 0]


def _slope(sums: Floats) -> Floats:
    """Mean growth of the curve, (..., 1)."""
    grown = over(sums[..., -1 - WIDTH : -1], sums[..., -1:])
    return (line_of(sums) * grown).sum(axis=-1, keepdims=True)  # type: ignore[no-any-return]
