"""Shares of the values in sources and summaries, and the measures of one sample that compare them.

`compare` makes the table by value; `under_represented`, `unfair`, `unfair_error_rate` and `second_order_fairness` reduce it.
All work on shape (..., values): one sample, or many at once. A sample whose source has no mass has no kept value; its
measures are nan, and whoever counts leaves it out by name.

Source: Zhang et al. 2024, section 3.3, eqs. 1 and 2; docs/papers.md#zhang-modes.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from .rules import Mode, Rule, kept_values, rule_of

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
# a fairness target: the sources' own shares, equal ones, or one weight for each declared value
Target = Literal["ratio", "equal"] | tuple[float, ...]

DEFAULT_TAU = 0.8


@dataclass(frozen=True)
class Shares:
    """Share of each value that is aimed at, and that the summary has; arrays of shape (..., values)."""

    # which values take part
    kept: Bools
    # p_g, sums to 1 over the kept values, 0 elsewhere
    gold: Floats
    # p_y, likewise
    target: Floats
    rule: Rule

    @property
    def scorable(self) -> Bools:
        """Which samples have a value that takes part, shape (...)."""
        return np.asarray(self.kept.any(axis=-1))

    @property
    def shortfall(self) -> Floats:
        """How much of its aimed-at share each value lacks, max(0, p_g - p_y), in [0, 1]; 0 where not kept."""
        return np.maximum(self.gold - self.target, 0.0)


def compare(
    source: ArrayLike,
    target: ArrayLike,
    *,
    mode: Mode | Rule = "drop_zero",
    aim: Target = "ratio",
    declared: ArrayLike | None = None,
) -> Shares:
    """The shares of sources and summaries, renormalised over the values that take part.

    A summary without mass on any kept value counts as uniform over them.

    Args:
        source: mass of each declared value in the source, shape (..., values), at least 0.
        target: mass of each value in the summary, same shape.
        mode: which values take part and how ties count, see `rules`.
        aim: what is fair: "ratio" the source's shares, "equal" shares, or weights over the declared values.
        declared: which places are values of the sample, same shape; None means all.

    Raises:
        DataError: shapes differ, a mass is negative or no number, the mode or the aim is unknown, or the aim's weights are
            negative, not one a value, or 0 on all values of a sample that take part.
    """
    rule = rule_of(mode)
    source, target = _checked(source, "source"), _checked(target, "target")
    if source.shape != target.shape:
        raise DataError(
            f"source masses have shape {source.shape}, target masses {target.shape}; one of each a value is needed"
        )
    places = np.ones(source.shape, dtype=bool) if declared is None else np.asarray(declared, dtype=bool)
    kept = kept_values(source, places, rule)
    summary = _normalised(np.where(kept, target, 0.0))
    uniform = _normalised(kept.astype(float))
    matched = summary.any(axis=-1, keepdims=True)
    return Shares(kept, _gold(source, kept, aim), np.where(matched, summary, uniform), rule)


def under_represented(shares: Shares, tau: float = DEFAULT_TAU) -> Bools:
    """Which values fall short of the tolerated share tau p_g, shape (..., values); False where not kept.

    The comparison is in double precision without slack, as in the released code.

    Raises:
        DataError: tau is outside [0, 1].
    """
    if not 0 <= tau <= 1:
        raise DataError(f"a tolerance tau is a number in [0, 1], got {tau!r}")
    tolerated = shares.gold * tau
    short = shares.target <= tolerated if shares.rule.comparison == "inclusive" else shares.target < tolerated
    return np.asarray(short & shares.kept)


def unfair(shares: Shares, tau: float = DEFAULT_TAU) -> Floats:
    """BUR of each sample, shape (...): 1 where a value is under-represented, 0 where none is; nan for a sample without any."""
    return np.where(shares.scorable, under_represented(shares, tau).any(axis=-1), np.nan)


def unfair_error_rate(shares: Shares) -> Floats:
    """Mean shortfall of the values that take part, shape (...), in [0, 1); 0 is fair; nan for a sample without any."""
    return _mean(shares.shortfall, shares.kept)


def second_order_fairness(shares: Shares) -> Floats:
    """Mean absolute deviation of the shortfalls from their mean, shape (...); 0 when all values lack alike: the paper's SOF."""
    gap = np.abs(shares.shortfall - unfair_error_rate(shares)[..., None])
    return _mean(gap, shares.kept)


def _mean(x: Floats, kept: Bools) -> Floats:
    counts = kept.sum(axis=-1)
    sums = np.where(kept, x, 0.0).sum(axis=-1)
    return np.asarray(np.divide(sums, counts, out=np.full(np.shape(sums), np.nan), where=counts > 0))


def _normalised(mass: Floats) -> Floats:
    """Each row divided by its sum; rows without mass stay 0."""
    total = mass.sum(axis=-1, keepdims=True)
    return np.asarray(mass / np.where(total > 0, total, 1.0))


def _gold(source: Floats, kept: Bools, aim: Target) -> Floats:
    if isinstance(aim, str):
        if aim not in ("ratio", "equal"):
            raise DataError(
                f"fairness target {aim!r} is not known; it is 'ratio', 'equal' or one weight for each value"
            )
        return _normalised(np.where(kept, source if aim == "ratio" else 1.0, 0.0))
    weights = _checked(aim, "fairness target's")
    if weights.shape != source.shape[-1:]:
        raise DataError(f"the fairness target has {weights.size} weights, but {source.shape[-1]} values are declared")
    restricted = np.where(kept, weights, 0.0)
    hopeless = kept.any(axis=-1) & ~restricted.any(axis=-1)
    if hopeless.any():
        raise DataError(
            f"the fairness target {aim} has no weight on the values that take part ({int(hopeless.sum())} samples, the first at "
            f"place {int(np.argmax(hopeless))}); give each value that can stand alone a weight above 0"
        )
    return _normalised(restricted)


def _checked(masses: ArrayLike, what: str) -> Floats:
    array = np.asarray(masses, dtype=float)
    if array.ndim == 0:
        raise DataError(f"{what} mass {array} is one number; one for each declared value is needed")
    wrong = array[~(np.isfinite(array) & (array >= 0))]
    if wrong.size:
        raise DataError(f"{what} masses are finite numbers of at least 0, got {wrong[0]}")
    return array
