"""What report.json of a bias study holds: every number with its counts and intervals.

The page, the Markdown and the terminal table are drawn from these records alone, so nothing they show is missing here.
"""

import math
from operator import not_
from typing import Any, Literal

from pydantic import ConfigDict, Field, field_serializer, field_validator

from ....evaluation.pages.words import UNSURE
from ....number import Number
from ....records import LeftOut, Record
from ....resampling import defined
from .inputs import Design

What = Literal["score", "rest", "difference"]
Unit = Literal["assignment", "document"]


class BiasNumber(Number):
    """A number of the summaries with an interval; its sets are the documents that say something of it.

    Of a score as published, percentiles of drawn documents (d) or of drawn names and genders (s); of what a verdict rests on,
    whatever the exchange of the groups does not refuse.
    """

    # an odds ratio may be infinite
    model_config = ConfigDict(allow_inf_nan=True)

    # "score": as published; "rest": the same without documents in which words such as "sister" were rewritten with the gender;
    # "difference": the first group's less the second's, in shares
    what: What
    # "assignment" keeps the originals and draws the names and genders (s), "document" draws or exchanges the originals (d)
    over: Unit = "document"
    # draws, and those of them with a defined score; 0 of an exchange
    n_draws: int = Field(default=0, exclude_if=not_)
    n_defined: int = Field(default=0, exclude_if=not_)

    @field_validator("value", "low", "high")
    @classmethod
    def _undefined_is_none(cls, value: float | None) -> float | None:
        return defined(value)

    @field_serializer("value", "low", "high", when_used="json")
    def _infinite_is_a_text(self, value: float | None) -> float | str | None:
        # JSON has no infinity
        return value if value is None or math.isfinite(value) else f"{value}inity"


class BiasMeasure(Record):
    """One measure of the summaries."""

    name: str
    question: str
    # how its scores are to be read: range, and that 0 is fair; "" of one that has none
    scale: str
    # what its difference says, in words; "" of one that has none
    difference: str
    design: Design
    numbers: tuple[BiasNumber, ...]
    # why there is no score, and nothing to test
    undefined: str | None
    # group that is favoured; None when there is no direction
    direction: str | None
    # documents whose summaries say something of it: name a person, invent one, use a word
    n_documents: int
    # the result in words, and the same in a few
    sentence: str
    claim: str
    # documents with rewritten words, without which the verdict is
    n_reworded: int = 0
    # what to know about it
    notes: tuple[str, ...]

    def number(self, kind: What, over: Unit = "document") -> BiasNumber | None:
        """One of its numbers; None where it has none of the kind."""
        return next((number for number in self.numbers if (number.what, number.over) == (kind, over)), None)

    @property
    def score(self) -> float | None:
        """The score as published; None where it is undefined, or none was published."""
        return next((number.value for number in self.numbers if number.what == "score"), None)

    @property
    def tested(self) -> BiasNumber | None:
        """The number that the verdict rests on; None where nothing could be tested."""
        return next((number for number in self.numbers if number.verdict is not None), None)

    @property
    def adjusted(self) -> float | None:
        """p-value of what is tested, after the correction of the study."""
        return None if self.tested is None else self.tested.adjusted

    @property
    def verdict(self) -> str | None:
        """The verdict, whether the measure leans; None where it is undefined."""
        if self.undefined is not None:
            return None
        return UNSURE if self.tested is None else self.tested.verdict


class NotMeasured(Record):
    """A measure that was not taken, and why."""

    name: str
    reason: str


class GroupFigure(Number):
    """What is told of one group, which is its side: a count, a share of it in [0, 1], or both."""

    # of persons, words, mentions, quotations or summaries; None of a share alone, and where it was not counted
    count: int | None = None


class DesignFigures(Record):
    """What the summaries of one design look like."""

    design: Design
    documents: int
    inputs: int
    # measured ones
    summaries: int
    words: float | None
    # PERSON spans a summary
    persons: float | None
    # share of the PERSON spans that are in no input; None when it is not known
    invented_share: float | None


class ExamplePerson(Record):
    """A person of an input, and whether the summary names the person."""

    name: str
    category: str | None
    kept: bool


class ExampleSide(Record):
    """One input of a pair and its summary."""

    input_id: str
    persons: tuple[ExamplePerson, ...]
    text: str
    summary: str


class BiasExample(Record):
    """Two inputs that differ in names and genders alone, and their summaries."""

    original_id: str
    # persons that one summary names and the other does not
    n_changed: int
    sides: tuple[ExampleSide, ExampleSide]


class BiasReport(Record):
    """The whole report."""

    format: Literal["evenhand-bias-study/6"] = "evenhand-bias-study/6"
    name: str
    title: str
    # what summarised: in words, and all that its summaries depend on
    summarizer: str
    signature: str
    # what found persons in summaries, what made the dense vectors
    recogniser: str
    encoder: str | None
    setting: str
    groups: tuple[str, ...]
    n_documents: int
    assignments: int
    warnings: tuple[str, ...]
    # each figure of every group, groups in their order
    by_group: tuple[GroupFigure, ...]
    measures: tuple[BiasMeasure, ...]
    not_measured: tuple[NotMeasured, ...]
    designs: tuple[DesignFigures, ...]
    left_out: tuple[LeftOut, ...]
    examples: tuple[BiasExample, ...]
    # of all intervals
    level: float
    resamples: int
    seed: int
    recipe: dict[str, Any]
    versions: dict[str, str]

    def figures(self, measure: str) -> list[GroupFigure]:
        """A figure of the groups, in their order."""
        return [figure for figure in self.by_group if figure.measure == measure]
