"""Answers of servers, kept from run to run in one SQLite file, found again by what was asked.

An answer is written the moment it arrives, so whatever is killed, nothing is asked twice. It also keeps the promise of every
backend that equal requests get equal replies, which most servers do not give: the first answer to a prompt under a seed stays.
An ask that is under way is claimed by a row with the process that asks, so that commands at the same time pay once. Where that
process is gone, or its row has not changed for a while, the next one asks. No clock but that of whoever waits is read.

The key is the SHA-256 of the model's signature, the chat, the sampling, the seed and the choices; texts of prompts are not kept.
"""

import math
import sqlite3
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack
from operator import not_
from typing import Annotated, Any, TypeVar

from pydantic import Field, NonNegativeInt, TypeAdapter, ValidationError, model_validator

from ...generate.backend import Ask, NotCachedError, Reply, Usage
from ...models.cache import KeptTable
from ...records import Record
from ...runfolder.processes import Process, this_process
from ...text.digests import canonical_json, digest

T = TypeVar("T")
ANSWERS = KeptTable(
    "answers.sqlite", "answers", "key TEXT PRIMARY KEY, answer TEXT NOT NULL", "answers of servers",
    " (what is not kept is asked and paid for again)",
)  # fmt: skip
OTHER_TABLES = (
    # batches that were submitted: where, and what they ask that was not taken in yet
    "batches (id TEXT NOT NULL, address TEXT NOT NULL, calls TEXT NOT NULL, PRIMARY KEY (address, id))",
    # asks of batches that got no answer to keep: in how many in a row, and what they get in its place
    "failures (key TEXT PRIMARY KEY, batches INTEGER NOT NULL, answer TEXT NOT NULL)",
    # asks that are under way: by whom, the process, and a number that rises as long as it is at work
    "claims (key TEXT PRIMARY KEY, owner TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, started TEXT NOT NULL,"
    " beats INTEGER NOT NULL)",
)
NOTE_FAILURE = """
INSERT INTO failures VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET batches = batches + excluded.batches, answer = excluded.answer
"""
# hexadecimal digits of a key
LENGTH = 64
# seconds between the beats of a process at work; those without one behind which whoever waits takes it for gone
BEAT_SECONDS, LOST_SECONDS = 20.0, 300.0


class CachedAnswer(Record):
    """What came of an ask: a row."""

    reply: Reply
    # tokens of the prompt that the server ran for it: none where it had them cached, or for another answer of the same request
    prefilled: NonNegativeInt = 0
    # the model that answered, as the server names it, where it is another than was asked for
    other_model: str = Field(default="", exclude_if=not_)

    @model_validator(mode="after")
    def _is_possible(self) -> "CachedAnswer":
        """Refuse what no server's answer becomes, and an altered or damaged row may be."""
        reply, shares = self.reply, self.reply.choice_probabilities.values()
        is_failed = reply.finish_reason == "failed"
        if reply.finish_reason not in {"stop", "length", "failed"} or is_failed != bool(reply.reason):
            raise ValueError("its end is none")
        if min([0, reply.n_prompt_tokens, *reply.token_ids]) < 0 or not math.isfinite(reply.logps or 0.0):
            raise ValueError("its numbers are none of an answer")
        if shares and not (min(shares) >= 0 and math.isclose(math.fsum(shares), 1.0, abs_tol=1e-6)):
            raise ValueError("probabilities of its choices do not sum to 1")
        return self


ANSWER = TypeAdapter(CachedAnswer)
CALLS = TypeAdapter(dict[str, Annotated[list[str], Field(min_length=1)]])


def ask_key(signature: str, ask: Ask) -> str:
    """What an answer is found by."""
    turns = [turn.model_dump() for turn in ask.prompt]
    return digest([signature, turns, ask.sampling.model_dump(), ask.seed, list(ask.choices)], LENGTH)


