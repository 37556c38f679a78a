"""The journal of work in progress: lines appended and flushed, so that a kill loses only what was in flight.

A line is `{"line":N,"digest":"...","record":{...}}`: its number, counted from 0, and a digest of the digest before it and of the
record's own bytes; the first digest is of the stage's key, which stands in the file's name. So a line that was lost, doubled,
exchanged or altered is refused, as is a journal under the name of another, and neither is ever taken for work that was done.
Work that is asked for in batches (`Batches`) has a line for each finished batch; where several processes work at it, each has a
journal, and `Merged` reads them all.
"""

import hashlib
import os
import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar, cast

from pydantic import BaseModel

from ..errors import DataError, StorageError
from ..storage import parse_line
from .own_files import open_own
from .progress import Progress
from .shards import WHOLE, Shard

R = TypeVar("R", bound=BaseModel)
T = TypeVar("T")

LINE = re.compile(rb'\{"line":([0-9]{1,18}),"digest":"([0-9a-f]{16})","record":(.+)\}\n')
# how every line begins; those of versions that kept no digest begin otherwise
BEGINNING = b'{"line":'
# of a stage, in a journal's name; see `Stage.journal_path`
KEY = re.compile(r"[^.]+\.([0-9a-f]{16})\.(.+\.)?partial\.jsonl")
FLAGS = {"rb": os.O_RDONLY, "r+b": os.O_RDWR, "ab": os.O_WRONLY | os.O_APPEND | os.O_CREAT}
REMEDY = (
    "\nThis is the journal of an interrupted stage. Delete the line named and all lines after it, and their work is done "
    "again; or delete the file, and the stage starts over."
)


class Journal(Generic[R]):
    """Append-only records of a stage that is under way; `len`, iteration and an index give them back, read from the disk.

    Opening it reads through what an earlier, interrupted process appended and cuts off a torn last line. No record is held in
    memory.

    Raises:
        StorageError: the file cannot be read, or a line other than a torn last one is damaged.
    """

    def __init__(self, path: Path, model: type[R]) -> None:
        self.path = path
        self.closed = False
        self._model = model
        # where each line begins, in bytes, and where the next one will
        self._starts: list[int] = []
        self._end = 0
        # of the last line
        named = KEY.fullmatch(path.name)
        self._digest = named[1] if named else ""
        if path.exists():
            with self._open("r+b") as file:
                self._check(file)

    def _open(self, mode: str) -> BinaryIO:
        try:
            return cast(BinaryIO, os.fdopen(open_own(self.path, FLAGS[mode]), mode))
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be read and mended: {error.strerror}") from error

    def _check(self, file: BinaryIO) -> None:
        for line in file:
            if not line.endswith(b"\n"):
                file.truncate(self._end)
                break
            if not self._starts and not line.startswith(BEGINNING):
                raise StorageError(
                    f"{self.path}:1: is not a line of this version's journals, which hold a digest each; finish the stage with "
                    "the version that began it, or move the file away, and the stage starts over"
                )
            self._digest = self._checked(line)
            self._starts.append(self._end)
            self._end += len(line)

    def _checked(self, line: bytes) -> str:
        """The digest of the next line, which must be this one."""
        match = LINE.fullmatch(line)
        if match is None:
            raise self._refusal(len(self), "is damaged")
        number = int(match[1])
        if number != len(self):
            problem = (
                "lines before it are lost" if number > len(self) else "it occurs there twice or in another's place"
            )
            raise self._refusal(len(self), f"has the number {number} where {len(self)} is expected: {problem}")
        digest = match[2].decode()
        if digest != _chained(self._digest, match[3]):
            problem = "was altered, or a line before it: its digest is not that of what it holds"
            if not len(self) and self._digest:
                problem = (
                    "was altered, was written by an earlier version of evenhand, or is work by another recipe than recipe.yaml "
                    "of the run folder, or of other documents or models, under a name that is not its own: its digest is not "
                    f"that of the key {self._digest} in the name"
                )
            raise self._refusal(len(self), problem)
        return digest

    def _refusal(self, number: int, problem: str) -> StorageError:
        return StorageError(f"{self.path}:{number + 1}: {problem}{REMEDY}")

    def __len__(self) -> int:
        return len(self._starts)

    def __iter__(self) -> Iterator[R]:
        if not self._starts:
            return
        with self._open("rb") as file:
            # the file may grow meanwhile
            for number, line in zip(range(len(self)), file, strict=False):
                yield self._read(number, line)

    def __getitem__(self, number: int) -> R:
        number = range(len(self))[number]
        with self._open("rb") as file:
            file.seek(self._starts[number])
            return self._read(number, file.readline())

    def _read(self, number: int, line: bytes) -> R:
        match = LINE.fullmatch(line)
        if match is None:
            raise self._refusal(number, "was changed while the stage was under way")
        try:
            return parse_line(match[3].decode(), self._model)
        except (DataError, UnicodeDecodeError) as error:
            raise self._refusal(number, str(error)) from error

    def append(self, records: Sequence[R]) -> None:
        """Add records and flush them to the disk before returning.

        Raises:
            StorageError: the file cannot be written.
        """
        assert not self.closed, f"{self.path} is closed"
        lines = []
        for number, record in enumerate(records, start=len(self)):
            content = record.model_dump_json().encode()
            self._digest = _chained(self._digest, content)
            lines.append(b'{"line":%d,"digest":"%s","record":%s}\n' % (number, self._digest.encode(), content))
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(open_own(self.path, FLAGS["ab"]), "ab") as file:
                file.write(b"".join(lines))
                file.flush()
                os.fsync(file.fileno())
        except StorageError:
            self.closed = True
            raise
        except OSError as error:
            # a part of a line may be on the disk: only a new opening finds the end again
            self.closed = True
            raise StorageError(
                f"{self.path}: cannot be written: {error.strerror}; make room or mend the rights, then give the same "
                "command again"
            ) from error
        for line in lines:
            self._starts.append(self._end)
            self._end += len(line)

    def close(self) -> None:
        """Say that nothing more comes; `Stage.run` removes the file once the receipt is written, not a moment earlier."""
        self.closed = True


