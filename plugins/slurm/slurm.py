"""The steps of a run as SLURM's batch jobs, each waiting for the one before it.

Generating and judging become arrays of shards, as many as nodes; the job after an array puts its shards together. Training
that is spread over machines is a job of that many nodes, in which srun starts accelerate on each. Every command is one that a
person could give: it continues what was interrupted and reuses what is done, so SLURM may queue a job again that was preempted,
or whose node failed. Jobs work by a copy of the recipe that nothing overwrites, so that no change can reach a queued job.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...config import BackendSection, Recipe
from ...config.model import LOCAL
from ...config.python_code import may_run
from ...config.recipe_file import dump_recipe
from ...errors import EvenhandError, RecipeError
from ...loop import Step
from ...phase_stages import phase_stages
from ...runfolder.engines import idle_engines, refuse_small_nodes
from ...runfolder.phases import Phase
from ...runfolder.strays import of_other_recipes
from ...storage import make_folder, write_text
from ...text.digests import digest
from ...text.mistakes import listed
from ...train.launch import accelerate_config, n_machines, n_processes, on_each_node, read_accelerate
from ...train.options import accumulation
from .script import LOGS, SLURM, command_line, option_line, refuse_options, refuse_words

# steps whose batches are shared out over nodes
SHARED = ("generate", "judge")


@dataclass(frozen=True)
class Nodes:
    """What jobs ask for."""

    # nodes that generating, judging and training are spread over
    n: int = 1
    gpus_each: int = 0
    # further options of sbatch, each as it stands: "--partition=gpu"
    options: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        refuse_options(self.options)


@dataclass(frozen=True)
class SlurmJob:
    """Steps that one batch job does; the first job of all also validates the recipe where it will run."""

    steps: tuple[Step, ...]
    # tasks of an array, of which each does a shard; 1: no array
    shards: int = 1
    nodes: int = 1

    @property
    def name(self) -> str:
        """The job as SLURM shows it: "round-00-generate"."""
        if not self.steps:
            return "validate"
        first, last = self.steps[0], self.steps[-1]
        until = "-shards" if self.shards > 1 else "" if first == last else f"-to-{last.verb}"
        return f"{first.name.replace('/', '-').replace(' ', '-')}{until}"


@dataclass(frozen=True)
class Scripts:
    """The jobs of a recipe, as files."""

    recipe: Recipe
    nodes: Nodes
    jobs: tuple[SlurmJob, ...]

    @property
    def folder(self) -> Path:
        """Where they lie; links are left as they are, since nodes may have others."""
        return (self.recipe.output / SLURM).absolute()

    @property
    def copy(self) -> Path:
        """The recipe that they work by, every default spelled out; another recipe has another name."""
        return self.folder / f"recipe-{digest(dump_recipe(self.recipe))}.yaml"

    def paths(self) -> list[Path]:
        """The script of each job."""
        return [self.folder / f"{place:02d}-{job.name}.sbatch" for place, job in enumerate(self.jobs)]

    def write(self) -> None:
        """Write the recipe's copy and the scripts; scripts of an earlier time are deleted.

        Raises:
            RecipeError: see `refuse`.
            StorageError: a file cannot be written.
        """
        self.refuse()
        # SLURM makes no folder for what jobs say, and fails them without a word
        make_folder(self.folder / LOGS)
        for old in self.folder.glob("*.sbatch"):
            old.unlink()
        write_text(self.copy, dump_recipe(self.recipe))
        for job, path in zip(self.jobs, self.paths(), strict=True):
            write_text(path, self.text(job))

    def refuse(self) -> None:
        """Refuse names that scripts cannot hold.

        Raises:
            RecipeError: all of them, by their keys.
        """
        refuse_words(
            {
                "key 'output'": [str(self.folder)],
                "the folder that the command is given in": [str(Path.cwd())],
                "key 'generate.python'": filter(None, [self.recipe.generate.python]),
                "the interpreter": [sys.executable],
                "a step": [job.name for job in self.jobs],
            }
        )
        if "\\" in str(self.folder):
            raise RecipeError(
                f"key 'output': {str(self.folder)!r} has a backslash, with which SLURM names no logs; write another folder"
            )

    def text(self, job: SlurmJob) -> str:
        """What sbatch reads."""
        is_array = job.shards > 1
        # SLURM puts names in the place of %x and the like
        logs = str(self.folder / LOGS).replace("%", "%%")
        options = [
            f"--job-name={job.name}", f"--chdir={Path.cwd()}",
            f"--output={logs}/{'%x-%A_%a' if is_array else '%x-%j'}.log", "--open-mode=append", "--requeue",
            f"--nodes={job.nodes}", "--ntasks-per-node=1",
            *([f"--gpus-per-node={self.nodes.gpus_each}"] if self.nodes.gpus_each else []),
            *([f"--array=0-{job.shards - 1}"] if is_array else []), *self.nodes.options,
        ]  # fmt: skip
        shard = f' --shard "$SLURM_ARRAY_TASK_ID/{job.shards}"' if is_array else ""
        validating = self.command("validate")
        if job.nodes > 1:
            validating = [*on_each_node(job.nodes), *validating]
        return "\n".join(
            [
                "#!/bin/bash",
                *map(option_line, options),
                "set -euo pipefail",
                # what the machine that submits cannot see: the shared disk, models, libraries and GPUs of these
                *([command_line(validating)] if job == self.jobs[0] else []),
                *(f"{command_line(self.command(step.verb, step.phase))}{shard}" for step in job.steps),
                "",
            ]
        )

    def command(self, verb: str, phase: Phase | None = None) -> list[str]:
        """The command that does a step, by the recipe's copy."""
        python = self.recipe.generate.python if verb == "generate" else None
        # the copy is in a run folder, whose code runs only when it is asked for
        consent = ["--run-code"] if may_run(self.recipe) else []
        command = [python or sys.executable, "-m", "evenhand", verb, str(self.copy), *consent]
        return [*command, "--phase", phase.name] if phase else command


