"""What a run pays for servers' answers: a line for each in its folder, and the limit that no request may pass.

A stage opens the account of its run, and whoever asks a server books there; nobody in between hands anything on. A line is
written before its answer is kept, so a kill can make the account too high by what was in flight, and never too low.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from ..errors import CostLimitError
from ..records import Record
from .journal import Journal

COSTS = "costs.jsonl"


class Cost(Record):
    """What one request took."""

    model: str
    # tokens of the prompt; those of them that the server had cached; tokens of all its answers
    input: int
    cached: int
    output: int
    # None: no price is known
    cost: float | None = None
    # False: the server did not tell its tokens, and the cost is the most that they can have cost
    is_told: bool = True


class Spending:
    """The account of one run.

    Args:
        folder: the run's; None: it is not written, as of a call that leaves no files.
        limit: what may be spent in all, over all processes and days; None: no limit.

    Raises:
        StorageError: the account cannot be read, or is damaged.
    """

    def __init__(self, folder: Path | None, limit: float | None = None) -> None:
        self.limit = limit
        # what each request under way may cost
        self._reserved: list[float] = []
        self._lines = None if folder is None else Journal(folder / COSTS, Cost)
        self._spent = math.fsum(line.cost for line in self._lines or () if line.cost is not None)

    @property
    def spent(self) -> float:
        """The sum so far."""
        return self._spent

    @property
    def is_idle(self) -> bool:
        """Whether no request is under way."""
        return not self._reserved

    def has_room(self, most: float) -> bool:
        """Whether a request of at most this cost may be sent beside those that are under way."""
        return self.limit is None or math.fsum([self._spent, *self._reserved, most]) <= self.limit

    def reserve(self, most: float) -> None:
        """Take room for a request that is sent; it is given back when it is booked or released."""
        self._reserved.append(most)

    def release(self, most: float) -> None:
        """Give the room of a request back."""
        self._reserved.remove(most)

    def refusal(self, most: float) -> CostLimitError:
        """Why no further request is sent."""
        where = "" if self._lines is None else f"{self._lines.path}: "
        return CostLimitError(
            f"{where}{self.spent:.4g} of limits.cost {self.limit:g} is spent, and the next request may cost {most:.2g}; raise "
            "limits.cost, and the same command continues"
        )

    def book(self, cost: Cost) -> None:
        """Write down what a request took.

        Raises:
            StorageError: the file cannot be written.
        """
        if self._lines is not None:
            self._lines.append([cost])
        if cost.cost is not None:
            self._spent = math.fsum([self._spent, cost.cost])


_account: ContextVar[Spending | None] = ContextVar("spending", default=None)


@contextmanager
def spending(folder: Path | None, limit: float | None = None) -> Iterator[None]:
    """What servers are asked in this block is booked in the run of this folder."""
    token = _account.set(Spending(folder, limit))
    try:
        yield
    finally:
        _account.reset(token)


def current() -> Spending | None:
    """The open account; None outside of a run."""
    return _account.get()
