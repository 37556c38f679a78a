"""Ratings as importers write them: a JSON line for each score, which `--ratings` reads."""

from dataclasses import dataclass, field
from operator import not_

from pydantic import Field

from ....records import DocumentSet, Record, Text


class RatingRow(Record):
    """One score of one summary."""

    set_id: Text
    # "" where nobody says who wrote it
    system: str = Field(default="", exclude_if=not_)
    summary: Text
    # "" where nobody is named
    rater: str = Field(default="", exclude_if=not_)
    dimension: Text
    score: float


@dataclass(frozen=True)
class RatedSets:
    """Document sets, and what people said of their summaries."""

    sets: list[DocumentSet]
    rows: list[RatingRow]
    # reason -> how many ratings are in none of the rows
    left_out: dict[str, int] = field(default_factory=dict)
