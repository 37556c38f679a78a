"""Kinds of numbers of an audit, how each is read, and what a family of measures shows of one summary."""

from dataclasses import dataclass
from typing import Any

from pydantic import Field

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
    # what the family's own part of the page is made of
    own: dict[str, Any] | None = Field(default=None, exclude_if=is_none)
