"""A number with its interval, and what its page concludes from it: the one record of reports, comparisons, audits and studies.

A page that must say more of a number subclasses the record by that; what has several numbers holds several records. No other
record has bounds of its own, so whatever draws, gates or words a number reads one form.
"""

import math
from collections.abc import Iterable
from operator import not_
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, PlainSerializer, model_validator

from .records import Record, is_none

NOTHING = "-"
DIGITS = ".9g"
# of a number that is tested against 0
Verdict = Literal["higher", "lower", "no clear difference"]
CLEAR = ("higher", "lower")


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


class Number(Record):
    """A number of one page, with its interval over document sets; what does not apply to it is absent from the file."""

    # of what: a judge, a trait, a measure, a probe
    measure: str = Field(default="", exclude_if=not_)
    # whose: a system, a policy, a run
    system: str = Field(default="", exclude_if=not_)
    # what is taken from it, or what it stands beside
    reference: str = Field(default="", exclude_if=not_)
    # side of the requests, or attribute value of the documents; None for all together
    side: str | None = Field(default=None, exclude_if=is_none)
    # None where it is undefined
    value: float | None = None
    # None where no interval is known: of fewer than `resampling.LEAST_SETS` sets, say
    low: float | None = None
    high: float | None = None
    # requests, summaries or pairs that it rests on, their document sets, and how many had nothing to say
    n: int = Field(default=0, exclude_if=not_)
    n_sets: int = Field(default=0, exclude_if=not_)
    left_out: int = Field(default=0, exclude_if=not_)
    # two-sided, of "it is 0": by itself, and corrected for everything that the page tests (`evaluation.significance`)
    p_value: float | None = Field(default=None, exclude_if=is_none)
    adjusted: float | None = Field(default=None, exclude_if=is_none)
    # what the page concludes; None of what is not tested
    verdict: str | None = Field(default=None, exclude_if=is_none)
    # what each document set of the page says of it; none of what no gate can name
    by_set: BySet = Field(default=(), exclude_if=not_)

    @property
    def size(self) -> float:
        """Of the value without its sign; 0 where it is undefined."""
        return abs(self.value or 0.0)

    @property
    def is_clear(self) -> bool:
        """Whether its page concludes that it is off 0."""
        return self.verdict in CLEAR

    @model_validator(mode="after")
    def _bounds_are_in_order(self) -> "Number":
        if self.low is not None and self.high is not None and self.low > self.high:
            raise ValueError(f"an interval from {self.low} to {self.high} has no number in it")
        return self
