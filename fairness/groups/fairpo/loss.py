"""The losses of FairPO and its baselines, as numbers: what a trainer's own loss is checked against.

Source: FairPO; Rafailov et al. 2023; docs/papers.md#fairpo-first-step.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ....errors import DataError

Floats = NDArray[np.float64]

DEFAULT_BETA = 0.1


@dataclass(frozen=True)
class PairLogps:
    """Summed log-probabilities of pairs' summaries in nats; each of shape (pairs,)."""

    chosen: ArrayLike
    rejected: ArrayLike
    ref_chosen: ArrayLike
    ref_rejected: ArrayLike

    def gaps(self) -> tuple[Floats, Floats]:
        """Policy less reference of the chosen and of the rejected summaries.

        Raises:
            DataError: the four differ in shape.
        """
        c, r, rc, rr = (
            np.asarray(x, dtype=float) for x in (self.chosen, self.rejected, self.ref_chosen, self.ref_rejected)
        )
        if not c.shape == r.shape == rc.shape == rr.shape:
            raise DataError(
                f"log-probabilities of pairs need one shape, got {c.shape}, {r.shape}, {rc.shape}, {rr.shape}"
            )
        return c - rc, r - rr


@dataclass(frozen=True)
class PairLosses:
    """Loss of each pair, and its implicit rewards; each of shape (pairs,)."""

    losses: Floats
    # beta times policy less reference; weighted by the pair's weights for FairPO, as its code logs them
    reward_chosen: Floats
    reward_rejected: Floats

    @property
    def mean(self) -> float:
        """The batch loss."""
        return float(self.losses.mean())


def dpo_losses(logps: PairLogps, *, beta: float = DEFAULT_BETA, margin_weight: ArrayLike | None = None) -> PairLosses:
    """DPO's loss of each pair, in nats, at least 0: FairPO's first optimizer step.

    Args:
        logps: of the pairs.
        beta: strength of the hold to the reference, above 0.
        margin_weight: factor of each pair, shape (pairs,): the margin-weighted baseline; None for plain DPO.

    Raises:
        DataError: the shapes differ, or beta is not above 0.
    """
    from scipy.special import log_expit

    chosen, rejected = _scaled(logps, beta)
    losses = -np.asarray(log_expit(chosen - rejected))
    if margin_weight is not None:
        losses = losses * _matching(margin_weight, losses)
    return PairLosses(losses, chosen, rejected)


def fairpo_losses(
    logps: PairLogps, chosen_weight: ArrayLike, rejected_weight: ArrayLike, *, beta: float = DEFAULT_BETA
) -> PairLosses:
    """FairPO's loss of each pair from the second optimizer step on; may be negative.

    The first factor, how wrong the pair still is, carries no gradient: the gradient is DPO's with its chosen and rejected part
    scaled by their weights. With both weights 1 the gradient is DPO's, the value is not.

    Args:
        logps: of the pairs.
        chosen_weight: of the chosen summaries, shape (pairs,).
        rejected_weight: of the rejected ones.
        beta: strength of the hold to the reference, above 0.

    Raises:
        DataError: the shapes differ, or beta is not above 0.
    """
    from scipy.special import expit

    chosen, rejected = _scaled(logps, beta)
    reward_chosen = chosen * _matching(chosen_weight, chosen)
    reward_rejected = rejected * _matching(rejected_weight, rejected)
    wrongness = expit(rejected - chosen)
    return PairLosses(-wrongness * (reward_chosen - reward_rejected), reward_chosen, reward_rejected)


def _scaled(logps: PairLogps, beta: float) -> tuple[Floats, Floats]:
    if not beta > 0:
        raise DataError(f"beta is above 0, got {beta!r}")
    chosen, rejected = logps.gaps()
    return beta * chosen, beta * rejected


def _matching(weight: ArrayLike, like: Floats) -> Floats:
    given = np.asarray(weight, dtype=float)
    if given.shape != like.shape:
        raise DataError(f"one weight a pair is needed, shape {like.shape}, got {given.shape}")
    return given
