"""Asking in batches: a finished batch is one line of the stage's journal, so a kill loses no more than the batch in flight."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel

from .journal import Journal
from .progress import Progress

T = TypeVar("T")
E = TypeVar("E")
R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True)
class Batches(Generic[T]):
    """Items to be asked for in their order, `size` at a time."""

    items: Sequence[T]
    size: int
    # what items are called, in the plural, and where is said how many are done
    unit: str
    progress: Path

    def finish(
        self,
        journal: Journal[R],
        n_done: int,
        opened: Callable[[], AbstractContextManager[E]],
        ask: Callable[[E, Sequence[T]], R],
    ) -> None:
        """Ask for what is not done yet, and put each finished batch into the journal.

        Args:
            journal: of the stage; what an interrupted run left there stays as it is.
            n_done: how many items, from the first, the journal has. The others are cut into batches anew, so the size may have
                changed since.
            opened: opens what is asked; not called where nothing is left.
            ask: what comes of a batch.
        """
        if n_done >= len(self.items):
            return
        progress = Progress(self.progress, self.unit, {"": len(self.items)}, {"": n_done})
        with opened() as engine:
            for start in range(n_done, len(self.items), self.size):
                batch = self.items[start : start + self.size]
                journal.append([ask(engine, batch)])
                progress.add(len(batch))
