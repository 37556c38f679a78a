"""What the JSON files hold of a gate."""

from typing import Literal

from ...config.gate import LEAST_GATED
from ...number import Number
from ...records import Record

Outcome = Literal["breach", "cannot tell", "missing", "passed"]


class GateRow(Number):
    """A limit, the number that it is about, and what came of it."""

    # what the profile calls it, else ""
    name: str
    # as it was written
    limit: str
    outcome: Outcome
    # what it is of, in words; of several the nearest to the limit, or the farthest beyond. "" if missing
    number: str
    # of its interval, adjusted for how many limits and numbers there are
    level: float | None = None
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
