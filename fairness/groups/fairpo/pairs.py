"""Preference pairs of the fairest and the unfairest summary, and the slots by which the loss weighs them.

Each value k has two slots: 2k "over-represented", 2k + 1 "under-represented". A summary's slot is flagged by the sign of
C_k, the summed deviation of the value's documents; |C_k| is its weight, and `power` says how far that is from usual.

Source: FairPO; docs/papers.md#fairpo-slots.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import DataError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# order of the candidates; ties take the first
CANDIDATES = ("minus_over", "original", "minus_under")
# a spread of log weights below this is none
NO_SPREAD = 1e-12


@dataclass(frozen=True)
class Slots:
    """Slots of one side (chosen or rejected) of pairs; arrays of shape (pairs, 2 * values)."""

    flags: Bools
    # |C_k| where flagged, 0 elsewhere
    weight: Floats
    # exp((ln weight - mean) / (2 spread)) over the pairs with this slot flagged; 0 elsewhere, 1 where there is no spread
    power: Floats


@dataclass(frozen=True)
class FairPairs:
    """Pairs of chosen and rejected summaries; sets whose candidates are equally fair are left out."""

    # places of the sets that give a pair, (pairs,)
    sets: NDArray[np.intp]
    # places in CANDIDATES, (pairs,)
    chosen: NDArray[np.intp]
    rejected: NDArray[np.intp]
    # square root of the gap in Equal Coverage over its mean, (pairs,): weights of the margin-weighted baseline, mean 1
    margin_weight: Floats
    chosen_slots: Slots
    rejected_slots: Slots
    # documents of each value of the full set, in both of its slots, (pairs, 2 * values)
    counts: Floats
    # sets left out because all candidates have the same Equal Coverage
    n_equal: int


def fair_pairs(ec: ArrayLike, difference: ArrayLike, counts: ArrayLike) -> FairPairs:
    """The pairs of document sets with three judged candidates each.

    Args:
        ec: Equal Coverage of each candidate against the full set, shape (sets, 3), candidates ordered as `CANDIDATES`.
        difference: coverage of each value less the overall one, shape (sets, 3, values); anything (nan) for absent values.
        counts: documents of each value in the full set, shape (sets, values).

    Raises:
        DataError: the shapes do not go together, or an Equal Coverage or the difference of a present value is no number.
    """
    scores, gaps, numbers = (np.asarray(x, dtype=float) for x in (ec, difference, counts))
    if scores.ndim != 2 or scores.shape[1] != len(CANDIDATES) or gaps.shape != (*scores.shape, *numbers.shape[1:]):
        raise DataError(
            f"pairs need shapes (sets, 3), (sets, 3, values) and (sets, values), got {scores.shape}, {gaps.shape} and "
            f"{numbers.shape}"
        )
    present = numbers[:, None] > 0
    if not np.isfinite(scores).all() or not np.isfinite(np.where(present, gaps, 0.0)).all():
        raise DataError(
            "a candidate without Equal Coverage, or without the difference of a present value, gives no pair; leave its set out"
        )
    chosen, rejected = scores.argmin(axis=1), scores.argmax(axis=1)
    kept = np.flatnonzero(chosen != rejected)
    chosen, rejected = chosen[kept], rejected[kept]
    root = np.sqrt(scores[kept, rejected] - scores[kept, chosen])
    summed = np.where(present, gaps, 0.0) * numbers[:, None]  # C_k, (sets, 3, values)
    return FairPairs(
        sets=kept,
        chosen=chosen,
        rejected=rejected,
        margin_weight=root / root.mean() if root.size else root,
        chosen_slots=_slots(summed[kept, chosen]),
        rejected_slots=_slots(summed[kept, rejected]),
        counts=np.repeat(numbers[kept], 2, axis=1),
        n_equal=len(scores) - len(kept),
    )


def _slots(summed: Floats) -> Slots:
    """The slots of C_k of shape (pairs, values)."""
    signed = np.stack([summed, -summed], axis=-1).reshape(len(summed), 2 * summed.shape[1])
    flags = signed > 0
    weight = np.where(flags, signed, 0.0)
    return Slots(flags, weight, _power(weight, flags))


def _power(weight: Floats, flags: Bools) -> Floats:
    n = np.maximum(flags.sum(axis=0), 1)
    logs = np.log(weight, out=np.zeros_like(weight), where=flags)
    centred = np.where(flags, logs - logs.sum(axis=0) / n, 0.0)
    spread = np.sqrt((centred**2).sum(axis=0) / n)
    # the released code divides by a spread of 0 and gets nan
    spread = np.where(spread < NO_SPREAD, np.inf, spread)
    return np.where(flags, np.exp(centred / (2 * spread)), 0.0)