def _chained(before: str, content: bytes) -> str:
    """Digest of a line, 16 hexadecimal digits: of the digest of the line before and of what the line holds."""
    return hashlib.sha256(before.encode() + content).hexdigest()[:16]


class Merged(Generic[R]):
    """The journals of the processes that worked at a stage side by side, as one: each finished batch once, in the items' order.

    Args:
        journals: of the stage; they are read, and nothing is appended meanwhile.
        places_of: the places, among the stage's items, of those that a line finishes; none for a line that finishes no batch.

    Attributes:
        done: places of all items that are finished.
        overlapping: journals with batches that are not taken, since others have a part of them, and that part alone.
    """

    def __init__(self, journals: Sequence[Journal[R]], places_of: Callable[[R], Sequence[int]]) -> None:
        self.done: set[int] = set()
        # place of a batch's first item -> where the batch is
        self._lines: dict[int, tuple[Journal[R], int]] = {}
        passed_over: list[tuple[Path, Sequence[int]]] = []
        for journal in journals:
            for number, line in enumerate(journal):
                places = places_of(line)
                # a process that was killed before it could say so has finished it, and so may another have
                if places and self.done.isdisjoint(places):
                    self.done.update(places)
                    self._lines[min(places)] = journal, number
                elif places:
                    passed_over.append((journal.path, places))
        self.overlapping = {path for path, places in passed_over if not self.done.issuperset(places)}

    def __iter__(self) -> Iterator[R]:
        for first in sorted(self._lines):
            journal, number = self._lines[first]
            yield journal[number]


@dataclass(frozen=True)
class Batches(Generic[T]):
    """Items to be asked for in their order, `size` at a time."""

    items: Sequence[T]
    size: int
    # what items are called, in the plural, and where is said how many are done
    unit: str
    progress: Path
    # of whose batches the others are somebody else's
    shard: Shard = WHOLE

    def _is_mine(self, place: int) -> bool:
        return self.shard.has(place // self.size)

    def has_others(self, places: Iterable[int]) -> bool:
        """Whether some of these places are of other shards."""
        return not all(map(self._is_mine, places))

    def open(self, done: Container[int]) -> list[range]:
        """The places of what is not done, batch by batch; those of a batch follow each other.

        Args:
            done: places that the journals have. What lies between is cut into batches anew, so the size may have changed since.
        """
        is_open = [place not in done and self._is_mine(place) for place in range(len(self.items))]
        gaps = ([place for place, _ in gap] for of_gap, gap in groupby(enumerate(is_open), itemgetter(1)) if of_gap)
        return [
            range(gap[start], gap[min(start + self.size, len(gap)) - 1] + 1)
            for gap in gaps
            for start in range(0, len(gap), self.size)
        ]

    def of(self, batch: range) -> Sequence[T]:
        """The items of a batch."""
        return self.items[batch.start : batch.stop]

    def counted(self, batches: Sequence[range]) -> Progress:
        """Progress in items: at first all are done but those of these batches."""
        n = sum(map(self._is_mine, range(len(self.items))))
        return Progress(self.progress, self.unit, {"": n}, {"": n - sum(map(len, batches))})
