"""Choosing sentences of a long text for the judgement of one summary.

Several extractors order the sentences, each in its way: by position ("lead"), by the similarity of embeddings with the summary,
by how far they entail a sentence of it, by the share of its words that they hold ("rouge"). The sentences are taken from the
extractors in turn, best first and each once, while they fit into one budget, and stand in the order of the text.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from ..text import sentences
from ..timing import booked
from .aligner import Aligner, Pairing
from .judge import JudgeInput
from .rouge import rouge
from .shared import Lazy


class Extractor(Protocol):
    """Says how much each sentence of a text matters for a summary."""

    def weigh(self, inputs: Sequence[JudgeInput]) -> list[list[float]]:
        """For each input, the weight of each sentence of its reference."""
        ...

    def close(self) -> None:
        """Give the memory of its model back."""
        ...


def extract(text: str, weights: Sequence[Sequence[float]], most_words: int) -> str:
    """The chosen sentences of a text in their order, joined by spaces, at most `most_words` words between white space.

    Args:
        text: the whole text.
        weights: of each extractor, the weight of each sentence; of equal ones the earlier comes first.
        most_words: the budget. A sentence that would exceed it is passed over for the next.
    """
    found = sentences(text)
    # sorting keeps the order of equal weights
    orders = [sorted(range(len(found)), key=each.__getitem__, reverse=True) for each in weights]
    chosen: set[int] = set()
    left = most_words
    for i in (order[rank] for rank in range(len(found)) for order in orders):
        n = len(found[i].split())
        if i not in chosen and n <= left:
            chosen.add(i)
            left -= n
    return " ".join(found[i] for i in sorted(chosen))


class Lead:
    """The earlier a sentence stands, the more it matters."""

    def weigh(self, inputs: Sequence[JudgeInput]) -> list[list[float]]:
        """Falling weights, from 0."""
        return [[-float(i) for i in range(len(sentences(each.reference)))] for each in inputs]

    def close(self) -> None:
        """Nothing to give back."""


class Overlap:
    """ROUGE-1 recall: the share of the summary's words that a sentence holds."""

    def weigh(self, inputs: Sequence[JudgeInput]) -> list[list[float]]:
        """Shares in [0, 1]."""
        return [
            [rouge(each.text, sentence, ("rouge1",))["rouge1"]["recall"] for sentence in sentences(each.reference)]
            for each in inputs
        ]

    def close(self) -> None:
        """Nothing to give back."""


class Supporting:
    """An aligner's support of the summary, or of that of its sentences that is supported most."""

    def __init__(self, model: Lazy[Aligner], whole_summary: bool) -> None:
        self._model = model
        self._whole_summary = whole_summary

    def weigh(self, inputs: Sequence[JudgeInput]) -> list[list[float]]:
        """Support in [0, 1]."""
        pairings = [
            Pairing(
                premises=tuple(sentences(each.reference)),
                claims=(each.text,) if self._whole_summary else tuple(sentences(each.text)),
            )
            for each in inputs
        ]
        aligner = self._model.get()
        with booked("models"):
            found = aligner.align(pairings)
        return [best_claims(alignment.matrix) for alignment in found]

    def close(self) -> None:
        """Give the aligner's memory back."""
        self._model.close()


def best_claims(support: ArrayLike) -> list[float]:
    """Of each premise (row) its support of the claim (column) that it supports most; a claim without a value counts as 0."""
    rows = np.nan_to_num(np.asarray(support, dtype=float), nan=0.0)
    return [float(value) for value in rows.max(axis=1)]
