"""Replicas: processes of a stage that hold an engine each and take batches from one queue.

The parent holds no engine. It hands each replica one batch at a time, and a replica answers when the batch is in its own journal.
So the journals of all replicas together hold what one process would have written, and whoever reads them puts the batches in
order. What comes of a batch does not depend on who works at it.

A replica that dies is started anew in its place and gets its batch again. One that dies twice over a batch gives it up, and the
others go on. Where its place is gone, a machine of a cluster, or its process was killed before it was ready, the batch goes back
into the queue, and the replica is started anew elsewhere; that is not the batch's doing, and goes on as long as batches are
finished in between. A refusal is another matter: it would come again, and ends the stage.
"""

import json
import logging
import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from ..errors import ModelError
from .timing import Part, account, book
from .workers import Command, Death, Launch, LocalWorker, PlaceLostError, Worker, as_child

log = logging.getLogger(__name__)

# deaths over one batch, or over one loading of a model, until it is given up
MOST_DEATHS = 2
# places that may be lost with one batch until it is given up: machines are lost for reasons of their own, and a batch for which
# memory is short takes its place along
MOST_LOST = 4
# places that may be lost for each replica of a queue before one is ready and finishes a batch. A process that was killed in a
# place which is still there counts as three: most often its machine has too little memory for the model, and will not have more
MOST_STARTS_LOST, KILLED = 12, 3
# batches given up one after the other, with none finished in between: it is not the batches
MOST_IN_A_ROW = 3


class ReplicaTask(NamedTuple):
    """A batch, or whatever else a replica works at in one piece."""

    # places of its items among all
    places: range
    # what the replica is told besides, as JSON
    beside: Mapping[str, Any] = {}
    # tasks that must be over before it begins; they stand before it in its queue, or in a queue before its own
    after: Sequence["ReplicaTask"] = ()
    # how much of each part of the stage is done with it; see `progress`
    counts: Mapping[str, int] = {}


class Outcome(NamedTuple):
    """What came of a task."""

    task: ReplicaTask
    # how often the replica died over the task and how the last time, when it was given up; "" when the task is done
    given_up: str
    # seconds of the replica since its answer before, by part; see `timing`
    spent: Mapping[Part, float] = {}


@dataclass(frozen=True)
class Start:
    """How a replica is started."""

    # what its process is, by the name that its journal has
    command: Callable[[str], Command]
    # that name; a machine that cannot be reached may still be at work, so elsewhere there is another one
    name: str
    # what gives it a place
    launch: Launch = LocalWorker
    # whose process it is, as errors say it
    owner: str = "an engine"

    def command_after(self, n_lost: int) -> Command:
        """Command of the replica's process, after so many places were lost."""
        return self.command(f"{self.name}-{n_lost + 1}" if n_lost else self.name)


class Queue(NamedTuple):
    """Tasks, and the replicas that take them."""

    tasks: Sequence[ReplicaTask]
    starts: Sequence[Start]


def work_off(*queues: Queue) -> Generator[Outcome, None, None]:
    """Have the replicas of all queues work side by side, the first tasks first; what came of each task, as it comes.

    Raises:
        EvenhandError: what a replica refused.
        ModelError: a replica died twice while it loaded its model, or one batch after the other was given up.
    """
    outcomes = SimpleQueue[Outcome | BaseException]()
    changed, open_tasks = threading.Condition(), set[int]()
    waiting = [
        _Waiting(queue.tasks, changed, open_tasks, MOST_STARTS_LOST * len(queue.starts[: len(queue.tasks)]))
        for queue in queues
    ]
    replicas = [
        _Replica(start, backlog, outcomes)
        for queue, backlog in zip(queues, waiting, strict=True)
        for start in queue.starts[: len(queue.tasks)]
    ]
    for replica in replicas:
        replica.thread.start()
    spent: dict[Part, float] = {}
    try:
        for _ in range(sum(len(queue.tasks) for queue in queues)):
            outcome = outcomes.get()
            if isinstance(outcome, BaseException):
                raise outcome
            for part, seconds in outcome.spent.items():
                spent[part] = spent.get(part, 0.0) + seconds
            yield outcome
        for replica in replicas:
            if replica.is_ready:
                replica.thread.join()
        # they worked side by side: together they took a share each of the stage's seconds
        n_at_work = max(1, sum(replica.was_ready for replica in replicas))
        for part, seconds in spent.items():
            book(part, seconds / n_at_work)
    finally:
        for replica in replicas:
            replica.stop()


