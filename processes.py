"""Child processes of a run: one for each stage, with a log file, ended when their parent ends.

A stage has its own process so that an engine's memory is gone when the next stage begins. A child whose parent was
killed must not go on working in a folder that the next run will use, so it ends as well: its standard input is a pipe that the
parent holds open, launchers in between pass it on, and it closes when the parent is gone, however it went.
"""

import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from .errors import RecipeError, StorageError

# set for children: standard input is the parent's pipe
FOLLOW_PARENT = "EVENHAND_FOLLOW_PARENT"
# seconds between looks at a running child
POLL_SECONDS = 0.2


def follow_parent() -> None:
    """End this process at once when its parent ends; does nothing unless a parent asked for it."""
    if not os.environ.get(FOLLOW_PARENT):
        return

    def wait() -> None:
        while os.read(0, 1):
            pass
        os._exit(1)

    threading.Thread(target=wait, name="follow-parent", daemon=True).start()


def share_processor() -> None:
    """Let idle threads sleep instead of spin, unless the user chose otherwise; call it before torch is imported.

    Spinning threads of two processes on the same cores take the processor from each other: two trainings side by side were seen
    to run fifty times slower than one, and four times slower with this set.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


def followed_environment() -> dict[str, str]:
    """The environment of a child whose standard input is a pipe of this process."""
    return {**os.environ, FOLLOW_PARENT: "1", "PYTHONUNBUFFERED": "1"}


def run_child(argv: Sequence[str], log: Path, *, on_line: Callable[[str], None] | None = None) -> int:
    """Run a command to its end, its output appended to a log file; the exit status.

    Args:
        argv: the command.
        log: file that stdout and stderr are appended to.
        on_line: called about five times a second with the log's last line, for a progress display.

    Raises:
        StorageError: the log cannot be written.
        RecipeError: the interpreter cannot be started.
    """
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        file = log.open("ab")
    except OSError as error:
        raise StorageError(f"{log}: cannot be written: {error.strerror}") from error
    with file:
        child = _start(argv, file)
    try:
        while True:
            try:
                return child.wait(timeout=POLL_SECONDS)
            except subprocess.TimeoutExpired:
                if on_line:
                    on_line(last_lines(log, 1))
    finally:
        if child.poll() is None:
            child.terminate()
            child.wait()


def _start(argv: Sequence[str], output: BinaryIO) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, env=followed_environment()
        )
    except OSError as error:
        raise RecipeError(
            f"{argv[0]!r} cannot be started: {error.strerror}; mend the interpreter that the keys generate.python and "
            "train.python name"
        ) from error


def last_lines(log: Path, count: int) -> str:
    """The last non-empty lines of a log; a progress bar's rewritten line counts once."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 20_000))
        text = file.read().decode(errors="replace")
    lines = [line.rstrip().rpartition("\r")[2] for line in text.split("\n")]
    return "\n".join([line for line in lines if line.strip()][-count:])
