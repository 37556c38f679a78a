"""What a run pays for servers' answers: lines for each try of a request in its folder, and the limit that none may pass.

A stage says what its run may spend (`runfolder.spending`), and whoever asks a server books in that run's account. The most that a
try can cost is written down before it is sent, and what it did cost when its answer is whole and says it: the last line of a
number counts. So whatever comes back, and whenever the command is killed, the account may be too high, and is never too low.

Batches are answered when the command has long ended, so what they can cost is noted beside the account until it is booked: the
limit holds for all steps of a run, also for those that ask another server or work by another recipe.
"""

import math
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path
from threading import Lock
from typing import Annotated
from weakref import WeakKeyDictionary

from pydantic import Field, ValidationError

from ...errors import CostLimitError, StorageError
from ...records import Record
from ...runfolder.journal import Journal
from ...runfolder.spending import COSTS, PROMISED, Budget, budget
from ...storage import read_text, write_json
from ...text.mistakes import explain


class Charge(Record):
    """What one try of a request took, or the most that it can have taken."""

    # of the try, counted from 0: the last line of a number counts; None: the line stands alone
    number: int | None = None
    model: str
    # tokens of the prompt; those of them that the server had cached; tokens of all its answers
    input: int
    cached: int
    output: int
    # None: no price is known
    cost: float | None = None
    # False: the server did not tell its tokens, or not yet, and the cost is the most that they can have cost
    is_told: bool = True
    # whether the server refused the try: most servers want nothing for that
    is_refused: bool = False


def costs_by_try(lines: Iterable[Charge]) -> list[Charge]:
    """What each try took as far as it is known, or can have taken: the lines that count."""
    counting = dict[tuple[bool, int], Charge]()
    for place, line in enumerate(lines):
        counting[line.number is None, place if line.number is None else line.number] = line
    return [*counting.values()]


class Promised(Record):
    """Address of each batch -> what its requests without an answer can cost."""

    batches: dict[str, Annotated[float, Field(ge=0, strict=True)]] = Field(default_factory=dict)


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
        # the most that each try under way can cost, by its number
        self._open: dict[int, Charge] = {}
        self._lines = None if folder is None else Journal(folder / COSTS, Charge)
        costs = costs_by_try(self._lines or ())
        self._numbers = count(1 + max((line.number for line in costs if line.number is not None), default=-1))
        self._spent = self._untold = self._refused = 0.0
        self._n_untold = 0
        for line in costs:
            self._add(line)
        self._promised_file = None if folder is None else folder / PROMISED
        self._promised = _read_promised(self._promised_file)

    @property
    def spent(self) -> float:
        """The sum so far, without tries that are under way."""
        return self._spent

    @property
    def is_idle(self) -> bool:
        """Whether no try is under way."""
        return not self._open

    def has_room(self, cost: float) -> bool:
        """Whether a request of at most this cost may be sent beside those that are under way."""
        costs = [self._spent, *(charge.cost or 0.0 for charge in self._open.values()), *self._promised.values()]
        return self.limit is None or math.fsum([*costs, cost]) <= self.limit

    def begin(self, charge: Charge) -> int:
        """Write down the most that a try can cost, before it is sent; its number.

        Raises:
            StorageError: the file cannot be written.
        """
        number = next(self._numbers)
        # without prices nothing is limited
        if charge.cost is not None:
            self._write(charge.model_copy(update={"number": number, "is_told": False}))
        self._open[number] = charge
        return number

    def settle(self, number: int, cost: Charge) -> None:
        """Write down what a try took.

        Raises:
            StorageError: the file cannot be written.
        """
        self._write(cost.model_copy(update={"number": number}))
        del self._open[number]
        self._add(cost)

    def leave(self, number: int, *, is_refused: bool = False, is_sent: bool = True) -> None:
        """Let the most stay booked of a try of which nothing whole came, unless it was never sent.

        Nothing happens to one that is settled.

        Raises:
            StorageError: the file cannot be written.
        """
        if (charge := self._open.pop(number, None)) is None:
            return
        if not is_sent:
            charge = Charge(model=charge.model, input=0, cached=0, output=0, cost=None if charge.cost is None else 0.0)
        charge = charge.model_copy(update={"number": number, "is_told": not is_sent, "is_refused": is_refused})
        self._add(charge)
        if (is_refused or not is_sent) and charge.cost is not None:
            self._write(charge)

    @property
    def promised(self) -> Mapping[str, float]:
        """Address of each batch -> what it can still cost."""
        return self._promised

    def promise(self, batch: str, cost: float) -> None:
        """Note what a batch can still cost, by its address; 0 when nothing more is paid for it.

        Raises:
            StorageError: the file cannot be written.
        """
        if cost == self._promised.get(batch, 0.0):
            return
        self._promised = {name: amount for name, amount in {**self._promised, batch: cost}.items() if amount}
        if self._promised_file is not None:
            write_json(self._promised_file, Promised(batches=self._promised).model_dump())

    def refusal(self, cost: float) -> CostLimitError:
        """Why no further request is sent."""
        where = "" if self._lines is None else f"{self._lines.path}: "
        promised = math.fsum(self._promised.values())
        parts = [f"{self.spent:.4g} of limits.cost {self.limit:g} is spent"]
        if self._untold:
            parts.append(
                f"of which {self._untold:.2g} is the most that {self._n_untold} requests can have cost whose answers did not "
                "come whole or did not tell their tokens"
            )
        if self._refused:
            parts.append(
                f"{self._refused:.2g} of it for what the server refused, which most servers do not bill (server.concurrency and "
                "requests_per_minute make such refusals fewer; add to limits.cost what is not billed)"
            )
        if promised:
            parts.append(
                f"batches that are not answered may cost {promised:.2g} ({self._promised_file or 'of this call'})"
            )
        parts.append(f"and the next request may cost {cost:.2g}; raise limits.cost, and the same command continues")
        return CostLimitError(where + ", ".join(parts))

    def book(self, cost: Charge) -> None:
        """Write down what a request of a batch took.

        Raises:
            StorageError: the file cannot be written.
        """
        self._write(cost)
        self._add(cost)

    def _write(self, cost: Charge) -> None:
        if self._lines is not None:
            self._lines.append([cost])

    def _add(self, cost: Charge) -> None:
        self._spent = math.fsum([self._spent, cost.cost or 0.0])
        if not cost.is_told and cost.cost:
            self._n_untold += 1
            self._untold = math.fsum([self._untold, cost.cost])
            self._refused = math.fsum([self._refused, cost.cost * cost.is_refused])


def _read_promised(path: Path | None) -> dict[str, float]:
    """Highest cost of the open batches of a run, by batch.

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


# several threads may ask at once
_lock = Lock()
_accounts: WeakKeyDictionary[Budget, Spending] = WeakKeyDictionary()


def current() -> Spending:
    """The account of the run that is under way here, opened when it is first asked for.

    Raises:
        StorageError: it cannot be read, or is damaged.
    """
    limits = budget()
    with _lock:
        if limits not in _accounts:
            _accounts[limits] = Spending(limits.folder, limits.limit)
        return _accounts[limits]
