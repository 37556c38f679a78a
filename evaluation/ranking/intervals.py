"""Bootstrap intervals of Bradley-Terry strengths: resample document sets, count wins anew, fit with the same prior."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ...resampling import percentiles
from .bradley_terry import strengths


def strength_bounds(
    won: NDArray[np.float64], weights: Iterable[NDArray[np.float64]], *, prior: float = 0.1, level: float = 0.95
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Bounds of the percentile interval of each system's strength over the draws, (systems,); nan without draws.

    Args:
        won: wins of each request, or of each document set that is drawn whole, shape (units, systems, systems).
        weights: how often each unit is in each draw, (draws, units), as from `resampling.drawn_weights`.
        prior: virtual wins of every ordered pair, the same in every fit.
        level: of the intervals.

    Raises:
        DataError: there is no unit, or strengths are `not_identifiable` in a draw.
    """
    if not len(won):
        raise DataError("intervals of strengths need requests, got none")
    drawn = [strengths(wins, prior) for each in weights for wins in np.tensordot(each, won, axes=1)]
    return percentiles(np.reshape(drawn, (-1, won.shape[1])), level)
