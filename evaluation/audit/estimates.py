"""Intervals of an audit's quantities: document sets drawn with replacement, their sums reduced anew.

The same seed draws the same sets for every system and family, so draws can be subtracted from one another. A rate that is 0 or 1
in all sets is the same in every draw: it has an exact interval instead.
"""

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binomtest

from ..compare import Bootstrap
from .figures import Figures, Floats

# draws whose weights are held at once
CHUNK = 64


def drawn_weights(n_sets: int, bootstrap: Bootstrap) -> Iterator[NDArray[np.float64]]:
    """How often each set is in each draw, (up to 64 draws, sets) at a time."""
    generator = np.random.default_rng(bootstrap.seed)
    for start in range(0, bootstrap.resamples, CHUNK):
        rows = min(CHUNK, bootstrap.resamples - start)
        cells = generator.integers(n_sets, size=(rows, n_sets)) + np.arange(rows)[:, None] * n_sets
        yield np.bincount(cells.ravel(), minlength=rows * n_sets).reshape(rows, n_sets).astype(float)


def draws(figures: Figures, bootstrap: Bootstrap) -> Floats:
    """The quantities of every draw, (draws, quantities); nan where undefined.

    Only sets with an answer are drawn, as many as there are; none are drawn of fewer than two.
    """
    columns = figures.columns[figures.scored]
    if len(columns) < 2:
        return np.full((0, len(figures.quantities)), np.nan)
    return np.concatenate([figures.reduce(weights @ columns) for weights in drawn_weights(len(columns), bootstrap)])


def bounds(drawn: Floats, level: float) -> tuple[float | None, float | None, int]:
    """Percentile interval of one quantity's draws over those that are defined, and how many are; (None, None) without any."""
    known = drawn[~np.isnan(drawn)]
    if not known.size:
        return None, None, 0
    tail = (1 - level) / 2
    low, high = np.quantile(known, [tail, 1 - tail]).tolist()
    return low, high, int(known.size)


def exact_bounds(rate: float, n_sets: int, level: float) -> tuple[float, float]:
    """Exact interval of Clopper and Pearson of a rate over sets, in [0, 1]."""
    found = binomtest(round(rate * n_sets), n_sets).proportion_ci(confidence_level=level, method="exact")
    return float(found.low), float(found.high)


def defined(value: float) -> float | None:
    """The number; None for nan."""
    return None if math.isnan(value) else float(value)
