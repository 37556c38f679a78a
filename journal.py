"""The journal of work in progress: JSON lines, appended and flushed, so that a kill loses only what was in flight."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel

from .errors import StorageError
from .storage import listed_lines, read_numbered

R = TypeVar("R", bound=BaseModel)


class Journal(Generic[R]):
    """Append-only JSON lines of a stage that is under way.

    What an earlier, interrupted process appended is read back; a torn last line is cut off.

    Raises:
        StorageError: the file cannot be read, or a line other than a torn last one is damaged.
    """

    def __init__(self, path: Path, model: type[R]) -> None:
        self.path = path
        self.closed = False
        self.records: list[R] = []
        if path.exists():
            self._cut_torn_line()
            self._read_back(model)

    def _cut_torn_line(self) -> None:
        try:
            data = self.path.read_bytes()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                os.truncate(self.path, whole)
        except OSError as error:
            raise StorageError(f"{self.path}: cannot be read and mended: {error.strerror}") from error

    def _read_back(self, model: type[R]) -> None:
        numbered, mistakes = read_numbered(self.path, model)
        if mistakes:
            raise StorageError(
                listed_lines(self.path, mistakes)
                + "\nThis is the journal of an interrupted stage. Delete the first line named and all lines after it, and "
                "their work is done again; or delete the file, and the stage starts anew."
            )
        self.records = [record for _, record in numbered]

    def append(self, records: Sequence[R]) -> None:
        """Add records and flush them to the disk before returning.

        Raises:
            StorageError: the file cannot be written.
        """
        assert not self.closed, f"{self.path} is closed"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a", encoding="utf-8") as file:
                file.write("".join(record.model_dump_json() + "\n" for record in records))
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StorageError(
                f"{self.path}: cannot be written: {error.strerror}; make room or mend the rights, then give the same "
                "command again"
            ) from error
        self.records.extend(records)

    def close(self) -> None:
        """Say that nothing more comes; `Stage.run` removes the file once the receipt is written, not a moment earlier."""
        self.closed = True
