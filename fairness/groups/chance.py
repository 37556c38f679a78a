"""Chance levels of shares of matched words and of coverage: what a summary that takes no side would score.

A word that several values have in common counts for each of them, so a summary's shares drift towards equality whatever it says,
and a summary in common words has other shares than one in rare words. The null "equal commonness" keeps how common each matched
word is, the number of documents of the set that have it, and nothing else: the word is any occurrence, in any document, of a word
that as many documents have. Of coverage the same is said of points, each of which keeps in how many documents it is. What the
null assumes, where it fails and how it was simulated is in docs/fairness.md#chance.

Measures that grow with the scatter of shares need more than a mean. Words of a sentence hang together, so words drawn one by one
scatter too little: for each sentence of a summary another is drawn, whose words are as common, of a summary whose documents are
divided alike.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from ...resampling import NOISE

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# as a page names it
EQUAL_COMMONNESS = "equal commonness"
# the same with the scatter of sentences
SENTENCES_AS_COMMON = "sentences as common"
# summaries that are drawn in the place of one
DRAWS = 32
# sentences of which one is drawn, those whose expected words are nearest
NEAREST = 16
# sentences that these are looked for among: where the sets whose documents are divided alike have fewer, those of the nearest
# divisions are taken in
LEAST_SENTENCES = 64
# of words; of sentences that are equally near others are nearest each time
TIES = 1e-6


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
    # of each value, in its set
    documents: tuple[int, ...]
    # of each sentence in which a word is matched, for each value, matched words and expected ones; () where nobody asked
    sentences: tuple[tuple[tuple[float, ...], tuple[float, ...]], ...] = ()


def sentences_drawn(levels: Sequence[ChanceLevel]) -> Floats:
    """Matched words by value of summaries that take no side, in the place of each of a system's, (summaries, draws, values).

    For each sentence of a summary one of the nearest by what is expected of them is drawn, of summaries whose documents are
    divided alike. What these lack on the whole of what is expected is added in proportion: a lean that sentences share is not
    expected, their scatter is. At least 0; nothing depends on the order of summaries.
    """
    drawn = np.zeros((len(levels), DRAWS, len(levels[0].share)))
    alike = Counter[bytes]()
    for places, pool in _pools(levels):
        from_these = _Neighbours(pool)
        for place in places:
            its = _sentences(levels[place])
            what = np.round(its, 6).tobytes()
            # by what it is, and how many there were of it: by its line, a corpus in another order would have other numbers
            drawn[place] = from_these.drawn(its, (crc32(what), alike[what]))
            alike[what] += 1
    return drawn


class _Neighbours:
    """Sentences to draw from."""

    def __init__(self, pool: Floats) -> None:
        """Take matched and expected words, (sentences, 2, values)."""
        from scipy.spatial import KDTree

        self._found = pool[:, 0]
        whole_found, whole_expected = pool.sum(axis=0)
        self._lacks = 1 - whole_found / np.where(whole_expected > 0, whole_expected, 1.0)
        self._tree = KDTree(
            pool[:, 1] + _jitter(pool[:, 1], np.random.default_rng(0)), balanced_tree=False, compact_nodes=False
        )

    def drawn(self, its: Floats, seed: Sequence[int]) -> Floats:
        """In the place of a summary's sentences, (sentences, 2, values), as many others, added up, (draws, values)."""
        generator = np.random.default_rng(seed)
        expected, n = its[:, 1], min(NEAREST, len(self._found))
        _, nearest = self._tree.query(expected + _jitter(expected, generator), k=[*range(1, n + 1)])
        choice = generator.integers(n, size=(DRAWS, len(its)))
        found = self._found[nearest[np.arange(len(its)), choice]].sum(axis=1)
        return np.asarray(np.maximum(found + self._lacks * expected.sum(axis=0), 0.0))


def _jitter(like: Floats, generator: np.random.Generator) -> Floats:
    return TIES * generator.normal(size=like.shape)


def _pools(levels: Sequence[ChanceLevel]) -> Iterator[tuple[Ints, Floats]]:
    """Places of summaries of documents that are divided alike, and sentences to draw for them, (sentences, 2, values)."""
    documents = np.array([level.documents for level in levels], dtype=float)
    divisions, of_division = np.unique(
        np.round(documents / documents.sum(axis=1, keepdims=True), 6), axis=0, return_inverse=True
    )
    alike = [np.flatnonzero(of_division == k) for k in range(len(divisions))]
    sentences = [np.concatenate([_sentences(levels[place]) for place in places]) for places in alike]
    for places, division in zip(alike, divisions, strict=True):
        distances = np.abs(divisions - division).sum(axis=1)
        nearest = np.argsort(distances)
        are_enough = np.cumsum([len(sentences[k]) for k in nearest]) >= LEAST_SENTENCES
        farthest = distances[nearest[are_enough.argmax() if are_enough.any() else -1]]
        # sentences of other divisions may be of a value that these sets have no documents of
        has = division > 0
        pool = np.concatenate([sentences[k] for k in np.flatnonzero(distances <= farthest + NOISE)]) * has
        # in an order of their own: that of lines would be seen where sentences are equally near
        if len(pool):
            yield places, pool[np.lexsort(pool.reshape(len(pool), -1).T)]


def _sentences(level: ChanceLevel) -> Floats:
    """(sentences, 2, values)."""
    return np.array(level.sentences).reshape(-1, 2, len(level.share))


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
        self._documents = tuple(np.bincount(np.asarray(labels, dtype=int), minlength=n_values).tolist())
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
            sentences: those of each of its sentences, where these are asked for.
        """
        expected, found = self._sums(summary)
        if not found.any():
            return None
        mass = float(found.sum())
        parts = (self._sums(tokens) for tokens in sentences)
        return ChanceLevel(
            expected=tuple((expected / expected.sum()).tolist()),
            share=tuple((found / mass).tolist()),
            mass=mass,
            documents=self._documents,
            sentences=tuple((tuple(its.tolist()), tuple(chance.tolist())) for chance, its in parts if its.any()),
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
