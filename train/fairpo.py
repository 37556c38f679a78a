"""FairPO in the trainer: what it adds to a micro-batch, to an optimiser step, and to a checkpoint.

The arithmetic of slots, weights and the running state is `fairness.groups.fairpo`'s, on the few numbers that a pair has; only the
loss itself carries a gradient and is torch's. The running state is kept alike by all processes.
Source: FairPO; docs/papers.md#fairpo-weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..config import FairPOSection
from ..errors import ModelError, RecipeError
from ..extras import need
from ..fairness.groups.fairpo import Contribution, RunningState, contribution, paper_weights, slot_weights
from ..storage import read_json, write_json
from .examples import TokenPair

if TYPE_CHECKING:
    from transformers import TrainerCallback

Floats = NDArray[np.float64]

# file of a checkpoint for the running state
STATE = "fairness.json"


# of the chosen and of the rejected summaries, each of shape (pairs,)
Sides = tuple[Any, Any]


@dataclass(frozen=True)
class PairTensors:
    """Pairs of a micro-batch."""

    # summed log-probabilities under the policy, with gradient, and under the reference, in nats
    logps: Sides
    ref_logps: Sides
    # response tokens, end token included
    lengths: Sides


class FairPO:
    """FairPO's weights, loss and running state for pairs of these declared values."""

    def __init__(self, section: FairPOSection, values: Sequence[str]) -> None:
        self.section = section
        self.values = tuple(values)
        # at the last optimiser boundary
        self.state = RunningState.start(len(self.values))
        # of this process, since then
        self._pending = _nothing(len(self.values))

    def weights(self, slots: Floats) -> tuple[Floats, Floats]:
        """Weights of the chosen and of the rejected summaries, each (pairs,), in [0, 2].

        Args:
            slots: (pairs, 4, slots), weights and powers of the chosen summaries' slots, then of the rejected ones'.
        """
        temperature = self.section.temperature
        if self.section.exponent == "paper":
            over, under = self.state.averages().reshape(-1, 2).T
            chosen, rejected = (slots[:, side, ::2] - slots[:, side, 1::2] for side in (0, 2))  # C_k, (pairs, values)
            return (
                paper_weights(chosen, over, under, "chosen", temperature=temperature),
                paper_weights(rejected, over, under, "rejected", temperature=temperature),
            )
        return (
            slot_weights(slots[:, 0] > 0, slots[:, 1], self.state, "chosen", temperature=temperature),
            slot_weights(slots[:, 2] > 0, slots[:, 3], self.state, "rejected", temperature=temperature),
        )

    def note(self, slots: Floats, pairs: PairTensors, counts: float = 1.0) -> None:
        """Add a micro-batch's pairs, times what they count, to what the next boundary takes into the state."""
        for side, (logps, lengths) in enumerate(zip(pairs.logps, pairs.lengths, strict=True)):
            weight = slots[:, 2 * side]
            self._pending += counts * contribution(weight > 0, weight, _numbers(logps), _numbers(lengths))

    def step(self, device: Any) -> None:
        """The boundary of an optimiser step: what all processes noted goes into the state.

        Args:
            device: of this process, through which the sums go.
        """
        import torch
        from accelerate.utils import reduce

        sums = torch.tensor(np.stack([self._pending.loss, self._pending.count]), device=device)
        loss, count = reduce(sums, reduction="sum").cpu().numpy()
        self.state = self.state.after(Contribution(loss, count), self.section.decay)
        self._pending = _nothing(len(self.values))

    def record(self) -> dict[str, Any]:
        """The running state as JSON can hold it, bit for bit."""
        return {"values": list(self.values), "loss": self.state.loss.tolist(), "count": self.state.count.tolist()}

    def restore(self, checkpoint: Path) -> None:
        """Go on from the running state of a checkpoint.

        Raises:
            ModelError: the checkpoint has none, or of other values.
        """
        path = checkpoint / STATE
        record = read_json(path) if path.is_file() else {}
        if record.get("values") != list(self.values):
            raise ModelError(
                f"{path}: is not the running state of the values {', '.join(self.values)}; remove the checkpoint, and the "
                "training goes on from an earlier one"
            )
        self.state = RunningState(np.array(record["loss"]), np.array(record["count"]))


def fairpo_losses(pairs: PairTensors, weights: Sides, beta: float) -> tuple[Any, Sides]:
    """FairPO's loss of each pair from the second optimiser step on, which may be negative, and the weighted implicit rewards.

    The first factor, how wrong the pair still is, carries no gradient: the gradient is DPO's with its chosen and rejected part
    scaled by their weights. With both weights 1 the gradient is DPO's, the value is not.
    """
    chosen, rejected = (beta * (logps - ref) for logps, ref in zip(pairs.logps, pairs.ref_logps, strict=True))
    wrongness = (rejected - chosen).detach().sigmoid()
    rewards = weights[0] * chosen, weights[1] * rejected
    return -(wrongness * (rewards[0] - rewards[1])), rewards


def open_fairpo(section: FairPOSection | None, rows: Sequence[TokenPair]) -> FairPO | None:
    """FairPO for these rows; None where the recipe does not ask for it.

    Raises:
        RecipeError: rows have no slots, weights of their own, or not all the same values.
    """
    if section is None:
        return None
    lacking = sum(row.fairness is None for row in rows)
    if lacking:
        raise RecipeError(
            f"key 'train.fairness': {lacking} of {len(rows)} pairs do not say what is fair (their 'fairness' is empty); "
            "make pairs with pairs.mode: fairpo, or leave train.fairness out"
        )
    if any(row.weight != 1 for row in rows):
        raise RecipeError(
            "key 'train.fairness': the pairs have weights of their own, which FairPO does not know; make them without "
            "pairs.margin_weights, or leave train.fairness out"
        )
    value_lists = dict.fromkeys(row.fairness.values for row in rows if row.fairness)
    if len(value_lists) > 1:
        named = "; ".join(", ".join(values) for values in value_lists)
        raise RecipeError(f"key 'train.fairness': pairs have different values ({named}); train on files of one corpus")
    return FairPO(section, next(iter(value_lists)))


def fairness_callback(fairness: FairPO) -> "TrainerCallback":
    """Moves the running state on at each optimiser step, and keeps it with each checkpoint."""
    transformers = need("transformers", "training")

    class KeepFairness(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
        def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            fairness.step(args.device)

        def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            if state.is_world_process_zero:
                write_json(Path(args.output_dir) / f"checkpoint-{state.global_step}" / STATE, fairness.record())

    return KeepFairness()


def _nothing(n_values: int) -> Contribution:
    return Contribution(np.zeros(2 * n_values), np.zeros(2 * n_values))


def _numbers(tensor: Any) -> Floats:
    """A tensor's values in double precision, without gradient."""
    return np.asarray(tensor.detach().double().cpu().numpy())
