"""Embeddings kept from run to run: sources are the same in every round, for every method and for each judge of one encoder.

The key is the SHA-256 of the encoder's signature and of the text. An embedding differs with the batch that its text stood in by
no more than judges round away, so it does not matter which run made it.
"""

import hashlib
import sqlite3
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..models import cache_folder
from ..models.cache import opened_cache
from ..storage import canonical_json

Vector = NDArray[np.float32]

SCHEMA = "CREATE TABLE IF NOT EXISTS embeddings (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"
WHAT, OTHERWISE = "embeddings", " (they are then made again)"


def embeddings_path() -> Path:
    """Where they lie: embeddings.sqlite in the cache folder, which all runs share."""
    return cache_folder() / "embeddings.sqlite"


def check_embeddings() -> None:
    """Refuse a file in their place that holds no embeddings.

    Raises:
        StorageError: it cannot be used.
    """
    n_embeddings()


def known_embeddings(named: str, texts: Iterable[str], size: int) -> dict[str, Vector]:
    """Those that are kept; the other texts are absent.

    Args:
        named: signature of the encoder.
        texts: each once.
        size: numbers of an embedding.

    Raises:
        StorageError: the file cannot be used.
    """
    if not embeddings_path().exists():
        return {}
    found = {}
    with opened_cache(embeddings_path(), SCHEMA, WHAT, OTHERWISE) as database:
        for text in texts:
            row = database.execute("SELECT vector FROM embeddings WHERE key = ?", (_key(named, text),)).fetchone()
            if row is not None:
                found[text] = _vector(row[0], size)
    return found


def keep_embeddings(named: str, made: Mapping[str, Vector]) -> None:
    """Store embeddings; those that are there already stay.

    Raises:
        StorageError: the file cannot be used.
    """
    if not made:
        return
    rows = [(_key(named, text), vector.astype("<f4").tobytes()) for text, vector in made.items()]
    with opened_cache(embeddings_path(), SCHEMA, WHAT, OTHERWISE) as database, database:
        database.executemany("INSERT OR IGNORE INTO embeddings VALUES (?, ?)", rows)


def n_embeddings() -> int:
    """How many are kept."""
    if not embeddings_path().exists():
        return 0
    with opened_cache(embeddings_path(), SCHEMA, WHAT, OTHERWISE) as database:
        return int(database.execute("SELECT count(*) FROM embeddings").fetchone()[0])


def forget_embeddings() -> int:
    """Delete them; how many there were."""
    n = n_embeddings()
    if n:
        with opened_cache(embeddings_path(), SCHEMA, WHAT, OTHERWISE) as database:
            with database:
                database.execute("DELETE FROM embeddings")
            database.execute("VACUUM")
    return n


def _key(named: str, text: str) -> bytes:
    return hashlib.sha256(canonical_json([named, text]).encode()).digest()


def _vector(kept: object, size: int) -> Vector:
    """SQLite keeps values of any type in any column, so a damaged or foreign file may hold some."""
    if isinstance(kept, bytes) and len(kept) == 4 * size:
        vector: Vector = np.frombuffer(kept, dtype="<f4").astype(np.float32)
        if np.isfinite(vector).all():
            return vector
    raise sqlite3.DataError(f"it holds a row that is no embedding of {size} numbers")
