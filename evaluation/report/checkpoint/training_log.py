"""What the rounds' training logs say: curves of the log history, what a step rested on, and what speaks against it."""

import json
from typing import Any, NamedTuple

from ....config import Recipe
from ....errors import DataError
from ....runfolder.phases import TRAINING, phases
from ....storage import read_text
from ....train.guards import guard
from ...pages.words import counted
from ..systems.contents import TrainingCurve

# logged by trl.DPOTrainer, shown in this order
SHOWN = ("loss", "rewards/margins", "rewards/accuracies")


class TrainingLogs(NamedTuple):
    """The training logs of all rounds that were trained."""

    # the shown quantities; those that were not logged are absent
    curves: tuple[TrainingCurve, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def read_training(recipe: Recipe) -> TrainingLogs:
    """The logs of every round that has one.

    Raises:
        DataError: a training.json has no log history.
    """
    curves, notes, warnings = [], [], []
    for phase in phases(recipe):
        path = phase.folder / TRAINING
        if phase.round is None or not path.is_file():
            continue
        content = json.loads(read_text(path))
        record: dict[str, Any] = content if isinstance(content, dict) else {}
        history = record.get("log_history", content)
        if not isinstance(history, list):
            raise DataError(f"{path}: has no log_history; it is the list that transformers keeps in TrainerState")
        for name in SHOWN:
            points = tuple((int(row["step"]), float(row[name])) for row in history if name in row and "step" in row)
            if points:
                curves.append(TrainingCurve(round=phase.round, name=name, points=points))
        if {"steps", "batch", "unit", "processes"} <= record.keys():
            at_once, times = record["per_device_train_batch_size"], record["gradient_accumulation_steps"]
            notes.append(
                f"Round {phase.round}: {record['steps']} steps of {record['batch']} {record['unit']} ({at_once} at a time, "
                f"{times} times, by {counted(record['processes'], 'process', 'processes')})."
            )
        if record:
            warnings += [f"Training of round {phase.round}: {warning}." for warning in guard(record)]
    return TrainingLogs(tuple(curves), tuple(notes), tuple(warnings))
