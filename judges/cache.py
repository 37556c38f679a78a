"""Verdicts kept from run to run, in one SQLite file, found again by what was judged.

The key is the SHA-256 of judge signature, reference text and candidate text, so a verdict is found wherever the same
judge meets the same texts again, and never elsewhere. Only scores are served. An unscored verdict is kept, so that one can
look up how often a judge fails and at what, but the judge is asked again: the reason may be gone (a longer context, a
mended engine). The first score of a key stays.

Several processes may read and write at once: the file is in write-ahead mode, a writer waits for another, and equal keys
are not written twice. Write-ahead mode needs a local disk: point $EVENHAND_CACHE to one if your home is on a network drive.
"""

import hashlib
import math
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..models import cache_folder, usable_cache
from ..models.cache import PATIENCE
from ..storage import canonical_json, shortened
from .judge import Verdict

SCHEMA = """
CREATE TABLE IF NOT EXISTS verdicts (
    key TEXT PRIMARY KEY,
    signature TEXT NOT NULL,
    score REAL,
    unscored TEXT,
    raw TEXT,
    attempts INTEGER NOT NULL
) WITHOUT ROWID
"""
KEEP = """
INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET score = excluded.score, unscored = excluded.unscored, raw = excluded.raw,
    attempts = excluded.attempts
WHERE verdicts.score IS NULL
"""
COUNT = "SELECT signature, count(score), count(*) - count(score) FROM verdicts GROUP BY signature ORDER BY signature"

# SQLite takes a limited number of parameters in one statement
KEYS_AT_ONCE = 500

# (reference text, candidate text)
Judged = tuple[str, str]


@dataclass(frozen=True)
class CacheCount:
    """What the cache holds of one judge."""

    signature: str
    scored: int
    unscored: int


def cache_path() -> Path:
    """Where the cache lies: judgements.sqlite in the cache folder, which all runs share."""
    return cache_folder() / "judgements.sqlite"


def check_cache() -> None:
    """Refuse a file in the cache's place that is not a cache.

    Raises:
        StorageError: it cannot be used.
    """
    if cache_path().exists():
        VerdictCache(cache_path()).close()


def verdict_key(signature: str, judged: Judged) -> str:
    """SHA-256 of judge signature, reference text and candidate text, in hexadecimal digits."""
    return hashlib.sha256(canonical_json([signature, *judged]).encode()).hexdigest()


class VerdictCache:
    """An open cache file; made if it is not there.

    Args:
        path: the file.
        patience: seconds that a writer waits for another.
    """

    def __init__(self, path: Path, patience: float = PATIENCE) -> None:
        self.path = path
        with self._usable():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=patience)
            try:
                self._database.execute("PRAGMA journal_mode = WAL")
                self._database.execute(SCHEMA)
            except sqlite3.Error:
                self._database.close()
                raise

    def find(self, signature: str, judged: Sequence[Judged]) -> dict[Judged, Verdict]:
        """The scored verdicts that the cache holds of these texts; the others are absent."""
        by_key = {verdict_key(signature, each): each for each in judged}
        keys = list(by_key)
        found: dict[Judged, Verdict] = {}
        for start in range(0, len(keys), KEYS_AT_ONCE):
            some = keys[start : start + KEYS_AT_ONCE]
            marks = ", ".join("?" * len(some))
            query = f"SELECT key, score, raw, attempts FROM verdicts WHERE score IS NOT NULL AND key IN ({marks})"  # noqa: S608
            with self._usable():
                for key, *row in self._database.execute(query, some):
                    found[by_key[key]] = _verdict(*row)
        return found

    def keep(self, signature: str, verdicts: Mapping[Judged, Verdict]) -> None:
        """Store verdicts; a score that is there already stays."""
        rows = [
            (verdict_key(signature, judged), signature, v.score, v.unscored, v.raw, v.attempts)
            for judged, v in verdicts.items()
        ]
        with self._usable(), self._database:
            self._database.executemany(KEEP, rows)

    def counts(self) -> list[CacheCount]:
        """What the cache holds, by judge signature."""
        with self._usable():
            return [CacheCount(*row) for row in self._database.execute(COUNT)]

    def clear(self) -> int:
        """Delete all verdicts; how many there were."""
        with self._usable():
            with self._database:
                deleted = self._database.execute("DELETE FROM verdicts").rowcount
            self._database.execute("VACUUM")
        return deleted

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _usable(self) -> AbstractContextManager[None]:
        return usable_cache(self.path, "cached judgements", " (scores are then made again)")


def _verdict(score: Any, raw: Any, attempts: Any) -> Verdict:
    """The verdict of a row. SQLite keeps values of any type in any column, so a damaged or foreign file may hold some."""
    if not (
        isinstance(score, float) and math.isfinite(score) and isinstance(raw, str | None) and isinstance(attempts, int)
    ):
        raise sqlite3.DataError(
            f"it holds {shortened((score, raw, attempts))} in place of a score, a text and a number"
        )
    return Verdict(score, None, raw, attempts)


def cache_counts() -> list[CacheCount]:
    """What the shared cache holds, by judge signature; [] when there is none."""
    if not cache_path().exists():
        return []
    with closing(VerdictCache(cache_path())) as cache:
        return cache.counts()


def clear_cache() -> int:
    """Delete all verdicts of the shared cache; how many there were."""
    if not cache_path().exists():
        return 0
    with closing(VerdictCache(cache_path())) as cache:
        return cache.clear()
