"""Replicas: children of a stage that hold an engine each and take batches from one queue.

The parent holds no engine. It hands each replica one batch at a time, and a replica answers when the batch is in its own journal.
So the journals of all replicas together hold what one process would have written, and whoever reads them puts the batches in
order. What comes of a batch does not depend on who works at it.

A replica that dies is started anew in its place and gets its batch again. One that dies twice over a batch gives it up, and the
others go on. A refusal is another matter: it would come again, and ends the stage.

Batches come by standard input, a line of JSON each; it closes when the parent is gone, and the replica ends at once. Standard
output has the answers, so what libraries print there goes to standard error.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple

from ..errors import ModelError
from .processes import PATIENCE_SECONDS, as_child, followed_environment, read_failure
from .timing import Part, account, book

# deaths over one batch, or over one loading of a model, until it is given up
MOST_DEATHS = 2
# batches given up one after the other, with none finished in between: it is not the batches
MOST_IN_A_ROW = 3
# what ends a replica when nothing is left
END = b"null\n"


class Task(NamedTuple):
    """A batch, or whatever else a replica works at in one piece."""

    # places of its items among all
    places: range
    # what the replica is told besides, as JSON
    beside: Mapping[str, Any] = {}
    # tasks that must be over before it begins; they stand before it in its queue, or in a queue before its own
    after: Sequence["Task"] = ()
    # how much of each part of the stage is done with it; see `progress`
    counts: Mapping[str, int] = {}


class Outcome(NamedTuple):
    """What came of a task."""

    task: Task
    # how the replica died the last time, when it gave the task up; "" when the task is done
    given_up: str
    # seconds of the replica since its answer before, by part; see `timing`
    spent: Mapping[Part, float] = {}


@dataclass(frozen=True)
class Start:
    """How a replica is started."""

    # arguments of the interpreter
    argv: Sequence[str]
    # where it leaves what it refused
    failure: Path
    # variables of its environment, besides the parent's
    variables: Mapping[str, str] = field(default_factory=dict)
    # whose process it is, as errors say it
    owner: str = "an engine"


class Queue(NamedTuple):
    """Tasks, and the replicas that take them."""

    tasks: Sequence[Task]
    starts: Sequence[Start]


def work_off(*queues: Queue) -> Generator[Outcome, None, None]:
    """Have the replicas of all queues work side by side, the first tasks first; what came of each task, as it comes.

    Raises:
        EvenhandError: what a replica refused.
        ModelError: a replica died twice while it loaded its model, or one batch after the other was given up.
    """
    heard = SimpleQueue[Outcome | BaseException]()
    changed, open_tasks = threading.Condition(), set[int]()
    waiting = [_Waiting(queue.tasks, changed, open_tasks) for queue in queues]
    replicas = [
        _Replica(start, mine, heard)
        for queue, mine in zip(queues, waiting, strict=True)
        for start in queue.starts[: len(queue.tasks)]
    ]
    for replica in replicas:
        replica.thread.start()
    try:
        for _ in range(sum(len(queue.tasks) for queue in queues)):
            found = heard.get()
            if isinstance(found, BaseException):
                raise found
            for part, seconds in found.spent.items():
                # they work side by side: together they take a share each of the stage's seconds
                book(part, seconds / len(replicas))
            yield found
        for replica in replicas:
            if replica.is_ready:
                replica.thread.join()
    finally:
        for replica in replicas:
            replica.stop()


class _Waiting:
    """The tasks of a queue that nobody has taken.

    Args:
        tasks: all of the queue.
        changed: is told when a task of any queue is over.
        open_tasks: ids of the tasks of all queues that are not over; those of this one are added.
    """

    def __init__(self, tasks: Sequence[Task], changed: threading.Condition, open_tasks: set[int]) -> None:
        self._tasks = list(tasks)
        self._changed = changed
        self._open = open_tasks
        self._open.update(map(id, tasks))
        self._n_in_a_row = 0

    def take(self) -> Task | None:
        """The first task that may begin; waits for one, and None when all are taken or the queue is closed."""
        with self._changed:
            while self._tasks:
                for place, task in enumerate(self._tasks):
                    if self._open.isdisjoint(map(id, task.after)):
                        return self._tasks.pop(place)
                self._changed.wait()
            return None

    def over(self, task: Task, given_up: str) -> None:
        """Say that a task is over.

        Raises:
            ModelError: one after the other was given up.
        """
        with self._changed:
            self._open.discard(id(task))
            self._n_in_a_row = self._n_in_a_row + 1 if given_up else 0
            self._changed.notify_all()
            if self._n_in_a_row == MOST_IN_A_ROW:
                raise ModelError(
                    f"{MOST_IN_A_ROW} batches were given up one after the other, because the process of the engine died twice "
                    f"over each; the last time it {given_up}. What it said stands above. The same command continues"
                )

    def close(self) -> None:
        """Let nobody take another task."""
        with self._changed:
            self._tasks.clear()
            self._changed.notify_all()


class _Stopped(Exception):
    """The stage has ended the replicas."""


class _Replica:
    """One place at a queue, in which a process is started anew when it dies."""

    def __init__(self, start: Start, waiting: _Waiting, heard: "SimpleQueue[Outcome | BaseException]") -> None:
        self.thread = threading.Thread(target=self._work, name="replica", daemon=True)
        self._start = start
        self._waiting = waiting
        self._heard = heard
        self._process: subprocess.Popen[bytes] | None = None
        # whether its process takes batches
        self.is_ready = False
        self._is_stopped = False
        self._lock = threading.Lock()

    def stop(self) -> None:
        """End the process at once, whatever it is at."""
        with self._lock:
            self._is_stopped = True
            if self._process is not None:
                self._process.kill()
                # also where another process stands between, as under a launcher
                _hang_up(self._process)
        self._waiting.close()
        self.thread.join()

    def _work(self) -> None:
        try:
            # a batch that waited for its engine to be loaded would be late
            self._opened()
            while (task := self._waiting.take()) is not None:
                outcome = self._outcome(task)
                self._waiting.over(task, outcome.given_up)
                self._heard.put(outcome)
            if self._process is not None:
                self._tell(END)
                # its batches are in its journal: one that cannot end is ended
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(PATIENCE_SECONDS)
        except BaseException as error:
            # the thread of the stage raises it
            self._heard.put(error)
        finally:
            if self._process is not None:
                _close(self._process)

    def _outcome(self, task: Task) -> Outcome:
        how = ""
        message = json.dumps([task.places.start, task.places.stop, dict(task.beside)]).encode() + b"\n"
        for _ in range(MOST_DEATHS):
            process = self._process or self._opened()
            if self._tell(message) and (answer := _answer(process)) is not None:
                return Outcome(task, "", answer)
            how = self._death()
        return Outcome(task, how)

    def _opened(self) -> "subprocess.Popen[bytes]":
        """A process that has said that it is ready for batches."""
        how = ""
        for _ in range(MOST_DEATHS):
            with self._lock:
                if self._is_stopped:
                    raise _Stopped
                self._start.failure.unlink(missing_ok=True)
                self._process = process = subprocess.Popen(
                    [sys.executable, *self._start.argv],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env=followed_environment() | dict(self._start.variables),
                )
            if _answer(process) is not None:
                self.is_ready = True
                return process
            how = self._death()
        raise ModelError(
            f"the process of {self._start.owner} {how}, twice before it was ready for its first batch; what it said stands "
            "above. The same command continues. When memory was short: write fewer replicas, lower max_model_len or, with vLLM "
            "on a GPU, engine.gpu_memory_utilization"
        )

    def _tell(self, line: bytes) -> bool:
        """Whether the process could be told."""
        assert self._process is not None
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            # it has died, or was hung up
            return False
        return True

    def _death(self) -> str:
        """How the process ended.

        Raises:
            EvenhandError: what it refused.
        """
        process = self._process
        assert process is not None
        code = process.wait()
        self.is_ready = False
        with self._lock:
            self._process = None
        _close(process)
        if self._is_stopped:
            raise _Stopped
        if refused := read_failure(self._start.failure):
            raise refused
        return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"


def _hang_up(process: "subprocess.Popen[bytes]") -> None:
    assert process.stdin is not None
    # what it was told last may never have reached it
    with suppress(BrokenPipeError):
        process.stdin.close()


def _close(process: "subprocess.Popen[bytes]") -> None:
    _hang_up(process)
    # one that does not end by itself does so now
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()


def _answer(process: "subprocess.Popen[bytes]") -> dict[Part, float] | None:
    """What the process says next, the seconds that it spent; None when it has died."""
    assert process.stdout is not None
    line = process.stdout.readline()
    return json.loads(line) if line.endswith(b"\n") else None


class Batch(NamedTuple):
    """A task as the replica gets it."""

    places: range
    beside: dict[str, Any]


def be_replica(work: Callable[[Iterator[Batch]], None], failure: Path) -> int:
    """Be a replica; the exit code.

    Args:
        work: opens the engine, then goes through the batches. To ask for the next one is to say that the last one is in the
            journal, and to ask for the first one that the engine is open.
        failure: where a refusal is left.
    """
    answers, batches = os.dup(1), SimpleQueue[bytes]()
    # what libraries print is no answer
    os.dup2(2, 1)

    def read() -> None:
        with account() as spent:
            work(_batches(batches, answers, spent))

    return as_child(read, failure, hear=batches.put)


def _batches(told: "SimpleQueue[bytes]", answers: int, spent: dict[str, float]) -> Iterator[Batch]:
    # ready; what it took to be so is in the answer to the first batch
    os.write(answers, b"{}\n")
    while (line := told.get()) != END:
        start, stop, beside = json.loads(line)
        yield Batch(range(start, stop), beside)
        os.write(answers, json.dumps(spent).encode() + b"\n")
        spent.clear()
