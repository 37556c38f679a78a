"""How over- and under-represented each value has been in recent pairs, as the policy would write them.

Summed over the micro-batches of an optimizer step, decayed at its boundary. Sums over data-parallel workers are the caller's:
contributions simply add up. Source: FairPO; docs/papers.md#fairpo-state.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import DataError

Floats = NDArray[np.float64]

DEFAULT_DECAY = 0.75


@dataclass(frozen=True)
class Contribution:
    """What some summaries add to the state; slots as in `pairs`."""

    # summed weights and numbers, each times the mean token probability, (slots,)
    loss: Floats
    count: Floats

    def __add__(self, other: "Contribution") -> "Contribution":
        return Contribution(self.loss + other.loss, self.count + other.count)


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
