"""Digests of values, by their canonical JSON."""

import hashlib
import json
from collections.abc import Iterable
from typing import Any

from pydantic import BaseModel


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces: equal values give equal text."""
    if isinstance(value, BaseModel):
        value = value.model_dump(mode="json")
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def digest(value: Any, length: int = 16) -> str:
    """First `length` hexadecimal digits of the SHA-256 of the value's canonical JSON."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()[:length]


def digest_of_all(values: Iterable[Any]) -> str:
    """`digest` of the list of these values, of which one is in memory at a time."""
    sha256 = hashlib.sha256(b"[")
    for place, value in enumerate(values):
        sha256.update(f"{',' if place else ''}{canonical_json(value)}".encode())
    sha256.update(b"]")
    return sha256.hexdigest()[:16]
