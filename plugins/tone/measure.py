"""Tone: whether a summary speaks of each value as positively as that value's documents do.

Words that only one value's documents have (its own) tell which sentences of a summary speak of it. Tone is the share of the
positive in the positive and negative amounts of these sentences, so dense sentences count as thin ones do.

What is expected lies between two answers that fail on opposite sides (docs/fairness.md#tone): the tone of the sources' sentences
that have the same own word, right for sentences taken over, and the mean of that over all words of the summary's sentence, right
for sentences that mix what several values say. The measure is our own; arXiv:2604.21309 counts the sentiment of entities among
its measures of summaries of news, and found that it resists all that was tried.
"""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...fairness.groups.coverage import over

Floats = NDArray[np.float64]

# tokens of a sentence, and how much of it is positive and negative, at least 0
Toned = tuple[Sequence[str], float, float]
# columns of a value: positive and all tone of its documents; the same beside its own words in the summary; the positive expected
# there by the own word, and by all words of the sentence
N_COLUMNS = 6
SHARED = -1


class SourceTone:
    """The tone of a set's documents, word by word; any number of its summaries can be held against it."""

    def __init__(self, sentences: Sequence[Toned], labels: Sequence[int], n_values: int) -> None:
        """Read the sentences.

        Args:
            sentences: of all documents.
            labels: place of each one's value among the declared ones.
            n_values: declared values.
        """
        sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        # value whose documents alone have the word
        self._owner: dict[str, int] = {}
        self._sources = np.zeros((n_values, 2))
        for (tokens, positive, negative), label in zip(sentences, labels, strict=True):
            self._sources[label] += positive, positive + negative
            for token in set(tokens):
                sums[token][0] += positive
                sums[token][1] += positive + negative
                self._owner[token] = label if self._owner.get(token, label) == label else SHARED
        self._tone = {token: positive / amount for token, (positive, amount) in sums.items() if amount > 0}

    def of(self, lines: Sequence[Toned]) -> Floats:
        """What the sentences of a summary add for each value, (values, columns)."""
        sums = np.zeros((len(self._sources), N_COLUMNS))
        for tokens, positive, negative in lines:
            known = {token: self._tone[token] for token in tokens if token in self._tone}
            amount = positive + negative
            if not known or not amount:
                continue
            mixed = sum(known.values()) / len(known)
            for token, tone in known.items():
                if (value := self._owner[token]) != SHARED:
                    sums[value, 2:] += positive, amount, tone * amount, mixed * amount
        # documents count where the summary speaks of them, as much as it does
        spoken = sums[:, 3:4]
        sums[:, :2] = np.nan_to_num(over(self._sources, self._sources[:, 1:])) * spoken
        return sums


def tones(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """Shares of the positive in documents and summaries, and what is expected nearest to the latter, (..., values) each.

    Args:
        sums: of `SourceTone.of`, (..., values, columns).
    """
    documents, _, positive, amount, *_ = np.moveaxis(sums, -1, 0)
    share = over(positive, amount)
    return over(documents, amount), share, np.clip(share, *expected_between(sums))


def expected_between(sums: Floats) -> tuple[Floats, Floats]:
    """The lower and the higher of the two answers to what is expected, (..., values) each."""
    *_, amount, by_word, by_sentence = np.moveaxis(sums, -1, 0)
    first, second = over(by_word, amount), over(by_sentence, amount)
    return np.minimum(first, second), np.maximum(first, second)
