"""What audit.json holds: every number with its measure, its count, what was left out of it and the bootstrap it comes from."""

from dataclasses import dataclass
from functools import cache
from operator import not_
from typing import Any, Literal

from pydantic import Field, field_validator

from ...number import Number
from ...records import Record, is_none
from ...resampling import NOISE, Bootstrap
from ..gate.contents import Gate

# what audit.json calls itself
SCHEMA: Literal["evenhand-audit/9"] = "evenhand-audit/9"
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

# family -> its kinds of numbers
KINDS_BY_FAMILY = {
    SHARES: (
        *(BUR, BUR_OF_SEVERAL, UER, AUC, SOF, REPRESENTATION),
        *(SHARE_IN_SOURCES, SHARE_AIMED_AT, SHARE_OF_DOCUMENTS, SHARE_IN_SUMMARIES, SHORTFALL, UNDER_REPRESENTED),
    ),
    "order": (PLACE_IN_SOURCES, PLACE_IN_SUMMARIES),
    "tone": (TONE_IN_SOURCES, TONE_IN_SUMMARIES),
    "coverage": (EQUAL_COVERAGE, COVERAGE_PARITY, COVERAGE, COVERAGE_DIFFERENCE),
    "opinions": (OPINION_GRAPH,),
    "word-lists": (WORD_LIST_BIAS, WORDS_IN_SOURCES, WORDS_IN_SUMMARIES, WORDS_COMPARED),
}
KINDS = {kind.name: kind for kinds in KINDS_BY_FAMILY.values() for kind in kinds}
FAMILY_BY_KIND = {kind: family for family, kinds in KINDS_BY_FAMILY.items() for kind in kinds}


@dataclass(frozen=True)
class Measure:
    """A kind of number as it was taken: "BUR (ngram)"."""

    kind: NumberKind
    # the matcher, entailer or word list; "" where nothing is chosen
    by: str = ""

    def __str__(self) -> str:
        return f"{self.kind.name} ({self.by})" if self.by else self.kind.name

    @classmethod
    @cache
    def read(cls, name: str) -> "Measure":
        """The measure of its name in a file.

        Raises:
            ValueError: it is not known.
        """
        kind, _, by = name.partition(" (")
        if kind not in KINDS:
            raise ValueError(f"measure {name!r} is not known")
        return cls(KINDS[kind], by.removesuffix(")"))


@dataclass(frozen=True)
class Quantity:
    """One number of a corpus."""

    measure: Measure
    # attribute value, or group of a word list; None for an aggregate
    side: str | None = None

    @property
    def kind(self) -> NumberKind:
        """The kind of number."""
        return self.measure.kind


class MeasureNote(Record):
    """A family of measures as it was used."""

    # of `plan.MEASURES`
    family: str
    # how it tells what a summary takes up: "ngram", "words", ...; "" where nothing is chosen
    by: str
    # everything the numbers depend on besides documents and summaries
    signature: str


class ChanceGap(Number):
    """How far a number is from what is expected, which `reference` names: room of documents of the same manner of writing.

    Without a reference no null is known that holds. Bounds are those that the test does not refuse; None where sets do not bound
    it, and of a number between the ends of what is expected. Of measures that do not name nothing is concluded from gaps.
    """

    expected: float | None = Field(default=None, exclude_if=is_none)
    # ends of what is expected, where that is not a single number and `expected` is the nearest of it
    between: tuple[float, float] | None = Field(default=None, exclude_if=is_none)
    # the largest gap, of either sign, of extracts of the same documents that know no label (`fairness.groups.extracts`)
    blind: float | None = Field(default=None, exclude_if=is_none)
    # why nobody is named, though the gap is clear; "" where it is not, or somebody is
    doubt: str = Field(default="", exclude_if=not_)
    # why, where a null is known, but nothing is concluded by it from these summaries
    withheld: str = Field(default="", exclude_if=not_)

    @property
    def is_inside(self) -> bool:
        """Whether the number lies between the ends of what is expected: the gap is 0 then, and has no spread."""
        return self.between is not None and self.size <= NOISE


NO_GAP = ChanceGap()


