"""The iterated loop: rounds of generate, judge, rerank and train, then the evaluation and the report.

Each step is a process of its own that reads and writes files, so an engine's memory is gone when the next step begins, unless
the recipe keeps engines (`engine_pool`), and a step that was killed is simply run again: `stages` knows what is done.
"""

import sys
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from .config import Recipe
from .config.model import LOCAL
from .config.recipe_file import dump_recipe
from .errors import EvenhandError, RecipeError, StorageError
from .evaluation.report.checkpoint.report import report_stage
from .generate.methods import METHODS
from .generate.replicas import is_apart
from .generate.requests import Requests
from .generate.stage import phase_requests
from .models.dates import dated
from .phase_stages import phase_stages
from .records import SummaryRequest
from .runfolder.dates import run_date
from .runfolder.engine_pool import engine_pool
from .runfolder.engines import engines_of
from .runfolder.phases import ADAPTER, PAIRS, RESOLVED, Phase, hold_run, phases, round_name
from .runfolder.places import PLACES
from .runfolder.processes import last_lines, run_child
from .runfolder.shards import WHOLE, Shard, shard_folder
from .runfolder.stages import Receipt, Stage, forget_journal, read_receipt, superseded
from .storage import write_text
from .train.launch import accelerate_config, n_processes
from .train.options import step_size

# lines of a failed step's log that are shown
SHOWN_LINES = 12

# verb -> the verb of the same phase whose files it reads
READS = {"judge": "generate", "rerank": "judge", "train": "rerank"}

# steps that refuse to go on when they left out more than the recipe's limits allow
LIMITED = ("generate", "judge")

# exit code of a step -> what to do before the same command; after any other code it continues as it is
REMEDIES = {
    2: "mend the recipe, the data or the installation as the log says; then the same command continues with this step",
    3: "mend what was left out, or raise the limit that the log names; then the same command continues with this step",
}


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
    of_phases = (
        Step(verb, phase)
        for phase in phases(recipe)
        for verb in phase_stages(phase)
        if phase.has_candidates or verb == "train"
    )
    return [*of_phases, Step("report", None)]


@dataclass(frozen=True)
class PlannedStep:
    """A step with what it will handle, for --dry-run."""

    step: Step
    # what the step handles: "40 requests x 9 candidates"
    work: str
    is_done: bool
    # where the files that an earlier run finished here are put, when the step makes them anew; None where there are none
    aside: Path | None = None


def plan(recipe: Recipe) -> list[PlannedStep]:
    """The steps with counts, and whether each would be reused: it and all that it rests on is done with this very recipe.

    The corpus and finished files are read; no model is loaded.

    Raises:
        DataError: the corpus is wrong.
    """
    requests = {phase.name: phase_requests(phase) for phase in phases(recipe)}
    planned: list[PlannedStep] = []
    with dated(run_date(recipe.output)):
        for step in steps(recipe):
            done = {earlier.step.name for earlier in planned if earlier.is_done}
            is_done = _rests_on(step, recipe) <= done and _is_done(step, recipe, requests)
            planned.append(PlannedStep(step, _work(step, requests), is_done, None if is_done else _aside(step, recipe)))
    return planned


def _aside(step: Step, recipe: Recipe) -> Path | None:
    try:
        receipt = read_receipt(_receipt_path(step, recipe))
    except StorageError:
        # the step itself says so when it runs
        return None
    return superseded(step.folder(recipe), receipt) if receipt else None


def _rests_on(step: Step, recipe: Recipe) -> set[str]:
    """Names of the steps whose files this step reads."""
    phase = step.phase
    if phase is None:
        return {earlier.name for earlier in steps(recipe) if earlier.phase}
    if step.verb == "generate" or not phase.has_candidates:
        return set() if phase.after_round is None else {f"{round_name(phase.after_round)} train"}
    return {f"{phase.name} {READS[step.verb]}"}


