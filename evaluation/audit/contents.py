"""What audit.json holds: every number with its measure, its count, what was left out of it and the bootstrap it comes from."""

from dataclasses import dataclass
from operator import not_
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, PlainSerializer

from ...number import BySet, Verdict
from ...records import Record, is_none
from ...resampling import NOISE
from ..gate.contents import Gate

# what audit.json calls itself
SCHEMA = "evenhand-audit/7"
# the family of the shares of the attribute's values, by which every other one is read: it stands first in a headline
SHARES = "value-shares"


@dataclass(frozen=True)
class NumberKind:
    """A kind of number, and how it is read."""

    name: str
    # whether it is a share or a difference of shares, printed as per cent or points
    is_share: bool = True
    # whether it is a difference, printed with its sign
    is_difference: bool = False
    # whether it is the share of sets of which something holds
    is_rate: bool = False
    # whether it is a mean of absolute gaps, whose noise only adds up
    grows_by_chance: bool = False
    # whether systems are compared by it
    is_tested: bool = True
    # whether it is over the sets that can be unfair: those with words of several values
    of_several: bool = False
    # whether groups are named, and systems called fairer, by how far it is from its chance level: only where a null was found
    # that holds for every way of writing (docs/fairness.md#chance)
    votes: bool = False
    # whether groups are named by it, though systems are not called fairer
    only_names: bool = False
    # sets from which its 95 % interval holds the true number in at least 92 % of simulated audits; of fewer it is marked
    # (docs/run-folder.md#audit-intervals)
    holds_from: int = 0
    # whether its groups are lists of words, which are no attribute values, though they may have the same names
    is_of_lists: bool = False

    @property
    def names(self) -> bool:
        """Whether groups are named by it."""
        return self.votes or self.only_names


BUR = NumberKind("BUR", is_rate=True)
BUR_OF_SEVERAL = NumberKind("BUR of several values", is_rate=True, of_several=True)
UER = NumberKind("UER")
AUC = NumberKind("AUC")
SOF = NumberKind("SOF", grows_by_chance=True)
REPRESENTATION = NumberKind("Proportional Representation")
SHARE_IN_SOURCES = NumberKind("share in sources", is_tested=False, of_several=True)
SHARE_AIMED_AT = NumberKind("share aimed at", is_tested=False, of_several=True)
SHARE_OF_DOCUMENTS = NumberKind("share of documents", is_tested=False, of_several=True)
SHARE_IN_SUMMARIES = NumberKind("share in summaries", is_tested=False, of_several=True, votes=True)
SHORTFALL = NumberKind("shortfall", holds_from=30)
UNDER_REPRESENTED = NumberKind("under-represented", is_rate=True, is_tested=False)
PLACE_IN_SOURCES = NumberKind("place's share in sources", is_tested=False)
PLACE_IN_SUMMARIES = NumberKind("place's share in summaries", is_tested=False, only_names=True)
TONE_IN_SOURCES = NumberKind("tone in sources", is_tested=False)
TONE_IN_SUMMARIES = NumberKind("tone in summaries", is_tested=False, only_names=True)
EQUAL_COVERAGE = NumberKind("Equal Coverage", holds_from=60)
COVERAGE_PARITY = NumberKind("Coverage Parity", grows_by_chance=True)
COVERAGE = NumberKind("coverage", is_tested=False)
COVERAGE_DIFFERENCE = NumberKind("coverage difference", is_difference=True)
OPINION_GRAPH = NumberKind("opinion graph", is_share=False)
WORD_LIST_BIAS = NumberKind("word-list bias", grows_by_chance=True)
WORDS_IN_SOURCES = NumberKind("share of listed words in sources", is_tested=False, is_of_lists=True)
WORDS_IN_SUMMARIES = NumberKind("share of listed words in summaries", is_tested=False, is_of_lists=True)
WORDS_COMPARED = NumberKind(
    "share of compared listed words in summaries", is_tested=False, only_names=True, is_of_lists=True
)

KINDS = {
    kind.name: kind
    for kind in (
        *(BUR, BUR_OF_SEVERAL, UER, AUC, SOF, REPRESENTATION),
        *(SHARE_IN_SOURCES, SHARE_AIMED_AT, SHARE_OF_DOCUMENTS, SHARE_IN_SUMMARIES, SHORTFALL, UNDER_REPRESENTED),
        *(PLACE_IN_SOURCES, PLACE_IN_SUMMARIES, TONE_IN_SOURCES, TONE_IN_SUMMARIES),
        *(EQUAL_COVERAGE, COVERAGE_PARITY, COVERAGE, COVERAGE_DIFFERENCE),
        *(OPINION_GRAPH, WORD_LIST_BIAS, WORDS_IN_SOURCES, WORDS_IN_SUMMARIES, WORDS_COMPARED),
    )
}


@dataclass(frozen=True)
class Measure:
    """A kind of number as it was taken: "BUR (ngram)"."""

    kind: NumberKind
    # the matcher, entailer or word list; "" where nothing is chosen
    by: str = ""

    def __str__(self) -> str:
        return f"{self.kind.name} ({self.by})" if self.by else self.kind.name


