"""Chance level of shares of matched words: what a summary that takes no side would score.

A word that several values have in common counts for each of them, so a summary's shares drift towards equality whatever it says,
and a summary in common words has other shares than one in rare words. The null "equal commonness" keeps how common each matched
word is, the number of documents of the set that have it, and nothing else: the word is any occurrence, in any document, of a word
that as many documents have. What it assumes, where it fails and how it was simulated is in docs/fairness.md#chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# as a page names it
EQUAL_COMMONNESS = "equal commonness"
# sign patterns of a summary's sentences; all of them where there are no more
PATTERNS = 64


@dataclass(frozen=True)
class ChanceLevel:
    """What is expected of one summary."""

    # share of each declared value, in [0, 1], summing to 1
    expected: tuple[float, ...]
    # what each sentence adds to the share beyond that, (sentences, values), summing to 0 over the values; to first order, since
    # the expectation of a quotient of sums is off by some tenths of a point, which a few hundred sets take for a finding
    gaps: tuple[tuple[float, ...], ...]

    @property
    def gap(self) -> Floats:
        """Share of each value less what is expected, (values,)."""
        return np.asarray(np.asarray(self.gaps, dtype=float).sum(axis=0))

    def shares(self) -> Floats:
        """Shares of summaries that take no side and hang together as this one does, (patterns, values), in [0, 1].

        Each sentence's gap changes its sign at random: the wild bootstrap of Liu (1988), sentences taken as independent. An
        approximation, for measures of how far shares scatter.
        """
        gaps = np.asarray(self.gaps, dtype=float)
        n = len(gaps)
        if 2**n <= PATTERNS:
            marks = np.arange(2**n)[:, None] >> np.arange(n) & 1
        else:
            half = np.random.default_rng(n).integers(2, size=(PATTERNS // 2, n))
            marks = np.concatenate([half, 1 - half])  # so that their mean is what is expected
        drawn = np.clip(np.asarray(self.expected) + (2.0 * marks - 1) @ gaps, 0, None)
        return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


class EqualCommonness:
    """The null of one document set; any number of its summaries can be held against it."""

    def __init__(self, documents: Sequence[Sequence[str]], labels: Sequence[int], n_values: int) -> None:
        """Count the words.

        Args:
            documents: tokens of each document.
            labels: place of each document's value among the declared ones.
            n_values: declared values.
        """
        self._rows: dict[str, int] = {}
        rows = [self._rows.setdefault(token, len(self._rows)) for tokens in documents for token in tokens]
        counts = np.zeros((len(self._rows), len(documents)))
        places = np.repeat(np.arange(len(documents)), [len(tokens) for tokens in documents])
        np.add.at(counts, (np.array(rows, dtype=np.intp), places), 1)
        of_value = np.zeros((len(documents), n_values))
        of_value[np.arange(len(documents)), labels] = 1
        # whether a value has a word, (words, values), and how many documents have it
        self._has = (counts @ of_value > 0).astype(float)
        self._common = (counts > 0).sum(axis=1)
        # share of the occurrences of words so common that count for a value, (documents + 1, values)
        occurrences = counts.sum(axis=1)
        sums = np.zeros((len(documents) + 1, n_values))
        np.add.at(sums, self._common, occurrences[:, None] * self._has)
        totals = np.bincount(self._common, occurrences, minlength=len(documents) + 1)
        self._rates = sums / np.maximum(totals, 1)[:, None]

    def level(self, sentences: Sequence[Sequence[str]]) -> ChanceLevel | None:
        """What is expected of a summary; None where none of its words is in a document.

        Args:
            sentences: tokens of each of its sentences, or of the whole as one.
        """
        found = [
            (self._rows[token], k) for k, tokens in enumerate(sentences) for token in tokens if token in self._rows
        ]
        if not found:
            return None
        rows, places = np.array(found).T
        rates = self._rates[self._common[rows]]  # (matched words, values)
        total = rates.sum()
        expected = rates.sum(axis=0) / total
        beyond = self._has[rows] - rates
        gaps = np.zeros((len(sentences), len(expected)))
        np.add.at(gaps, places, (beyond - expected * beyond.sum(axis=1, keepdims=True)) / total)
        return ChanceLevel(tuple(expected.tolist()), tuple(map(tuple, gaps[np.unique(places)].tolist())))