def _is_done(step: Step, recipe: Recipe, requests: Mapping[str, Requests]) -> bool:
    # judges and models are looked at only where there is something to compare with
    if not _receipt_path(step, recipe).is_file():
        return False
    try:
        return _stage(step, recipe, requests).receipt() is not None
    except EvenhandError:
        # an input is absent or refused; the step itself says so when it runs
        return False


def _stage(step: Step, recipe: Recipe, requests: Mapping[str, Requests]) -> Stage:
    if step.phase is None:
        return report_stage(recipe)
    return phase_stages(step.phase, requests[step.phase.name])[step.verb]()


def _work(step: Step, made_of: Mapping[str, Requests]) -> str:
    if step.phase is None:
        return "index.html, details.html, report.json, report.md, tables/"
    recipe = step.phase.recipe
    requests, per_request = len(made_of[step.phase.name]), step.phase.n_candidates
    n_candidates = requests * per_request
    return {
        "generate": f"{requests} requests x {per_request} candidates = {n_candidates}{_beside(step.phase)}"
        + _calls(step.phase, made_of[step.phase.name])
        + _by(recipe),
        "judge": f"{n_candidates} candidates x {len(step.phase.judges)} judges = {n_candidates * len(step.phase.judges)}"
        + _beside(step.phase, " by the pairs' judge"),
        "rerank": f"best of {per_request} for {requests} requests",
        "train": f"{recipe.train.pairs or f'{PAIRS} ({recipe.pairs.mode})'} -> {ADAPTER}/, {_steps_of(recipe)}",
    }[step.verb]


def _steps_of(recipe: Recipe) -> str:
    name = recipe.train.accelerate_config
    try:
        return f"{name}, {step_size(recipe, n_processes(recipe.train, accelerate_config(name)))}"
    except RecipeError:
        # the configuration may be another machine's; here the step itself says what is wrong
        return name


def _beside(phase: Phase, how: str = "") -> str:
    """What a method makes besides one candidate for each draw."""
    return f", and as many of {phase.copies}{how}" if phase.copies else ""


def _calls(phase: Phase, requests: Sequence[SummaryRequest]) -> str:
    """The calls of the model, where their number depends on the documents."""
    method_steps = METHODS[phase.method].steps(requests, phase.recipe, phase.answer_tokens)
    n = [step.n_calls * phase.n_candidates for step in method_steps]
    return f", in {' + '.join(f'{n_calls:,}' for n_calls in n)} calls" if len(n) > 1 else ""


def _by(recipe: Recipe) -> str:
    if recipe.executor != LOCAL:
        # how many those are, the cluster alone knows
        return f", on {PLACES[recipe.executor].where}" if is_apart(recipe) else ""
    n_engines = engines_of(recipe.generate, recipe.executor).n
    return f", by {n_engines} engines side by side" if n_engines > 1 else ""


def run_loop(
    recipe: Recipe,
    *,
    running: Callable[[Step], AbstractContextManager[Callable[[str], object] | None]],
    on_done: Callable[[Step, Receipt, bool], None],
    twins: Sequence[Path] = (),
    verbs: Collection[str] | None = None,
) -> None:
    """Run every step that is not done, in order.

    Args:
        recipe: checked; its resolved form is written into the run folder and read by every step.
        running: what stands around a step while it runs; it may give what is called with the step's output as it comes.
        on_done: called with a finished step, its receipt and whether it was done already.
        twins: folders of other runs; what one of them has made from the very same inputs is copied, not made again.
        verbs: whose steps are run; None runs all.

    Raises:
        StorageError: another command works in the run folder, or it cannot be written.
        StepFailed: a step ended with an error; its exit code is the step's.
    """
    with work_in(recipe) as resolved, engine_pool(recipe.output) if recipe.keep_engines else nullcontext():
        requests = {phase.name: phase_requests(phase) for phase in phases(recipe)}
        for step in steps(recipe):
            if verbs is not None and step.verb not in verbs:
                continue
            receipt_path = _receipt_path(step, recipe)
            _adopt(step, recipe, requests, twins)
            if _says_nothing_new(step, recipe, requests) and (done := read_receipt(receipt_path)):
                forget_journal(step.folder(recipe), done)
                on_done(step, done, True)
                continue
            before = _written_at(receipt_path)
            with running(step) as on_output:
                receipt = _run_step(step, recipe, resolved, on_output)
            on_done(step, receipt, _written_at(receipt_path) == before)