@dataclass(frozen=True)
class Quantity:
    """One number of a corpus."""

    measure: Measure
    # attribute value, or group of a word list; None for an aggregate
    value: str | None = None

    @property
    def kind(self) -> NumberKind:
        """The kind of number."""
        return self.measure.kind


def _read(written: object) -> object:
    """The measure of its name in a file."""
    if not isinstance(written, str):
        return written
    name, _, by = written.partition(" (")
    if name not in KINDS:
        raise ValueError(f"measure {written!r} is not known")
    return Measure(KINDS[name], by.removesuffix(")"))


# in audit.json a measure is its name
WrittenMeasure = Annotated[Measure, BeforeValidator(_read), PlainSerializer(str, return_type=str)]


class MeasureNote(Record):
    """A family of measures as it was used."""

    # of `plan.MEASURES`
    family: str
    # how it tells what a summary takes up: "ngram", "words", ...; "" where nothing is chosen
    by: str
    # everything the numbers depend on besides documents and summaries
    signature: str


class Chance(Record):
    """A number beside what is expected: of room of documents of the same manner of writing."""

    # name of the null by which it is expected
    null: str
    expected: float
    # ends of what is expected, where that is not a single number and `expected` is the nearest of it
    between: tuple[float, float] | None = Field(default=None, exclude_if=is_none)
    # the number less that, with its interval, which holds what the test does not refuse; None where sets do not bound it, and of
    # a number between those ends
    gap: float
    low: float | None
    high: float | None
    # two-sided, of "the gap is 0", corrected for everything that the page tests (`significance`); None with fewer than two sets,
    # and of measures that do not name, from whose gaps nothing is concluded
    adjusted: float | None
    verdict: Verdict | None
    # the largest gap, of either sign, of extracts of the same documents that know no label (`fairness.groups.extracts`)
    blind: float | None = Field(default=None, exclude_if=is_none)
    # why nobody is named, though the gap is clear; "" where it is not, or somebody is
    doubt: str = Field(default="", exclude_if=not_)
    # what each document set says of the gap
    by_set: BySet = Field(default=(), exclude_if=not_)

    @property
    def is_inside(self) -> bool:
        """Whether the number lies between the ends of what is expected: the gap is 0 then, and has no spread."""
        return self.between is not None and abs(self.gap) <= NOISE


class Number(Record):
    """A quantity of one system's summaries with its interval over document sets."""

    # written "BUR (ngram)", "share in sources (ngram)", ...
    measure: WrittenMeasure
    family: str
    signature: str
    system: str
    # attribute value, or group of a word list; None for an aggregate
    value: str | None
    # None when undefined
    estimate: float | None
    # over document sets; None with fewer than `resampling.LEAST_SETS`
    low: float | None
    high: float | None
    # document sets that it rests on, and those left out by reason
    n: int
    left_out: dict[str, int]
    level: float
    resamples: int
    seed: int
    # whether it is a share or a difference of shares, printed as per cent
    is_share: bool
    # what it means for a reader, or why it is undefined; "" where the number stands in the table by value
    sentence: str = ""
    # fewer scored sets than `least_group` have the value: kept out of worst group and extremes, but not of the aggregates
    is_small: bool = False
    # over what each set says, or that of Clopper and Pearson, of a rate; "t" in files of earlier versions
    interval: Literal["bootstrap-t", "t", "exact"] = "bootstrap-t"
    # None where no null is known that holds
    chance: Chance | None = None
    # why, where a null is known, but nothing is concluded by it from these summaries
    withheld: str = Field(default="", exclude_if=not_)
    # what each document set says of it
    by_set: BySet = Field(default=(), exclude_if=not_)


class Representation(Record):
    """Who is represented less or more than documents written alike would be, under one system and family of measures."""

    family: str
    system: str
    measure: WrittenMeasure
    # attribute values, or groups of a word list, clearly below and above their chance level, the farthest first
    under: tuple[str, ...]
    over: tuple[str, ...]
    # values with too few sets for a verdict
    small: tuple[str, ...]
    # who, and the numbers of each of them
    sentence: str
    details: tuple[str, ...]


class Beside(Record):
    """A number that papers report beside their measures, and from which nothing is concluded."""

    measure: WrittenMeasure
    family: str
    system: str
    # "over the released cut-offs", "most over-represented", "where it has most documents", "lowest found with 4 sentences"
    how: str
    value: str | None
    # None when undefined
    estimate: float | None
    # over document sets, and by chance; None where that is not known
    low: float | None
    high: float | None
    expected: float | None
    # one-sided, of the released bootstrap over documents
    p_value: float | None
    # document sets that it rests on
    n: int


