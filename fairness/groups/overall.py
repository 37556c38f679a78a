"""One number for a system over several data sets, whose scales differ.

Source: Li et al. 2025, sections 5.2 and 5.3 (overall scores).
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError


def normalised_overall(scores: ArrayLike) -> NDArray[np.float64]:
    """Mean over data sets of each system's place between the lowest (0) and the highest (1) score, shape (systems,).

    A data set on which all systems are equal orders none of them and is left out; nan when no data set is left.

    Args:
        scores: of each system on each data set, shape (systems, data sets).

    Raises:
        DataError: a score is missing or no number, or there are not two axes.
    """
    array = np.asarray(scores, dtype=float)
    if array.ndim != 2 or not array.size or not np.isfinite(array).all():
        raise DataError(
            "overall scores need one finite score for each system on each data set; leave out incomplete ones"
        )
    low, spread = array.min(axis=0), np.ptp(array, axis=0)
    telling = spread > 0
    if not telling.any():
        return np.full(len(array), np.nan)
    return np.asarray(((array - low)[:, telling] / spread[telling]).mean(axis=1))
