"""Answers of servers, kept from run to run in one SQLite file, found again by what was asked.

An answer is written the moment it arrives, so whatever is killed, nothing is asked twice. It also keeps the promise of every
backend that equal requests get equal replies, which most servers do not give: the first answer to a prompt under a seed stays.
An ask that is under way has a row with the process that asks and the time until which it is waited for, so that commands at
the same time pay once; where that process is gone, or the time is over, the next one asks.

The key is the SHA-256 of the model's signature, the chat, the sampling, the seed and the choices; texts of prompts are not kept.
"""

import math
import sqlite3
import time
import uuid
from collections.abc import Iterable, Mapping, Sequence
from contextlib import ExitStack

from pydantic import NonNegativeInt, TypeAdapter, ValidationError, model_validator

from ...errors import EvenhandError
from ...models.cache import KeptTable
from ...records import Record
from ...runfolder.processes import Process, this_process
from ...storage import canonical_json, digest
from ..backend import Ask, Reply, Usage

ANSWERS = KeptTable(
    "answers.sqlite", "answers", "key TEXT PRIMARY KEY, answer TEXT NOT NULL", "answers of servers",
    " (what is not kept is asked and paid for again)",
)  # fmt: skip
# batches that were submitted: where, and what they ask that was not taken in yet
SUBMITTED = """
CREATE TABLE IF NOT EXISTS batches (
    id TEXT NOT NULL, address TEXT NOT NULL, calls TEXT NOT NULL, PRIMARY KEY (address, id)
) WITHOUT ROWID
"""
# what gives a table of earlier versions, whose key was the id alone, the key of today's
REBUILD = (
    "ALTER TABLE batches RENAME TO earlier_batches", SUBMITTED,
    "INSERT INTO batches SELECT id, address, calls FROM earlier_batches", "DROP TABLE earlier_batches",
)  # fmt: skip
# asks of batches that got no answer to keep: in how many in a row, and what they get in its place
FAILURES = """
CREATE TABLE IF NOT EXISTS failures (key TEXT PRIMARY KEY, batches INTEGER NOT NULL, answer TEXT NOT NULL) WITHOUT ROWID
"""
NOTE_FAILURE = """
INSERT INTO failures VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET batches = batches + excluded.batches, answer = excluded.answer
"""
# asks that are under way: by whom, the process, and until when it is waited for, in seconds since 1970
UNDER_WAY = """
CREATE TABLE IF NOT EXISTS under_way (
    key TEXT PRIMARY KEY, owner TEXT NOT NULL, host TEXT NOT NULL, pid INTEGER NOT NULL, started TEXT NOT NULL,
    until REAL NOT NULL
) WITHOUT ROWID
"""
CALLS = TypeAdapter(dict[str, list[str]])
# hexadecimal digits of a key
LENGTH = 64


