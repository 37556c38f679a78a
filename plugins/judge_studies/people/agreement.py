"""How far annotators marked the same, and how far random highlights would; and Krippendorff's alpha over all of them.

Highlights of documents are compared by the characters they cover, those of summaries by their tokens. The random baseline
draws, for each text and each annotator, as many highlights of such lengths as people made, at places drawn uniformly.
Source: Ri et al. 2025, section 5.2; docs/papers.md#ri-agreement.

Alpha asks of every word that at least two annotators saw whether each of them highlighted it: 1 when all agree, 0 for what chance
would give, below 0 for less. Annotators may have seen different documents. A word of a document is marked when a highlight
touches it; highlights of summaries have no places, so there a word is marked when a highlight contains it.
Alpha is defined for two annotators or more. Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability", section C
(nominal data, any number of observers, missing data).
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from operator import not_
from statistics import fmean
from typing import Any

import numpy as np
from pydantic import Field

from ....errors import DataError
from ....records import Record
from ....text import fold, words
from ....text.digests import digest
from .annotations.annotation import HumanUnit
from .highlights import HighlightedText, Highlights, PairOfMarks, least_agreed, of_document, of_summary
from .matching import THRESHOLD, covered, multiset_overlap

# random drawings that the baseline averages
DRAWS = 100


class TextAgreement(Record):
    """Mean overlap over texts of one kind, in [0, 1]."""

    # None when no text was marked by either
    overlap: float | None
    # mean overlap of random highlights
    chance: float | None
    # texts that count, and those that neither annotator marked
    n: int
    left_out: int


class AnnotatorAgreement(Record):
    """Agreement of two annotators on the documents that both of them saw."""

    documents: TextAgreement
    summaries: TextAgreement
    # documents that both saw, and those that only the one or only the other did
    shared: int
    only_a: int
    only_b: int


def annotator_agreement(
    a: Sequence[HumanUnit], b: Sequence[HumanUnit], *, draws: int = DRAWS, seed: int = 0
) -> AnnotatorAgreement:
    """Agreement of two annotators.

    Args:
        a: one annotator's units.
        b: the other's.
        draws: random drawings of the baseline.
        seed: of those.

    Raises:
        DataError: they saw no document in common.
    """
    shared = shared_units(a, b)
    if not shared:
        raise DataError("the annotators saw no document in common, so there is no agreement to compute")
    documents = [of_document(*pair) for pair in shared]
    summaries = [of_summary(*pair, system) for pair in shared for system in pair[0].summaries]
    generator = np.random.default_rng(seed)
    return AnnotatorAgreement(
        documents=_agreement(documents, draws, generator),
        summaries=_agreement(summaries, draws, generator),
        shared=len(shared),
        only_a=len(a) - len(shared),
        only_b=len(b) - len(shared),
    )


def shared_units(a: Sequence[HumanUnit], b: Sequence[HumanUnit]) -> list[tuple[HumanUnit, HumanUnit]]:
    """Units of two annotators on the same document and summaries."""
    second = {shown_alike(unit): unit for unit in b}
    return [(unit, second[shown_alike(unit)]) for unit in a if shown_alike(unit) in second]


def shown_alike(unit: HumanUnit) -> str:
    """Equal for two annotators' units of one document with the same summaries.

    Highlights of documents are compared by their places, so the documents are the same to the character; those of summaries by
    tokens, so the white space of summaries does not matter.
    """
    return digest([unit.side, unit.document, {method: fold(text) for method, text in unit.summaries.items()}])


def _agreement(texts: Sequence[PairOfMarks], draws: int, generator: np.random.Generator) -> TextAgreement:
    # the same texts for both means: those that at least one annotator marked
    marked = [text for text in texts if text.a or text.b]
    if not marked:
        return TextAgreement(overlap=None, chance=None, n=0, left_out=len(texts))
    # random highlights, whose numbers and lengths have the mean and the variance of people's
    numbers = [len(highlights) for text in marked for highlights in (text.a, text.b)]
    lengths = [highlight.total() for text in marked for highlights in (text.a, text.b) for highlight in highlights]

    def random(units: Sequence[Any]) -> Highlights:
        """Random highlights of a text: at least 1, each at least 1 unit long and at most the text."""
        highlights = []
        for _ in range(max(1, round(generator.normal(np.mean(numbers), np.std(numbers))))):
            length = min(max(1, round(generator.normal(np.mean(lengths), np.std(lengths)))), len(units))
            start = int(generator.integers(len(units) - length + 1))
            highlights.append(Counter(units[start : start + length]))
        return highlights

    drawn = ((random(text.units), random(text.units)) for _ in range(draws) for text in marked)
    return TextAgreement(
        overlap=_mean([multiset_overlap(text.a, text.b, THRESHOLD) for text in marked]),
        chance=_mean([multiset_overlap(a, b, THRESHOLD) for a, b in drawn]),
        n=len(marked),
        left_out=len(texts) - len(marked),
    )


WORD = re.compile(r"\S+")
# (annotator, word of a text, whether it is marked)
Mark = tuple[str, str, bool]


class KindAgreement(Record):
    """Agreement on texts of one kind."""

    # means over the pairs that have a value; None when none has
    overlap: float | None
    chance: float | None
    # None when all words that two annotators saw are marked, or none of them
    alpha: float | None
    # words that at least two annotators saw
    n_words: int


class GroupAgreement(Record):
    """Agreement of two annotators or more."""

    # pairs of annotators who saw a document in common, and those who saw none
    pairs: dict[tuple[str, str], AnnotatorAgreement]
    unshared_pairs: tuple[tuple[str, str], ...]
    documents: KindAgreement
    summaries: KindAgreement
    # texts on which two annotators agree least, summaries first
    examples: tuple[HighlightedText, ...] = Field(default=(), exclude_if=not_)


def group_agreement(units: Mapping[str, Sequence[HumanUnit]], *, draws: int = DRAWS, seed: int = 0) -> GroupAgreement:
    """Agreement of two annotators or more.

    Args:
        units: annotator -> their units.
        draws: random drawings of the baseline of each pair.
        seed: of those.

    Raises:
        DataError: no two of them saw a document in common.
    """
    shown = {name: set(map(shown_alike, annotator_units)) for name, annotator_units in units.items()}
    together = [(a, b) for a, b in combinations(units, 2) if shown[a] & shown[b]]
    if not together:
        raise DataError("no two annotators saw a document in common, so there is no agreement to compute")
    pairs = {(a, b): annotator_agreement(units[a], units[b], draws=draws, seed=seed) for a, b in together}
    of_documents, of_summaries = list[Mark](), list[Mark]()
    for name, unit in ((name, unit) for name, annotator_units in units.items() for unit in annotator_units):
        text = shown_alike(unit)
        places = covered([(span.start, span.end) for point in unit.annotation.key_points for span in point])
        for word in WORD.finditer(unit.document):
            of_documents.append((name, f"{text}:{word.start()}", any(p in places for p in range(*word.span()))))
        for method, summary in unit.summaries.items():
            marked = {word for point in unit.annotation.summaries[method].points for word in words(point)}
            of_summaries += ((name, f"{text}:{method}:{w}", w in marked) for w in dict.fromkeys(words(summary)))
    return GroupAgreement(
        pairs=pairs,
        unshared_pairs=tuple(pair for pair in combinations(units, 2) if pair not in pairs),
        documents=_kind([pair.documents for pair in pairs.values()], of_documents),
        summaries=_kind([pair.summaries for pair in pairs.values()], of_summaries),
        examples=least_agreed([pair for a, b in together for pair in shared_units(units[a], units[b])]),
    )


def _kind(pairs: Sequence[TextAgreement], marks: Sequence[Mark]) -> KindAgreement:
    seen = Counter(word for _, word, _ in marks)
    marked = Counter(word for _, word, is_marked in marks if is_marked)
    shared = {word: n for word, n in seen.items() if n > 1}
    return KindAgreement(
        overlap=_mean([pair.overlap for pair in pairs]),
        chance=_mean([pair.chance for pair in pairs]),
        alpha=_alpha([(marked[word], n) for word, n in shared.items()]),
        n_words=len(shared),
    )


def _alpha(words: Sequence[tuple[int, int]]) -> float | None:
    """Krippendorff's alpha, at most 1, of each word's (annotators who marked it, annotators who saw it); None of one category."""
    n, ones = sum(seen for _, seen in words), sum(marked for marked, _ in words)
    expected = ones * (n - ones) / (n - 1) if n > 1 else 0
    if not expected:
        return None
    return 1 - sum(marked * (seen - marked) / (seen - 1) for marked, seen in words) / expected


def _mean(values: Sequence[float | None]) -> float | None:
    defined = [value for value in values if value is not None]
    return fmean(defined) if defined else None
