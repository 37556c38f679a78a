"""Rotary embeddings that one sequence cannot share a pass with others under."""

from typing import Any

# their frequencies follow the longest sequence of the batch, so that one would change another
GLOBAL = ("dynamic", "longrope")


def global_rope(config: Any) -> str | None:
    """The rotary embedding of a transformers model that depends on the longest sequence of a batch; None when it has none.

    Args:
        config: the model's configuration.
    """
    rope = getattr(config, "rope_parameters", None) or {}
    kinds = [
        rope.get("rope_type"),
        *(settings.get("rope_type") for settings in rope.values() if isinstance(settings, dict)),
    ]
    return next((kind for kind in kinds if kind in GLOBAL), None)
