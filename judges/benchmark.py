"""How well judges agree with what is known of summaries: benchmark.json, as `evenhand judges benchmark` writes it."""

from collections.abc import Collection
from operator import not_
from typing import Literal

from pydantic import Field

from ..config.needs import Purpose
from ..number import Number
from ..records import Record
from .examples import JudgedPair

ATTRIBUTES: tuple[Purpose, ...] = ("coverage", "faithfulness")
# a pair of summaries that the judge scores alike: counts half, counts as wrong, is left out
Ties = Literal["half", "wrong", "drop"]


class BenchmarkRow(Record):
    """How well a judge's scores agree with one attribute; no interval where leaving a topic out leaves a number undefined."""

    judge: str
    attribute: Purpose
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
    # summaries that show where judges err; not in what is published
    examples: tuple[JudgedPair, ...] = Field(default=(), exclude_if=not_)

    def best(self, attribute: Purpose, among: Collection[str] = ()) -> BenchmarkRow | None:
        """The judge whose correlation with an attribute is the highest, over all articles; None where none has one.

        Args:
            attribute: of the summaries.
            among: judges that are looked at; all where there are none.
        """
        rows = [
            row
            for row in self.rows
            if (row.attribute, row.side) == (attribute, None) and (not among or row.judge in among)
        ]
        correlated = (row for row in rows if row.pooled.value is not None)
        return max(correlated, key=lambda row: row.pooled.value or 0.0, default=None)