class _Waiting:
    """The tasks of a queue that nobody has taken.

    Args:
        tasks: all of the queue.
        changed: is told when a task of any queue is over.
        open_tasks: ids of the tasks of all queues that are not over; those of this one are added.
        most_lost: replicas that may be lost one after the other before they are ready; see `MOST_STARTS_LOST`.
    """

    def __init__(
        self, tasks: Sequence[ReplicaTask], changed: threading.Condition, open_tasks: set[int], most_lost: int
    ) -> None:
        self._tasks = list(tasks)
        self._changed = changed
        self._open = open_tasks
        self._open.update(map(id, tasks))
        # of each task, places that were lost with it
        self._lost: Counter[int] = Counter()
        self._n_in_a_row = 0
        self._most_lost, self._starts_lost = most_lost, list[int]()

    def take(self) -> ReplicaTask | None:
        """The first task that may begin; waits for one, and None when all are taken or the queue is closed."""
        with self._changed:
            while self._tasks:
                for place, task in enumerate(self._tasks):
                    if self._open.isdisjoint(map(id, task.after)):
                        return self._tasks.pop(place)
                self._changed.wait()
            return None

    def has_any(self) -> bool:
        """Whether nobody has taken some."""
        with self._changed:
            return bool(self._tasks)

    def put_back(self, task: ReplicaTask, *, was_begun: bool) -> bool:
        """Let another take a task whose place was lost, at it or before; False when it was lost at it too often."""
        with self._changed:
            self._lost[id(task)] += was_begun
            if self._lost[id(task)] == MOST_LOST:
                return False
            self._tasks.insert(0, task)
            self._changed.notify_all()
            return True

    def over(self, task: ReplicaTask, given_up: str) -> None:
        """Say that a task is over.

        Raises:
            ModelError: one after the other was given up.
        """
        with self._changed:
            self._open.discard(id(task))
            self._n_in_a_row = self._n_in_a_row + 1 if given_up else 0
            if not given_up:
                self._starts_lost.clear()
            self._changed.notify_all()
            if self._n_in_a_row == MOST_IN_A_ROW:
                raise ModelError(
                    f"{MOST_IN_A_ROW} batches were given up one after the other, because the process of the engine died: "
                    f"{given_up}. Its output is above. The same command continues"
                )

    def start_lost(self, owner: str, lost: "_StartLostError") -> None:
        """Say that a replica was lost before it was ready.

        Raises:
            ModelError: one after the other was, and no batch was finished in between.
        """
        with self._changed:
            self._starts_lost.append(lost.counts_as)
            if sum(self._starts_lost) >= self._most_lost:
                n = len(self._starts_lost)
                raise ModelError(
                    f"the process of {owner} was killed or lost with its place, {n} times before it was ready for a batch, with "
                    f"none finished in between; the last time: {lost}. The same command continues, with "
                    "executor: local too. Find out what ends the processes, most often want of memory, or a scheduler or "
                    "machine that goes away; each needs to live until its model is loaded and a batch is made"
                ) from lost

    def close(self) -> None:
        """Let nobody take another task."""
        with self._changed:
            self._tasks.clear()
            self._changed.notify_all()


class _Stopped(Exception):
    """The stage has ended the replicas."""


class _StartLostError(PlaceLostError):
    """A process is gone, with its place or killed by others, before it was ready for a batch."""

    counts_as = 1


