"""The folder of what is made once and used by every run: converted and assembled models, judgements, log-probabilities."""

import logging
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from ..errors import EvenhandError, StorageError
from ..storage import no_disk
from ..text.amounts import disk_size

log = logging.getLogger(__name__)

# seconds that a writer waits for another
PATIENCE = 60.0


def cache_folder() -> Path:
    """Folder for converted models and judgements: $EVENHAND_CACHE, else ~/.cache/evenhand.

    Raises:
        StorageError: it is an address, or there is no home folder.
    """
    chosen = os.environ.get("EVENHAND_CACHE")
    try:
        folder = Path.home() / ".cache" / "evenhand" if chosen is None else Path(chosen)
    except RuntimeError as error:
        raise StorageError(
            "this user has no home folder, in which caches would be (HOME is not set); export EVENHAND_CACHE=FOLDER, or HOME"
        ) from error
    if mistake := no_disk(folder):
        raise StorageError(f"EVENHAND_CACHE {mistake}")
    return folder


def models_folder() -> Path:
    """Folder for models that were converted or assembled."""
    return cache_folder() / "models"


@dataclass(frozen=True)
class KeptTable:
    """What is kept from run to run: a table of an SQLite file in the cache folder, which all runs share.

    Several processes may read and write at once. Every method raises StorageError where the file cannot be used, or another
    process keeps it locked.
    """

    # of the file
    name: str
    table: str
    # SQL of the table's columns
    columns: str
    # what it holds and is used for, in the plural
    what: str
    # what else helps when the file cannot be used at all
    otherwise: str

    @property
    def path(self) -> Path:
        """Where it lies."""
        return cache_folder() / self.name

    @contextmanager
    def usable(self, path: Path | None = None) -> Iterator[None]:
        """Turn SQLite's and the file system's errors into one that names the file, or another of its kind, and the remedy."""
        path = path or self.path
        try:
            yield
        except StorageError:
            raise
        except (sqlite3.Error, OSError) as error:
            # the low byte is the kind of error, the others are details
            if getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
                raise StorageError(
                    f"{path}: another process writes {self.what} there and has not finished; wait for it, or set EVENHAND_CACHE "
                    "to another folder"
                ) from error
            raise StorageError(
                f"{path}: {self.what} cannot be kept there: {error}; mend its rights or delete the file, set EVENHAND_CACHE to a "
                f"folder on a local disk{self.otherwise}"
            ) from error

    @contextmanager
    def opened(self, path: Path | None = None, patience: float = PATIENCE) -> Iterator[sqlite3.Connection]:
        """The open file, or another of its kind, made if it is not there; a writer waits `patience` seconds for another."""
        with self.usable(path):
            path = path or self.path
            path.parent.mkdir(parents=True, exist_ok=True)
            # one thread at a time, not always the same
            with closing(sqlite3.connect(path, timeout=patience, check_same_thread=False)) as database:
                _begin_log(database, patience)
                database.execute(f"CREATE TABLE IF NOT EXISTS {self.table} ({self.columns}) WITHOUT ROWID")
                yield database

    def check(self) -> None:
        """Refuse a file in its place that is none of its kind."""
        if self.path.exists():
            with self.opened() as database:
                database.execute(f"SELECT 1 FROM {self.table} LIMIT 1").fetchone()  # noqa: S608

    def count(self) -> int:
        """How many rows there are."""
        if not self.path.exists():
            return 0
        with self.opened() as database:
            return int(database.execute(f"SELECT count(*) FROM {self.table}").fetchone()[0])  # noqa: S608

    def forget(self) -> int:
        """Delete all rows, and give their room back; how many there were."""
        if not self.path.exists():
            return 0
        with self.opened() as database:
            with database:
                n = database.execute(f"DELETE FROM {self.table}").rowcount  # noqa: S608
            # also of rows that were deleted before
            database.execute("VACUUM")
        return n


def _begin_log(database: sqlite3.Connection, patience: float) -> None:
    """Have writers append to a log; where others open a new file at this moment, SQLite does not wait for them by itself."""
    deadline = time.monotonic() + patience
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
        time.sleep(0.01)


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


def refuse_full_disk(folder: Path, n_bytes: int, subject: str) -> None:
    """Refuse to begin what would not fit on the disk of a folder, which need not be there yet.

    Raises:
        StorageError: fewer bytes are free than are needed.
    """
    parent = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    free = shutil.disk_usage(parent).free
    if free < n_bytes:
        raise StorageError(
            f"{subject} needs {disk_size(n_bytes)} in {folder}, where {disk_size(free)} are free; make room, or name a folder on "
            "another disk with EVENHAND_CACHE"
        )
