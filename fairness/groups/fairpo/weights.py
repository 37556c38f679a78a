"""How much a pair's chosen and rejected summary count, given what the model has favoured so far.

A chosen summary that over-represents what is over-represented already counts less, a rejected one that does so counts more.
Source: FairPO; docs/papers.md#fairpo-weights.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import DataError
from .state import RunningState

Floats = NDArray[np.float64]
Side = Literal["chosen", "rejected"]

# where one of a value's two averages is 0, both are raised to at least this, so that their ratio is a number
LEAST_AVERAGE = 1e-8


def slot_weights(
    flags: ArrayLike, power: ArrayLike, state: RunningState, side: Side, *, temperature: float = 1.0
) -> Floats:
    """Weight of each summary, shape (summaries,), in [0, 2]; 1 without a flagged slot, and while nothing has been seen.

    The mean over flagged slots of 2 / (1 + (A / B)^power), where A is the slot's own average and B that of its opposite for
    chosen summaries, the other way round for rejected ones.

    Args:
        flags: slots of each summary, shape (summaries, slots).
        power: of the slots, same shape.
        state: at the last optimizer boundary.
        side: of the pairs.
        temperature: power that the averages are raised to.

    Raises:
        DataError: the shapes do not go together, or the side is neither.
    """
    flagged, powers = np.asarray(flags, dtype=bool), np.asarray(power, dtype=float)
    if flagged.shape != powers.shape or flagged.ndim != 2 or flagged.shape[1:] != state.loss.shape:
        raise DataError(f"slots need shape (summaries, {state.loss.size}), got {flagged.shape} and {powers.shape}")
    if side not in ("chosen", "rejected"):
        raise DataError(f"a side is 'chosen' or 'rejected', got {side!r}")
    if not state.count.sum() > 0:
        return np.ones(len(flagged))
    over, under = state.averages(temperature).reshape(-1, 2).T
    log_ratio = _log_ratio(over, under)
    advantage = np.stack([log_ratio, -log_ratio], axis=1).ravel()  # ln of a slot's average over its opposite's
    return _mean_weight(powers * (advantage if side == "chosen" else -advantage), flagged)


def paper_weights(
    summed: ArrayLike, over: ArrayLike, under: ArrayLike, side: Side, *, temperature: float = 1.0
) -> Floats:
    """Weight of each summary as the paper writes it, shape (summaries,), in [0, 2].

    The mean over values of 2 / (1 + (O / U)^(C / temperature)), O and U swapped for rejected summaries.

    Args:
        summed: C_k of each summary and value, signed, shape (summaries, values).
        over: O(k), average |C_k| of what over-represents the value, shape (values,).
        under: U(k), likewise of what under-represents it.
        side: of the pairs.
        temperature: above 0; the paper tunes it between 1 and 3.

    Raises:
        DataError: the shapes do not go together, or the temperature is not above 0.
    """
    c = np.asarray(summed, dtype=float)
    o, u = np.asarray(over, dtype=float), np.asarray(under, dtype=float)
    if c.ndim != 2 or c.shape[1:] != o.shape or o.shape != u.shape or not temperature > 0:
        raise DataError(
            "weights need C of shape (summaries, values), O and U of shape (values,), and a temperature above 0"
        )
    advantage = _log_ratio(o, u) if side == "chosen" else _log_ratio(u, o)
    return _mean_weight(advantage * c / temperature, np.ones(c.shape, dtype=bool))


def _log_ratio(over: Floats, under: Floats) -> Floats:
    """ln(O / U) of each value, shape (values,); the released code, which has no guard, divides by 0."""
    least = np.where((over <= 0) | (under <= 0), LEAST_AVERAGE, 0.0)
    return np.asarray(np.log(np.maximum(over, least)) - np.log(np.maximum(under, least)))


def _mean_weight(exponent: Floats, flagged: NDArray[np.bool_]) -> Floats:
    from scipy.special import expit

    # 2 / (1 + e^x), in a form that cannot overflow
    weight = np.where(flagged, 2 * expit(-exponent), 0.0)
    n = flagged.sum(axis=1)
    return np.asarray(np.where(n > 0, weight.sum(axis=1) / np.maximum(n, 1), 1.0))
