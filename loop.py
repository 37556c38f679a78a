"""The iterated loop: rounds of generate, judge, rerank and train, then the evaluation and the report.

Each step is a process of its own that reads and writes files, so an engine's memory is gone when the next step begins, and a
step that was killed is simply run again: `stages` knows what is done.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .config import Recipe
from .errors import EvenhandError
from .generate.stage import phase_requests
from .processes import last_lines, run_child
from .recipe_file import dump_recipe
from .run import ADAPTER, PAIRS, Phase, phases
from .stages import Receipt, read_receipt
from .storage import write_text

# lines of a failed step's log that are shown
SHOWN_LINES = 12


@dataclass(frozen=True)
class Step:
    """One stage of one phase."""

    verb: str
    # None for the report, which belongs to the whole run
    phase: Phase | None

    @property
    def name(self) -> str:
        """The step as it is shown and logged: "round-00 judge"."""
        return f"{self.phase.name} {self.verb}" if self.phase else self.verb

    def folder(self, recipe: Recipe) -> Path:
        """Folder whose receipts hold this step's."""
        return self.phase.folder if self.phase else recipe.output / "report"


class StepFailed(EvenhandError):
    """A step's process ended with an error; its log has been shown."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def steps(recipe: Recipe) -> list[Step]:
    """All steps of a run in order."""
    planned = []
    for phase in phases(recipe):
        planned += [Step(verb, phase) for verb in ("generate", "judge", "rerank")]
        if phase.split == "train":
            planned.append(Step("train", phase))
    return [*planned, Step("report", None)]


@dataclass(frozen=True)
class PlannedStep:
    """A step with what it will handle, for --dry-run."""

    step: Step
    # what the step handles: "40 requests x 9 candidates"
    work: str
    is_done: bool


def plan(recipe: Recipe) -> list[PlannedStep]:
    """The steps with counts; the corpus is read, no model is loaded.

    Raises:
        DataError: the corpus is wrong.
    """
    n_requests = {phase.name: len(phase_requests(phase)) for phase in phases(recipe)}
    return [
        PlannedStep(step, _work(step, n_requests), read_receipt(_receipt_path(step, recipe)) is not None)
        for step in steps(recipe)
    ]


def _work(step: Step, n_requests: dict[str, int]) -> str:
    if step.phase is None:
        return "index.html, report.json, report.md"
    recipe = step.phase.recipe
    requests, per_request = n_requests[step.phase.name], recipe.generate.n_candidates
    made = requests * per_request
    return {
        "generate": f"{requests} requests x {per_request} candidates = {made}",
        "judge": f"{made} candidates x {len(step.phase.judges)} judges = {made * len(step.phase.judges)}",
        "rerank": f"best of {per_request} for {requests} requests",
        "train": f"{PAIRS} ({recipe.pairs.mode}) -> {ADAPTER}/, {recipe.train.accelerate_config}",
    }[step.verb]


def run_loop(
    recipe: Recipe,
    *,
    on_start: Callable[[Step], Callable[[str], None]],
    on_done: Callable[[Step, Receipt, bool], None],
) -> None:
    """Run every step that is not done, in order.

    Args:
        recipe: checked; its resolved form is written into the run folder and read by every step.
        on_start: called with a step; returns what is called with its log's last line while it runs.
        on_done: called with a finished step, its receipt and whether it was done already.

    Raises:
        StepFailed: a step ended with an error; its exit code is the step's.
    """
    resolved = save_resolved(recipe)
    for step in steps(recipe):
        receipt_path = _receipt_path(step, recipe)
        before = _written_at(receipt_path)
        log = recipe.output / "logs" / f"{step.name.replace('/', '-').replace(' ', '-')}.log"
        status = run_child(_command(step, recipe, resolved), log, on_line=on_start(step))
        if status != 0:
            raise StepFailed(
                f"step {step.name!r} ended with exit code {status}; its log is {log} and ends with\n"
                f"{last_lines(log, SHOWN_LINES)}\nthe same command continues with this step",
                exit_code=status if status > 0 else 1,
            )
        receipt = read_receipt(receipt_path)
        if receipt is None:
            raise StepFailed(
                f"step {step.name!r} ended without its receipt {receipt_path}; its log is {log}", exit_code=1
            )
        on_done(step, receipt, _written_at(receipt_path) == before)


def save_resolved(recipe: Recipe) -> Path:
    """Write the recipe with every default spelled out into the run folder; its path."""
    path = recipe.output / "recipe.yaml"
    write_text(path, dump_recipe(recipe))
    return path


def _command(step: Step, recipe: Recipe, resolved: Path) -> list[str]:
    own = recipe.generate.python if step.verb == "generate" else None
    command = [own or sys.executable, "-m", "evenhand.cli", step.verb, str(resolved)]
    return [*command, "--phase", step.phase.name] if step.phase else command


def _receipt_path(step: Step, recipe: Recipe) -> Path:
    return step.folder(recipe) / "receipts" / f"{step.verb}.json"


def _written_at(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None
