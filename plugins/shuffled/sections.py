"""What a recipe says of shuffled documents."""

from typing import ClassVar

from pydantic import Field

from ...config.methods import MethodSection


class ShuffledSection(MethodSection):
    """One summary of each cyclic rotation of the side's documents, then all of them merged."""

    lays_out_anew: ClassVar[bool] = True

    # most rotations of a request, evenly spaced; None takes as many as the side has documents
    rotations: int | None = Field(default=None, ge=1)
