"""Curves of a round's training, from the log history that TRL wrote."""

import json
from typing import Any

from ...config import Recipe
from ...errors import DataError
from ...runfolder.phases import TRAINING, phases
from ...storage import read_text
from ...train.guards import guard
from ..systems.contents import TrainingCurve

# logged by trl.DPOTrainer, shown in this order
SHOWN = ("loss", "rewards/margins", "rewards/accuracies")


def read_training(recipe: Recipe) -> list[TrainingCurve]:
    """The shown quantities of every round that has a log; quantities that were not logged are absent.

    Raises:
        DataError: a training.json has no log history.
    """
    curves = []
    for phase in phases(recipe):
        path = phase.folder / TRAINING
        if phase.round is None or not path.is_file():
            continue
        history = _history(json.loads(read_text(path)), str(path))
        for name in SHOWN:
            points = tuple((int(row["step"]), float(row[name])) for row in history if name in row and "step" in row)
            if points:
                curves.append(TrainingCurve(round=phase.round, name=name, points=points))
    return curves


def training_notes(recipe: Recipe) -> tuple[list[str], list[str]]:
    """What each round's steps rested on, and what its log says against it; of rounds that were trained."""
    notes, warnings = [], []
    for phase in phases(recipe):
        path = phase.folder / TRAINING
        if phase.round is None or not path.is_file():
            continue
        record = json.loads(read_text(path))
        if not isinstance(record, dict):
            continue
        if {"steps", "batch", "unit", "processes"} <= record.keys():
            processes = "1 process" if record["processes"] == 1 else f"{record['processes']} processes"
            at_once, times = record["per_device_train_batch_size"], record["gradient_accumulation_steps"]
            notes.append(
                f"Round {phase.round}: {record['steps']} steps of {record['batch']} {record['unit']} ({at_once} at a time, "
                f"{times} times, by {processes})."
            )
        warnings += [f"Training of round {phase.round}: {warning}." for warning in guard(record)]
    return notes, warnings


def _history(content: Any, path: str) -> list[dict[str, Any]]:
    history = content.get("log_history") if isinstance(content, dict) else content
    if not isinstance(history, list):
        raise DataError(f"{path}: has no log_history; it is the list that transformers keeps in TrainerState")
    return history
