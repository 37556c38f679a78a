"""How well judges agree with what is known of summaries: benchmark.json, as `evenhand benchmark-judges` writes it."""

from typing import Literal, get_args

from pydantic import Field

from ..number import Number
from ..records import Record

# a pair of summaries that the judge scores alike: counts half, counts as wrong, is left out
Ties = Literal["half", "wrong", "drop"]
Attribute = Literal["coverage", "faithfulness"]
ATTRIBUTES: tuple[Attribute, ...] = get_args(Attribute)


class BenchmarkRow(Record):
    """How well a judge's scores agree with one attribute."""

    judge: str
    attribute: Attribute
    # None for all articles
    side: str | None
    # names as in `agreement.Agreement`; no interval where leaving a topic out leaves a statistic undefined
    spearman_pooled: Number
    spearman_macro: Number
    winrate_macro: Number
    winrate_micro: Number
    articles: int
    summaries: int
    # articles that have a correlation, and that have a pair
    spearman_articles: int
    winrate_articles: int
    # pairs of different value, and those of them that the judge scores alike
    pairs: int
    metric_ties: int
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