class AuditNumber(Number):
    """A quantity of one system's summaries, or what it is less that of another system, which `reference` names.

    A number rests on `n_sets` document sets; a difference on those that are scored under both, with `left_out` under one only.
    """

    # why sets are left out
    reasons: dict[str, int] = Field(default_factory=dict, exclude_if=not_)
    # what an aggregate means for a reader, or why it is undefined
    sentence: str = Field(default="", exclude_if=not_)
    # fewer scored sets than `least_group` have the value: kept out of worst group and extremes, but not of the aggregates
    is_small: bool = Field(default=False, exclude_if=not_)
    # of numbers that papers report beside their measures, and from which nothing is concluded: "over the released cut-offs",
    # "most over-represented", "where it has most documents", "lowest found with 4 sentences"
    how: str = Field(default="", exclude_if=not_)
    # how far it is from what is expected
    gap: ChanceGap = Field(default=NO_GAP, exclude_if=lambda gap: gap == NO_GAP)

    @field_validator("measure")
    @classmethod
    def _is_known(cls, measure: str) -> str:
        Measure.read(measure)
        return measure

    @property
    def kind(self) -> NumberKind:
        """What kind of number it is."""
        return Measure.read(self.measure).kind

    @property
    def by(self) -> str:
        """The matcher, entailer or word list; "" where nothing is chosen."""
        return Measure.read(self.measure).by

    @property
    def family(self) -> str:
        """The family of measures that it is of."""
        return FAMILY_BY_KIND[self.kind]

    @property
    def is_difference(self) -> bool:
        """Whether it is printed with its sign."""
        return self.kind.is_difference or bool(self.reference)


# "differs": clearly, but neither is clearly nearer to 0; "too few sets" (--least-group) have any of the values
Outcome = Literal["fairer", "less fair", "differs", "no clear difference", "too few sets"]


class Vote(AuditNumber):
    """Which of two systems is fairer by shares: whose gap to the chance level is nearer to 0; its value is their difference.

    Of the attribute value that differs most. Its verdict is an `Outcome`.
    """

    # of both at that value, over the sets that are scored under both
    system_gap: float | None
    reference_gap: float | None
    # published measures that clearly say the opposite: no system is fairer then
    apart: tuple[str, ...] = Field(default=(), exclude_if=not_)


class Representation(Record):
    """Who is represented less or more than documents written alike would be, under one system and family of measures."""

    family: str
    system: str
    measure: str
    # attribute values, or groups of a word list, clearly below and above their chance level, the farthest first
    under: tuple[str, ...]
    over: tuple[str, ...]
    # values with too few sets for a verdict
    small: tuple[str, ...]
    # who, and the numbers of each of them
    sentence: str
    details: tuple[str, ...]


class SummaryUnit(Record):
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
    lines: tuple[SummaryUnit, ...]
    # who is left out most, several where they tie, and their documents
    left_out: tuple[str, ...]
    documents: tuple[str, ...]
    is_share: bool = True


class AuditExample(TakenApart):
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

    format: Literal["evenhand-audit/9"]
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
    # of all systems, by attribute value or group of a word list, and of all together
    numbers: tuple[AuditNumber, ...]
    represented: tuple[Representation, ...]
    # of published measures, to the first system
    differences: tuple[AuditNumber, ...]
    votes: tuple[Vote, ...]
    # gaps of each third of a set, where systems are one summarizer with the documents in several orders: their measure is what
    # they follow (`order.FOLLOWS`)
    orders: tuple[Number, ...] = ()
    # what papers report besides
    beside: tuple[AuditNumber, ...] = ()
    examples: tuple[AuditExample, ...]
    options: dict[str, Any]
    versions: dict[str, str]
    # ids of the document sets, in the order of what each says
    sets: tuple[str, ...] = ()
    # limits that were asked for, and their verdicts
    gate: Gate | None = Field(default=None, exclude_if=is_none)

    @property
    def by_value(self) -> list[AuditNumber]:
        """The numbers of attribute values and of groups of word lists."""
        return [each for each in self.numbers if each.side is not None]

    @property
    def aggregates(self) -> list[AuditNumber]:
        """The numbers of all values together."""
        return [each for each in self.numbers if each.side is None]

    @property
    def bootstrap(self) -> Bootstrap:
        """How intervals were drawn, and their level."""
        return Bootstrap(**self.options["bootstrap"])
