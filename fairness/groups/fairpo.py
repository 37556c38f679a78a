"""FairPO's weights as arithmetic: the running state of a training and what follows from it; the loss is `train.fairpo`'s.

    contribution     what a batch adds to the running state; RunningState.after at the optimizer boundary
    slot_weights     weights of chosen and rejected summaries (released form); paper_weights as the paper writes them

Each value k has two slots: 2k "over-represented", 2k + 1 "under-represented". A summary's slot is flagged by the sign of C_k, the
summed deviation of the value's documents; |C_k| is its weight, and `power` says how far that is from usual. The running state
holds how over- and under-represented each value has been in recent pairs, as the policy would write them: summed over the
micro-batches of an optimizer step, decayed at its boundary; sums over data-parallel workers are the caller's. A chosen summary
that over-represents what is over-represented already counts less, a rejected one that does so counts more.

Source: FairPO; docs/papers.md#fairpo.
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

DEFAULT_DECAY = 0.75


@dataclass(frozen=True)
class Contribution:
    """What some summaries add to the state; by slot."""

    # summed weights and numbers, each times the mean token probability, (slots,)
    loss: Floats
    count: Floats

    def __add__(self, other: "Contribution") -> "Contribution":
        return Contribution(self.loss + other.loss, self.count + other.count)

    def __rmul__(self, times: float) -> "Contribution":
        return Contribution(times * self.loss, times * self.count)


@dataclass(frozen=True)
class RunningState:
    """Decayed sums of the contributions so far, (slots,)."""

    loss: Floats
    count: Floats

    @classmethod
    def start(cls, n_values: int) -> "RunningState":
        """Nothing seen yet."""
        return cls(np.zeros(2 * n_values), np.zeros(2 * n_values))

    def after(self, step: Contribution, decay: float = DEFAULT_DECAY) -> "RunningState":
        """The state at the boundary after an optimizer step's forward passes.

        Args:
            step: of all micro-batches and workers.
            decay: what stays of the state before, in [0, 1].

        Raises:
            DataError: the decay is outside [0, 1].
        """
        if not 0 <= decay <= 1:
            raise DataError(f"a decay is a share in [0, 1], got {decay!r}")
        return RunningState(decay * self.loss + step.loss, decay * self.count + step.count)

    def averages(self, temperature: float = 1.0) -> Floats:
        """Mean weight of each slot to the power of the temperature, (slots,); a slot without pairs has the mean over all.

        0 everywhere while nothing has been seen.
        """
        total = float(self.count.sum())
        pooled = float(self.loss.sum()) / total if total > 0 else 0.0
        mean = np.divide(self.loss, self.count, out=np.full(self.loss.shape, pooled), where=self.count > 0)
        return np.asarray(mean**temperature)


def contribution(flags: ArrayLike, weight: ArrayLike, logps: ArrayLike, lengths: ArrayLike) -> Contribution:
    """What summaries of one side add: each flagged slot by the summary's mean token probability.

    Args:
        flags: slots of each summary, shape (summaries, slots).
        weight: |C_k| of the slots, same shape.
        logps: summed log-probability of each summary's tokens under the policy, in nats, shape (summaries,).
        lengths: response tokens, end token included, shape (summaries,).

    Raises:
        DataError: the shapes do not go together, or a summary has no token.
    """
    flagged, weights = np.asarray(flags, dtype=float), np.asarray(weight, dtype=float)
    sums, n = np.asarray(logps, dtype=float), np.asarray(lengths, dtype=float)
    if flagged.shape != weights.shape or flagged.shape[:1] != sums.shape or sums.shape != n.shape or (n < 1).any():
        raise DataError(
            "a contribution needs flags and weights of one shape, and log-probabilities of one token or more a summary"
        )
    probability = np.exp(sums / n)  # (summaries,)
    return Contribution(probability @ (flagged * weights), probability @ flagged)


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
    floor = np.where((over <= 0) | (under <= 0), LEAST_AVERAGE, 0.0)
    return np.asarray(np.log(np.maximum(over, floor)) - np.log(np.maximum(under, floor)))


def _mean_weight(exponent: Floats, flagged: NDArray[np.bool_]) -> Floats:
    from scipy.special import expit

    # 2 / (1 + e^x), in a form that cannot overflow
    weight = np.where(flagged, 2 * expit(-exponent), 0.0)
    n = flagged.sum(axis=1)
    return np.asarray(np.where(n > 0, weight.sum(axis=1) / np.maximum(n, 1), 1.0))
