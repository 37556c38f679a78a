"""The characteristics of a summary in one record, and their means over many."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import fmean

from ...generate.contract import count_sentences
from ...text import words
from .fragments import fragments
from .novelty import novel_ngrams


@dataclass(frozen=True)
class Characteristics:
    """What a summary is like; None where it is too short to tell, and in means where no summary tells."""

    # share of n-grams that the source does not have, in [0, 1]
    novel_1: float | None
    novel_2: float | None
    novel_3: float | None
    novel_4: float | None
    # extractive fragments: coverage in [0, 1], density and compression at least 0
    coverage: float | None
    density: float | None
    compression: float | None
    # length
    tokens: float | None
    characters: float | None
    # 1 when the summary has several sentences by the rule of the output contract, else 0; in means their share
    multi_sentence: float | None


def characteristics(passages: Sequence[str], summary: str) -> Characteristics:
    """The characteristics of a summary of these passages.

    Source: Ri et al. 2025, section 6.1; docs/papers.md#ri-tokens.
    """
    novel, found = novel_ngrams(passages, summary), fragments(passages, summary)
    return Characteristics(
        novel_1=novel[1],
        novel_2=novel[2],
        novel_3=novel[3],
        novel_4=novel[4],
        coverage=found.coverage,
        density=found.density,
        compression=found.compression,
        tokens=float(len(words(summary))),
        characters=float(len(summary)),
        multi_sentence=float(count_sentences(summary) > 1) if summary.strip() else None,
    )


def mean_characteristics(found: Sequence[Characteristics]) -> Characteristics:
    """The mean of each characteristic over the summaries that have it."""
    means: dict[str, float | None] = {}
    for field in fields(Characteristics):
        known = [value for each in found if (value := getattr(each, field.name)) is not None]
        means[field.name] = fmean(known) if known else None
    return Characteristics(**means)
