"""How well judges agree with what is known of summaries, or with people: benchmark.json of `evenhand judges benchmark`."""

from collections.abc import Collection
from operator import not_
from typing import Literal

from pydantic import Field

from ..config.needs import Purpose
from ..number import Number
from ..records import Record, is_none
from .examples import JudgedPair

ATTRIBUTES: tuple[Purpose, ...] = ("coverage", "faithfulness")
# a pair of summaries that the judge scores alike: counts half, counts as wrong, is left out
Ties = Literal["half", "wrong", "drop"]


class BenchmarkRow(Record):
    """How well a judge's scores agree with one attribute; no interval where leaving a topic out leaves a number undefined."""

    judge: str
    # coverage or faithfulness of controlled summaries, or a dimension on which people scored
    attribute: str
    # None for all articles
    side: str | None
    # Spearman's correlation over all summaries, and the mean of the articles' own
    pooled: Number
    within: Number
    # share of pairs of an article's summaries in the right order, as the mean of the articles' own and of all pairs
    winrate_within: Number
    winrate_pooled: Number
    articles: int
    summaries: int
    # pairs that the judge scores alike
    ties: int
    # summaries without a score, or whose attribute is undefined
    left_out: int
    # `within` less that of length, in the direction that agrees better; None of length itself
    lead: Number | None = Field(default=None, exclude_if=is_none)


class UnscoredRow(Record):
    """Summaries that a judge left unscored, for one reason."""

    judge: str
    side: str
    reason: str
    count: int


class Benchmark(Record):
    """All that is reported; `benchmark.json`."""

    format: Literal["evenhand-judge-benchmark/2"] = "evenhand-judge-benchmark/2"
    # name of the file and digest of its content
    file: str
    digest: str
    ties: Ties
    level: float
    # articles whose topic nobody told, so that they are topics of their own
    topics_unknown: int
    # judge -> signature
    signatures: dict[str, str]
    versions: dict[str, str]
    rows: tuple[BenchmarkRow, ...]
    unscored: tuple[UnscoredRow, ...]
    # of each judge, among the summaries of an article
    slopes: tuple[Number, ...] = ()
    # judges that were not tried -> why
    not_tried: dict[str, str] = Field(default_factory=dict)
    # people whose scores are the truth, 0 where nobody is named; None where the truth is known by construction
    n_raters: int | None = Field(default=None, exclude_if=is_none)
    # what is to be known of their scores, a sentence each
    notes: tuple[str, ...] = Field(default=(), exclude_if=not_)
    # summaries that show where judges err; not in what is published
    examples: tuple[JudgedPair, ...] = Field(default=(), exclude_if=not_)

    @property
    def attributes(self) -> tuple[str, ...]:
        """What summaries are known to have, in order."""
        return tuple(dict.fromkeys(row.attribute for row in self.rows))

    def best(self, attribute: str, among: Collection[str] = ()) -> BenchmarkRow | None:
        """The judge whose correlation with an attribute is the highest, over all articles; None where none has one.

        Args:
            attribute: of the summaries.
            among: judges that are looked at; all where there are none.
        """
        rows = [
            row
            for row in self.rows
            if (row.attribute, row.side) == (attribute, None) and row.judge in (among or self.signatures)
        ]
        correlated = (row for row in rows if row.pooled.value is not None)
        return max(correlated, key=lambda row: row.pooled.value or 0.0, default=None)
