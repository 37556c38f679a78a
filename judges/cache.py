"""Verdicts kept from run to run, in one SQLite file, found again by what was judged.

The key is the SHA-256 of judge signature, reference text and candidate text, so a verdict is found wherever the same
judge meets the same texts again, and never elsewhere. Only scores are served. An unscored verdict is kept, so that one can
look up how often a judge fails and at what, but the judge is asked again: the reason may be gone (a longer context, a
mended engine). The first score of a key stays.

Several processes may read and write at once: the file is in write-ahead mode, a writer waits for another, and equal keys
are not written twice. Write-ahead mode needs a local disk: point $EVENHAND_CACHE to one if your home is on a network drive.
"""

import hashlib
import logging
import math
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..models.cache import PATIENCE, KeptTable
from ..text.digests import canonical_json
from ..text.shown import shortened
from .judge import Verdict

log = logging.getLogger(__name__)

JUDGEMENTS = KeptTable(
    "judgements.sqlite", "verdicts",
    "key TEXT PRIMARY KEY, signature TEXT NOT NULL, score REAL, unscored TEXT, raw TEXT, attempts INTEGER NOT NULL",
    "cached judgements", " (scores are then made again)",
)  # fmt: skip
KEEP = """
INSERT INTO verdicts VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (key) DO UPDATE SET score = excluded.score, unscored = excluded.unscored, raw = excluded.raw,
    attempts = excluded.attempts
WHERE verdicts.score IS NULL
"""
COUNT = "SELECT signature, count(score), count(*) - count(score) FROM verdicts GROUP BY signature ORDER BY signature"

# SQLite takes a limited number of parameters in one statement
KEYS_AT_ONCE = 500

TOLERANCE = 1e-4

# (reference text, candidate text)
Judged = tuple[str, str]


@dataclass(frozen=True)
class CacheCount:
    """What the cache holds of one judge."""

    signature: str
    scored: int
    unscored: int


def verdict_key(signature: str, judged: Judged) -> str:
    """SHA-256 of judge signature, reference text and candidate text, in hexadecimal digits."""
    return hashlib.sha256(canonical_json([signature, *judged]).encode()).hexdigest()


class VerdictCache:
    """An open file of verdicts; made if it is not there.

    Args:
        path: the file; None: that which all runs share.
        patience: seconds that a writer waits for another.
    """

    def __init__(self, path: Path | None = None, patience: float = PATIENCE) -> None:
        self.path = path or JUDGEMENTS.path
        with ExitStack() as opened:
            self._database = opened.enter_context(JUDGEMENTS.opened(self.path, patience))
            self._opened = opened.pop_all()

    def find(
        self, signature: str, judged: Sequence[Judged], low: float = -math.inf, high: float = math.inf
    ) -> dict[Judged, Verdict]:
        """The scored verdicts that the cache holds of these texts; the others are absent.

        A score that the judge cannot have given, outside of `low` and `high`, is forgotten: the file was damaged or altered.
        """
        by_key = {verdict_key(signature, key_of): key_of for key_of in judged}
        keys = list(by_key)
        verdicts: dict[Judged, Verdict] = {}
        for start in range(0, len(keys), KEYS_AT_ONCE):
            some = keys[start : start + KEYS_AT_ONCE]
            marks = ", ".join("?" * len(some))
            query = f"SELECT key, score, raw, attempts FROM verdicts WHERE score IS NOT NULL AND key IN ({marks})"  # noqa: S608
            with self._usable():
                for key, *row in self._database.execute(query, some):
                    verdicts[by_key[key]] = _verdict(*row)
        wrong = {texts for texts, verdict in verdicts.items() if not _is_between(low, verdict.score, high)}
        if wrong:
            log.warning(
                "%s: %s scores of the judge %s are none that it gives (%g to %g), so the file was damaged or altered; they are "
                "made again",
                self.path, f"{len(wrong):,}", signature, low, high,
            )  # fmt: skip
            with self._usable(), self._database:
                self._database.executemany(
                    "DELETE FROM verdicts WHERE key = ?", [(verdict_key(signature, texts),) for texts in wrong]
                )
        return {texts: verdict for texts, verdict in verdicts.items() if texts not in wrong}

    def keep(self, signature: str, verdicts: Mapping[Judged, Verdict]) -> None:
        """Store verdicts; a score that already exists stays."""
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

    def close(self) -> None:
        """Close the file."""
        self._opened.close()

    def _usable(self) -> AbstractContextManager[None]:
        return JUDGEMENTS.usable(self.path)


def _verdict(score: Any, raw: Any, attempts: Any) -> Verdict:
    """The verdict of a row. SQLite keeps values of any type in any column, so a damaged or foreign file may hold some."""
    if not (
        isinstance(score, float) and math.isfinite(score) and isinstance(raw, str | None) and isinstance(attempts, int)
    ):
        raise sqlite3.DataError(f"it holds {shortened((score, raw, attempts))} instead of a score, a text and a number")
    return Verdict(score, None, raw, attempts)


def _is_between(low: float, score: float | None, high: float) -> bool:
    """Whether a score lies on a scale, but for the last digits of what was computed in 32 bits."""
    return score is not None and low - TOLERANCE <= score <= high + TOLERANCE


def cache_counts() -> list[CacheCount]:
    """What the shared file holds, by judge signature; [] when there is none."""
    if not JUDGEMENTS.path.exists():
        return []
    with closing(VerdictCache()) as cache:
        return cache.counts()
