"""Choosing sentences of a long text for the judgement of one summary.

Several extractors order the sentences, each in its way: by position ("lead"), by the similarity of embeddings with the summary,
by how far they entail a sentence of it, by the share of its words that they hold ("rouge"). The sentences are taken from the
extractors in turn, best first and each once, while they fit into one budget, and stand in the order of the text. Where no
sentence fits, the best one is cut to the budget: an extract is never blank.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ...judges.aligner import Aligner, Alignment, Pairing
from ...judges.judge import JudgeInput
from ...judges.rouge import read_tokens
from ...judges.shared import Lazy, NoModel, OneModel
from ...runfolder.timing import booked
from ...text import sentences


class Extractor(Protocol):
    """Says how much each sentence of a text matters for a summary."""

    def weigh(self, inputs: Sequence[JudgeInput]) -> list[list[float]]:
        """For each input, the weight of each sentence of its reference."""
        ...

    def close(self) -> None:
        """Give the memory of its model back."""
        ...


@dataclass(frozen=True)
class Extract:
    """What is left of a text."""

    # sentences in their order, joined by spaces
    text: str
    # words that the only sentence lost, because no sentence fits the budget
    n_cut: int = 0


def extract(text: str, weights: Sequence[Sequence[float]], most_words: int) -> Extract:
    """The chosen sentences of a text, at most `most_words` words between white space.

    Args:
        text: the whole text, not blank.
        weights: of each extractor, the weight of each sentence; of equal ones the earlier comes first.
        most_words: the budget. A sentence that would exceed it is passed over for the next.
    """
    sources = sentences(text)
    # sorting keeps the order of equal weights
    orders = [sorted(range(len(sources)), key=row.__getitem__, reverse=True) for row in weights]
    chosen: set[int] = set()
    n_words_free = most_words
    for i in (order[rank] for rank in range(len(sources)) for order in orders):
        n = len(sources[i].split())
        if i not in chosen and n <= n_words_free:
            chosen.add(i)
            n_words_free -= n
    if chosen:
        return Extract(" ".join(sources[i] for i in sorted(chosen)))
    words = sources[orders[0][0]].split()
    return Extract(" ".join(words[:most_words]), len(words) - most_words)


class Lead(NoModel):
    """The earlier a sentence stands, the more it matters."""

    def weigh(self, inputs: Sequence[JudgeInput]) -> list[list[float]]:
        """Falling weights, from 0."""
        return [[-float(i) for i in range(len(sentences(judge_input.reference)))] for judge_input in inputs]


class WordOverlap(NoModel):
    """ROUGE-1 recall: the share of the summary's words that a sentence holds."""

    def weigh(self, inputs: Sequence[JudgeInput]) -> list[list[float]]:
        """Shares in [0, 1]; 0 for a summary without words that ROUGE reads."""
        counts = {
            reference: [Counter(read_tokens(sentence)) for sentence in sentences(reference)]
            for reference in dict.fromkeys(judge_input.reference for judge_input in inputs)
        }
        weights = []
        for each in inputs:
            tokens = Counter(read_tokens(each.text))
            n = max(tokens.total(), 1)
            weights.append([(tokens & sentence).total() / n for sentence in counts[each.reference]])
        return weights


class Supporting(OneModel[Aligner]):
    """An aligner's support of the summary, or of that of its sentences that is supported most."""

    def __init__(self, model: Lazy[Aligner], whole_summary: bool) -> None:
        super().__init__(model)
        self._whole_summary = whole_summary

    def weigh(self, inputs: Sequence[JudgeInput]) -> list[list[float]]:
        """Support in [0, 1]; not-a-number where the model gives none."""
        pairings = [
            Pairing(
                premises=tuple(sentences(judge_input.reference)),
                claims=(judge_input.text,) if self._whole_summary else tuple(sentences(judge_input.text)),
            )
            for judge_input in inputs
        ]
        aligner = self._model.get()
        with booked("models"):
            alignments = aligner.align(pairings)
        return [best_claims(alignment) for alignment in alignments]


def best_claims(alignment: Alignment) -> list[float]:
    """Of each premise its support of the claim that it supports most; a claim too long to be compared counts as 0."""
    rows = alignment.matrix if alignment.gaps is None else np.where(alignment.gaps, 0.0, alignment.matrix)
    return [float(value) for value in rows.max(axis=1)]
