"""Processes of a run: one command at a time in a folder, and a child for each of its stages, ended when its parent ends.

A command holds the folder that it writes in, from before its first byte to its end, and its children join it. All of them keep a
shared lock of one file for as long as they live, and a new command needs that file for itself alone: so it waits for the last
child of a killed one. A child is known by the token that its command left both in the file and in the environment; the file's
counts only while somebody has it locked, so that a token of yesterday opens nothing.

A stage has its own process so that an engine's memory is gone when the next stage begins. A child whose parent was
killed must not go on working in a folder that the next run will use, so it ends as well: its standard input is a pipe that the
parent holds open, launchers in between pass it on, and it closes when the parent is gone, however it went.
"""

import contextlib
import fcntl
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from pydantic import BaseModel

from .. import errors
from ..errors import DataError, EvenhandError, RecipeError, StorageError
from ..extras import VERBOSITY, verbosity
from ..storage import TEMPORARY, make_folder, parse_line, read_text, write_json
from ..text.json_text import parse_json
from .own_files import is_own, open_no_link, open_own, part_names

# file that is locked, in the folder that is held
LOCK = ".lock"
# what it says of the command that has the folder
HOLDER = {"host": str, "pid": int, "started": str, "command": str, "token": str, "recipe": str}
# a folder of a run, right below it
FOLDER = re.compile(r"round-\d+|evaluation|logs|receipts|report|shards|slurm|superseded|tables")
# set for children: the token of the command that they belong to
COMMAND = "EVENHAND_COMMAND"
# of it that are read
MOST_BYTES = 1 << 16
# seconds that the children of a killed command have to end
PATIENCE_SECONDS = 30.0

# set for children: standard input is the parent's pipe
FOLLOW_PARENT = "EVENHAND_FOLLOW_PARENT"
# seconds between looks at a running child
POLL_SECONDS = 0.2


@contextlib.contextmanager
def hold(folder: Path, recipe: str = "") -> Iterator[bool]:
    """Be the only command that writes in a folder, or one of its children; whether it is a child.

    A process may hold a folder that it holds already. Nothing in the folder is changed unless it is held. What killed commands
    left half written there is swept away.

    Args:
        folder: is made where it is not there.
        recipe: digest of what the command works by; a child must work by the same.

    Raises:
        StorageError: another command writes there, the command works by another recipe, or the folder cannot be written.
    """
    make_folder(folder)
    try:
        descriptor = _open_lock(folder)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(
            f"{folder}: cannot be written: {error.strerror}; choose another place with --set output=FOLDER"
        ) from error
    before = os.environ.get(COMMAND)
    try:
        token = _token(os.getpid())
        if _taken(descriptor, folder, recipe):
            os.environ[COMMAND] = token
            _sweep(folder)
        yield os.environ[COMMAND] != token
    finally:
        os.close(descriptor)
        if before is None:
            os.environ.pop(COMMAND, None)
        else:
            os.environ[COMMAND] = before


def refuse_held(folder: Path) -> None:
    """Refuse a folder in which another command is at work, before anything is written there or elsewhere.

    Raises:
        StorageError: another command writes there.
    """
    if holder := holder_of(folder):
        raise _at_work(holder, folder)


def holder_of(folder: Path) -> dict[str, Any] | None:
    """Another command that is at work in a folder, with the digest of its recipe under "recipe"; None for nobody."""
    try:
        lock = open_no_link(folder / LOCK, os.O_RDWR)
    except OSError:
        # nobody has ever written there, or `hold` will say what is wrong
        return None
    try:
        holder = None if _locked(lock, fcntl.LOCK_EX, folder) else _holder(lock)
    finally:
        os.close(lock)
    if not holder or holder["token"] == os.environ.get(COMMAND):
        return None
    return holder if _process(holder).may_run else None


def _at_work(holder: dict[str, Any], folder: Path) -> StorageError:
    return StorageError(
        f"{folder}: {_named(holder)} or a child of it is at work there, another command may not write; wait for it, or "
        "use another output: --set output=FOLDER, or --out FOLDER"
    )


@cache
def _token(pid: int) -> str:
    """What tells this process from all others, also from one that had its number."""
    return f"{pid}-{uuid.uuid4().hex}"


def _open_lock(folder: Path) -> int:
    """Descriptor of a folder's lock, parted from other names, as a backup made of hard links gives it, unless it is held."""
    path = folder / LOCK
    while True:
        lock = open_no_link(path, os.O_RDWR | os.O_CREAT)
        if is_own(os.fstat(lock)) or not _locked(lock, fcntl.LOCK_EX, folder):
            return lock
        # while this one is held nobody else puts another in its place
        try:
            if os.path.samestat(path.lstat(), os.fstat(lock)):
                part_names(path)
        finally:
            os.close(lock)


