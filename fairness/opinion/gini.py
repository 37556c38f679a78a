"""The Gini coefficient: how unequally a quantity is shared out."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError


def gini(values: Sequence[float] | NDArray[np.float64]) -> float | None:
    """Gini coefficient in [0, (n - 1)/n]; 0 when all values are equal, higher is less equal.

    The population form, without the factor n/(n - 1). Neither the order nor the scale of the values matters. None when there is
    no value or all are 0: what shows nothing at all must not look perfectly fair.

    Source: Shandilya et al. 2020; docs/papers.md#shandilya-gini.

    Args:
        values: shape (n,), each finite and at least 0.

    Raises:
        DataError: a value is negative or not finite, or the values are no list of numbers.
    """
    given = np.asarray(values, dtype=float)
    if given.ndim != 1:
        raise DataError(f"gini takes one list of values, got shape {given.shape}")
    wrong = given[~(np.isfinite(given) & (given >= 0))]
    if wrong.size:
        raise DataError(
            f"gini takes finite values of at least 0, got {float(wrong[0])!r}; shift or leave out such values"
        )
    if not given.any():
        return None
    scaled = given / given.max()  # sums of very large values would overflow
    return max(0.0, rank_sum(scaled) / (given.size * float(scaled.sum())))


def rank_sum(values: ArrayLike) -> float:
    """Sum over i of (2i - n - 1) x_i for x_1 <= ... <= x_n: half the sum of the absolute differences of all ordered pairs."""
    ordered = np.sort(np.asarray(values, dtype=float))
    n = ordered.size
    return float((2.0 * np.arange(1, n + 1) - n - 1) @ ordered)
