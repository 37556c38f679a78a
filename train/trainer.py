"""TRL's DPOTrainer on rows that are tokenised already."""

from typing import TYPE_CHECKING, Any

from ..extras import need

if TYPE_CHECKING:
    from trl.trainer.dpo_trainer import DPOTrainer


def tokenised_trainer() -> "type[DPOTrainer]":
    """DPOTrainer whose only change is that rows with `prompt_ids` are taken as they are.

    TRL would tokenise text anew, which need not give the tokens that were generated, and would drop rows whose prompt
    fills max_length. A test compares its losses with stock TRL's, because `_prepare_dataset` is not public.
    """
    trl = need("trl", "training")

    class TokenisedDPOTrainer(trl.DPOTrainer):  # type: ignore[misc, name-defined]
        def _prepare_dataset(self, dataset: Any, processing_class: Any, args: Any, dataset_name: str) -> Any:
            if "prompt_ids" in dataset.column_names:
                return dataset
            return super()._prepare_dataset(dataset, processing_class, args, dataset_name)

    return TokenisedDPOTrainer
