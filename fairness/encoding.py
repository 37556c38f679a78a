"""Units of text as arrays: every token a number, so that what follows runs without a loop over tokens; their tf-idf vectors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError
from .content_tokens import content_tokens


@dataclass(frozen=True)
class EncodedUnits:
    """The content tokens of some units, one after the other."""

    # token -> its number; numbers follow the alphabet
    vocabulary: Mapping[str, int]
    # number of each token, -1 when the vocabulary lacks it; shape (tokens,)
    ids: NDArray[np.intp]
    # unit that each token stands in; shape (tokens,)
    unit: NDArray[np.intp]
    n_units: int

    def counts(self) -> Any:
        """How often each unit has each token of the vocabulary: scipy.sparse CSR array, shape (units, vocabulary)."""
        known = self.ids >= 0
        return _sparse_counts(self.unit[known], self.ids[known], (self.n_units, len(self.vocabulary)))

    def contains(self, keywords: Sequence[str]) -> Any:
        """1.0 where a unit has the keyword's tokens side by side: scipy.sparse CSR array, shape (units, keywords).

        Args:
            keywords: each one or more tokens joined by blanks.
        """
        hits = [self._units_with(keyword) for keyword in keywords]
        columns = np.repeat(np.arange(len(hits)), [len(units) for units in hits])
        rows = np.concatenate(hits) if hits else np.zeros(0, dtype=np.intp)
        return _sparse_counts(rows, columns, (self.n_units, len(keywords)))

    @cached_property
    def _by_token(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Places of the tokens, ordered by token and then by place, and their numbers in that order."""
        order = np.argsort(self.ids, kind="stable")
        return order, self.ids[order]

    def _units_with(self, keyword: str) -> NDArray[np.intp]:
        wanted = [self.vocabulary.get(token, -1) for token in keyword.split()]
        if not wanted or min(wanted) < 0:
            return np.zeros(0, dtype=np.intp)
        first, *followers = wanted
        order, numbers = self._by_token
        starts = order[slice(*np.searchsorted(numbers, [first, first + 1]))]
        for step, token in enumerate(followers, start=1):
            starts = starts[starts + step < len(self.ids)]
            is_match = (self.ids[starts + step] == token) & (self.unit[starts + step] == self.unit[starts])
            starts = starts[is_match]
        return np.unique(self.unit[starts])


def encode(units: Sequence[Sequence[str]], vocabulary: Mapping[str, int] | None = None) -> EncodedUnits:
    """The units as arrays.

    Args:
        units: content tokens of each unit.
        vocabulary: numbers of the tokens; those of the units themselves, in alphabetical order, when not given.

    Raises:
        DataError: a unit is a text and not a list of tokens.
    """
    texts = [i for i, unit in enumerate(units) if isinstance(unit, str)]
    if texts:
        raise DataError(f"units {texts} are texts, not lists of tokens; take content_tokens(text) of each")
    flat = list(chain.from_iterable(units))
    if vocabulary is None:
        vocabulary = {token: number for number, token in enumerate(sorted(set(flat)))}
    known = vocabulary
    ids = np.fromiter((known.get(token, -1) for token in flat), dtype=np.intp, count=len(flat))
    unit = np.repeat(np.arange(len(units)), [len(tokens) for tokens in units]).astype(np.intp)
    return EncodedUnits(vocabulary=known, ids=ids, unit=unit, n_units=len(units))


def _sparse_counts(rows: NDArray[np.intp], columns: NDArray[np.intp], shape: tuple[int, int]) -> Any:
    from scipy import sparse

    counts = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=shape).tocsr()
    counts.sum_duplicates()
    return counts


class TfIdf:
    """The weights of a source: token count times ln((1 + n)/(1 + df)) + 1, with n units of which df have the token.

    Source: Shandilya et al. 2020, section VII.A, step 3; docs/papers.md#shandilya-attachment.

    Args:
        source: the units that the document frequencies are counted in.
    """

    def __init__(self, source: EncodedUnits) -> None:
        frequency = np.bincount(source.counts().indices, minlength=len(source.vocabulary))  # (vocabulary,)
        self.idf: NDArray[np.float64] = np.log((1 + source.n_units) / (1 + frequency)) + 1

    def unit_vectors(self, counts: Any) -> Any:
        """Vectors of length 1, or 0 for a row without tokens: scipy.sparse CSR array, shape (rows, vocabulary).

        The product of two such arrays, one transposed, holds the cosines.

        Args:
            counts: token counts, sparse, shape (rows, vocabulary).
        """
        vectors = counts.tocsr(copy=True)
        rows = np.repeat(np.arange(vectors.shape[0]), np.diff(vectors.indptr))
        weighted = vectors.data * self.idf[vectors.indices]
        length = np.sqrt(np.bincount(rows, weighted**2, minlength=vectors.shape[0]))
        vectors.data = weighted * (1 / np.where(length > 0, length, 1.0))[rows]
        return vectors


def text_similarity(units: Sequence[str]) -> NDArray[np.float64]:
    """Tf-idf cosines of the units' content tokens, in [0, 1], 1 on the diagonal; shape (units, units), dense.

    Source: docs/papers.md#shandilya-tokens and #dash-clusters.
    """
    encoded = encode([content_tokens(text) for text in units])
    vectors = TfIdf(encoded).unit_vectors(encoded.counts())
    similarity: NDArray[np.float64] = np.minimum((vectors @ vectors.T).toarray(), 1.0)
    np.fill_diagonal(similarity, 1.0)  # a unit without content tokens, too, is like itself
    return similarity
