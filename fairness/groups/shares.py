"""Shares of the values in sources and summaries, and the measures of one sample that compare them.

`compare` makes the table by value; `under_represented`, `unfair` and `unfair_error_rate` reduce it.
All work on shape (..., values): one sample, or many at once. A sample whose source has no mass has no kept value; its
measures are nan, and whoever counts leaves it out by name.

Modes say which values take part and when one is under-represented:

| mode | values that take part | under-represented | for |
| --- | --- | --- | --- |
| drop_zero | those with source mass | p_y <= tau p_g | the default; equals published numbers wherever rounding plays no part |
| released | those that the released cut-off loop keeps | p_y <= tau p_g | published tables, digit for digit |
| paper | all declared ones | p_y < tau p_g | the paper as it is written |

Source: Zhang et al. 2024, section 3.3, eqs. 1 to 3; docs/papers.md#zhang-modes and #zhang-auc.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError
from ...text import did_you_mean
from .masses import Masses, MassTable, pack

Mode = Literal["drop_zero", "released", "paper"]


@dataclass(frozen=True)
class ShareRule:
    """A mode taken apart."""

    zero_mass: Literal["drop", "released", "keep"]
    # what a share exactly at the tolerance is: "inclusive" unfair, "strict" fair
    comparison: Literal["inclusive", "strict"]
    # share of the source mass after which the released loop stops, in [0, 1]
    cutoff: float = 1.0


RULES: dict[str, ShareRule] = {
    "drop_zero": ShareRule("drop", "inclusive"),
    "released": ShareRule("released", "inclusive"),
    "paper": ShareRule("keep", "strict"),
}


def rule_of(mode: Mode | ShareRule) -> ShareRule:
    """The rule that the mode stands for.

    Raises:
        DataError: there is no such mode, or the rule's cut-off is outside [0, 1].
    """
    if isinstance(mode, ShareRule):
        if not 0 <= mode.cutoff <= 1:
            raise DataError(f"a cut-off is a share of the source mass in [0, 1], got {mode.cutoff!r}")
        return mode
    if mode not in RULES:
        raise DataError(f"mode {mode!r} is not known{did_you_mean(mode, RULES)} Modes are {', '.join(RULES)}")
    return RULES[mode]


def kept_values(source: NDArray[np.float64], declared: NDArray[np.bool_], rule: ShareRule) -> NDArray[np.bool_]:
    """Which values take part, shape (..., values); none where a sample's source has no mass.

    Args:
        source: mass of each value in the source, shape (..., values).
        declared: which places are values of the sample, same shape.
        rule: what happens to values without mass.
    """
    scorable = source.sum(axis=-1, keepdims=True) > 0
    if rule.zero_mass == "drop":
        is_kept = source > 0
    elif rule.zero_mass == "keep":
        is_kept = declared
    else:
        is_kept = _until(source, rule.cutoff)
    return np.asarray(is_kept & declared & scorable)


def _until(source: NDArray[np.float64], cutoff: float) -> NDArray[np.bool_]:
    """The values that the released loop visits: by mass, descending, until the running share reaches the cut-off.

    The running share is summed in floating point and can end just below 1; then every value without mass is kept too.
    That is a defect of the released code, found in about a tenth of samples with three values, and published tables have it.
    """
    total = source.sum(axis=-1, keepdims=True)
    order = np.argsort(-source, axis=-1, kind="stable")  # (..., places)
    shares = np.take_along_axis(source, order, axis=-1) / np.where(total > 0, total, 1.0)
    before = np.cumsum(shares, axis=-1)[..., :-1]
    visited = np.ones(source.shape, dtype=bool)
    visited[..., 1:] = before < cutoff
    is_kept = np.empty_like(visited)
    np.put_along_axis(is_kept, order, visited, axis=-1)
    return is_kept


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
    rule: ShareRule

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
    mode: Mode | ShareRule = "drop_zero",
    aim: Target = "ratio",
    declared: ArrayLike | None = None,
) -> Shares:
    """The shares of sources and summaries, renormalised over the values that take part.

    A summary without mass on any kept value counts as uniform over them.

    Args:
        source: mass of each declared value in the source, shape (..., values), at least 0.
        target: mass of each value in the summary, same shape.
        mode: which values take part and how ties count, see above.
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
    is_kept = kept_values(source, places, rule)
    summary = _normalised(np.where(is_kept, target, 0.0))
    uniform = _normalised(is_kept.astype(float))
    matched = summary.any(axis=-1, keepdims=True)
    return Shares(is_kept, _gold(source, is_kept, aim), np.where(matched, summary, uniform), rule)


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


def _mean(x: Floats, is_kept: Bools) -> Floats:
    counts = is_kept.sum(axis=-1)
    sums = np.where(is_kept, x, 0.0).sum(axis=-1)
    return np.asarray(np.divide(sums, counts, out=np.full(np.shape(sums), np.nan), where=counts > 0))


def _normalised(mass: Floats) -> Floats:
    """Each row divided by its sum; rows without mass stay 0."""
    total = mass.sum(axis=-1, keepdims=True)
    return np.asarray(mass / np.where(total > 0, total, 1.0))


def _gold(source: Floats, is_kept: Bools, aim: Target) -> Floats:
    if isinstance(aim, str):
        if aim not in ("ratio", "equal"):
            raise DataError(
                f"fairness target {aim!r} is not known; it is 'ratio', 'equal' or one weight for each value"
            )
        return _normalised(np.where(is_kept, source if aim == "ratio" else 1.0, 0.0))
    weights = _checked(aim, "fairness target's")
    if weights.shape != source.shape[-1:]:
        raise DataError(f"the fairness target has {weights.size} weights, but {source.shape[-1]} values are declared")
    restricted = np.where(is_kept, weights, 0.0)
    hopeless = is_kept.any(axis=-1) & ~restricted.any(axis=-1)
    if hopeless.any():
        raise DataError(
            f"the fairness target {aim} has no weight on the values that take part ({int(hopeless.sum())} samples, the first at "
            f"place {int(np.argmax(hopeless))}); give each value that can occur alone a weight above 0"
        )
    return _normalised(restricted)


def _checked(masses: ArrayLike, role: str) -> Floats:
    array = np.asarray(masses, dtype=float)
    if array.ndim == 0:
        raise DataError(f"{role} mass {array} is one number; one for each declared value is needed")
    wrong = array[~(np.isfinite(array) & (array >= 0))]
    if wrong.size:
        raise DataError(f"{role} masses are finite numbers of at least 0, got {wrong[0]}")
    return array


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


def area_by_cutoff(samples: Sequence[Masses], *, tau: float = DEFAULT_TAU, aim: Target = "ratio") -> float | None:
    """AUC as the released script sweeps it (docs/papers.md#zhang-auc), in [0, 1]; None where no source has mass.

    Args:
        samples: of a corpus.
        tau: the tolerance, which is fixed.
        aim: what is fair, see `compare`; weights are those of samples that all declare as many values.

    Raises:
        DataError: as `pack` and `compare`; or a sample has more or fewer values than the aim has weights.
    """
    known = [sample for sample in samples if any(sample.source)]
    for place, sample in enumerate(known):
        if not isinstance(aim, str) and len(aim) != len(sample.source):
            raise DataError(
                f"the fairness target has {len(aim)} weights, but the scored sample at place {place} declares "
                f"{len(sample.source)} values; measure samples of other values apart, each with its own target"
            )
    return area(unfair_by_cutoff(pack(known), tau=tau, aim=aim).mean(axis=1)) if known else None
