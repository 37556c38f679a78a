"""Bradley-Terry strengths: one number a system, such that the chance that i beats j is e^s_i / (e^s_i + e^s_j).

Averaged ranks are no substitute, because pairwise orders may be cyclic. The maximum of the likelihood exists only if every
system can be reached from every other one by wins; `prior` virtual wins in every pair see to that, and pull a little towards
equal strengths. Source: Bradley and Terry 1952; specification of the seed paper, section 10.2.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError

# how the error about strengths that cannot be told begins
NOT_IDENTIFIABLE = "not_identifiable"
# of the strengths, in natural logarithms
TOLERANCE = 1e-8
# steps are at most 1 long, and no table of counts puts strengths this far apart
MOST_STEPS = 200


def strengths(wins: ArrayLike, prior: float = 0.1) -> NDArray[np.float64]:
    """Maximum-likelihood log-strengths with mean 0, shape (systems,); a difference of ln 2 means winning two of three.

    Args:
        wins: how often the row's system beat the column's, shape (systems, systems), at least 0; halves stand for ties.
        prior: virtual wins added to every ordered pair before the fit, at least 0.

    Raises:
        DataError: the table is no square of numbers of at least 0, the prior is negative, or the text begins with
            `not_identifiable`: with prior 0, wins do not lead from every system to every other one.
    """
    table = np.array(wins, dtype=float)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or not len(table) or not np.all(table >= 0) or prior < 0:
        raise DataError(
            f"strengths need a square table of wins of at least 0 and a prior of at least 0, got shape {table.shape} and "
            f"prior {prior}"
        )
    np.fill_diagonal(table, 0.0)
    if prior == 0 and not _is_connected(table):
        raise DataError(
            f"{NOT_IDENTIFIABLE}: wins do not lead from every system to every other one, so some strengths have no finite "
            "maximum; give a prior above 0"
        )
    table += prior * ~np.eye(len(table), dtype=bool)
    return _fit(table)


def order(log_strengths: ArrayLike) -> list[int]:
    """Places of the systems, strongest first; equal ones (to 1e-8) in their order."""
    steps = np.rint(np.asarray(log_strengths, dtype=float) / TOLERANCE)
    # a stable sort keeps the order of equal ones
    return [int(place) for place in np.argsort(-steps, kind="stable")]


def _is_connected(table: NDArray[np.float64]) -> bool:
    from scipy.sparse.csgraph import connected_components

    return bool(connected_components(table > 0, directed=True, connection="strong")[0] == 1)


def _fit(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Newton's method on the concave log-likelihood, the first strength held at 0; bounded steps keep it from overshooting."""
    from scipy.special import expit

    comparisons = table + table.T
    values = np.zeros(len(table))
    for _ in range(MOST_STEPS):
        chance = expit(values[:, None] - values[None, :])  # of the row's system beating the column's
        gradient = (table - comparisons * chance).sum(axis=1)
        weights = comparisons * chance * chance.T
        curvature = np.diag(weights.sum(axis=1)) - weights
        step = np.linalg.solve(curvature[1:, 1:], gradient[1:])
        longest = np.abs(step).max(initial=0.0)
        values[1:] += step / max(1.0, longest)
        if longest < TOLERANCE:
            centred: NDArray[np.float64] = values - values.mean()
            return centred
    raise DataError(
        f"strengths did not settle in {MOST_STEPS} steps: some system wins or loses nearly everything; give a larger prior"
    )
