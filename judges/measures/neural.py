"""What the matchers with a model share: sources counted in tokens, and the summary's shares from the model's scores.

Source: Zhang et al. 2024 (arXiv:2311.07884); specification of group fairness, sections 3.1 and 3.3-3.5.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ...config import MatcherSection
from ...fairness.groups import Masses, Unscored, softmax
from ...fairness.groups.ngram import EMPTY_SUMMARY
from ...fairness.labelled import LabelledSummary
from ...models import signature
from ...timing import booked
from ..shared import Lazy
from ..support import DECIMALS, NO_NUMBER
from .lengths import TooLong
from .words import source_counter


class Scorer(Protocol):
    """A loaded model that scores summaries against the texts of values."""

    # tokens of a text that it reads, special ones included
    most_tokens: int

    def lengths(self, texts: Sequence[str]) -> dict[str, int]:
        """Tokens of each text, special ones included, before anything is cut."""
        ...

    def scores(self, value_texts: Sequence[str], summaries: Sequence[str]) -> NDArray[np.float64]:
        """Matching score of each value for each summary, shape (summaries, values)."""
        ...

    def close(self) -> None:
        """Give the model's memory back."""
        ...


class NeuralMatcher:
    """Masses whose target is a softmax over a model's scores of the values.

    Args:
        section: of the recipe.
        model: the scorer.
        options: what else the scores depend on, for the signature.

    Raises:
        MissingExtra: N-grams are counted and NLTK is not installed.
        DataError: N-grams are counted and NLTK's data is absent.
        ModelError: the model is a path that holds none.
    """

    def __init__(self, section: MatcherSection, model: Lazy[Scorer], options: Mapping[str, object]) -> None:
        counter, self._count = source_counter(section)
        self.name: str = section.kind
        self.loads = model.key
        parts = {"model": signature(section.model_name, section.revision), **options, "T": section.temperature}
        named = "|".join(f"{key}:{value}" for key, value in parts.items())
        self.signature = f"{section.kind}|{named}|source:{counter}|v:1"
        self._temperature = section.temperature
        self._too_long = TooLong(section.kind, section.on_overflow)
        self._model = model

    def masses(self, items: Sequence[LabelledSummary]) -> list[Masses | Unscored]:
        """Masses of each item's declared values; a set's texts are run once for all of its summaries.

        Raises:
            DataError: a text is longer than the model reads, and on_overflow is "raise".
        """
        by_sources: dict[tuple[str, ...], list[str]] = {}
        for item in items:
            if item.summary.strip():
                by_sources.setdefault(item.value_texts(), []).append(item.summary)
        found: dict[tuple[tuple[str, ...], str], NDArray[np.float64]] = {}
        if by_sources:
            scorer = self._model.get()
            texts = dict.fromkeys(text for key, summaries in by_sources.items() for text in (*key, *summaries))
            self._too_long.check(scorer.lengths(list(texts)), scorer.most_tokens)
            with booked("models"):
                for key, summaries in by_sources.items():
                    distinct = list(dict.fromkeys(summaries))
                    found.update(zip([(key, s) for s in distinct], scorer.scores(key, distinct), strict=True))
        counted = {text: len(self._count(text)) for key in by_sources for text in dict.fromkeys(key)}
        return [self._masses(item, counted, found.get((item.value_texts(), item.summary))) for item in items]

    def _masses(
        self, item: LabelledSummary, counted: Mapping[str, int], scores: NDArray[np.float64] | None
    ) -> Masses | Unscored:
        if scores is None:
            return Unscored(EMPTY_SUMMARY)
        if not np.isfinite(scores).all():
            return Unscored(NO_NUMBER)
        target = softmax(np.round(scores, DECIMALS), self._temperature)
        source = tuple(float(counted[text]) for text in item.value_texts())
        return Masses(source, tuple(target.tolist()), item.values)

    def close(self) -> None:
        """Give the model's memory back."""
        self._model.close()
