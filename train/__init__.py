"""LoRA DPO on TRL, in processes of its own under `accelerate launch`."""

from .launch import train

__all__ = ["train"]
