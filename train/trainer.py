"""The two ways to TRL's DPOTrainer: groups of candidates with a shared prompt, or stock TRL's pairs."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import RecipeError
from ..extras import need
from ..runfolder.progress import progress_path
from .examples import TrainingPairs
from .fairpo import FairPO, open_fairpo
from .groups import build_groups, refuse_unsplittable
from .options import refuse_early_reference
from .policy import sharding

if TYPE_CHECKING:
    from trl.trainer.dpo_trainer import DPOTrainer

    from ..runfolder.phases import Phase


@dataclass(frozen=True)
class Material:
    """What is trained on, and by which trainer."""

    trainer: Any
    # what a row is, in the plural
    unit: str
    rows: list[dict[str, Any]]
    # what is evaluated while it is trained, in the same form
    eval_rows: list[dict[str, Any]]
    # tokens that run through the policy in an epoch, where no two requests begin alike
    n_tokens: int
    # further arguments of the trainer
    options: dict[str, Any] = field(default_factory=dict)
    # FairPO, where the recipe asks for it
    fairness: FairPO | None = None


def prepare_material(
    phase: "Phase", arguments: Any, tokenizer: Any, examples: TrainingPairs, held_out: TrainingPairs | None = None
) -> Material:
    """The rows of a round in the form that the recipe's trainer takes.

    Args:
        phase: the round.
        arguments: its trl.DPOConfig.
        tokenizer: the policy's.
        examples: what is trained on.
        held_out: what is evaluated meanwhile.

    Raises:
        RecipeError: a prompt does not fit into a pass, the trainer does not know weights of pairs, cannot run its reference
            beforehand here, or FairPO is asked for pairs that do not say what is fair.
    """
    section, eval_pairs = phase.recipe.train, held_out.rows if held_out else ()
    if section.trainer == "pairwise":
        if any(row.weight != 1 for row in (*examples.rows, *eval_pairs)):
            raise RecipeError(
                "key 'train.trainer': pairwise is stock TRL, where all pairs count alike, but pairs have weights; "
                "write train.trainer: shared-prefix"
            )
        refuse_early_reference(phase.recipe, is_fsdp=sharding() == "fsdp")
        # what train_sampling_strategy: group_by_length orders rows by
        rows, eval_rows = (
            [row.columns | {"length": row.length} for row in pairs] for pairs in (examples.rows, eval_pairs)
        )
        return Material(tokenised_trainer(), "pairs", rows, eval_rows, examples.n_tokens)
    from .packing import PackingCollator
    from .reference import kept_reference, reference_signature
    from .shared_prefix import shared_prefix_trainer

    fairness = open_fairpo(section.fairness, examples.rows)
    groups, eval_groups = build_groups(examples.rows, slots=fairness is not None), build_groups(eval_pairs)
    refuse_unsplittable([*groups, *eval_groups], section.max_tokens_per_pass)
    collator = PackingCollator(tokenizer.pad_token_id or 0, section.max_tokens_per_pass, arguments.pad_to_multiple_of)
    return Material(
        shared_prefix_trainer(),
        "requests",
        [group.columns for group in groups],
        [group.columns for group in eval_groups],
        sum(group.length for group in groups),
        {
            "data_collator": collator,
            "reference_logps": kept_reference(reference_signature(phase), progress_path(phase.folder, "train")),
            "fairness": fairness,
            "together": section.shuffle == "sets",
        },
        fairness,
    )


def tokenised_trainer() -> "type[DPOTrainer]":
    """DPOTrainer that takes rows as they are, in tokens, and keeps their reference log-probabilities unrounded.

    TRL would tokenise text anew, which need not give the tokens that were generated, and would drop rows whose prompt
    fills max_length. A test compares its losses with stock TRL's, because `_prepare_dataset` is not public.
    """
    from .best import BestAdapter
    from .shared_prefix import Unrounded

    trl = need("trl", "training")

    class TokenisedDPOTrainer(BestAdapter, Unrounded, trl.DPOTrainer):  # type: ignore[misc, name-defined]
        def _prepare_dataset(self, dataset: Any, *_: Any) -> Any:
            return dataset

        def _get_train_sampler(self, train_dataset: Any = None) -> Any:
            # the data set that it is given has lost the column of lengths
            return super()._get_train_sampler(self.train_dataset)

    return TokenisedDPOTrainer
