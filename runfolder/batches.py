"""Asking in batches: a finished batch is one line of the stage's journal, so a kill loses no more than the batch in flight."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel
from tqdm import tqdm

from .journal import Journal

T = TypeVar("T")
E = TypeVar("E")
R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True)
class Batches(Generic[T]):
    """Items to be asked for in their order, `size` at a time."""

    items: Sequence[T]
    size: int
    # of the progress bar: what an item is called, and what stands before the bar
    unit: str
    name: str | None = None

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
        with (
            opened() as engine,
            tqdm(total=len(self.items), initial=n_done, desc=self.name, unit=self.unit, disable=None) as bar,
        ):
            for start in range(n_done, len(self.items), self.size):
                batch = self.items[start : start + self.size]
                journal.append([ask(engine, batch)])
                bar.update(len(batch))
