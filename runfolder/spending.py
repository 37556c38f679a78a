"""What a run pays for servers' answers: a line for each in its folder, and the limit that no request may pass.

A stage opens the account of its run, and whoever asks a server books there; nobody in between hands anything on. A line is
written before its answer is kept, so a kill can make the account too high by what was in flight, and never too low.

Batches are answered when the command has long ended, so what they can cost is noted beside the account until it is booked: the
limit holds for all steps of a run, also for those that ask another server or work by another recipe.
"""

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

from pydantic import Field, ValidationError

from ..errors import CostLimitError, StorageError
from ..records import Record
from ..storage import explain, read_text, write_json
from .journal import Journal

COSTS = "costs.jsonl"
# what batches can cost that are not answered yet
PROMISED = "batches.json"


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


class Promised(Record):
    """Address of each batch -> what its requests without an answer can cost."""

    batches: dict[str, float] = Field(default_factory=dict)


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
        self._promised_file = None if folder is None else folder / PROMISED
        self._promised = _read_promised(self._promised_file)

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
        taken = [self._spent, *self._reserved, *self._promised.values()]
        return self.limit is None or math.fsum([*taken, most]) <= self.limit

    def reserve(self, most: float) -> None:
        """Take room for a request that is sent; it is given back when it is booked or released."""
        self._reserved.append(most)

    def release(self, most: float) -> None:
        """Give the room of a request back."""
        self._reserved.remove(most)

    @property
    def promised(self) -> Mapping[str, float]:
        """Address of each batch -> what it can still cost."""
        return self._promised

    def promise(self, batch: str, most: float) -> None:
        """Note what a batch can still cost, by its address; 0 when nothing more is paid for it.

        Raises:
            StorageError: the file cannot be written.
        """
        if most == self._promised.get(batch, 0.0):
            return
        self._promised = {name: each for name, each in {**self._promised, batch: most}.items() if each}
        if self._promised_file is not None:
            write_json(self._promised_file, Promised(batches=self._promised).model_dump())

    def refusal(self, most: float) -> CostLimitError:
        """Why no further request is sent."""
        where = "" if self._lines is None else f"{self._lines.path}: "
        promised = math.fsum(self._promised.values())
        open_batches = (
            f"batches that are not answered may cost {promised:.2g} ({self._promised_file or 'of this call'}), "
        )
        return CostLimitError(
            f"{where}{self.spent:.4g} of limits.cost {self.limit:g} is spent, {open_batches if promised else ''}and the next "
            f"request may cost {most:.2g}; raise limits.cost, and the same command continues"
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


def _read_promised(path: Path | None) -> dict[str, float]:
    """What open batches of a run can cost.

    Raises:
        StorageError: the file cannot be read, or is none.
    """
    if path is None or not path.exists():
        return {}
    try:
        return Promised.model_validate_json(read_text(path)).batches
    except ValidationError as error:
        raise StorageError(
            f"{path}: does not say what batches can cost ({explain(error)}); delete it, and limits.cost counts them when they "
            "are answered"
        ) from error


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
