"""Checkpoints of an interrupted training: which ones are whole.

transformers writes a checkpoint file by file under its final name, so its newest folder may be torn. A training here
leaves a mark in a checkpoint after all processes have written theirs; only marked ones are continued from.
"""

import os
import re
from pathlib import Path

CHECKPOINT = re.compile(r"checkpoint-(\d+)")
MARK = "complete"
UNSHARDED = "plain"


def sharding() -> str:
    """How this process was launched: "zero2", "zero3", "fsdp", or "plain" for one process or DDP.

    The checkpoints of one kind cannot be continued by another.
    """
    if os.environ.get("ACCELERATE_USE_DEEPSPEED", "").lower() == "true":
        return f"zero{os.environ.get('ACCELERATE_DEEPSPEED_ZERO_STAGE', '')}"
    if os.environ.get("ACCELERATE_USE_FSDP", "").lower() == "true":
        return "fsdp"
    return UNSHARDED


def last_complete(folder: Path) -> Path | None:
    """The marked checkpoint with most steps; None when there is none."""
    found = {
        int(match.group(1)): path
        for path in folder.glob("checkpoint-*")
        if (match := CHECKPOINT.fullmatch(path.name)) and (path / MARK).is_file()
    }
    return found[max(found)] if found else None


def mark_complete(folder: Path, step: int) -> None:
    """Mark the checkpoint of a step as whole."""
    (folder / f"checkpoint-{step}" / MARK).touch()