def idle_gpus(recipe: Recipe, nodes: Nodes, shards: int, n_requests: Mapping[str, int]) -> list[str]:
    """What leaves GPUs idle, in words, with a remedy.

    Args:
        recipe: with the keys of `keys_of_nodes`.
        nodes: what there is.
        shards: tasks of each array.
        n_requests: of one phase, by split.
    """
    keys = [
        key
        for key, section in recipe.replicated.items()
        if section.replicas != "auto" and 0 < section.gpus_each * section.replicas < nodes.gpus_each
    ]
    notes = [f"GPUs of each node are idle with {', '.join(keys)}: write replicas: auto there"] if keys else []
    notes += idle_engines(recipe, n_requests, nodes.gpus_each, shards)
    if recipe.rounds and nodes.gpus_each:
        config = accelerate_config(recipe.train.accelerate_config)
        machines = n_machines(recipe.train, config)
        n, n_gpus = n_processes(recipe.train, config), machines * nodes.gpus_each
        if n < n_gpus and not read_accelerate(config).use_cpu:
            notes.append(
                f"training takes {n} of {n_gpus} GPUs: --set train.num_processes={n_gpus}, with a train.global_batch_size "
                "that is a multiple of what they take at once"
            )
    return notes


def jobs(recipe: Recipe, steps: Sequence[Step], nodes: Nodes, shards: int) -> list[SlurmJob]:
    """The jobs of these steps, in the order in which they wait for each other.

    Args:
        recipe: with the keys of `keys_of_nodes`.
        steps: those that are not done.
        nodes: what there is.
        shards: tasks of each array.

    Raises:
        RecipeError: a server is asked by files of requests, which takes no job but a command that is given again, Ray is to
            spread the work, a node has fewer GPUs than engines need, the batch of training cannot be divided over its
            processes, or shards of another recipe have left work.
    """
    if recipe.executor != LOCAL:
        raise RecipeError(
            f"key 'executor': SLURM spreads the work itself; leave executor: {recipe.executor} out, or start a Ray cluster in a "
            "job of your own and run `evenhand loop` there"
        )
    refuse_small_nodes(recipe.replicated, nodes.gpus_each)
    batched = [
        section.server
        for section in (recipe.generate, *_judging(recipe))
        if section.server and section.server.is_deferred
    ]
    if batched:
        raise RecipeError(
            "a server is asked by files of requests (server.batches), so the command ends and is given again when they are "
            "answered: run `evenhand loop` on any machine instead"
        )
    machines = 1
    if recipe.rounds:
        config = accelerate_config(recipe.train.accelerate_config)
        machines = n_machines(recipe.train, config)
        accumulation(recipe, n_processes(recipe.train, config))
    slurm_jobs = list(_gathered(steps, shards, machines))
    _refuse_strays(slurm_jobs)
    is_spread = any(job.shards > 1 or job.nodes > 1 for job in slurm_jobs)
    # all nodes together see what is wrong there, before any work
    return [SlurmJob((), nodes=nodes.n), *slurm_jobs] if is_spread else slurm_jobs


