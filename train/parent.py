"""What ties a training process to the process that started it: it dies with it, and its refusals reach it.

`accelerate launch` stands between the two and gives every failure the exit code 1, so a refusal travels as a file. Standard
input is a pipe that the parent holds open and the launchers pass on; it closes when the parent is gone, however it went.
"""

import json
import os
import threading
from pathlib import Path

from .. import errors
from ..errors import EvenhandError
from ..storage import read_text, write_json


def end_with_parent() -> None:
    """End this process at once when the parent does, so that no orphan trains on beside the next run."""

    def wait() -> None:
        while os.read(0, 1):
            pass
        os._exit(1)

    threading.Thread(target=wait, name="end-with-parent", daemon=True).start()


def report_failure(folder: Path, error: EvenhandError) -> None:
    """Leave a refusal for the parent."""
    write_json(failure_path(folder), {"error": type(error).__name__, "message": str(error)})


def read_failure(folder: Path) -> EvenhandError | None:
    """The refusal that a training process left; None when it left none."""
    path = failure_path(folder)
    if not path.is_file():
        return None
    left = json.loads(read_text(path))
    path.unlink()
    kind = getattr(errors, left["error"], EvenhandError)
    failure: EvenhandError = kind(left["message"])
    return failure


def failure_path(folder: Path) -> Path:
    """Where a refusal lies between the two processes."""
    return folder / "receipts" / "train.failure.json"
