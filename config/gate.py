"""A profile of a gate: limits under names of their own."""

from typing import Annotated

from pydantic import Field

from .section import Section

# an expression is no name of a file, however long it is
Limits = Annotated[dict[str, str], Field(min_length=1)]


class GateSection(Section):
    """What a release must keep."""

    # name -> limit, for example "no side loses room: worst_gap(shares) < -0.05"
    limits: Limits
    # whether a limit fails, too, of which it cannot be told whether it is kept
    strict: bool = False