def _gathered(steps: Iterable[Step], shards: int, machines: int) -> Iterator[SlurmJob]:
    """Steps that follow each other on one node share a job."""
    together: list[Step] = []
    for step in steps:
        is_shared = step.verb in SHARED and shards > 1 and not _asks_server(step)
        is_wide = step.verb == "train" and machines > 1
        if (is_shared or is_wide) and together:
            yield SlurmJob(tuple(together))
            together = []
        if is_wide:
            yield SlurmJob((step,), nodes=machines)
        else:
            if is_shared:
                yield SlurmJob((step,), shards)
            # without --shard the same command puts the shards together
            together.append(step)
    if together:
        yield SlurmJob(tuple(together))


def _refuse_strays(slurm_jobs: Iterable[SlurmJob]) -> None:
    mistakes, drawn = [], set()
    for step in (job.steps[0] for job in slurm_jobs if job.shards > 1):
        assert step.phase is not None
        if step.verb == "generate":
            drawn.add(step.phase.name)
        if any(step.phase.folder.glob(f"receipts/{step.verb}.*.shard-*")):
            try:
                stage = phase_stages(step.phase)[step.verb]()
                strays = of_other_recipes(
                    step.phase, stage, reads_anew=step.verb == "judge" and step.phase.name in drawn
                )
            except EvenhandError:
                # what it reads is not there yet; the step itself says so when it runs
                continue
            mistakes += [f"{step.name}: {strays}"] if strays else []
    if mistakes:
        raise RecipeError(listed(mistakes))


def _judging(recipe: Recipe, names: Iterable[str] | None = None) -> Iterator[BackendSection]:
    for name in recipe.judges if names is None else names:
        for model in recipe.judges[name].language_models.values():
            yield model.backend


def _asks_server(step: Step) -> bool:
    """Whether one process alone must do it, which keeps the account of what servers cost."""
    assert step.phase is not None
    recipe = step.phase.recipe
    backends: Iterable[BackendSection] = (
        [recipe.generate] if step.verb == "generate" else _judging(recipe, step.phase.judges)
    )
    return any(backend.server for backend in backends)


def as_rows(slurm_jobs: Sequence[SlurmJob]) -> list[tuple[str, str, str]]:
    """Each job's name, what it runs on, and its steps."""
    return [
        (
            job.name,
            f"array of {job.shards}" if job.shards > 1 else f"{job.nodes} node{'s' if job.nodes > 1 else ''}",
            ", ".join(step.verb for step in job.steps) or "validate",
        )
        for job in slurm_jobs
    ]