class KeptAnswers:
    """The open file; made if it is not there. Several processes may read and write at once.

    Raises:
        StorageError: it cannot be used.
    """

    def __init__(self) -> None:
        with ExitStack() as opened:
            self._database = opened.enter_context(ANSWERS.opened())
            for table in OTHER_TABLES:
                self._database.execute(f"CREATE TABLE IF NOT EXISTS {table} WITHOUT ROWID")
            self._process, self._owner = this_process(), uuid.uuid4().hex
            # asks that are under way from here; when others' claims were seen first as they are
            self._under_way = set[str]()
            self._seen = dict[Any, float]()
            self._opened = opened.pop_all()

    def find(self, keys: Iterable[str]) -> dict[str, CachedAnswer]:
        """The answers that are kept, by key; the others are absent."""
        return self._answers("SELECT answer FROM answers WHERE key = ?", keys)

    def _answers(self, query: str, keys: Iterable[str], *bounds: int) -> dict[str, CachedAnswer]:
        with ANSWERS.usable():
            rows = {key: self._database.execute(query, (key, *bounds)).fetchone() for key in keys}
            return {key: _read(row[0], ANSWER, "an answer") for key, row in rows.items() if row is not None}

    def has_all(self, keys: Iterable[str]) -> bool:
        """Whether every one of these has its answer; it looks no further than the first that has none."""
        query = "SELECT 1 FROM answers WHERE key = ?"
        with ANSWERS.usable():
            return all(self._database.execute(query, (key,)).fetchone() is not None for key in keys)

    def keep(self, answers: Mapping[str, CachedAnswer]) -> None:
        """Store answers, all or none; one that already exists stays."""
        rows = [(key, answer.model_dump_json()) for key, answer in answers.items()]
        with ANSWERS.usable(), self._database:
            self._database.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", rows)
            self._end(answers)

    def begin(self, keys: Sequence[str]) -> dict[str, CachedAnswer] | None:
        """Note that asks are under way from here until `end`, unless somebody else is at one of them.

        Returns:
            The answers that are kept meanwhile, whose asks are not under way; None where somebody else is at one of the others.
        """
        if self._are_elsewhere(keys):
            return None
        with ANSWERS.usable(), self._database:
            self._database.execute("BEGIN IMMEDIATE")
            found = self.find(keys)
            left = [key for key in keys if key not in found]
            # another process may have begun meanwhile
            if self._are_elsewhere(left):
                return None
            rows = [(key, self._owner, *self._process, 0) for key in left]
            self._database.executemany("INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._under_way.update(left)
        return found

    def _are_elsewhere(self, keys: Sequence[str]) -> bool:
        """Whether somebody else who is still there asks for one of these."""
        query = "SELECT * FROM claims WHERE key = ? AND owner != ?"
        with ANSWERS.usable():
            rows = [row for key in keys for row in self._database.execute(query, (key, self._owner)).fetchall()]
        return any(map(self._is_there, rows))

    def _is_there(self, row: tuple[Any, ...]) -> bool:
        """Whether the process of a claim may still be at work."""
        _, _, host, pid, started, _ = row
        if not (isinstance(host, str) and isinstance(pid, int) and isinstance(started, str)):
            # a damaged row is nobody's
            return False
        now = time.monotonic()
        return Process(host, pid, started).may_run and now - self._seen.setdefault(row, now) < LOST_SECONDS

    def beat(self) -> None:
        """Show others that what is under way from here still is."""
        rows = [(key, self._owner) for key in self._under_way]
        with ANSWERS.usable(), self._database:
            self._database.executemany("UPDATE claims SET beats = beats + 1 WHERE key = ? AND owner = ?", rows)

    def end(self, keys: Iterable[str]) -> None:
        """Note that asks are no longer under way from here; those that are kept are not."""
        if not self._under_way.isdisjoint(keys):
            with ANSWERS.usable(), self._database:
                self._end(keys)

    def _end(self, keys: Iterable[str]) -> None:
        rows = [(key, self._owner) for key in self._under_way.intersection(keys)]
        # a row that cannot be deleted does not beat any longer
        self._under_way.difference_update(keys)
        self._database.executemany("DELETE FROM claims WHERE key = ? AND owner = ?", rows)

    def submit(self, batch: str, address: str, calls: Mapping[str, Sequence[str]]) -> None:
        """Note a batch: its id, the server's address, and the keys of the asks that each of its requests answers."""
        with ANSWERS.usable(), self._database:
            row = (batch, address, canonical_json(dict(calls)))
            self._database.execute("INSERT OR REPLACE INTO batches VALUES (?, ?, ?)", row)

    def submitted(self, address: str) -> dict[str, dict[str, list[str]]]:
        """The batches of a server whose answers were not all taken in, by id."""
        query = "SELECT id, calls FROM batches WHERE address = ? AND calls != '{}' ORDER BY id"
        with ANSWERS.usable():
            rows = self._database.execute(query, (address,)).fetchall()
            return {str(batch): _read(calls, CALLS, "a batch") for batch, calls in rows}

    def noted(self, address: str) -> set[str]:
        """Ids of all batches of a server, also of those whose answers were taken in."""
        with ANSWERS.usable():
            rows = self._database.execute("SELECT id FROM batches WHERE address = ?", (address,))
            return {batch for (batch,) in rows.fetchall()}

    def finish(
        self,
        batch: str,
        address: str,
        left: Mapping[str, Sequence[str]],
        failed: Mapping[str, tuple[int, CachedAnswer]],
    ) -> None:
        """Note that the answers of a batch were taken in.

        Args:
            batch: its id.
            address: the server's, of which alone it is the id.
            left: requests of it that were answered and that nobody has asked for again yet.
            failed: asks that got no answer to keep, with the number of batches that it counts for and what they get in its place.
        """
        rows = [(key, n, answer.model_dump_json()) for key, (n, answer) in failed.items()]
        query = "UPDATE batches SET calls = ? WHERE id = ? AND address = ?"
        with ANSWERS.usable(), self._database:
            self._database.execute(query, (canonical_json(dict(left)), batch, address))
            self._database.executemany(NOTE_FAILURE, rows)

    def given_up(self, keys: Iterable[str], most: int) -> dict[str, CachedAnswer]:
        """What the asks get that failed in so many batches in a row; the others are absent."""
        return self._answers("SELECT answer FROM failures WHERE key = ? AND batches >= ?", keys, most)

    def forget_failures(self, keys: Iterable[str]) -> None:
        """Forget in how many batches the asks failed."""
        with ANSWERS.usable(), self._database:
            self._database.executemany("DELETE FROM failures WHERE key = ?", [(key,) for key in keys])

    def close(self) -> None:
        """Close the file."""
        self._opened.close()


def _read(kept: object, form: TypeAdapter[T], what: str) -> T:
    """What a row holds; SQLite keeps values of any type in any column, so a damaged or foreign file may hold some."""
    try:
        return form.validate_json(kept if isinstance(kept, str) else "", strict=True)
    except ValidationError as error:
        raise sqlite3.DataError(f"it holds a row that is not {what} of a server") from error


class OnlyKept:
    """The backend of that signature as far as its answers are kept; it asks no server."""

    def __init__(self, signature: str) -> None:
        self.signature = signature
        self.usage = Usage()
        self._kept = KeptAnswers()

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order.

        Raises:
            NotCachedError: one of them has none.
        """
        keys = [ask_key(self.signature, ask) for ask in asks]
        found = self._kept.find(keys)
        if n := len(keys) - sum(key in found for key in keys):
            raise NotCachedError(f"{n} of {len(keys)} requests have no answer yet")
        return [found[key].reply for key in keys]

    def close(self) -> None:
        """Close the file of answers."""
        self._kept.close()
