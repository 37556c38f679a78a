"""Child processes of a run: one for each stage, with a log file, ended when their parent ends.

A stage has its own process so that an engine's memory is gone when the next stage begins. A child whose parent was
killed must not go on working in a folder that the next run will use, so it ends as well.
"""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from .errors import StorageError

# set for children: ask the kernel to end this process when its parent ends
FOLLOW_PARENT = "EVENHAND_FOLLOW_PARENT"
PR_SET_PDEATHSIG = 1
# seconds between looks at a running child
POLL_SECONDS = 0.2


def follow_parent() -> None:
    """End this process when its parent ends; does nothing unless a parent asked for it, or off Linux."""
    if os.environ.get(FOLLOW_PARENT) and sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def run_child(
    argv: Sequence[str],
    log: Path,
    *,
    environment: Mapping[str, str] | None = None,
    on_line: Callable[[str], None] | None = None,
) -> int:
    """Run a command to its end, its output appended to a log file; the exit status.

    Args:
        argv: the command.
        log: file that stdout and stderr are appended to.
        environment: variables set beside the present ones.
        on_line: called about five times a second with the log's last line, for a progress display.

    Raises:
        StorageError: the log cannot be written.
    """
    variables = {**os.environ, **(environment or {}), FOLLOW_PARENT: "1", "PYTHONUNBUFFERED": "1"}
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as file:
            child = subprocess.Popen(
                argv, stdout=file, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, env=variables
            )
    except OSError as error:
        raise StorageError(f"{log}: cannot be written: {error.strerror}") from error
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


def last_lines(log: Path, count: int) -> str:
    """The last non-empty lines of a log; a progress bar's rewritten line counts once."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 20_000))
        text = file.read().decode(errors="replace")
    lines = [line.rpartition("\r")[2].rstrip() for line in text.replace("\r\n", "\n").split("\n")]
    return "\n".join([line for line in lines if line.strip()][-count:])
