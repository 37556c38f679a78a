"""The folder of what is made once and used by every run: converted and assembled models, judgements, log-probabilities."""

import logging
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import EvenhandError, StorageError

log = logging.getLogger(__name__)

# seconds that a writer waits for another
PATIENCE = 60.0


def cache_folder() -> Path:
    """Folder for converted models and judgements: $EVENHAND_CACHE, else ~/.cache/evenhand."""
    return Path(os.environ.get("EVENHAND_CACHE", Path.home() / ".cache" / "evenhand"))


def models_folder() -> Path:
    """Folder for models that were converted or assembled."""
    return cache_folder() / "models"


@contextmanager
def usable_cache(path: Path, what: str, otherwise: str) -> Iterator[None]:
    """Turn SQLite's and the file system's errors into one that names a file of the cache and the remedy.

    Args:
        path: the file.
        what: what it holds and is used for, in the plural.
        otherwise: what else helps when the file cannot be used at all.

    Raises:
        StorageError: the file cannot be used, or another process keeps it locked.
    """
    try:
        yield
    except StorageError:
        raise
    except (sqlite3.Error, OSError) as error:
        # the low byte is the kind of error, the others are details
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise StorageError(
                f"{path}: another process writes {what} there and has not finished; wait for it, or set EVENHAND_CACHE to "
                "another folder"
            ) from error
        raise StorageError(
            f"{path}: {what} cannot be kept there: {error}; mend its rights or delete the file, set EVENHAND_CACHE to a folder "
            f"on a local disk{otherwise}"
        ) from error


@contextmanager
def opened_cache(path: Path, schema: str, what: str, otherwise: str) -> Iterator[sqlite3.Connection]:
    """A database of the cache, made if it is not there; several processes may read and write at once.

    Args:
        path: the file.
        schema: SQL that makes its table where there is none.
        what: as `usable_cache` takes it.
        otherwise: as `usable_cache` takes it.

    Raises:
        StorageError: it cannot be used.
    """
    with usable_cache(path, what, otherwise):
        path.parent.mkdir(parents=True, exist_ok=True)
        # one thread at a time, not always the same
        with closing(sqlite3.connect(path, timeout=PATIENCE, check_same_thread=False)) as database:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute(schema)
            yield database


@contextmanager
def told_faults(path: Path) -> Iterator[None]:
    """Turn the file system's errors over a file or folder of the cache into one with the place and the remedy.

    Raises:
        StorageError: in place of any other OSError within.
    """
    try:
        yield
    except EvenhandError:
        raise
    except OSError as error:
        raise StorageError(
            f"{error.filename or path}: cannot be read or written: {error.strerror or error}; make room, mend the rights, or "
            "name another folder with EVENHAND_CACHE"
        ) from error


@contextmanager
def made_alone(target: Path) -> Iterator[None]:
    """Within it no other process makes this file or folder of the cache.

    Raises:
        StorageError: the folder cannot be written, or the file system fails within.
    """
    with told_faults(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(f"{target}.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            log.info("another process makes %s ready; waiting for it", target.name)
            lock.acquire()
        try:
            yield
        finally:
            lock.release()


@contextmanager
def whole_folder(target: Path) -> Iterator[Path]:
    """A folder to be filled in the block: it has a temporary name, is flushed to disk, then renamed into place.

    What lay at `target` gives way. Where the block fails nothing of the folder is left, and what a killed process has left of an
    earlier one is no part of it.
    """
    temporary = target.with_name(target.name + ".tmp")
    remove(temporary)
    temporary.mkdir()
    try:
        yield temporary
        for path in (*temporary.rglob("*"), temporary):
            flush(path)
        remove(target)
        temporary.rename(target)
        flush(target.parent)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def flush(path: Path) -> None:
    """Have a file or folder on disk."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def remove(path: Path) -> None:
    """Take a file, a link or a folder away, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def refuse_full_disk(folder: Path, n_bytes: int, what: str) -> None:
    """Refuse to begin what would not fit on the disk of a folder, which need not be there yet.

    Raises:
        StorageError: fewer bytes are free than are needed.
    """
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free < n_bytes:
        raise StorageError(
            f"{what} needs {gigabytes(n_bytes)} in {folder}, where {gigabytes(free)} are free; make room, or name a folder on "
            "another disk with EVENHAND_CACHE"
        )


def gigabytes(n_bytes: int) -> str:
    """ "1.1 GB", "98 MB"."""
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"
