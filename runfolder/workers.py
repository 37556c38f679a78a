"""Processes that wait for what they are told, on this machine: how one is started and asked, and how it hears and answers.

A line of JSON by standard input is a batch or a call, and closing it ends the process at once. A line of standard output is the
answer: of a batch, that it is in the journal. What `places` has does the same elsewhere.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, NamedTuple, Protocol

from ..errors import EvenhandError
from ..extras import start_logging
from .processes import (
    PATIENCE_SECONDS,
    follow_parent,
    followed_environment,
    read_failure,
    report_failure,
    share_processor,
)
from .timing import Part

# what ends a process when nothing is left
END = b"null\n"


class PlaceLostError(Exception):
    """A process is gone with the place where it ran, and what it was at is nobody's any more."""


class Death(NamedTuple):
    """How a process died."""

    # in words: "was killed by signal 9"
    how: str
    # whether somebody else ended it, for want of memory or for reasons of their own, and not what it was at
    is_from_outside: bool


class Command(NamedTuple):
    """What a process is."""

    # arguments of the interpreter
    argv: Sequence[str]
    # where it leaves what it refused
    failure: Path


class Worker(Protocol):
    """A place for a process, in which it can be started again when it has died."""

    def begin(self, command: Command) -> None:
        """Start the process, and do not wait for it."""

    def is_ready(self, is_wanted: Callable[[], bool]) -> bool:
        """Wait until it is ready for batches; False when it has died before.

        Args:
            is_wanted: whether it is still; asked from time to time where room for it has to be found first.

        Raises:
            PlaceLostError: its place is gone, or was not found while it was wanted.
        """

    def work(self, message: bytes) -> Mapping[Part, float] | None:
        """Have it do a batch, as `be_replica` reads it; the seconds that it spent, by part, or None when it has died.

        Raises:
            PlaceLostError: its place is gone.
        """

    def death(self) -> Death:
        """How the process died; another one may begin after it.

        Raises:
            EvenhandError: what it refused.
            PlaceLostError: its place is gone.
        """

    def end(self) -> None:
        """Let it end by itself, and end it when it does not."""

    def kill(self) -> None:
        """End it at once, if there is one, whatever it is at; another thread may wait for it."""

    def close(self) -> None:
        """End it at once, and give up the place."""


# what gives a place
Launch = Callable[[], Worker]


@dataclass
class LocalWorker:
    """A process on this machine."""

    # variables of its environment, besides this process's
    variables: Mapping[str, str] = field(default_factory=dict)
    # descriptor for what it prints; None: that of this process
    log: int | None = None

    def __post_init__(self) -> None:
        self._begun: tuple[Command, subprocess.Popen[bytes]] | None = None

    def begin(self, command: Command) -> None:
        """See `Worker`."""
        command.failure.unlink(missing_ok=True)
        process = subprocess.Popen(
            [sys.executable, *command.argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            env=followed_environment() | dict(self.variables),
        )
        self._begun = command, process

    def is_ready(self, is_wanted: Callable[[], bool] = lambda: True) -> bool:
        """See `Worker`."""
        return self._answer() is not None

    def work(self, message: bytes) -> Mapping[Part, float] | None:
        """See `Worker`."""
        return self._answer() if self._tell(message) else None

    def death(self) -> Death:
        """See `Worker`."""
        code = self._process.wait()
        self.close()
        assert self._begun is not None
        if refused := read_failure(self._begun[0].failure):
            raise refused
        how = f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"
        return Death(how, -code in {signal.SIGKILL, signal.SIGTERM})

    def end(self) -> None:
        """See `Worker`."""
        self._tell(END)
        # its batches are in its journal: one that cannot end is ended
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(PATIENCE_SECONDS)
        self.close()

    def kill(self) -> None:
        """See `Worker`."""
        if self._begun is None:
            return
        self._process.kill()
        # also where another process stands between, as under a launcher
        self._hang_up()

    def close(self) -> None:
        """See `Worker`."""
        if self._begun is None:
            return
        self.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()

    @property
    def _process(self) -> "subprocess.Popen[bytes]":
        assert self._begun is not None
        return self._begun[1]

    def _tell(self, line: bytes) -> bool:
        """Whether the process could be told."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line)
            self._process.stdin.flush()
        except (BrokenPipeError, ValueError):
            # it has died, or was hung up
            return False
        return True

    def _answer(self) -> Mapping[Part, float] | None:
        """What the process says next, the seconds that it spent; None when it has died."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def _hang_up(self) -> None:
        assert self._process.stdin is not None
        # what it was told last may never have reached it
        with suppress(BrokenPipeError):
            self._process.stdin.close()


def as_child(work: Callable[[Iterator[Any], Callable[[Any], object]], None], failure: Path) -> int:
    """Do the work of a `LocalWorker`'s process; the exit code. A refusal is left where the parent looks for it.

    Args:
        work: gets what the parent says, line by line, and what answers it; the first answer says that the process is ready.
        failure: see `failure_path`.
    """
    answers, lines, own = os.dup(1), SimpleQueue[bytes](), os.getpid()
    # what libraries print is no answer, and a process that is forked has none to give
    os.dup2(2, 1)
    os.register_at_fork(after_in_child=lambda: os.close(answers) if os.getppid() == own else None)
    follow_parent(lines.put)
    share_processor()
    start_logging()
    try:
        work(
            map(json.loads, iter(lines.get, END)),
            lambda answer: os.write(answers, json.dumps(answer).encode() + b"\n"),
        )
    except EvenhandError as error:
        report_failure(failure, error)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0
