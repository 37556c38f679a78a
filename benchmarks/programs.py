"""Programs that a benchmark starts: each ends with all that it started, however the benchmark ends."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from ..extras import need


def end_when_stopped() -> None:
    """Have a signal that would stop this process at once end its blocks first."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))


@contextlib.contextmanager
def started(
    command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None, patience: float = 0.0
) -> Iterator["subprocess.Popen[bytes]"]:
    """A program that is ended with the block, and what it started and did not end.

    Args:
        command: of the program.
        log: file that gets its output.
        environment: variables besides this process's.
        patience: seconds that it has to end by itself.
    """
    with log.open("wb") as output, contextlib.ExitStack() as ending:
        with _put_off(signal.SIGTERM, signal.SIGINT):
            process = ending.enter_context(
                subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=output,
                    stderr=subprocess.STDOUT,
                    env=os.environ | dict(environment or {}),
                    start_new_session=True,
                )
            )
            ending.callback(_end, process, patience)
        yield process


@contextlib.contextmanager
def _put_off(*numbers: int) -> Iterator[None]:
    """Signals that come in the block are handled after it: a program that is just being started is known by then."""
    caught: list[int] = []
    try:
        # not blocked: what is started in the block would have them blocked, too
        with contextlib.ExitStack() as restoring:
            for number in numbers:
                before = signal.signal(number, lambda found, _: caught.append(found))
                restoring.callback(signal.signal, number, before)
            yield
    finally:
        for number in caught:
            signal.raise_signal(number)


def _end(leader: "subprocess.Popen[bytes]", patience: float) -> None:
    if patience:
        leader.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            leader.wait(patience)
    psutil = need("psutil", "a benchmark")
    # launchers start their workers in sessions of their own
    children = []
    with contextlib.suppress(psutil.NoSuchProcess):
        children = psutil.Process(leader.pid).children(recursive=True)
    # also what outlives it
    with contextlib.suppress(ProcessLookupError):
        os.killpg(leader.pid, signal.SIGKILL)
    for child in children:
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    leader.wait()
