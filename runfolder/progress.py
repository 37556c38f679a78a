"""How far a stage is, for whoever watches it: a small file beside its journal says how much of the work is in the journal."""

import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from ..errors import DataError, StorageError
from ..records import Record
from ..storage import parse_line, read_text, write_text

# seconds between two writings of the file
PAUSE = 0.3


class Tally(Record):
    """What is done, of how much."""

    # what is counted: "requests", "judgements", "steps"
    unit: str
    # part -> how much of it is done, and how much there is; a part is a judge, or "" where a stage has no parts
    done: dict[str, int]
    total: dict[str, int]


class Progress:
    """The tally of a stage that is under way, kept in a file.

    Args:
        path: see `progress_path`.
        unit: what is counted.
        total: how much there is of each part.
        done: how much of it an earlier process has done.
    """

    def __init__(self, path: Path, unit: str, total: Mapping[str, int], done: Mapping[str, int]) -> None:
        self._path = path
        self._tally = Tally(unit=unit, total=dict(total), done={part: done.get(part, 0) for part in total})
        self._write()

    def is_open(self, part: str) -> bool:
        """Whether something of a part is left to do."""
        return self._tally.done[part] < self._tally.total[part]

    def add(self, n: int = 1, part: str = "") -> None:
        """Count what is done; call it when the journal has it."""
        done = self._tally.done
        done[part] += n
        if done == self._tally.total or time.monotonic() - self._written > PAUSE:
            self._write()

    def through(self, batches: Iterable[range]) -> Iterator[range]:
        """The batches one after another; to ask for the next one is to say that the journal has the last one."""
        for batch in batches:
            yield batch
            self.add(len(batch))

    def _write(self) -> None:
        write_text(self._path, self._tally.model_dump_json())
        self._written = time.monotonic()


def progress_path(folder: Path, stage: str) -> Path:
    """Where a stage says how far it is; nothing is there before it begins to count and when it is done."""
    return folder / "receipts" / f"{stage}.progress"


def read_progress(path: Path) -> Tally | None:
    """How far a stage is; None when it says nothing, or nothing that can be read."""
    try:
        return parse_line(read_text(path), Tally) if path.is_file() else None
    except (DataError, StorageError):
        # the stage removed it meanwhile
        return None
