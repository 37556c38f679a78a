"""LoRA DPO on TRL, in processes of its own under `accelerate launch`, or as a trainer in a script of one's own."""

from importlib import import_module

from ..extras import need
from .launch import train

__all__ = ["SharedPrefixDPOTrainer", "train"]


def __getattr__(name: str) -> object:
    """The trainer, for which torch and TRL are imported when it is asked for."""
    if name != "SharedPrefixDPOTrainer":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    need("trl", "training")
    return import_module(".pair_trainer", __name__).SharedPrefixDPOTrainer
