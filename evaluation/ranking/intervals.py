"""Bootstrap intervals of Bradley-Terry strengths: resample requests, count wins anew, fit with the same prior."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from ...resampling import percentile_bounds
from .bradley_terry import strengths
from .comparisons import Tie, row_wins


@dataclass(frozen=True)
class StrengthIntervals:
    """Log-strengths of the systems with percentile intervals; each of shape (systems,)."""

    point: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def strength_intervals(
    scores: Sequence[Sequence[float | None]],
    draws: Iterable[Sequence[int] | NDArray[np.intp]],
    *,
    prior: float = 0.1,
    level: float = 0.95,
    tie: Tie = "half",
) -> StrengthIntervals:
    """Strengths over all requests, and their percentile interval over the draws.

    Source: Ri et al. 2025, section 4.1; docs/papers.md#ri-bradley-terry.

    Args:
        scores: shape (requests, systems); None where the summary is unscored.
        draws: rows of each bootstrap draw; `resampling.cluster_draws` gives those that keep the requests of a document set
            together.
        prior: virtual wins of every ordered pair, the same in every fit.
        level: of the interval.
        tie: what equal scores count.

    Raises:
        DataError: there is no request or no draw, or strengths are `not_identifiable` in all requests or in a draw.
    """
    if not len(scores):
        raise DataError("intervals of strengths need requests, got none")
    won = row_wins(scores, tie)
    low, high = strengths_of_draws(won, draws, prior=prior, level=level)
    return StrengthIntervals(strengths(won.sum(axis=0), prior), low, high)


def strengths_of_draws(
    won: NDArray[np.float64], draws: Iterable[Sequence[int] | NDArray[np.intp]], *, prior: float, level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Lower and upper bound of the strengths over the draws, each of shape (systems,).

    Args:
        won: wins of each request, shape (requests, systems, systems).
        draws: rows of each bootstrap draw.
        prior: virtual wins of every ordered pair, the same in every fit.
        level: of the interval.

    Raises:
        DataError: there is no request or no draw, or strengths are `not_identifiable` in a draw.
    """
    if not len(won):
        raise DataError("intervals of strengths need requests, got none")
    drawn = [strengths(won[np.asarray(rows)].sum(axis=0), prior) for rows in draws]
    if not drawn:
        raise DataError("intervals of strengths need draws, got none")
    return percentile_bounds(drawn, level)
