"""How far two annotators marked the same, and how far random highlights would.

Highlights of documents are compared by the characters they cover, those of summaries by their tokens. The random baseline
draws, for each text and each annotator, as many highlights of such lengths as people made, at places drawn uniformly.
Source: Ri et al. 2025, section 5.2; docs/papers.md#ri-agreement.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from ...errors import DataError
from ...storage import digest
from ...text import fold, words
from .matching import THRESHOLD, covered, multiset_overlap
from .released import HumanUnit

# random drawings that the baseline averages
DRAWS = 100

Highlights = Sequence[Counter[Any]]


@dataclass(frozen=True)
class TextAgreement:
    """Mean overlap over texts of one kind, in [0, 1]."""

    # None when no text was marked by either
    overlap: float | None
    # mean overlap of random highlights
    chance: float | None
    # texts that count, and those that neither annotator marked
    n: int
    left_out: int


@dataclass(frozen=True)
class AnnotatorAgreement:
    """Agreement of two annotators on the documents that both of them saw."""

    documents: TextAgreement
    summaries: TextAgreement
    # documents that both saw, and those that only the one or only the other did
    shared: int
    only_a: int
    only_b: int


@dataclass(frozen=True)
class _Marked:
    """A text and what two annotators marked in it."""

    # what the text is made of, in order: characters by their places, or tokens
    units: Sequence[Any]
    a: Highlights
    b: Highlights


def annotator_agreement(
    a: Sequence[HumanUnit], b: Sequence[HumanUnit], *, threshold: float = THRESHOLD, draws: int = DRAWS, seed: int = 0
) -> AnnotatorAgreement:
    """Agreement of two annotators.

    Args:
        a: one annotator's units.
        b: the other's.
        threshold: least share of the smaller of two matched highlights.
        draws: random drawings of the baseline.
        seed: of those.

    Raises:
        DataError: they saw no document in common.
    """
    second = {shown_alike(unit): unit for unit in b}
    shared = [(unit, second[shown_alike(unit)]) for unit in a if shown_alike(unit) in second]
    if not shared:
        raise DataError("the annotators saw no document in common, so their agreement cannot be told")
    documents = [_document(*pair) for pair in shared]
    summaries = [_summary(*pair, method) for pair in shared for method in pair[0].summaries]
    generator = np.random.default_rng(seed)
    return AnnotatorAgreement(
        documents=_agreement(documents, threshold, draws, generator),
        summaries=_agreement(summaries, threshold, draws, generator),
        shared=len(shared),
        only_a=len(a) - len(shared),
        only_b=len(b) - len(shared),
    )


def shown_alike(unit: HumanUnit) -> str:
    """Equal for two annotators' units of one document with the same summaries.

    Highlights of documents are compared by their places, so the documents are the same to the character; those of summaries by
    tokens, so the white space of summaries does not matter.
    """
    return digest([unit.side, unit.document, {method: fold(text) for method, text in unit.summaries.items()}])


def _document(a: HumanUnit, b: HumanUnit) -> _Marked:
    marked = [
        [covered([(span.start, span.end) for span in point], unit.document) for point in unit.annotation.key_points]
        for unit in (a, b)
    ]
    return _Marked([place for place, character in enumerate(a.document) if character != "\n"], *marked)


def _summary(a: HumanUnit, b: HumanUnit, method: str) -> _Marked:
    marked = [[Counter(words(p)) for p in unit.annotation.summaries[method].points] for unit in (a, b)]
    return _Marked(words(a.summaries[method]), *marked)


def _agreement(texts: Sequence[_Marked], threshold: float, draws: int, generator: np.random.Generator) -> TextAgreement:
    # the same texts for both means: those that at least one annotator marked
    marked = [text for text in texts if text.a or text.b]
    overlaps = [multiset_overlap(text.a, text.b, threshold).overlap for text in marked]
    return TextAgreement(
        overlap=fmean(overlap for overlap in overlaps if overlap is not None) if marked else None,
        chance=_chance(marked, threshold, draws, generator) if marked else None,
        n=len(marked),
        left_out=len(texts) - len(marked),
    )


def _chance(texts: Sequence[_Marked], threshold: float, draws: int, generator: np.random.Generator) -> float:
    """Mean overlap of random highlights; their numbers and lengths have the mean and the variance of people's."""
    numbers = [len(marked) for text in texts for marked in (text.a, text.b)]
    lengths = [each.total() for text in texts for marked in (text.a, text.b) for each in marked]
    overlaps = []
    for _ in range(draws):
        for text in texts:
            a, b = (_random(text.units, numbers, lengths, generator) for _ in range(2))
            overlaps.append(multiset_overlap(a, b, threshold).overlap)
    return fmean(overlap for overlap in overlaps if overlap is not None)


def _random(
    units: Sequence[Any], numbers: Sequence[int], lengths: Sequence[int], generator: np.random.Generator
) -> Highlights:
    """Highlights of random number, lengths and places: each number at least 1, each length at least 1 and at most the text."""
    count = max(1, round(generator.normal(np.mean(numbers), np.std(numbers))))
    found = []
    for _ in range(count):
        length = min(max(1, round(generator.normal(np.mean(lengths), np.std(lengths)))), len(units))
        start = int(generator.integers(len(units) - length + 1))
        found.append(Counter(units[start : start + length]))
    return found
