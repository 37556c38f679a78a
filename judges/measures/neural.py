"""What the matchers with a model share: sources counted in tokens, and the summary's shares from the model's scores.

Source: Zhang et al. 2024, section 3.2; docs/papers.md#zhang-neural.
"""

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from ...config.fairness import MatcherSection
from ...fairness.groups.masses import EMPTY_SUMMARY, Masses, Unscored, softmax
from ...fairness.labelled import LabelledSummary
from ...models import signature
from ...runfolder.timing import booked
from ..shared import Lazy
from ..support import DECIMALS, NO_NUMBER
from .batching import Compared, in_flight
from .lengths import TooLong
from .measure import ModelMasses
from .reading import Reader, ReadText
from .words import source_counter

# Tokens of the texts that are compared at a time and held as vectors: a call of many items is worked through in parts, so that
# memory does not grow with it. With the 1,024 numbers of four bytes that large models have a token, this is 256 MiB.
MOST_IN_FLIGHT = 2**16


class Scorer(Protocol):
    """A loaded model that scores summaries against the texts of values."""

    # makes of a text what the model gets
    reader: Reader

    def scores(self, pairs: Sequence[Compared], texts: Mapping[str, ReadText]) -> list[float]:
        """Matching score of each pair, which are distinct; a text is run once for all of its pairs.

        Args:
            pairs: texts of values with summaries.
            texts: each of them as the reader gave it.
        """
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
        self.signature = f"{section.kind}|{named}|source:{counter}|v:2"
        self._temperature = section.temperature
        self._too_long = TooLong(section.kind, section.on_overflow)
        self._model = model

    def masses(self, items: Sequence[LabelledSummary]) -> list[Masses | Unscored]:
        """Masses of each item's declared values; equal texts are run once, those of all items together.

        Raises:
            DataError: a text is longer than the model reads, and on_overflow is "raise".
        """
        asked = [(item.value_texts(), item.summary) for item in items]
        pairs = list(dict.fromkeys((text, summary) for mine, summary in asked if summary.strip() for text in mine))
        texts = self._read(pairs)
        scores = self._scores(pairs, texts)
        counted = {text: float(len(self._count(text))) for text in dict.fromkeys(text for text, _ in pairs)}
        found: list[Masses | Unscored] = []
        for item, (mine, summary) in zip(items, asked, strict=True):
            if not summary.strip():
                found.append(Unscored(EMPTY_SUMMARY))
                continue
            own = [scores[text, summary] for text in mine]
            if not np.isfinite(own).all():
                found.append(Unscored(NO_NUMBER))
                continue
            target = softmax(np.round(own, DECIMALS), self._temperature)
            n_cut = sum(texts[text].is_cut or texts[summary].is_cut for text in mine)
            found.append(ModelMasses(tuple(counted[text] for text in mine), tuple(target.tolist()), item.values, n_cut))
        return found

    def _read(self, pairs: Sequence[Compared]) -> dict[str, ReadText]:
        distinct = list(dict.fromkeys(text for pair in pairs for text in pair))
        if not distinct:
            return {}
        reader = self._model.get().reader
        texts = dict(zip(distinct, reader.read(distinct), strict=True))
        self._too_long.check({text: read.n_tokens for text, read in texts.items()}, reader.most_tokens)
        return texts

    def _scores(self, pairs: Sequence[Compared], texts: Mapping[str, ReadText]) -> dict[Compared, float]:
        lengths = {text: len(read.ids) for text, read in texts.items()}
        found: dict[Compared, float] = {}
        for some in in_flight(pairs, lengths, MOST_IN_FLIGHT):
            scorer = self._model.get()
            with booked("models"):
                found.update(zip(some, scorer.scores(some, texts), strict=True))
        return found

    def close(self) -> None:
        """Give the model's memory back."""
        self._model.close()
