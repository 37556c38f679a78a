"""Locks in the folder where DeepSpeed compiles its extensions.

Whoever compiles one creates a file `lock` beside it, holds it open meanwhile and removes it at the end; other processes wait
without a word for as long as the file is there. A build that is killed leaves its lock, and every later training waits forever.
Source: torch.utils.cpp_extension and torch.utils.file_baton of torch 2.
"""

import glob
import logging
import os
import sys
import time
from contextlib import suppress
from pathlib import Path

from ..errors import StorageError
from ..storage import listed

log = logging.getLogger(__name__)

# a machine that shares the folder, or a container beside this one, may build unseen; it is given this long
PATIENCE_SECONDS = 600


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
        what = f"{lock}: is {age / 60:.0f} minutes old and {'a' if held else 'no'} process has it open"
        if age >= PATIENCE_SECONDS and not held:
            stale.append(f"{what}, so a build that was killed has left it")
        elif age >= PATIENCE_SECONDS or not held:
            log.warning("%s; DeepSpeed waits until it is gone. If nothing compiles extensions, delete the file", what)
    if stale:
        raise StorageError(
            f"{listed(stale)}\nDeepSpeed would wait forever. Delete these files, unless another machine or user compiles in the "
            "same folder, then give the same command again"
        )


def lock_files(python: str | None = None) -> list[Path]:
    """The locks of an interpreter's extensions; of all interpreters' when it is another one, whose version is not known.

    Only where Linux has them: $TORCH_EXTENSIONS_DIR, else torch_extensions in $XDG_CACHE_HOME or ~/.cache.
    """
    chosen = os.environ.get("TORCH_EXTENSIONS_DIR")
    if chosen is not None:
        return sorted(Path(chosen).glob("*/lock"))
    version = f"py{sys.version_info.major}{sys.version_info.minor}" if python in (None, sys.executable) else "py"
    cache = os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")
    return sorted(Path(cache, "torch_extensions").glob(f"{version}*_*/*/lock"))


def is_held(lock: Path) -> bool:
    """Whether a process that may be looked into has the file open, on Linux.

    Raises:
        FileNotFoundError: the file is not there.
    """
    wanted = lock.stat()
    for opened in glob.iglob("/proc/[0-9]*/fd/*"):  # noqa: PTH207 (Path.glob trips over processes that end)
        # processes end and files are closed meanwhile
        with suppress(OSError):
            if os.path.samestat(Path(opened).stat(), wanted):
                return True
    return False
