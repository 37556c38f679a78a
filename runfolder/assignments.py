"""Work of a stage in processes of its own: what they run and need, who gives them a place, and what each is told.

A `StageTask` is what the processes of one model do. The place is what the recipe's `executor` names: this machine, whose GPUs are
shared out, or one of `places`. A process is told its stage and the name of its own journal; the stage reads all journals.
"""

import os
import sys
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple, NoReturn, Self, TypeVar
from uuid import uuid4

from pydantic import BaseModel

from ..config import Recipe
from ..config.model import LOCAL
from ..errors import StorageError
from .engines import Engines, waves
from .journal import Journal
from .phases import Phase, hold_run, resolved_recipe
from .processes import failure_path
from .replicas import AssignedTask, Outcome, Queue, ReplicaTask, Start, be_replica, work_off
from .shards import Shard, read_shard
from .stages import Stage
from .workers import Command

# seconds that a network disk may keep what it knows of a folder, and between looks
PATIENCE_SECONDS, POLL_SECONDS = 120.0, 2.0

R = TypeVar("R", bound=BaseModel)


class Assignment(NamedTuple):
    """What the process works at."""

    # file of the resolved recipe
    recipe: Path
    phase: str
    stage: str
    # of the stage, which must be that of the recipe
    key: str
    shard: Shard
    # name of the process
    part: str

    @classmethod
    def read(cls, arguments: Sequence[str]) -> tuple[Self, list[str]]:
        """The assignment that a command line holds, and the options that follow it there."""
        recipe, phase, stage, key, shard, part, *options = arguments
        return cls(Path(recipe), phase, stage, key, read_shard(shard), part), options

    @property
    def failure(self) -> Path:
        """Where the process leaves what it refused, also when the recipe cannot be read any more."""
        return failure_path(self.recipe.parent / self.phase, f"{self.stage}.{self.part}")

    @contextmanager
    def held(self, recipe: Recipe) -> Iterator[None]:
        """Work in the run folder of the command that started the process.

        Raises:
            StorageError: no command is at work in it, so it is another folder of that name.
        """
        with hold_run(recipe, self.shard) as is_child:
            if not is_child:
                raise StorageError(
                    f"{recipe.output.absolute()}: on the machine {os.uname().nodename} this is not the folder that the command "
                    "works in, but one of its own; put the run folder on a disk that all machines share"
                )
            yield

    def journal(self, stage: Stage, line: type[R]) -> Journal[R]:
        """The journal of the process.

        Raises:
            StorageError: the stage is another by now.
        """
        if stage.key != self.key:
            raise StorageError(
                f"{stage.folder}: the recipe, what it reads, or a model changed while the stage was running; the same "
                f"command starts over"
            )
        return Journal(stage.journal_path(self.shard.part(self.part)), line)


def commands(phase: Phase, stage: Stage, shard: Shard, module: str, *options: str) -> Callable[[str], Command]:
    """What makes the command of a replica, by its name.

    Args:
        phase: of the stage.
        stage: that it works at.
        shard: of the stage.
        module: that it runs.
        options: what the module is told besides.

    Raises:
        StorageError: the resolved recipe is not in the run folder.
    """
    recipe = resolved_recipe(phase.recipe, "replicas", shard)
    # a machine that cannot be reached may still be at work for an earlier command
    suffix = f".{uuid4().hex[:8]}" if phase.recipe.executor != LOCAL else ""

    def command(name: str) -> Command:
        assignment = Assignment(recipe, phase.name, stage.name, stage.key, shard, name + suffix)
        return Command(("-m", module, *map(str, assignment), *options), assignment.failure)

    return command


def refuse_unseen(n_unseen: Callable[[], int], folder: Path, patience: float = PATIENCE_SECONDS) -> None:
    """Refuse to go on without what processes elsewhere have done; a network disk shows it late.

    Args:
        n_unseen: how many of the requests that they have done are in no journal that can be read here.
        folder: of the stage.
        patience: seconds that they have to be seen.

    Raises:
        StorageError: they are not seen.
    """
    until = time.monotonic() + patience
    while n := n_unseen():
        if time.monotonic() > until:
            raise StorageError(
                f"{folder / 'receipts'}: of {n} requests that processes on other machines have done, no journal is there; is the "
                "run folder on a disk that all machines share? The same command does them again"
            )
        time.sleep(POLL_SECONDS)


class StageTask(NamedTuple):
    """What the processes of one model do for a stage."""

    # names them, and with them their journals
    name: str
    # that each of them runs, see `run_assigned`, and what it is told besides its assignment
    module: str
    options: Sequence[str]
    # what they need
    engines: Engines
    batches: Sequence[ReplicaTask]
    # whose processes they are, as errors say it
    owner: str = "an engine"


def hand_out(
    phase: Phase, stage: Stage, shard: Shard, tasks: Sequence[StageTask], n_unseen: Callable[[], int]
) -> Generator[Outcome, None, None]:
    """Have processes do tasks, those whose engines have room together side by side; what came of each batch, as it comes.

    Raises:
        EvenhandError: what a process refused.
        ModelError: they died over one batch after the other.
        StorageError: the resolved recipe is not in the run folder, or see `refuse_unseen`.
    """
    executor = phase.recipe.executor
    for wave in waves([task.engines for task in tasks], executor) if tasks else ():
        queues = []
        for place, launches in wave:
            task = tasks[place]
            command = commands(phase, stage, shard, task.module, *task.options)
            names = [f"{task.name}-{number}" for number in range(1, len(launches) + 1)]
            starts = [Start(command, *started, task.owner) for started in zip(names, launches, strict=True)]
            queues.append(Queue(task.batches, starts))
        with closing(work_off(*queues)) as outcomes:
            yield from outcomes
    if tasks and executor != LOCAL:
        refuse_unseen(n_unseen, phase.folder)


def run_assigned(work: Callable[[Assignment, Sequence[str], Iterator[AssignedTask]], None]) -> NoReturn:
    """Be a process of a task: do the work of the assignment that its command line holds, with the options that follow it."""
    assignment, options = Assignment.read(sys.argv[1:])
    sys.exit(be_replica(partial(work, assignment, options), assignment.failure))
