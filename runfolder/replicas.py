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
from collections import deque
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


class Outcome(NamedTuple):
    """What came of a task."""

    places: range
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


def work_off(tasks: Sequence[Task], starts: Sequence[Start]) -> Generator[Outcome, None, None]:
    """Have replicas work at tasks, the first ones first; what came of each, as it comes.

    Args:
        tasks: the queue.
        starts: one for each replica.

    Raises:
        EvenhandError: what a replica refused.
        ModelError: a replica died twice while it loaded its model, or one batch after the other was given up.
    """
    waiting, heard = deque(tasks), SimpleQueue[Outcome | BaseException]()
    replicas = [_Replica(start, waiting, heard) for start in starts[: len(tasks)]]
    for replica in replicas:
        replica.thread.start()
    n_in_a_row = 0
    try:
        for _ in tasks:
            found = heard.get()
            if isinstance(found, BaseException):
                raise found
            for part, seconds in found.spent.items():
                # they work side by side: together they take a share each of the stage's seconds
                book(part, seconds / len(replicas))
            n_in_a_row = n_in_a_row + 1 if found.given_up else 0
            if n_in_a_row == MOST_IN_A_ROW:
                raise ModelError(
                    f"{n_in_a_row} batches were given up one after the other; of the last one the process {found.given_up}, as "
                    "it did of the others before. What it said stands above. The same command continues"
                )
            yield found
        for replica in replicas:
            replica.thread.join()
    finally:
        for replica in replicas:
            replica.stop()


class _Stopped(Exception):
    """The stage has ended the replicas."""


class _Replica:
    """One place at the queue, in which a process is started anew when it dies."""

    def __init__(self, start: Start, waiting: deque[Task], heard: "SimpleQueue[Outcome | BaseException]") -> None:
        self.thread = threading.Thread(target=self._work, name="replica", daemon=True)
        self._start = start
        self._waiting = waiting
        self._heard = heard
        self._process: subprocess.Popen[bytes] | None = None
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
        self.thread.join()

    def _work(self) -> None:
        try:
            while self._waiting and not self._is_stopped:
                try:
                    task = self._waiting.popleft()
                except IndexError:
                    # another was quicker
                    break
                self._heard.put(self._outcome(task))
            if self._process is not None:
                self._tell(END)
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
                return Outcome(task.places, "", answer)
            how = self._death()
        return Outcome(task.places, how)

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
                return process
            how = self._death()
        raise ModelError(
            f"the process of an engine {how}, twice before it was ready for its first batch; what it said stands above. The same "
            "command continues. When memory was short: write fewer replicas, lower max_model_len or, with vLLM on a GPU, "
            "engine.gpu_memory_utilization"
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
