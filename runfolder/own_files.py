"""Files of a run folder that are written in place, or by a library: of evenhand's own, not behind links of others."""

import contextlib
import errno
import os
import shutil
import stat
from pathlib import Path

from ..errors import StorageError
from ..storage import writing


def open_own(path: Path, flags: int) -> int:
    """Descriptor of a file that is written in place, such as a log or a journal, and has no other name.

    A folder that came from somebody else may have a link in its place, to a file that is not evenhand's to write. One that has
    other names, as in a backup that is made of hard links, becomes a file of its own first.

    Args:
        path: the file.
        flags: as of `os.open`.

    Raises:
        StorageError: it is a link, or no file.
        OSError: it cannot be opened, or not copied.
    """
    descriptor = open_no_link(path, flags)
    if is_own(os.fstat(descriptor)):
        return descriptor
    os.close(descriptor)
    part_names(path)
    return open_no_link(path, flags)


def open_no_link(path: Path, flags: int) -> int:
    """Descriptor of a file that is no link, though it may have other names.

    Raises:
        StorageError: it is a link, or no file.
        OSError: it cannot be opened.
    """
    try:
        # without waiting for the other end of a pipe
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK, 0o666)
    except OSError as error:
        if error.errno in {errno.ELOOP, errno.ENXIO}:
            raise _no_file(path) from error
        raise
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise _no_file(path)


def is_own(status: os.stat_result) -> bool:
    """Whether a file has one name alone, and so belongs to no other place."""
    return stat.S_ISREG(status.st_mode) and status.st_nlink == 1


def part_names(path: Path) -> None:
    """Put a copy in the place of a file that has other names, so that those keep what it holds now."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.evenhand.tmp")
    try:
        temporary.unlink(missing_ok=True)
        with path.open("rb") as old, temporary.open("xb") as new:
            shutil.copyfileobj(old, new)
            new.flush()
            os.fsync(new.fileno())
        shutil.copymode(path, temporary)
        temporary.replace(path)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def own_files(folder: Path) -> None:
    """Make a folder, which need not be there, one in which a library may write: without links, and without files of other names.

    Raises:
        StorageError: names the first link, or what is no file; or a file cannot be copied.
    """
    for path in sorted(folder.rglob("*")):
        try:
            status = path.lstat()
        except FileNotFoundError:
            # another process of the same training has put its file into place meanwhile
            continue
        if stat.S_ISDIR(status.st_mode) or is_own(status):
            continue
        if not stat.S_ISREG(status.st_mode):
            raise _no_file(path)
        with writing(path):
            part_names(path)


def _no_file(path: Path) -> StorageError:
    return StorageError(
        f"{path}: is a link or no file, and writing there could change what lies elsewhere; delete it (a copy of the folder "
        "without links is as good)"
    )
