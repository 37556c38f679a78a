"""What audit.json holds: every number with its measure, its count, what was left out of it and the bootstrap it comes from."""

from typing import Any, Literal

from ...records import Record
from ...resampling import Verdict
from ..systems.worst_group import WorstGroups
from .quantities import WrittenMeasure


class MeasureNote(Record):
    """A family of measures as it was used."""

    # "value-shares", "coverage", "opinions", "word-lists"
    family: str
    # how it tells what a summary takes up: "ngram", "words", ...; "" where nothing is chosen
    by: str
    # everything the numbers depend on besides documents and summaries
    signature: str


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
    # over document sets; None with fewer than two sets
    low: float | None
    high: float | None
    # document sets that it rests on, and those left out by reason
    n: int
    left_out: dict[str, int]
    level: float
    resamples: int
    # draws in which the quantity is defined; the interval is theirs
    n_defined: int
    seed: int
    # whether it is a share or a difference of shares, printed as per cent
    is_share: bool
    # what it means for a reader, or why it is undefined; "" where the number stands in the table by value
    sentence: str = ""
    # fewer scored sets than `least_group` have the value: kept out of worst group and extremes, but not of the aggregates
    is_small: bool = False
    # percentiles of the bootstrap, or exact (Clopper and Pearson) of a rate that is 0 or 1 in all sets
    interval: Literal["bootstrap", "exact"] = "bootstrap"


class WorstGroup(Record):
    """The attribute value that fares worst under one system, and whether it can be told from the next."""

    family: str
    system: str
    measure: WrittenMeasure
    # None when fewer than two values are large enough to be compared
    value: str | None
    next_value: str | None
    # how much worse than the next, at least 0, with its interval
    gap: float | None
    low: float | None
    high: float | None
    verdict: str
    sentence: str
    # values with too few sets
    small: tuple[str, ...]


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
    n_defined: int
    seed: int
    is_share: bool
    # two-sided: systems are exchanged within sets; None with fewer than two sets, and where the difference is undefined
    p_value: float | None
    # after Benjamini and Hochberg over all tests of the audit
    adjusted: float | None
    verdict: Verdict
    # whether lower is fairer; otherwise neither is
    is_unfairness: bool


class Choice(Record):
    """Which system to choose by the value that it serves worst."""

    family: str
    measure: WrittenMeasure
    found: WorstGroups
    sentence: str


class Line(Record):
    """A sentence or unit of a summary and what it takes up."""

    text: str
    # attribute value, or group of a word list -> how much: matched tokens, documents that have it, words
    takes: dict[str, float]
    # what else there is to say of it: the opinion that it speaks for
    note: str = ""


class Side(Record):
    """A value, opinion or group of one set: what it has in the sources and in the summary."""

    name: str
    source: float | None
    summary: float | None


class Example(Record):
    """One of the most unfair summaries of a system by a family of measures."""

    family: str
    system: str
    set_id: str
    topic: str
    # the set's own measure, and what that is
    unfairness: float
    measure: str
    is_share: bool
    # what `source` and `summary` of the sides, and `takes` of the lines, are
    columns: tuple[str, str]
    takes_what: str
    sides: tuple[Side, ...]
    lines: tuple[Line, ...]
    # who is left out most, several where they tie, and their documents
    left_out: tuple[str, ...]
    documents: tuple[str, ...]


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
    documents: str
    documents_digest: str
    attribute: str
    values: tuple[ValueNote, ...]
    n_sets: int
    # sets of the file that `limit` left aside
    n_not_drawn: int
    systems: tuple[SystemNote, ...]
    measures: tuple[MeasureNote, ...]
    by_value: tuple[Number, ...]
    aggregates: tuple[Number, ...]
    worst: tuple[WorstGroup, ...]
    differences: tuple[PairedDifference, ...]
    choices: tuple[Choice, ...]
    examples: tuple[Example, ...]
    options: dict[str, Any]
    versions: dict[str, str]
