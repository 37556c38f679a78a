"""Chance levels of shares of matched words and of coverage: what a summary that takes no side would score.

A word that several values have in common counts for each of them, so a summary's shares drift towards equality whatever it says,
and a summary in common words has other shares than one in rare words. The null "equal commonness" keeps how common each matched
word is, the number of documents of the set that have it, and nothing else: the word is any occurrence, in any document, of a word
that as many documents have. Of coverage the same is said of points, each of which keeps in how many documents it is. What the
null assumes, where it fails and how it was simulated is in docs/fairness.md#chance.

Measures that grow with the scatter of shares need more than a mean. Words of a sentence hang together, so words drawn one by one
scatter too little; a sentence of a summary that takes no side has its gap to what is expected as often with the other sign, and
sums of these gaps with random signs scatter as much as the summary does.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...resampling import NOISE

Floats = NDArray[np.float64]

# as a page names it
EQUAL_COMMONNESS = "equal commonness"
# the same with the scatter of sentences
SIGNS_OF_SENTENCES = "random signs of sentences"
# draws of signs: all there are of as many parts
MOST_LISTED = 5
DRAWS = 2**MOST_LISTED


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
    # of each sentence, for each value, matched words less expected ones; () where nobody asked
    gaps: tuple[tuple[float, ...], ...] = ()

    def drawn(self) -> Floats:
        """Matched words by value of summaries that take no side, (draws, values), at least 0; the same wherever it stands."""
        gaps = np.array(self.gaps).reshape(-1, len(self.share))
        # by what it is: by its line, a corpus in another order would have other numbers
        seed = crc32(np.round(gaps, 6).tobytes())
        # their sum is the whole less what is expected of it, so that signs of +1 give the summary itself
        expected = self.mass * np.array(self.share) - gaps.sum(axis=0)
        return np.asarray(np.maximum(expected + random_signs(len(gaps), seed) @ gaps, 0.0))


def random_signs(n: int, seed: int) -> Floats:
    """-1 or 1 for each of `n` parts, (draws, n): all patterns, equally often, where they are no more than draws."""
    if n > MOST_LISTED:
        return np.random.default_rng(seed).choice((-1.0, 1.0), size=(DRAWS, n))
    patterns = np.array(list(product((-1.0, 1.0), repeat=n))).reshape(2**n, n)
    return np.tile(patterns, (DRAWS // len(patterns), 1))


def mean_size(mean: Floats, variance: Floats) -> Floats:
    """Mean absolute value of normal numbers, of the shape of both: of the folded normal distribution (Leone et al. 1961).

    Sums over many sets are nearly normal, so that a distance of a corpus is expected without draws of whole corpora.
    """
    from scipy.special import erf

    deviation = np.sqrt(np.maximum(variance, 0.0))
    # rounding of differences of sums; of nan, nan
    scatters = deviation > NOISE
    z = mean / np.where(scatters, deviation, 1.0)
    folded = deviation * np.sqrt(2 / np.pi) * np.exp(-(z**2) / 2) + mean * erf(z / np.sqrt(2))
    return np.asarray(np.where(scatters, folded, np.abs(mean)))


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

    def level(self, summary: Sequence[str], sentences: Sequence[Sequence[str]] = ()) -> ChanceLevel | None:
        """What is expected of a summary; None where none of its tokens is in a document.

        Args:
            summary: its tokens.
            sentences: those of each of its sentences, where their gaps are asked for.
        """
        expected, found = self._sums(summary)
        if not found.any():
            return None
        mass = float(found.sum())
        gaps = (its - chance for chance, its in map(self._sums, sentences))
        return ChanceLevel(
            expected=tuple((expected / expected.sum()).tolist()),
            share=tuple((found / mass).tolist()),
            mass=mass,
            gaps=tuple(tuple(gap.tolist()) for gap in gaps),
        )

    def _sums(self, tokens: Sequence[str]) -> tuple[Floats, Floats]:
        """Matched words of each value, expected and found, (values,) each."""
        rows = [self._rows[token] for token in tokens if token in self._rows]
        return self._rates[self._common[rows]].sum(axis=0), self._has[rows].sum(axis=0)


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
