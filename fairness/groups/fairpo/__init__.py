"""FairPO as arithmetic: thinned sets, pairs and their slots, the running state, weights and losses.

    perturb          two copies of a set, thinned on the most and the least represented value
    thinnings        all such copies of a set whose summary is not judged yet; choose_thinnings finds the two afterwards
    fair_pairs       chosen and rejected of the three candidates, slots and powers
    contribution     what a batch adds to the running state; RunningState.after at the optimizer boundary
    slot_weights     weights of chosen and rejected summaries (released form); paper_weights as the paper writes them
    fairpo_losses    the reweighted loss; dpo_losses for the first step and the margin-weighted baseline

Source: FairPO; docs/papers.md#fairpo.
"""

from .loss import PairLogps, PairLosses, dpo_losses, fairpo_losses
from .pairs import CANDIDATES, FairPairs, Slots, fair_pairs
from .perturbation import Perturbation, Thinning, choose_thinnings, perturb, thinnings
from .state import Contribution, RunningState, contribution
from .weights import paper_weights, slot_weights

__all__ = [
    "CANDIDATES",
    "Contribution",
    "FairPairs",
    "PairLogps",
    "PairLosses",
    "Perturbation",
    "RunningState",
    "Slots",
    "Thinning",
    "choose_thinnings",
    "contribution",
    "dpo_losses",
    "fair_pairs",
    "fairpo_losses",
    "paper_weights",
    "perturb",
    "slot_weights",
    "thinnings",
]