def _taken(lock: int, folder: Path, recipe: str) -> bool:
    """Take the folder, or join the command that has it; whether it was taken."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not _locked(lock, fcntl.LOCK_EX, folder):
        holder = _holder(lock)
        if holder and holder["token"] == os.environ.get(COMMAND) and _locked(lock, fcntl.LOCK_SH, folder):
            if holder["recipe"] != recipe:
                raise StorageError(
                    f"{folder / 'recipe.yaml'}: is not what {_named(holder)} was started with: it was changed while the run is "
                    "under way. The same command writes it again and continues"
                )
            return False
        if (holder and _process(holder).is_here and _process(holder).may_run) or time.monotonic() > deadline:
            raise _at_work(holder, folder)
        time.sleep(POLL_SECONDS)
    if not is_own(os.fstat(lock)):
        raise StorageError(f"{folder}: the command that was at work there has ended; give this one again")
    program = Path(sys.argv[0]).name
    holder = {
        **this_process()._asdict(),
        "command": " ".join(["evenhand" if program == "__main__.py" else program, *sys.argv[1:2]]),
        "token": _token(os.getpid()),
        "recipe": recipe,
    }
    data = json.dumps(holder).encode()
    try:
        os.pwrite(lock, data, 0)
        os.truncate(lock, len(data))
    except OSError as error:
        raise StorageError(
            f"{folder / LOCK}: cannot be written: {error.strerror}; make room, or choose another place with --set output=FOLDER"
        ) from error
    # not in one step: another may come in between, and be at work already
    if not _locked(lock, fcntl.LOCK_SH, folder) or _holder(lock) != holder:
        raise StorageError(f"{folder}: two commands began to write there at once; give this one again")
    return True


def _locked(lock: int, how: int, folder: Path) -> bool:
    try:
        fcntl.flock(lock, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise StorageError(
            f"{folder}: files cannot be locked there: {error.strerror}; choose another place with --set output=FOLDER"
        ) from error
    return True


def _holder(lock: int) -> dict[str, Any]:
    """What the command that has the folder says of itself; nothing when it is just writing that."""
    try:
        record = parse_json(os.pread(lock, MOST_BYTES, 0).decode())
    except ValueError:
        return {}
    if not isinstance(record, dict):
        return {}
    # earlier versions did not write when it started
    record = {"started": "", **record}
    return record if {name: type(value) for name, value in record.items()} == HOLDER else {}


def _process(holder: dict[str, Any]) -> "Process":
    return Process(holder["host"], holder["pid"], holder["started"])


def _named(holder: dict[str, Any]) -> str:
    if not holder:
        return "another command"
    return (
        f"{holder['command']!r} (process {holder['pid']}{'' if _process(holder).is_here else ' on ' + holder['host']})"
    )


class Process(NamedTuple):
    """What tells a process from all others, for as long as its machine runs."""

    host: str
    pid: int
    # in clock ticks since the machine started; "" where nobody says it
    started: str

    @property
    def is_here(self) -> bool:
        """Whether the process is one of this machine."""
        return self.host == socket.gethostname()

    @property
    def may_run(self) -> bool:
        """Whether the process may still be there; of another machine's processes nothing is known."""
        return not self.is_here or (is_alive(self.pid) and self.started in {"", _start_of(self.pid)})


def this_process() -> Process:
    """The process that runs this code."""
    return Process(socket.gethostname(), os.getpid(), _start_of(os.getpid()))


def _start_of(pid: int) -> str:
    try:
        # the command's name may hold blanks and brackets, and ends with the last one
        return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""


def is_alive(pid: int) -> bool:
    """Whether there is a process of that number."""
    if pid < 1:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _sweep(folder: Path) -> None:
    """Delete what killed writers left half written in the folders of a run that are not locked by themselves.

    Another command may be at work in other folders below, and its process may run on another machine.
    """
    for place, folders, names in os.walk(folder):
        if place == str(folder):
            folders[:] = filter(FOLDER.fullmatch, folders)
        locks = {name: Path(place, name, LOCK) for name in folders}
        # earlier versions left an empty file in each folder of a run
        folders[:] = [name for name, lock in locks.items() if not (lock.is_file() and lock.stat().st_size > 0)]
        for match in filter(None, map(TEMPORARY.fullmatch, names)):
            writer = int(match[1])
            # this process has written nothing yet: one that had its number has
            if writer == os.getpid() or not is_alive(writer):
                with contextlib.suppress(OSError):
                    Path(place, match[0]).unlink()


