"""What an audit measures: kinds of numbers, measures as they were taken, and quantities of one attribute value each."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BeforeValidator, PlainSerializer


@dataclass(frozen=True)
class Kind:
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
    # whether less of it is fairer; otherwise neither more nor less is
    is_unfairness: bool = True
    # where its family orders values by it: whether the value of the most or of the least fares worst
    worst: Literal["most", "least"] | None = None


BUR = Kind("BUR", is_rate=True)
UER = Kind("UER")
AUC = Kind("AUC")
SOF = Kind("SOF", grows_by_chance=True)
REPRESENTATION = Kind("Proportional Representation")
SHARE_IN_SOURCES = Kind("share in sources", is_tested=False, is_unfairness=False)
SHARE_AIMED_AT = Kind("share aimed at", is_tested=False, is_unfairness=False)
SHARE_IN_SUMMARIES = Kind("share in summaries", is_tested=False, is_unfairness=False)
SHORTFALL = Kind("shortfall", is_unfairness=False)
UNDER_REPRESENTED = Kind("under-represented", is_rate=True, is_tested=False, is_unfairness=False, worst="most")
EQUAL_COVERAGE = Kind("Equal Coverage")
COVERAGE_PARITY = Kind("Coverage Parity", grows_by_chance=True)
COVERAGE = Kind("coverage", is_tested=False, is_unfairness=False)
COVERAGE_DIFFERENCE = Kind("coverage difference", is_difference=True, is_unfairness=False, worst="least")
OPINION_GRAPH = Kind("opinion graph", is_share=False)
WORD_LIST_BIAS = Kind("word-list bias", grows_by_chance=True)
WORDS_IN_SOURCES = Kind("share of gender words in sources", is_tested=False)
WORDS_IN_SUMMARIES = Kind("share of gender words in summaries", is_tested=False)

KINDS = {
    kind.name: kind
    for kind in (
        *(BUR, UER, AUC, SOF, REPRESENTATION),
        *(SHARE_IN_SOURCES, SHARE_AIMED_AT, SHARE_IN_SUMMARIES, SHORTFALL, UNDER_REPRESENTED),
        *(EQUAL_COVERAGE, COVERAGE_PARITY, COVERAGE, COVERAGE_DIFFERENCE),
        *(OPINION_GRAPH, WORD_LIST_BIAS, WORDS_IN_SOURCES, WORDS_IN_SUMMARIES),
    )
}


@dataclass(frozen=True)
class Measure:
    """A kind of number as it was taken: "BUR (ngram)"."""

    kind: Kind
    # the matcher, entailer or word list; "" where there is no choice
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
    def kind(self) -> Kind:
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
