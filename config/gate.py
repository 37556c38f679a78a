"""A profile of a gate: limits under names of their own."""

from typing import Annotated

from pydantic import Field

from ..resampling import LEAST_SETS
from .section import Section

# an expression is no name of a file, however long it is
Limits = Annotated[dict[str, str], Field(min_length=1)]


# with fewer document sets there is no verdict unless a profile says so: of those where most sets lie below the mean, as the gap
# of a small group, too many break a limit that they keep (docs/gate.md#simulations)
LEAST_GATED = 20


class GateSection(Section):
    """What a release must keep."""

    # name -> limit, for example "no side loses room: worst_gap(shares) < -0.05"
    limits: Limits
    # whether a limit fails, too, of which it cannot be told whether it is kept
    strict: bool = False
    # document sets that a number must rest on to break a limit or to pass it; exact rates need five
    least_sets: int = Field(default=LEAST_GATED, ge=LEAST_SETS)
