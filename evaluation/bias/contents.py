"""What report.json of a bias study holds: every number with its counts and intervals, and how sentences write them.

The page, the Markdown and the terminal table are drawn from these records alone, so nothing they show is missing here.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal

from ...records import LeftOut, Record
from ...resampling import Interval as Drawn
from ..pages.numbers import NO_INTERVAL, number
from .inputs import Design

# JSON has no infinity, and an odds ratio may be infinite
Number = float | Literal["infinity", "-infinity"] | None
Verdict = Literal["leans", "no clear difference"]


class Interval(Record):
    """An interval and what was drawn for it.

    Percentiles as published; but what a verdict rests on has an interval over documents that holds its level for few of them:
    Student's t with the jackknife of a signed figure, bootstrap-t of distinguishability.
    """

    # "assignment" keeps the originals and draws the names and genders (s), "document" draws or leaves out the originals (d)
    unit: Literal["assignment", "document"]
    low: Number
    high: Number
    # draws, and those of them with a defined score
    n: int
    n_defined: int


class Signed(Record):
    """A measure with its sign, which a score of distance has lost: above 0 favours the first group."""

    name: str
    value: Number
    intervals: tuple[Interval, ...]
    # two-sided, of "it is 0"; None where nothing can be tested
    p_value: float | None


class Rest(Record):
    """A measure without the documents in which words such as "sister" were rewritten with the gender."""

    score: Number
    intervals: tuple[Interval, ...]
    p_value: float | None
    n_documents: int
    # documents with such words
    n_reworded: int


class Measure(Record):
    """One measure of the summaries."""

    name: str
    question: str
    # how its scores are to be read: range, and that 0 is fair
    scale: str
    design: Design
    score: Number
    # why there is no score
    undefined: str | None
    intervals: tuple[Interval, ...]
    # group that is favoured; None when there is no direction
    direction: str | None
    # documents whose summaries say something of it: name a person, invent one, use a word
    n_documents: int
    # of the test of `signed`, of `rest` or of the score, and after Benjamini and Hochberg over all measures
    p_value: float | None
    adjusted: float | None
    # whether the interval over documents, of the same, leaves out 0 and the adjusted p-value says so, too; "no clear difference"
    # where documents are few
    verdict: Verdict | None
    # the result in words
    sentence: str
    signed: Signed | None
    # what the verdict rests on where rewritten words tell the groups apart without any bias; None where there are none
    rest: Rest | None
    # what to know about it
    notes: tuple[str, ...]


class NotMeasured(Record):
    """A measure that was not taken, and why."""

    name: str
    reason: str


class Trials(Record):
    """Summaries of uniform inputs, each compared with those of its own group and with the others'."""

    n: int
    # more like those of its own group; as like to both
    won: int
    tied: int


class GroupFigures(Record):
    """Counts and shares of one group; None where the measure was not taken or nothing was found."""

    group: str
    # persons in the balanced inputs, and the share of them whom the recogniser finds in the inputs themselves
    persons: int
    recognised_share: float | None
    # persons named in the summaries, and their share
    kept: int
    kept_share: float | None
    # persons whose name stands in the summary, and those of them whom the recogniser missed there; None without a recogniser
    written: int | None
    missed: int | None
    # words of the group's list in the balanced inputs and in their summaries, and their shares among all groups' words
    input_words: int | None
    input_share: float | None
    summary_words: int | None
    summary_share: float | None
    # invented persons whose names read as the group's, and their share among those that could be read
    invented: int | None
    invented_share: float | None
    # summaries of uniform inputs, and how they compare
    uniform_summaries: int
    by_words: Trials | None
    by_embeddings: Trials | None


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


class Example(Record):
    """Two inputs that differ in names and genders alone, and their summaries."""

    original_id: str
    # persons that one summary names and the other does not
    n_changed: int
    sides: tuple[ExampleSide, ExampleSide]


class BiasReport(Record):
    """The whole report."""

    format: Literal["evenhand-bias-study/4"] = "evenhand-bias-study/4"
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
    by_group: tuple[GroupFigures, ...]
    measures: tuple[Measure, ...]
    not_measured: tuple[NotMeasured, ...]
    designs: tuple[DesignFigures, ...]
    left_out: tuple[LeftOut, ...]
    examples: tuple[Example, ...]
    # of all intervals
    level: float
    resamples: int
    seed: int
    recipe: dict[str, Any]
    versions: dict[str, str]


def writable(value: float | None) -> Number:
    """The number as JSON can hold it."""
    if value is None or math.isnan(value):
        return None
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return value


def as_interval(unit: Literal["assignment", "document"], found: Drawn) -> Interval:
    """A bootstrap's interval as the report holds it."""
    return Interval(
        unit=unit, low=writable(found.low), high=writable(found.high), n=found.n_draws, n_defined=found.n_defined
    )


def readable(value: Number) -> float | None:
    """The number that `writable` wrote."""
    return value if value is None else float(value)


UNITS = {"assignment": "s", "document": "d"}


def score(value: Number) -> str:
    """The number, an infinity sign, or a dash."""
    return number(readable(value))


def all_bounds(intervals: Sequence[Interval]) -> str:
    """All intervals of a score with the letter of what was drawn, "d 0.010 to 0.050"; says so when there is none."""
    drawn = (
        (UNITS[each.unit], NO_INTERVAL if None in (each.low, each.high) else f"{score(each.low)} to {score(each.high)}")
        for each in intervals
    )
    return "; ".join(map(" ".join, drawn)) or NO_INTERVAL