class _Replica:
    """One place at a queue, in which a process is started anew when it dies."""

    def __init__(self, start: Start, waiting: _Waiting, outcomes: "SimpleQueue[Outcome | BaseException]") -> None:
        self.thread = threading.Thread(target=self._work, name="replica", daemon=True)
        self._start = start
        self._waiting = waiting
        self._heard = outcomes
        self._worker: Worker | None = None
        # whether its process takes batches
        self.is_ready = False
        # whether it ever did
        self.was_ready = False
        self._n_lost = 0
        self._is_stopped = False
        self._lock = threading.Lock()

    def stop(self) -> None:
        """End the process at once, whatever it is at."""
        with self._lock:
            self._is_stopped = True
            if self._worker is not None:
                self._worker.kill()
        self._waiting.close()
        self.thread.join()

    def _work(self) -> None:
        try:
            # a batch that waited for its engine to be loaded would be late
            while self._is_open() and (task := self._waiting.take()) is not None:
                try:
                    outcome = self._outcome(task)
                except PlaceLostError as lost:
                    self._forget()
                    if self._waiting.put_back(task, was_begun=not isinstance(lost, _StartLostError)):
                        log.warning("%s was lost, and its batch is handed out again: %s", self._start.owner, lost)
                        if isinstance(lost, _StartLostError):
                            self._waiting.start_lost(self._start.owner, lost)
                        continue
                    outcome = Outcome(
                        task, f"{MOST_LOST} times over the same batch, with its machine or place there: {lost}"
                    )
                self._waiting.over(task, outcome.given_up)
                self._heard.put(outcome)
            if self._worker is not None and self.is_ready:
                self._worker.end()
        except BaseException as error:
            # the thread of the stage raises it
            self._heard.put(error)
        finally:
            if self._worker is not None:
                self._worker.close()

    def _outcome(self, task: ReplicaTask) -> Outcome:
        how = ""
        message = json.dumps([task.places.start, task.places.stop, dict(task.beside)]).encode() + b"\n"
        for _ in range(MOST_DEATHS):
            worker = self._worker if self._worker and self.is_ready else self._opened(lambda: not self._is_stopped)
            if (spent := worker.work(message)) is not None:
                return Outcome(task, "", spent)
            how = self._death(worker).how
        return Outcome(task, f"twice over the same batch; it {how}")

    def _is_open(self) -> bool:
        """Whether its process is ready for batches; False when all batches are taken before it could be."""
        while not self.is_ready:
            if not self._is_wanted():
                return False
            try:
                self._opened(self._is_wanted)
            except _StartLostError as lost:
                self._forget()
                if self._is_wanted():
                    log.warning("%s was lost while it began: %s", self._start.owner, lost)
                    self._waiting.start_lost(self._start.owner, lost)
        return True

    def _opened(self, is_wanted: Callable[[], bool]) -> Worker:
        """The place, with a process that has said that it is ready for batches.

        Raises:
            _StartLostError: it was lost or killed before.
            ModelError: it died of its own, more than once.
        """
        how = ""
        for _ in range(MOST_DEATHS):
            with self._lock:
                if self._is_stopped:
                    raise _Stopped
                worker = self._worker = self._worker or self._start.launch()
                worker.begin(self._start.command_after(self._n_lost))
            try:
                if worker.is_ready(is_wanted):
                    self.is_ready = self.was_ready = True
                    return worker
                how, is_from_outside = self._death(worker)
            except PlaceLostError as lost:
                raise _StartLostError(str(lost)) from lost
            if is_from_outside:
                killed = _StartLostError(f"its process {how}")
                killed.counts_as = KILLED
                raise killed
        raise ModelError(
            f"the process of {self._start.owner} {how}, twice before it was ready for its first batch; its output is "
            f"above. The same command continues. When memory was short: write fewer replicas, lower max_model_len or, with vLLM "
            "on a GPU, engine.gpu_memory_utilization"
        )

    def _is_wanted(self) -> bool:
        return self._waiting.has_any() and not self._is_stopped

    def _death(self, worker: Worker) -> Death:
        """How the process ended.

        Raises:
            EvenhandError: what it refused.
        """
        self.is_ready = False
        death = worker.death()
        if self._is_stopped:
            raise _Stopped
        return death

    def _forget(self) -> None:
        """Leave a process that is gone with its place."""
        self.is_ready = False
        self._n_lost += 1
        with self._lock:
            if self._worker is not None:
                self._worker.close()
            self._worker = None
        if self._is_stopped:
            raise _Stopped


class AssignedTask(NamedTuple):
    """A task as the replica gets it."""

    places: range
    beside: dict[str, Any]


def be_replica(work: Callable[[Iterator[AssignedTask]], None], failure: Path) -> int:
    """Be a replica; the exit code.

    Args:
        work: opens the engine, then goes through the batches. To ask for the next one is to say that the last one is in the
            journal, and to ask for the first one that the engine is open.
        failure: where a refusal is left.
    """

    def read(messages: Iterator[Any], answer: Callable[[Any], object]) -> None:
        with account() as spent:
            work(_batches(messages, answer, spent))

    return as_child(read, failure)


def _batches(
    messages: Iterator[Any], answer: Callable[[Any], object], spent: dict[str, float]
) -> Iterator[AssignedTask]:
    # ready; what it took to be so is in the answer to the first batch
    answer({})
    for start, stop, beside in messages:
        yield AssignedTask(range(start, stop), beside)
        answer(spent)
        spent.clear()
