"""Fingerprints of what was made in the cache: size, time of change and SHA-256 of each file, in a JSON file beside it.

Sizes and times are looked at whenever a model is used, and a file of another time is hashed. `evenhand models fetch` hashes all.
"""

import contextlib
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from ..errors import StorageError
from ..storage import read_text, sha256_of, write_text


class Fingerprint(BaseModel):
    """Of one file."""

    model_config = ConfigDict(frozen=True)

    bytes: int
    mtime_ns: int
    sha256: str


class Fingerprints(BaseModel):
    """Of a file or folder of the cache."""

    model_config = ConfigDict(frozen=True)

    # of the program that made it
    version: int
    files: Mapping[str, Fingerprint]


def fingerprint_file(target: Path) -> Path:
    """Where the fingerprints of a file or folder lie."""
    return target.with_name(f"{target.name}.files.json")


def read_fingerprints(target: Path, version: int) -> Fingerprints | None:
    """The fingerprints of a file or folder; None where none were left, or by another version."""
    path = fingerprint_file(target)
    if not path.is_file():
        return None
    try:
        fingerprints = Fingerprints.model_validate_json(read_text(path))
    except (StorageError, ValidationError):
        # as good as none: it is made again
        return None
    return fingerprints if fingerprints.version == version else None


def write_fingerprints(target: Path, version: int) -> None:
    """Leave the fingerprints of a file or folder that is whole."""
    fingerprints = Fingerprints(version=version, files={name: _of(path) for name, path in _files(target).items()})
    write_text(fingerprint_file(target), fingerprints.model_dump_json(indent=1) + "\n")


def damage_of(target: Path, known: Fingerprints, *, thoroughly: bool = False) -> str:
    """What became of a file or folder since its fingerprints were left; nothing where it is what it was.

    Args:
        target: the file or folder.
        known: its fingerprints; new times of files with the same content are put into their file.
        thoroughly: hash all files; else those of another time.
    """
    files, is_moved = _files(target), False
    for name, path in files.items():
        if name not in known.files:
            return f"{path} was not there when it was made"
    for name, expected in known.files.items():
        if name not in files:
            return f"{target / name} is not there any more"
        status = files[name].stat()
        if status.st_size != expected.bytes:
            return f"{files[name]} has {status.st_size:,} bytes, and had {expected.bytes:,} when it was made"
        is_other = status.st_mtime_ns != expected.mtime_ns
        if (is_other or thoroughly) and sha256_of(files[name]) != expected.sha256:
            return f"{files[name]} has another content than when it was made"
        is_moved |= is_other
    if is_moved:
        # a cache that was copied; where it cannot be written it is hashed again the next time
        with contextlib.suppress(StorageError):
            write_fingerprints(target, known.version)
    return ""


def _of(path: Path) -> Fingerprint:
    status = path.stat()
    return Fingerprint(bytes=status.st_size, mtime_ns=status.st_mtime_ns, sha256=sha256_of(path))


def _files(target: Path) -> dict[str, Path]:
    """All files of a folder by their names in it; "." is a file by itself."""
    if target.is_dir():
        return {path.relative_to(target).as_posix(): path for path in sorted(target.rglob("*")) if path.is_file()}
    return {".": target} if target.is_file() else {}
