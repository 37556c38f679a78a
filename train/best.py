"""The adapter of the best step at the end of a training, as `trainer.load_best_model_at_end` asks."""

from pathlib import Path
from typing import Any

from ..errors import ModelError
from .policy import UNSHARDED, fill_adapter, sharding

# what it is mixed into is imported when a trainer is made
_Trainer: Any = object


class BestAdapter(_Trainer):  # type: ignore[misc]
    """Transformers' trainer, which ends with the best step's adapter or not at all."""

    def _load_best_model(self) -> None:
        # transformers warns where the checkpoint is gone, and goes on with the adapter of the last step
        best = Path(self.state.best_model_checkpoint)
        if not best.is_dir():
            raise ModelError(
                f"{best}: the checkpoint of the best step is gone; remove {best.parent}, and the round is trained anew"
            )
        if sharding() == UNSHARDED:
            fill_adapter(self.model, best)
        else:
            super()._load_best_model()
