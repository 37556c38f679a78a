"""What the builders of raw data hand back."""

from dataclasses import dataclass

from ...records import DocumentSet


@dataclass(frozen=True)
class BuiltSets:
    """Document sets, and what of the raw data is in none of them."""

    sets: list[DocumentSet]
    # reason -> how many
    left_out: dict[str, int]
