"""Kinds of numbers of an audit, how each is read, and what a family of measures shows of one summary."""

from dataclasses import dataclass

from pydantic import Field

from ...number import Number
from ...records import Record, is_none

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
    # whether the first page tells it, though nobody is named by it: it was asked for by an option of its own
    is_told: bool = False
    # what a reader must know of it besides, in a sentence
    note: str = ""

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
EQUAL_COVERAGE = NumberKind("Equal Coverage", holds_from=60)
COVERAGE_PARITY = NumberKind("Coverage Parity", grows_by_chance=True)
COVERAGE = NumberKind("coverage", is_tested=False)
COVERAGE_DIFFERENCE = NumberKind("coverage difference", is_difference=True)


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
    side: str | None = None

    @property
    def kind(self) -> NumberKind:
        """The kind of number."""
        return self.measure.kind


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


class Quote(Record):
    """A text that a group stands behind."""

    text: str
    # by how many: "10 of 11 agree"
    note: str
    # sentence of the summary that is like it, and may say or deny it; "" for none
    perhaps: str = ""


class GroupPoints(Record):
    """What a group thinks of a summary, and which of its points that does not say; of families with groups of their own."""

    # with what share of what the summary says the group, its side, agrees; its interval is over the group's people, its p of as
    # many texts taken at random, by itself
    approval: Number
    # the same of all texts, and from where to where that of as many texts at random mostly is, at the level of the page
    of_all: float
    chance: tuple[float, float]
    n_people: int
    # texts that most of the group agree with; those of them that the summary says, and those that a sentence is like, though it
    # stands for another text
    n_points: int
    n_said: int
    n_perhaps: int
    # points that are not said, those first that the group agrees with most beyond the other groups
    quotes: tuple[Quote, ...]


class Points(Record):
    """Whose points a summary says."""

    # approval of the group that approves most less that of the one that approves least; p is of as many texts at random
    gap: Number
    # what was counted, as the end of a sentence that begins with the system
    lead: str
    groups: tuple[GroupPoints, ...]


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
    # of a family that knows what people think of texts: the audit's first page says then whose points are missing
    points: Points | None = Field(default=None, exclude_if=is_none)