def follow_parent(hear: Callable[[bytes], object] | None = None) -> None:
    """End this process at once when its parent ends; does nothing unless a parent asked for it.

    Args:
        hear: gets each line that the parent says.
    """
    if not os.environ.get(FOLLOW_PARENT):
        return

    def wait() -> None:
        # joined once a line is whole: an engine is told tens of megabytes in one
        begun: list[bytes] = []
        while block := os.read(0, 1 << 16):
            end, *lines = block.split(b"\n")
            begun.append(end)
            for line in lines:
                if hear:
                    hear(b"".join(begun) + b"\n")
                begun = [line]
        os._exit(1)

    threading.Thread(target=wait, name="follow-parent", daemon=True).start()


def share_processor() -> None:
    """Let idle threads sleep instead of spin, unless the user chose otherwise; call it before torch is imported.

    Spinning threads of two processes on the same cores take the processor from each other: two trainings side by side were seen
    to run fifty times slower than one, and four times slower with this set.
    """
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")


@contextlib.contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Set these variables for this process and those that it starts, until the block ends."""
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            os.environ.pop(name, None)
        os.environ.update({name: before[name] for name in variables if name in before})


def followed_environment() -> dict[str, str]:
    """The environment of a child whose standard input is a pipe of this process."""
    return {**os.environ, FOLLOW_PARENT: "1", "PYTHONUNBUFFERED": "1"}


def run_child(argv: Sequence[str], log: Path, *, on_output: Callable[[str], object] | None = None) -> int:
    """Run a command to its end, its output appended to a log file; the exit status.

    Args:
        argv: the command.
        log: file that stdout and stderr are appended to.
        on_output: called about five times a second with what was appended since.

    Raises:
        StorageError: the log cannot be written.
        RecipeError: the interpreter cannot be started.
    """
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        descriptor = open_own(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"{log}: cannot be written: {error.strerror}") from error
    with os.fdopen(descriptor, "ab") as file:
        seen = file.tell()
        child = _start(argv, file)
    try:
        if on_output:
            with log.open(errors="replace") as output:
                output.seek(seen)
                while child.poll() is None:
                    on_output(output.read())
                    time.sleep(POLL_SECONDS)
                on_output(output.read())
        return child.wait()
    finally:
        if child.poll() is None:
            child.terminate()
            child.wait()


def _start(argv: Sequence[str], output: BinaryIO) -> "subprocess.Popen[bytes]":
    variables = followed_environment()
    if verbosity() == "quiet":
        # in the terminal; a log says what it always says
        del variables[VERBOSITY]
    try:
        return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=output, stderr=subprocess.STDOUT, env=variables)
    except OSError as error:
        raise RecipeError(
            f"{argv[0]!r} cannot be started: {error.strerror}; mend the interpreter that the keys generate.python and "
            "train.python name"
        ) from error


def run_attached(argv: Sequence[str], failure: Path, **variables: str) -> int:
    """Run a command to its end with this process's output for its own; the exit status, below 0 the signal that ended it.

    Raises:
        OSError: it cannot be started.
        EvenhandError: what it refused and left in the file `failure`.
    """
    failure.unlink(missing_ok=True)
    with subprocess.Popen(argv, stdin=subprocess.PIPE, env=followed_environment() | variables) as process:
        code = process.wait()
    if code != 0 and (refused := read_failure(failure)):
        raise refused
    return code


def failure_path(folder: Path, stage: str) -> Path:
    """Where a process of a stage leaves what it refused."""
    return folder / "receipts" / f"{stage}.failure.json"


class ProcessFailure(BaseModel):
    """A refusal that a process left: the name of its class, and what it says."""

    error: str
    message: str


def report_failure(path: Path, error: EvenhandError) -> None:
    """Leave a refusal for the parent where both know it: an exit code says little, and launchers in between change it."""
    kind = next(base.__name__ for base in type(error).__mro__ if hasattr(errors, base.__name__))
    write_json(path, {"error": kind, "message": str(error)})


def read_failure(path: Path) -> EvenhandError | None:
    """The refusal that a child left; None when it left none, or a disk has damaged it: the exit code says it, too."""
    if not path.is_file():
        return None
    try:
        failure = parse_line(read_text(path), ProcessFailure)
    except (DataError, StorageError):
        return None
    finally:
        path.unlink()
    return refused_as(failure.error, failure.message)


def refused_as(kind: str, message: str) -> EvenhandError:
    """The refusal that a process left, by the name of its class."""
    error_class = getattr(errors, kind, EvenhandError)
    return (
        error_class(message)
        if isinstance(error_class, type) and issubclass(error_class, EvenhandError)
        else EvenhandError(message)
    )


def last_lines(log: Path, count: int, start: int = 0) -> str:
    """The last non-empty lines of a log, from a byte of it on; a progress bar's rewritten line counts once."""
    with log.open("rb") as file:
        file.seek(max(start, log.stat().st_size - 20_000))
        text = file.read().decode(errors="replace")
    lines = [line.rstrip().rpartition("\r")[2] for line in text.split("\n")]
    return "\n".join([line for line in lines if line.strip()][-count:])
