"""Judges of one model in a process of their own.

An engine gives its memory back when its process ends, and hardly before (vLLM's issue 21073). So where a stage has judges on
several models, each model gets a child, one after another: it writes into the stage's journal and the cache while the parent
waits. A child that was killed is like any interruption: the same command continues with what it had not written.
"""

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from ..errors import JudgeError
from ..runfolder.phases import Phase, resolved_recipe
from ..runfolder.processes import failure_path, read_failure, run_attached
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
    recipe = resolved_recipe(phase.recipe, "the judges' processes")
    arguments = ("evenhand.judges.child", str(recipe), phase.name, stage.key, *names)
    run_apart(arguments, names, failure_path(phase.folder, "judge"), f"{phase.name}: ")
    path = spent_path(phase.folder)
    for part, seconds in json.loads(read_text(path)).items():
        book(part, seconds)
    path.unlink()


def run_apart(arguments: Sequence[str], names: Sequence[str], failure: Path, place: str = "") -> None:
    """Run the process of some judges to its end.

    Args:
        arguments: its module, and what that is given.
        names: of the judges.
        failure: where it leaves what it refused.
        place: what is judged, as errors begin.

    Raises:
        EvenhandError: what the process refused.
        JudgeError: it ended without a word.
    """
    failure.unlink(missing_ok=True)
    code = run_attached([sys.executable, "-m", *arguments])
    if code != 0:
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        raise read_failure(failure) or JudgeError(
            f"{place}the process of judges {', '.join(names)} {how}; what it said stands above. The same command "
            "continues with what it had not judged. When memory was short: lower backend.max_model_len or, with vLLM on a GPU, "
            "backend.engine.gpu_memory_utilization"
        )


def spent_path(folder: Path) -> Path:
    """Where a child leaves the seconds that its receipt would have."""
    return folder / "receipts" / "judge.spent.json"
