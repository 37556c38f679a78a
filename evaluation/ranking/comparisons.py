"""Who beats whom: for each request and each two systems, the higher score wins.

Source: Ri et al. 2025, section 4.1; docs/papers.md#ri-bradley-terry.
"""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError

# equal scores: half a win for both, or no comparison
Tie = Literal["half", "drop"]


def row_wins(scores: Sequence[Sequence[float | None]], tie: Tie = "half") -> NDArray[np.float64]:
    """Wins of each request, shape (requests, systems, systems): 1 where the row's system beats the column's.

    Args:
        scores: shape (requests, systems); higher is better, None where the summary is unscored, which skips its comparisons.
        tie: what equal scores count.

    Raises:
        DataError: rows differ in length.
    """
    n_systems = len(scores[0]) if scores else 0
    if any(len(row) != n_systems for row in scores):
        raise DataError(f"rows have {sorted({len(row) for row in scores})} scores; each needs one for every system")
    # not-a-number compares false with everything, itself too
    values = np.array([[np.nan if v is None else v for v in row] for row in scores], dtype=float)
    values = values.reshape(len(scores), n_systems)
    mine, other = values[:, :, None], values[:, None, :]
    won = (mine > other).astype(float)  # (requests, systems, systems)
    if tie == "half":
        won += 0.5 * (mine == other) * ~np.eye(n_systems, dtype=bool)
    return won


def wins(scores: Sequence[Sequence[float | None]], tie: Tie = "half") -> NDArray[np.float64]:
    """Wins over all requests, shape (systems, systems); arguments as in `row_wins`."""
    found: NDArray[np.float64] = row_wins(scores, tie).sum(axis=0)
    return found
