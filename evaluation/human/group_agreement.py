"""How far several annotators marked the same: every pair's overlap, its mean, and Krippendorff's alpha over all of them.

Alpha asks of every word that at least two annotators saw whether each of them highlighted it: 1 when all agree, 0 for what chance
would give, below 0 for less. Annotators may have seen different documents. A word of a document is marked when a highlight
touches it; highlights of summaries have no places, so there a word is marked when a highlight holds it.
Source: Krippendorff 1980 as NLTK computes it (nltk.metrics.agreement), nominal categories.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from ...errors import DataError
from ...extras import need
from ...text import words
from .agreement import DRAWS, AnnotatorAgreement, TextAgreement, annotator_agreement, shown_alike
from .matching import covered
from .released import HumanUnit

WORD = re.compile(r"\S+")
# (annotator, word of a text, whether it is marked)
Mark = tuple[str, str, bool]


@dataclass(frozen=True)
class KindAgreement:
    """Agreement on texts of one kind."""

    # means over the pairs that have a value; None when none has
    overlap: float | None
    chance: float | None
    # None when all words that two annotators saw are marked, or none is
    alpha: float | None
    # words that at least two annotators saw
    n_words: int


@dataclass(frozen=True)
class GroupAgreement:
    """Agreement of several annotators."""

    # pairs of annotators who saw a document in common, and those who saw none
    pairs: dict[tuple[str, str], AnnotatorAgreement]
    apart: tuple[tuple[str, str], ...]
    documents: KindAgreement
    summaries: KindAgreement


def group_agreement(units: Mapping[str, Sequence[HumanUnit]], *, draws: int = DRAWS, seed: int = 0) -> GroupAgreement:
    """Agreement of any number of annotators.

    Args:
        units: annotator -> their units.
        draws: random drawings of the baseline of each pair.
        seed: of those.

    Raises:
        DataError: no two of them saw a document in common.
        MissingExtra: NLTK is not installed.
    """
    shown = {name: set(map(shown_alike, mine)) for name, mine in units.items()}
    together = [(a, b) for a, b in combinations(units, 2) if shown[a] & shown[b]]
    if not together:
        raise DataError("no two annotators saw a document in common, so their agreement cannot be told")
    pairs = {(a, b): annotator_agreement(units[a], units[b], draws=draws, seed=seed) for a, b in together}
    marks = [(name, unit) for name, mine in units.items() for unit in mine]
    return GroupAgreement(
        pairs=pairs,
        apart=tuple(pair for pair in combinations(units, 2) if pair not in pairs),
        documents=_kind(
            [each.documents for each in pairs.values()], [m for each in marks for m in _of_document(*each)]
        ),
        summaries=_kind(
            [each.summaries for each in pairs.values()], [m for each in marks for m in _of_summaries(*each)]
        ),
    )


def _of_document(annotator: str, unit: HumanUnit) -> Iterator[Mark]:
    marked = covered([(span.start, span.end) for point in unit.annotation.key_points for span in point])
    text = shown_alike(unit)
    for word in WORD.finditer(unit.document):
        yield annotator, f"{text}:{word.start()}", any(place in marked for place in range(*word.span()))


def _of_summaries(annotator: str, unit: HumanUnit) -> Iterator[Mark]:
    text = shown_alike(unit)
    for method, summary in unit.summaries.items():
        marked = {word for point in unit.annotation.summaries[method].points for word in words(point)}
        for word in dict.fromkeys(words(summary)):
            yield annotator, f"{text}:{method}:{word}", word in marked


def _kind(pairs: Sequence[TextAgreement], marks: Sequence[Mark]) -> KindAgreement:
    seen: dict[str, int] = {}
    for _, word, _ in marks:
        seen[word] = seen.get(word, 0) + 1
    shared = [mark for mark in marks if seen[mark[1]] > 1]
    alpha = None
    if len({is_marked for _, _, is_marked in shared}) == 2:
        agreement = need("nltk.metrics.agreement", "the agreement of more than two annotators")
        alpha = float(agreement.AnnotationTask(data=shared).alpha())
    return KindAgreement(
        overlap=_mean([each.overlap for each in pairs]),
        chance=_mean([each.chance for each in pairs]),
        alpha=alpha,
        n_words=sum(n > 1 for n in seen.values()),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
