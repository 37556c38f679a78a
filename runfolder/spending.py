"""What a run may spend, said where its stages begin and read by whoever pays for answers; nobody in between hands it on."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

COSTS = "costs.jsonl"
# what batches can cost that are not answered yet
PROMISED = "batches.json"


@dataclass(frozen=True, eq=False)
class Budget:
    """What may be spent in one block, and where the account of it is."""

    # the run's; None: it is not written, as of a call that leaves no files
    folder: Path | None
    # in all, over all processes and days; None: no limit
    limit: float | None = None


# outside of a run nothing is limited
_budget: ContextVar[Budget] = ContextVar("budget", default=Budget(None))  # noqa: B039


@contextmanager
def spending(folder: Path | None, limit: float | None = None) -> Iterator[None]:
    """What servers are asked in this block is booked in the run of this folder."""
    token = _budget.set(Budget(folder, limit))
    try:
        yield
    finally:
        _budget.reset(token)


def budget() -> Budget:
    """That of the block; outside of one it is neither limited nor written."""
    return _budget.get()