class Answer(Record):
    """What came of an ask: a row."""

    reply: Reply
    # tokens of the prompt that the server ran for it: none where it had them cached, or for another answer of the same request
    prefilled: NonNegativeInt = 0

    @model_validator(mode="after")
    def _is_possible(self) -> "Answer":
        """Refuse what no server's answer becomes, and an altered or damaged row may be."""
        reply, shares = self.reply, self.reply.choice_probabilities.values()
        if reply.finish_reason not in {"stop", "length", "failed"} or (reply.finish_reason == "failed") != bool(
            reply.reason
        ):
            raise ValueError("its end is none")
        if min([0, reply.n_prompt_tokens, *reply.token_ids]) < 0 or not math.isfinite(reply.logps or 0.0):
            raise ValueError("its numbers are none of an answer")
        if shares and not (min(shares) >= 0 and math.isclose(math.fsum(shares), 1.0, abs_tol=1e-6)):
            raise ValueError("probabilities of its choices do not sum to 1")
        return self


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
            self._database.execute(SUBMITTED)
            _rebuild(self._database)
            self._database.execute(FAILURES)
            self._database.execute(UNDER_WAY)
            self._process, self._owner = this_process(), uuid.uuid4().hex
            # asks that are under way from here
            self._under_way: set[str] = set()
            self._opened = opened.pop_all()

    def find(self, keys: Sequence[str]) -> dict[str, Answer]:
        """The answers that are kept, by key; the others are absent."""
        found = {}
        with ANSWERS.usable():
            for key in keys:
                row = self._database.execute("SELECT answer FROM answers WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = _answer(row[0])
        return found

    def has_all(self, keys: Iterable[str]) -> bool:
        """Whether every one of these has its answer; it looks no further than the first that has none."""
        query = "SELECT 1 FROM answers WHERE key = ?"
        with ANSWERS.usable():
            return all(self._database.execute(query, (key,)).fetchone() is not None for key in keys)

    def keep(self, answers: Mapping[str, Answer]) -> None:
        """Store answers, all or none; one that already exists stays."""
        rows = [(key, answer.model_dump_json()) for key, answer in answers.items()]
        with ANSWERS.usable(), self._database:
            self._database.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?)", rows)
            self._end(answers)

    def begin(self, keys: Sequence[str], seconds: float) -> dict[str, Answer] | None:
        """Note that asks are under way from here for so many seconds, or until `end`, unless somebody else is at one of them.

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
            rows = [(key, self._owner, *self._process, time.time() + seconds) for key in left]
            self._database.executemany("INSERT OR REPLACE INTO under_way VALUES (?, ?, ?, ?, ?, ?)", rows)
        self._under_way.update(left)
        return found

    def _are_elsewhere(self, keys: Sequence[str]) -> bool:
        """Whether somebody else who is still there asks for one of these."""
        query = "SELECT host, pid, started, until FROM under_way WHERE key = ? AND owner != ?"
        with ANSWERS.usable():
            rows = [row for key in keys for row in self._database.execute(query, (key, self._owner)).fetchall()]
        # rows of another kind are those of nobody
        return any(
            isinstance(until, float) and until > time.time() and Process(host, pid, started).may_run
            for host, pid, started, until in rows
            if isinstance(host, str) and isinstance(pid, int) and isinstance(started, str)
        )

    def end(self, keys: Iterable[str]) -> None:
        """Note that asks are no longer under way from here; those that are kept are not."""
        if not self._under_way.isdisjoint(keys):
            with ANSWERS.usable(), self._database:
                self._end(keys)

    def _end(self, keys: Iterable[str]) -> None:
        rows = [(key, self._owner) for key in keys if key in self._under_way]
        self._database.executemany("DELETE FROM under_way WHERE key = ? AND owner = ?", rows)
        self._under_way.difference_update(keys)

    def submit(self, batch: str, address: str, calls: Mapping[str, Sequence[str]]) -> None:
        """Note a batch: its id, the server's address, and the keys of the asks that each of its requests answers."""
        with ANSWERS.usable(), self._database:
            self._database.execute(
                "INSERT OR REPLACE INTO batches VALUES (?, ?, ?)", (batch, address, canonical_json(dict(calls)))
            )

    def submitted(self, address: str) -> dict[str, dict[str, list[str]]]:
        """The batches of a server whose answers were not all taken in, by id."""
        with ANSWERS.usable():
            rows = self._database.execute(
                "SELECT id, calls FROM batches WHERE address = ? AND calls != '{}' ORDER BY id", (address,)
            )
            return {_text(batch): _calls(calls) for batch, calls in rows.fetchall()}

    def noted(self, address: str) -> set[str]:
        """Ids of all batches of a server, also of those whose answers were taken in."""
        with ANSWERS.usable():
            rows = self._database.execute("SELECT id FROM batches WHERE address = ?", (address,))
            return {batch for (batch,) in rows.fetchall()}

    def finish(
        self, batch: str, address: str, left: Mapping[str, Sequence[str]], failed: Mapping[str, tuple[int, Answer]]
    ) -> None:
        """Note that the answers of a batch were taken in.

        Args:
            batch: its id.
            address: the server's, of which alone it is the id.
            left: requests of it that were answered and that nobody has asked for again yet.
            failed: asks that got no answer to keep, with the number of batches that it counts for and what they get in its place.
        """
        rows = [(key, n, answer.model_dump_json()) for key, (n, answer) in failed.items()]
        with ANSWERS.usable(), self._database:
            self._database.execute(
                "UPDATE batches SET calls = ? WHERE id = ? AND address = ?",
                (canonical_json(dict(left)), batch, address),
            )
            self._database.executemany(NOTE_FAILURE, rows)

    def given_up(self, keys: Iterable[str], most: int) -> dict[str, Answer]:
        """What the asks get that failed in so many batches in a row; the others are absent."""
        found = {}
        query = "SELECT answer FROM failures WHERE key = ? AND batches >= ?"
        with ANSWERS.usable():
            for key in keys:
                if (row := self._database.execute(query, (key, most)).fetchone()) is not None:
                    found[key] = _answer(row[0])
        return found

    def forget_failures(self, keys: Iterable[str]) -> None:
        """Forget in how many batches the asks failed."""
        with ANSWERS.usable(), self._database:
            self._database.executemany("DELETE FROM failures WHERE key = ?", [(key,) for key in keys])

    def close(self) -> None:
        """Close the file."""
        self._opened.close()


class NotKeptError(EvenhandError):
    """An ask has no answer yet."""


class OnlyKept:
    """The backend of that signature as far as its answers are kept; it asks no server."""

    def __init__(self, signature: str) -> None:
        self.signature = signature
        self.usage = Usage()
        self._kept = KeptAnswers()

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order.

        Raises:
            NotKeptError: one of them has none.
        """
        keys = [ask_key(self.signature, ask) for ask in asks]
        found = self._kept.find(keys)
        if n := len(keys) - sum(key in found for key in keys):
            raise NotKeptError(f"{n} of {len(keys)} requests have no answer yet")
        return [found[key].reply for key in keys]

    def close(self) -> None:
        """Close the file of answers."""
        self._kept.close()


def _rebuild(database: sqlite3.Connection) -> None:
    """Give the table of batches its key, where it has that of earlier versions: two servers may call their batches alike."""
    if not _is_earlier(database):
        return
    with database:
        database.execute("BEGIN IMMEDIATE")
        # another process may have done it meanwhile
        if _is_earlier(database):
            for statement in REBUILD:
                database.execute(statement)


def _is_earlier(database: sqlite3.Connection) -> bool:
    columns = database.execute("SELECT name FROM pragma_table_info('batches') WHERE pk > 0").fetchall()
    return columns == [("id",)]


def _text(kept: object) -> str:
    """SQLite keeps values of any type in any column, so a damaged or foreign file may hold some."""
    if not isinstance(kept, str):
        raise sqlite3.DataError("it holds a row of another kind")
    return kept


def _calls(kept: object) -> dict[str, list[str]]:
    """Keys of the asks that each request of a batch answers."""
    try:
        calls = CALLS.validate_json(_text(kept), strict=True)
    except ValidationError as error:
        raise sqlite3.DataError("it holds a row that is not a batch of a server") from error
    if not all(calls.values()):
        raise sqlite3.DataError("it holds a batch with a request that answers nothing")
    return calls


def _answer(kept: object) -> Answer:
    """The answer that a row holds."""
    try:
        return Answer.model_validate_json(_text(kept), strict=True)
    except ValidationError as error:
        raise sqlite3.DataError("it holds a row that is not an answer of a server") from error