def _run_step(step: Step, recipe: Recipe, resolved: Path, on_output: Callable[[str], object] | None) -> Receipt:
    """Run a step in a process of its own; its receipt."""
    log = recipe.output / "logs" / f"{step.name.replace('/', '-').replace(' ', '-')}.log"
    seen = log.stat().st_size if log.exists() else 0
    status = run_child(_command(step, recipe, resolved), log, on_output=on_output)
    if status != 0:
        raise StepFailed(
            f"step {step.name!r} ended with exit code {status}; its log is {log} and ends with\n"
            f"{last_lines(log, SHOWN_LINES, seen)}\n{REMEDIES.get(status, 'the same command continues with this step')}",
            exit_code=status if status > 0 else 1,
        )
    path = _receipt_path(step, recipe)
    receipt = read_receipt(path)
    if receipt is None:
        raise StepFailed(f"step {step.name!r} ended without its receipt {path}; its log is {log}", exit_code=1)
    return receipt


def _adopt(step: Step, recipe: Recipe, requests: Mapping[str, Requests], twins: Sequence[Path]) -> None:
    """Take a step's files over from the first twin that has them."""
    if step.phase is None:
        return
    having = [twin / step.phase.name for twin in twins]
    having = [folder for folder in having if _receipt_in(folder, step).is_file()]
    if not having or _is_done(step, recipe, requests):
        return
    try:
        stage = _stage(step, recipe, requests)
    except EvenhandError:
        # an input is absent or refused; the step itself says so when it runs
        return
    any(stage.adopt(folder) for folder in having)


def _says_nothing_new(step: Step, recipe: Recipe, requests: Mapping[str, Requests]) -> bool:
    """Whether a step is done and need not be started to say so: starting one takes seconds.

    The report is started all the same, and so is a step that left something out: the recipe's limits may refuse it now.
    """
    if step.phase is None or not _is_done(step, recipe, requests):
        return False
    receipt = read_receipt(_receipt_path(step, recipe))
    return receipt is not None and not (step.verb in LIMITED and receipt.left_out)


@contextmanager
def work_in(recipe: Recipe, shard: Shard = WHOLE) -> Iterator[Path]:
    """Hold the run folder, or a shard's folder there.

    Yields:
        The path of the recipe with every default spelled out, which a command writes and its children read. That of a shard
        is written when its work begins, see `strays.begin_shard`.

    Raises:
        StorageError: another command works in the folder or by another recipe, or the folder cannot be written.
    """
    path = shard_folder(recipe.output, shard) / RESOLVED
    with hold_run(recipe, shard) as is_child:
        if not is_child and not shard.name:
            write_text(path, dump_recipe(recipe))
        yield path


def _command(step: Step, recipe: Recipe, resolved: Path) -> list[str]:
    python = recipe.generate.python if step.verb == "generate" else None
    command = [python or sys.executable, "-m", "evenhand", step.verb, str(resolved.absolute())]
    return [*command, "--phase", step.phase.name] if step.phase else command


def _receipt_path(step: Step, recipe: Recipe) -> Path:
    return _receipt_in(step.folder(recipe), step)


def _receipt_in(folder: Path, step: Step) -> Path:
    return folder / "receipts" / f"{step.verb}.json"


def _written_at(path: Path) -> int | None:
    return path.stat().st_mtime_ns if path.exists() else None
