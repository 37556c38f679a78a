"""Judges of one model in a process of their own.

An engine gives its memory back when its process ends, and hardly before (vLLM's issue 21073). So where a stage has judges on
several models, each model gets a child, one after another: it writes into the stage's journal and the cache while the parent
waits. A child that was killed is like any interruption: the same command continues with what it had not written.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import JudgeError, StorageError
from ..runfolder.phases import Phase
from ..runfolder.processes import read_failure, run_attached
from ..runfolder.stages import Stage
from ..runfolder.timing import book
from ..storage import read_text
from .judge import Judge


def judge_apart(phase: Phase, stage: Stage, judges: Sequence[Judge]) -> None:
    """Put what these judges of the recipe say into the stage's journal, by a child that loads their model.

    Raises:
        EvenhandError: what the child refused.
        JudgeError: the child ended without a word.
        StorageError: the resolved recipe is not in the run folder.
    """
    names = [judge.name for judge in judges]
    recipe = phase.recipe.output / "recipe.yaml"
    if not recipe.is_file():
        raise StorageError(f"{recipe}: the resolved recipe is not there, and the judges' processes read it")
    failure_path(phase.folder).unlink(missing_ok=True)
    code = run_attached([sys.executable, "-m", "evenhand.judges.child", str(recipe), phase.name, stage.key, *names])
    if code != 0:
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        raise read_failure(failure_path(phase.folder)) or JudgeError(
            f"{phase.name}: the process of judges {', '.join(names)} {how}; what it said stands above. The same command "
            "continues with what it had not judged. When memory was short: lower backend.max_model_len or, with vLLM on a GPU, "
            "backend.engine.gpu_memory_utilization"
        )
    path = spent_path(phase.folder)
    for part, seconds in json.loads(read_text(path)).items():
        book(part, seconds)
    path.unlink()


def failure_path(folder: Path) -> Path:
    """Where a child leaves what it refused."""
    return folder / "receipts" / "judge.failure.json"


def spent_path(folder: Path) -> Path:
    """Where a child leaves the seconds that its receipt would have."""
    return folder / "receipts" / "judge.spent.json"
