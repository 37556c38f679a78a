"""Digests: of values by their canonical JSON, and of files by their bytes."""

import hashlib
import json
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from .errors import StorageError
from .storage import may_be_endless, raw_bytes


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest(value: Any, length: int = 16) -> str:
    """First `length` hexadecimal digits of the SHA-256 of the value's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:length]


def digest_of_all(values: Iterable[Any], length: int = 16) -> str:
    """`digest` of the list of these values, of which one is in memory at a time."""
    sha256 = hashlib.sha256(b"[")
    for place, value in enumerate(values):
        sha256.update(f"{',' if place else ''}{canonical_json(value)}".encode())
    sha256.update(b"]")
    return sha256.hexdigest()[:length]


def file_digest(path: Path) -> str:
    """First 16 hexadecimal digits of the SHA-256 of a file's bytes, or of a folder's files by name.

    Raises:
        StorageError: the file cannot be read.
    """
    if path.is_dir():
        return digest({str(p.relative_to(path)): file_digest(p) for p in sorted(path.rglob("*")) if p.is_file()})
    if may_be_endless(path):
        return hashlib.sha256(raw_bytes(path)).hexdigest()[:16]
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()[:16]
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}") from error


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, 64 hexadecimal digits; read once in a process as long as size and time stay the same.

    Raises:
        StorageError: the file cannot be read.
    """
    try:
        status = path.stat()
        return _sha256(path, status.st_size, status.st_mtime_ns)
    except OSError as error:
        raise StorageError(f"{path}: cannot be read: {error.strerror}") from error


@cache
def _sha256(path: Path, size: int, mtime_ns: int) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
