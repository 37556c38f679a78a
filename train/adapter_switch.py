"""The adapter off and on again by a flag on its layers, where PEFT walks through all modules of the model twice.

The reference is the model without its adapter, once for each micro-batch. PEFT also takes the gradients of the adapter's weights
away meanwhile; the reference runs without gradients as it is.
"""

import contextlib
from collections.abc import Iterator
from typing import Any

from ..extras import need


def switch_by_flag(model: Any) -> None:
    """Let `model.disable_adapter()` set flags alone.

    Args:
        model: a PeftModel; one whose adapter is something else than LoRA alone, or has whole modules, stays as it is.
    """
    peft = need("peft", "training")
    kinds = peft.tuners.tuners_utils.BaseTunerLayer, peft.utils.other.AuxiliaryTrainingWrapper
    tuners = [layer for layer in model.modules() if isinstance(layer, kinds)]
    if not tuners or not all(isinstance(layer, peft.tuners.lora.LoraLayer) for layer in tuners):
        return

    @contextlib.contextmanager
    def disable_adapter() -> Iterator[None]:
        were_off = [layer._disable_adapters for layer in tuners]
        for layer in tuners:
            layer._disable_adapters = True
        try:
            yield
        finally:
            for layer, was_off in zip(tuners, were_off, strict=True):
                layer._disable_adapters = was_off

    model.disable_adapter = disable_adapter
