"""Bradley-Terry strengths: one number a system, such that the chance that i beats j is e^s_i / (e^s_i + e^s_j).

Who beats whom is counted for each request and each two systems: the higher score wins. Averaged ranks are not a substitute,
because pairwise orders may be cyclic. The maximum of the likelihood exists only if every system can be reached from every other
one by wins; `prior` virtual wins in every pair see to that, and pull a little towards equal strengths.
The fit is choix's iterative Luce spectral ranking (Maystre and Grossglauser 2015).
Source: Bradley and Terry 1952; Ri et al. 2025, section 4.1; docs/papers.md#ri-bradley-terry.
"""

from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import DataError
from ..extras import need

# how the error about strengths without a finite maximum begins
NOT_IDENTIFIABLE = "not_identifiable"
# of the strengths, in natural logarithms
TOLERANCE = 1e-8
# the usual tables settle in ten
MOST_STEPS = 1000


def fit_library() -> ModuleType:
    """What fits strengths; asked for before work whose end needs it.

    Raises:
        MissingExtra: choix is not installed.
    """
    return need("choix", "Bradley-Terry strengths")


def strengths(wins: ArrayLike, prior: float = 0.1) -> NDArray[np.float64]:
    """Maximum-likelihood log-strengths with mean 0, shape (systems,); a difference of ln 2 means winning two of three.

    Args:
        wins: how often the row's system beat the column's, shape (systems, systems), finite and at least 0; halves stand for
            ties.
        prior: virtual wins added to every ordered pair before the fit, finite and at least 0.

    Raises:
        DataError: the table is not a square of such numbers, the prior is not such a number, strengths do not settle, or the text
            begins with `not_identifiable`: with prior 0, wins do not lead from every system to every other one.
        MissingExtra: choix is not installed.
    """
    from scipy.sparse.csgraph import connected_components

    table = np.array(wins, dtype=float)
    is_square = table.ndim == 2 and table.shape[0] == table.shape[1] and len(table) > 0
    if not is_square or not all(
        np.all(np.isfinite(numbers) & (numbers >= 0)) for numbers in (table, np.asarray(prior))
    ):
        raise DataError(
            f"strengths need a square table of finite wins of at least 0 and such a prior, got shape {table.shape} and "
            f"prior {prior}"
        )
    np.fill_diagonal(table, 0.0)
    if prior == 0 and connected_components(table > 0, directed=True, connection="strong")[0] > 1:
        raise DataError(
            f"{NOT_IDENTIFIABLE}: wins do not lead from every system to every other one, so some strengths have no finite "
            "maximum; give a prior above 0"
        )
    if len(table) == 1:
        return np.zeros(1)
    try:
        log_strengths = fit_library().ilsr_pairwise_dense(
            table + prior * ~np.eye(len(table), dtype=bool), max_iter=MOST_STEPS, tol=TOLERANCE / 10
        )
    except RuntimeError as error:
        raise DataError(
            f"strengths did not settle in {MOST_STEPS} steps: some system wins or loses nearly everything; give a larger prior"
        ) from error
    centred: NDArray[np.float64] = log_strengths - log_strengths.mean()
    return centred


def order(log_strengths: ArrayLike) -> list[int]:
    """Places of the systems, strongest first; equal ones (to 1e-8) in their order."""
    steps = np.rint(np.asarray(log_strengths, dtype=float) / TOLERANCE)
    # a stable sort keeps the order of equal ones
    return [int(place) for place in np.argsort(-steps, kind="stable")]
