"""Chance levels of shares of matched words and of coverage: what a summary that takes no side would score.

A word that several values have in common counts for each of them, so a summary's shares drift towards equality whatever it says,
and a summary in common words has other shares than one in rare words. The null "equal commonness" keeps how common each matched
word is, the number of documents of the set that have it, and nothing else: the word is any occurrence, in any document, of a word
that as many documents have. Of coverage the same is said of points, each of which keeps in how many documents it is. What the
null assumes, where it fails and how it was simulated is in docs/fairness.md#chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# as a page names it
EQUAL_COMMONNESS = "equal commonness"


@dataclass(frozen=True)
class ChanceLevel:
    """What is expected of one summary."""

    # share of each declared value, in [0, 1], summing to 1
    expected: tuple[float, ...]
    # its own, summing to 1
    share: tuple[float, ...]
    # matched words, each as often as it counts for a value: the weight of the summary among others. The gap times this has the
    # expectation 0 under the null, while gaps themselves are off by some tenths of a point, which a few hundred sets take for a
    # finding
    mass: float


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
        rows = np.array(
            [self._rows.setdefault(token, len(self._rows)) for tokens in documents for token in tokens], dtype=int
        )
        places = np.repeat(np.arange(len(documents)), [len(tokens) for tokens in documents])
        n, n_documents = len(self._rows), len(documents)
        # whether a value has a word, (words, values), and how many documents have it
        of_value = np.bincount(rows * n_values + np.asarray(labels, dtype=int)[places], minlength=n * n_values)
        self._has = (of_value.reshape(n, n_values) > 0).astype(float)
        self._common = np.bincount(np.unique(rows * n_documents + places) // max(1, n_documents), minlength=n)
        # share of the occurrences of words so common that count for a value, (documents + 1, values)
        occurrences = np.bincount(rows, minlength=n)
        sums = np.zeros((n_documents + 1, n_values))
        np.add.at(sums, self._common, occurrences[:, None] * self._has)
        totals = np.bincount(self._common, occurrences, minlength=n_documents + 1)
        self._rates = sums / np.maximum(totals, 1)[:, None]

    def level(self, summary: Sequence[str]) -> ChanceLevel | None:
        """What is expected of a summary of these tokens; None where none of them is in a document."""
        rows = [self._rows[token] for token in summary if token in self._rows]
        if not rows:
            return None
        expected, found = self._rates[self._common[rows]].sum(axis=0), self._has[rows].sum(axis=0)
        expected /= expected.sum()
        mass = float(found.sum())
        return ChanceLevel(tuple(expected.tolist()), tuple((found / mass).tolist()), mass)


class PointsAsCommon:
    """The same null for coverage, of one document set: a point of a summary may be any sentence that is in as many documents."""

    def __init__(self, entailed: Floats) -> None:
        """Count the sentences.

        Args:
            entailed: p(document, sentence) of the documents' own sentences, (documents, sentences).
        """
        known = entailed[:, entailed.any(axis=0)]
        # numbers of documents that a sentence is in, and whose documents sentences in as many are, (documents, numbers)
        self._numbers, places = np.unique((known > 0).sum(axis=0), return_inverse=True)
        self._shares = np.zeros((len(entailed), len(self._numbers)))
        np.add.at(self._shares.T, places, (known / known.sum(axis=0)).T)
        self._shares /= np.maximum(1, np.bincount(places, minlength=len(self._numbers)))

    def expected(self, entailed: Floats) -> Floats:
        """p of each document summed over the units of a summary, as it is expected, (documents,); its sum is the summary's.

        Args:
            entailed: p(document, unit), (documents, units).
        """
        found = entailed[:, entailed.any(axis=0)]
        if not found.size or not len(self._numbers):
            return np.full(len(entailed), entailed.sum() / len(entailed))
        # where no sentence is in as many documents, those of the nearest number
        nearest = np.abs(self._numbers[:, None] - (found > 0).sum(axis=0)).argmin(axis=0)
        return np.asarray(self._shares[:, nearest] @ found.sum(axis=0))
