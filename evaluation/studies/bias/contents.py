"""What report.json of a bias study holds: every number with its counts and intervals, and how sentences write them.

The page, the Markdown and the terminal table are drawn from these records alone, so nothing they show is missing here.
"""

import math
from typing import Any, Literal

from ....records import LeftOut, Record
from ....resampling import Bounds
from ...pages.numbers import NO_INTERVAL, number
from .inputs import Design

# JSON has no infinity, and an odds ratio may be infinite
Number = float | Literal["infinity", "-infinity"] | None
Verdict = Literal["leans", "no clear difference"]


What = Literal["score", "rest", "difference"]
Unit = Literal["assignment", "document"]


class BiasNumber(Record):
    """A number of the summaries with an interval.

    Of a score as published, percentiles of drawn documents (d) or of drawn names and genders (s); of what a verdict rests on,
    whatever the exchange of the groups does not refuse.
    """

    # "score": as published; "rest": the same without documents in which words such as "sister" were rewritten with the gender;
    # "difference": the first group's less the second's, in shares
    what: What
    # "assignment" keeps the originals and draws the names and genders (s), "document" draws or exchanges the originals (d)
    over: Unit
    value: Number
    # None where there is no interval
    low: Number = None
    high: Number = None
    # documents that say something of it
    n_documents: int
    # draws, and those of them with a defined score; 0 of an exchange
    n_draws: int = 0
    n_defined: int = 0
    # after the correction of the study; None of what is not tested
    p_value: float | None = None

    @property
    def bounds(self) -> Bounds:
        """Its interval."""
        return readable(self.low), readable(self.high)


class Measure(Record):
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
    # of the number that is tested: whether its p-value is small and its interval leaves out 0
    verdict: Verdict | None
    # the result in words, and the same in a few
    sentence: str
    claim: str
    # documents with rewritten words, without which the verdict is
    n_reworded: int = 0
    # what to know about it
    notes: tuple[str, ...]

    def number(self, what: What, over: Unit = "document") -> BiasNumber | None:
        """One of its numbers; None where it has none of the kind."""
        return next((each for each in self.numbers if (each.what, each.over) == (what, over)), None)

    @property
    def score(self) -> Number:
        """As published; None where it is undefined, or none was published."""
        return next((each.value for each in self.numbers if each.what == "score"), None)

    @property
    def adjusted(self) -> float | None:
        """p-value of what is tested, after the correction of the study."""
        return None if self.tested is None else self.tested.p_value

    @property
    def tested(self) -> BiasNumber | None:
        """What the verdict rests on; None where nothing could be tested."""
        return next((each for each in self.numbers if each.p_value is not None), None)


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
    # mentions in summaries of persons who have a title in the input, and the share of them with a title
    titled: int
    titled_share: float | None
    # summaries that name persons of several groups, this one's first; and their share among the groups
    first: int
    first_share: float | None
    # quotations in the balanced inputs, and the share of them that is in the summaries
    quotations: int
    quotations_share: float | None
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

    format: Literal["evenhand-bias-study/5"] = "evenhand-bias-study/5"
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


def readable(value: Number) -> float | None:
    """The number that `writable` wrote."""
    return value if value is None else float(value)


UNITS = {"assignment": "s", "document": "d"}


def score(value: Number) -> str:
    """The number, an infinity sign, or a dash."""
    return number(readable(value))


def with_letter(found: BiasNumber) -> str:
    """Its interval with the letter of what was drawn, "d 0.010 to 0.050"; says so when there is none."""
    said = NO_INTERVAL if None in found.bounds else f"{score(found.low)} to {score(found.high)}"
    return f"{UNITS[found.over]} {said}"
