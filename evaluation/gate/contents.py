"""What the JSON files hold of a gate, and what it acts on: of a number what each document set says."""

import math
from collections.abc import Iterable
from typing import Annotated, Literal

from pydantic import BeforeValidator, PlainSerializer

from ...config.gate import LEAST_GATED
from ...records import Record

NOTHING = "-"
DIGITS = ".9g"


def _read(written: object) -> object:
    if not isinstance(written, str):
        return written
    return tuple(None if each == NOTHING else float(each) for each in written.split())


def _write(values: tuple[float | None, ...]) -> str:
    return " ".join(NOTHING if value is None else f"{value:{DIGITS}}" for value in values)


def what_sets_say(values: Iterable[float]) -> tuple[float | None, ...]:
    """The values as files keep them; None for nan."""
    return tuple(None if math.isnan(value) else float(f"{value:{DIGITS}}") for value in values)


# of a number what each document set says, in the order of the page's sets: of a mean the set's own value, of others the
# jackknife's; None for sets that it does not rest on. In JSON one text, not a line for each set
BySet = Annotated[tuple[float | None, ...], BeforeValidator(_read), PlainSerializer(_write, return_type=str)]

Outcome = Literal["breach", "cannot tell", "missing", "passed"]


class GateRow(Record):
    """A limit and what came of it."""

    # what the profile calls it, else ""
    name: str
    # as it was written
    limit: str
    outcome: Outcome
    # the number that was found for it, in words; of several the nearest to the limit, or the farthest beyond. "" if missing
    number: str
    estimate: float | None = None
    # None where there is no interval
    low: float | None = None
    high: float | None = None
    # of that interval, adjusted for how many limits and numbers there are
    level: float | None = None
    # document sets that it rests on
    n_sets: int = 0
    # written as per cent; as points, if it is a difference, too
    is_share: bool = False
    is_difference: bool = False
    # why it is missing or cannot be told, and what else there is to know
    note: str = ""


class Gate(Record):
    """All limits that were asked for."""

    rows: tuple[GateRow, ...]
    # level of all intervals together
    level: float
    # whether what cannot be told fails, too
    is_strict: bool
    # the file that numbers are held against, or ""
    baseline: str = ""
    # document sets that a number must rest on for a verdict, unless it is an exact rate
    least_sets: int = LEAST_GATED

    @property
    def failed(self) -> tuple[GateRow, ...]:
        """The limits for which the command ends with an error."""
        allowed = ("passed",) if self.is_strict else ("passed", "cannot tell")
        return tuple(row for row in self.rows if row.outcome not in allowed)
