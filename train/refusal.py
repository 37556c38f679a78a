"""How a refusal travels from a training process to the process that started it.

`accelerate launch` stands between the two and gives every failure the exit code 1, so a refusal is left as a file.
"""

import json
from pathlib import Path

from .. import errors
from ..errors import EvenhandError
from ..storage import read_text, write_json


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
