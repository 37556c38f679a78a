"""How the unfair rate grows with the tolerance, and the area under that curve.

The paper integrates over tau; its released script sweeps the cut-off of its long-tail loop with tau fixed and calls that AUC.
Both are here; the first is the default. Source: Zhang et al. 2024, eq. 3; docs/papers.md#zhang-auc.
"""

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .masses import MassTable
from .rules import RULES
from .shares import DEFAULT_TAU, Shares, Target, compare, unfair

# what is swept: the tolerance, as in the paper, or the cut-off of the released loop
AucVariant = Literal["tolerance", "released_cutoff"]

# 0, 0.1, ..., 1
TAU_GRID: NDArray[np.float64] = np.arange(11) / 10


def unfair_by_tolerance(shares: Shares) -> NDArray[np.float64]:
    """BUR of each sample at each tolerance of the grid, shape (11, ...): 1 unfair, 0 fair; nan where no value takes part."""
    return np.stack([unfair(shares, tau) for tau in TAU_GRID])


def unfair_by_cutoff(table: MassTable, *, tau: float = DEFAULT_TAU, aim: Target = "ratio") -> NDArray[np.float64]:
    """BUR of each sample at each cut-off of the released loop, tau fixed, shape (11, samples).

    1 unfair, 0 fair; nan for a sample whose source has no mass.
    """
    curve = []
    for cutoff in TAU_GRID:
        rule = replace(RULES["released"], cutoff=float(cutoff))
        shares = compare(table.source, table.target, mode=rule, aim=aim, declared=table.declared)
        curve.append(unfair(shares, tau))
    return np.stack(curve)


def area(curve: NDArray[np.float64]) -> float:
    """Area under a curve over the grid, by ten trapezoids, in [0, 1] for rates.

    Args:
        curve: corpus mean at each point of the grid, shape (11,).
    """
    return float(np.trapezoid(curve, dx=0.1))
