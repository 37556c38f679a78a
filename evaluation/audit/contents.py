"""What audit.json holds: every number with its measure, its count, what was left out of it and the bootstrap it comes from."""

from functools import cache
from operator import not_
from typing import Any, Literal

from pydantic import Field, field_validator

from ...number import Number
from ...records import Record, is_none
from ...resampling import NOISE, Bootstrap
from ..gate.contents import Gate
from .families import kinds_by_name
from .kinds import Measure, NumberKind, TakenApart

# what audit.json calls itself
SCHEMA: Literal["evenhand-audit/9"] = "evenhand-audit/9"


@cache
def read_measure(name: str) -> tuple[str, Measure]:
    """Family and measure of the measure's name in a file.

    Raises:
        ValueError: it is not known.
    """
    kind, _, by = name.partition(" (")
    kinds = kinds_by_name()
    if kind not in kinds:
        raise ValueError(f"measure {name!r} is not known")
    family, known = kinds[kind]
    return family, Measure(known, by.removesuffix(")"))


class MeasureNote(Record):
    """A family of measures as it was used."""

    # of `families.MEASURES`
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

    # of a page by several attributes, which of them it is of
    attribute: str = Field(default="", exclude_if=not_)
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
        read_measure(measure)
        return measure

    @property
    def kind(self) -> NumberKind:
        """What kind of number it is."""
        return read_measure(self.measure)[1].kind

    @property
    def by(self) -> str:
        """The matcher, entailer or word list; "" where nothing is chosen."""
        return read_measure(self.measure)[1].by

    @property
    def family(self) -> str:
        """The family of measures that it is of."""
        return read_measure(self.measure)[0]

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
    # groups that take the place of its values: "critical=1,2; praising=4,5"
    groups: str = Field(default="", exclude_if=not_)
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
    # gaps of parts of a set, where systems are one summarizer with the documents in several orders: their measure is what they
    # follow, see `family.Arrangement`
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
    # the same by the page's other attributes, corrected together with this one
    others: tuple["Audit", ...] = Field(default=(), exclude_if=not_)

    @property
    def by_value(self) -> list[AuditNumber]:
        """The numbers of attribute values and of groups of word lists."""
        return [number for number in self.numbers if number.side is not None]

    @property
    def aggregates(self) -> list[AuditNumber]:
        """The numbers of all values together."""
        return [number for number in self.numbers if number.side is None]

    @property
    def bootstrap(self) -> Bootstrap:
        """How intervals were drawn, and their level."""
        return Bootstrap(**self.options["bootstrap"])
