"""Embeddings kept from run to run: sources are the same in every round, for every method and for each judge of one encoder.

The key is the SHA-256 of the encoder's signature and of the text. An embedding differs with the batch that its text stood in by
less than what judges round to, so a score made from another run's differs by one in its last digit or not at all.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ..models.cache import KeptTable
from ..text.digests import canonical_json

Vector = NDArray[np.float32]

EMBEDDINGS = KeptTable(
    "embeddings.sqlite", "embeddings", "key BLOB PRIMARY KEY, vector BLOB NOT NULL", "embeddings",
    " (they are then made again)",
)  # fmt: skip


def known_embeddings(named: str, texts: Iterable[str], size: int) -> dict[str, Vector]:
    """Those that are kept; the other texts are absent.

    Args:
        named: signature of the encoder.
        texts: each once.
        size: numbers of an embedding.

    Raises:
        StorageError: the file cannot be used.
    """
    if not EMBEDDINGS.path.exists():
        return {}
    vectors = {}
    with EMBEDDINGS.opened() as database:
        for text in texts:
            row = database.execute("SELECT vector FROM embeddings WHERE key = ?", (_key(named, text),)).fetchone()
            if row is not None:
                vectors[text] = _vector(row[0], size)
    return vectors


def keep_embeddings(named: str, vectors: Mapping[str, Vector]) -> None:
    """Store embeddings; those that are there already stay.

    Raises:
        StorageError: the file cannot be used.
    """
    if not vectors:
        return
    rows = [(_key(named, text), vector.astype("<f4").tobytes()) for text, vector in vectors.items()]
    with EMBEDDINGS.opened() as database, database:
        database.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?)", rows)


def _key(named: str, text: str) -> bytes:
    return hashlib.sha256(canonical_json([named, text]).encode()).digest()


def _vector(stored: object, size: int) -> Vector:
    """SQLite keeps values of any type in any column, so a damaged or foreign file may hold some."""
    if isinstance(stored, bytes) and len(stored) == 4 * size:
        vector: Vector = np.frombuffer(stored, dtype="<f4").astype(np.float32)
        if np.isfinite(vector).all():
            return vector
    raise sqlite3.DataError(f"it holds a row that is not an embedding of {size} numbers")
