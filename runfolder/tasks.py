"""Work of a stage in processes of its own: what they run, what they need, and who gives them a place.

A `Task` is what the processes of one model do. The place is what the recipe's `executor` names: this machine, whose GPUs are
shared out, or one of `places`. Each process keeps a journal of its own, and the stage reads all of them.
"""

import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import NamedTuple, NoReturn

from ..config.model import LOCAL
from .assignments import Assignment, commands, refuse_unseen
from .engines import Engines, waves
from .phases import Phase
from .replicas import AssignedTask, Outcome, Queue, ReplicaTask, Start, be_replica, work_off
from .shards import Shard
from .stages import Stage


class Task(NamedTuple):
    """What the processes of one model do for a stage."""

    # names them, and with them their journals
    name: str
    # that each of them runs, which ends with `run_assigned`, and what it is told besides its assignment
    module: str
    options: Sequence[str]
    # what they need
    engines: Engines
    batches: Sequence[ReplicaTask]
    # whose processes they are, as errors say it
    owner: str = "an engine"


def hand_out(
    phase: Phase, stage: Stage, shard: Shard, tasks: Sequence[Task], n_unseen: Callable[[], int]
) -> Generator[Outcome, None, None]:
    """Have processes do tasks, those whose engines have room together side by side; what came of each batch, as it comes.

    Args:
        phase: of the stage.
        stage: that they work at.
        shard: of the stage.
        tasks: each with at least one batch.
        n_unseen: how many of the requests that were done elsewhere are in no journal that can be read here.

    Raises:
        EvenhandError: what a process refused.
        ModelError: they died over one batch after the other.
        StorageError: the resolved recipe is not in the run folder, or what was done elsewhere is not seen here.
    """
    executor = phase.recipe.executor
    for wave in waves([task.engines for task in tasks], executor) if tasks else ():
        queues = []
        for place, launches in wave:
            task = tasks[place]
            command = commands(phase, stage, shard, task.module, *task.options)
            starts = [
                Start(command, f"{task.name}-{number}", launch, task.owner) for number, launch in enumerate(launches, 1)
            ]
            queues.append(Queue(task.batches, starts))
        with closing(work_off(*queues)) as outcomes:
            yield from outcomes
    if tasks and executor != LOCAL:
        refuse_unseen(n_unseen, phase.folder)


def run_assigned(work: Callable[[Assignment, Sequence[str], Iterator[AssignedTask]], None]) -> NoReturn:
    """Be a process of a task: do the work of the assignment that its command line holds, with the options that follow it."""
    assignment, options = Assignment.read(sys.argv[1:])
    sys.exit(be_replica(partial(work, assignment, options), assignment.failure))
