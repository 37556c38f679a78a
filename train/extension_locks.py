"""Locks in the folder where DeepSpeed compiles its extensions.

Whoever compiles one creates a file `lock` beside it, holds it open meanwhile and removes it at the end; other processes wait
without a word for as long as the file is there. A build that is killed leaves its lock, and every later training waits for ever.
Source: torch.utils.cpp_extension and torch.utils.file_baton of torch 2.
"""

import logging
import os
import sys
import time
from pathlib import Path

from ..errors import StorageError
from ..storage import listed

log = logging.getLogger(__name__)

# a machine that shares the folder, or a container beside this one, may build unseen; so long it is given
PATIENCE_SECONDS = 600
PROCESSES = Path("/proc")


def refuse_stale_locks(python: str | None = None) -> None:
    """Refuse locks that killed builds left behind, and warn of those that may be such.

    A lock is refused when it is older than ten minutes and no process has it open. Others are warned of, unless they are of a
    younger build that is under way.

    Args:
        python: interpreter of the training, whose extensions have a folder of their own; None for this one.

    Raises:
        StorageError: names every such lock.
    """
    stale = []
    for lock in lock_files(python):
        try:
            age, held = time.time() - lock.stat().st_mtime, is_held(lock)
        except FileNotFoundError:
            # the build has just ended
            continue
        is_old = age >= PATIENCE_SECONDS
        if is_old and held is False:
            stale.append(
                f"{lock}: is {age / 60:.0f} minutes old and no process has it open, so a build that was killed has left it"
            )
        elif is_old or not held:
            log.warning(
                "%s: DeepSpeed waits until this file is gone, without a word; it is %.0f minutes old%s. Another process may be "
                "compiling; if none is, delete the file",
                lock, age / 60, " and no process has it open" if held is False else "",
            )  # fmt: skip
    if stale:
        raise StorageError(
            f"{listed(stale)}\nDeepSpeed would wait for ever. Delete these files, unless another machine compiles in the same "
            "folder, then give the same command again"
        )


def lock_files(python: str | None = None) -> list[Path]:
    """The locks of an interpreter's extensions; of all interpreters' when it is another one, whose version nobody asked it.

    Only where Linux has them: $TORCH_EXTENSIONS_DIR, else torch_extensions in $XDG_CACHE_HOME or ~/.cache.
    """
    chosen = os.environ.get("TORCH_EXTENSIONS_DIR")
    if chosen is not None:
        return sorted(Path(chosen).glob("*/lock"))
    version = f"py{sys.version_info.major}{sys.version_info.minor}" if python in (None, sys.executable) else "py"
    cache = os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")
    return sorted(Path(cache, "torch_extensions").glob(f"{version}*_*/*/lock"))


def is_held(lock: Path) -> bool | None:
    """Whether a process of this machine has a file open; None where that cannot be seen.

    It can on Linux, of the processes of the file's owner that may be looked into.

    Raises:
        FileNotFoundError: the file is not there.
    """
    wanted, hidden = lock.stat(), not PROCESSES.is_dir()
    for process in PROCESSES.glob("[0-9]*"):
        try:
            opened = list((process / "fd").iterdir())
        except (FileNotFoundError, ProcessLookupError):
            # it has just ended
            continue
        except PermissionError:
            hidden = hidden or _owner(process) == wanted.st_uid
            continue
        if any(_is_same(each, wanted) for each in opened):
            return True
    return None if hidden else False


def _owner(process: Path) -> int | None:
    try:
        return process.stat().st_uid
    except OSError:
        return None


def _is_same(opened: Path, wanted: os.stat_result) -> bool:
    try:
        return os.path.samestat(opened.stat(), wanted)
    except OSError:
        # closed meanwhile, or a file of another machine that is gone
        return False
