"""Checkpoints of an interrupted training: which ones are whole.

transformers writes a checkpoint file by file under its final name, so its newest folder may be torn. A training here
leaves a mark in a checkpoint after all processes have written theirs; only marked ones are continued from.
"""

import re
from pathlib import Path

CHECKPOINT = re.compile(r"checkpoint-(\d+)")
MARK = "complete"


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