class PairedDifference(Record):
    """One system minus the first one, over the sets that are scored under both."""

    measure: WrittenMeasure
    family: str
    signature: str
    value: str | None
    system: str
    reference: str
    estimate: float | None
    low: float | None
    high: float | None
    # sets scored under both, and under one only
    n: int
    left_out: int
    level: float
    resamples: int
    seed: int
    is_share: bool
    # two-sided: systems are exchanged in whole sets; corrected for everything that the page tests. None with fewer than two sets,
    # and where the difference is undefined
    adjusted: float | None
    # "not measured" where the measure is undefined for one of the systems
    verdict: Verdict | Literal["not measured"]


Outcome = Literal["fairer", "less fair", "differs", "no clear difference", "too few sets"]


class Vote(Record):
    """Which of two systems is fairer by one family of measures: whose gap to the chance level is nearer to 0."""

    family: str
    measure: WrittenMeasure
    system: str
    reference: str
    # the attribute value that differs most
    value: str | None
    # of both at that value, over the sets that are scored under both, and their difference with its t interval
    gap: float | None
    reference_gap: float | None
    difference: float | None
    low: float | None
    high: float | None
    # sets scored under both
    n: int
    # of "both have the same gap", corrected for everything that the page tests
    adjusted: float | None
    is_share: bool
    # "differs": clearly, but neither is clearly nearer to 0; "too few sets" (--least-group) have any of the values
    verdict: Outcome
    # published measures that clearly say the opposite: no system is fairer then
    apart: tuple[str, ...] = Field(default=(), exclude_if=not_)


class Effect(Record):
    """What follows the place and what the documents, where the same documents were summarised in several orders."""

    # third of a set
    place: str
    # "order of the file": the gap of the third in it; "place": of any documents that stand there; "documents": of those that
    # stand there in the file, wherever they stand
    follows: Literal["order of the file", "place", "documents"]
    # share in summaries less what is expected, with its interval; None where the orders do not tell
    gap: float | None
    low: float | None
    high: float | None
    # sets scored in every order
    n: int
    # of "the gap is 0", corrected for everything that the page tests
    adjusted: float | None
    verdict: Verdict | None


class Line(Record):
    """A sentence or unit of a summary and what it takes up."""

    text: str
    # attribute value, or group of a word list -> how much: matched tokens, documents that have it, words
    takes: dict[str, float]
    # the words by which it does so, where it is words
    words: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    # what else there is to say of it: the opinion that it speaks for
    note: str = ""


class Side(Record):
    """A value, opinion or group of one set: what it has in the sources and in the summary."""

    name: str
    source: float | None
    summary: float | None


class TakenApart(Record):
    """What a family shows of one summary."""

    measure: str
    # what `source` and `summary` of the sides, and `takes` of the lines, are
    columns: tuple[str, str]
    takes_what: str
    sides: tuple[Side, ...]
    lines: tuple[Line, ...]
    # who is left out most, several where they tie, and their documents
    left_out: tuple[str, ...]
    documents: tuple[str, ...]
    is_share: bool = True


class Example(TakenApart):
    """One of the most unfair summaries of a system by a family of measures."""

    family: str
    system: str
    set_id: str
    topic: str
    # the set's own measure, which `measure` says; where it is chosen by a value's gap to what is expected, that gap
    unfairness: float
    is_gap: bool = Field(default=False, exclude_if=not_)


class SystemNote(Record):
    """One summaries file."""

    label: str
    source: str
    # digest of the file
    digest: str
    n_summaries: int
    # means of its summaries
    n_words: float
    n_sentences: float
    # ids of the sets of which it has no summary, or an empty one
    missing: tuple[str, ...] = Field(default=(), exclude_if=not_)


class ValueNote(Record):
    """An attribute value and how much of it the documents have."""

    value: str
    n_sets: int
    n_documents: int


class Audit(Record):
    """Everything the audit says."""

    # of audit.json, so that a folder of something else is not taken for an audit
    schema_name: str
    title: str
    warnings: tuple[str, ...]
    # what would have to be installed to measure more, and what was taken in its place
    hints: tuple[str, ...] = ()
    documents: str
    documents_digest: str
    attribute: str
    values: tuple[ValueNote, ...]
    # what the user calls values; others are called by `pages.value_names`
    labels: dict[str, str] = Field(default_factory=dict, exclude_if=not_)
    n_sets: int
    # sets of the file that `limit` left aside
    n_not_drawn: int
    systems: tuple[SystemNote, ...]
    measures: tuple[MeasureNote, ...]
    by_value: tuple[Number, ...]
    aggregates: tuple[Number, ...]
    represented: tuple[Representation, ...]
    differences: tuple[PairedDifference, ...]
    votes: tuple[Vote, ...]
    # by place, where systems are one summarizer with the documents in several orders
    orders: tuple[Effect, ...] = ()
    beside: tuple[Beside, ...] = ()
    examples: tuple[Example, ...]
    options: dict[str, Any]
    versions: dict[str, str]
    # ids of the document sets, in the order of what each says
    sets: tuple[str, ...] = ()
    # limits that were asked for, and their verdicts
    gate: Gate | None = Field(default=None, exclude_if=is_none)
