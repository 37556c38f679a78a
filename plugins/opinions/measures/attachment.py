"""Which opinion each unit speaks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ....errors import DataError
from ....fairness.encoding import EncodedUnits, TfIdf, encode

# cosine of the tf-idf vectors of unit and opinion, or the share of the opinion's keywords that the unit contains
AttachmentMethod = Literal["tfidf", "keyword_fraction"]
# the dummy vertex: units that match no opinion
DUMMY = -1
# similarities closer than this are tied
TIE = 1e-12


@dataclass(frozen=True)
class Attachment:
    """The opinion of each unit."""

    # position of the opinion, DUMMY for units that match none; shape (units,)
    opinion: NDArray[np.intp]
    # in [0, 1]; scipy.sparse CSR array, shape (units, opinions)
    similarity: Any


class Attacher:
    """Attaches texts to the opinions of a source: its own units, and the sentences of a summary by the same weights.

    A text goes to the opinion of highest similarity if that is above the threshold, otherwise to the dummy; ties within 1e-12 go
    to the earlier opinion.

    Source: Shandilya et al. 2020, section VII.A, step 3, which describes both methods; Liu et al. 2019;
    docs/papers.md#shandilya-attachment.

    Args:
        source: the source's units.
        opinions: keywords of each opinion; a keyword is one or more tokens joined by blanks, repeated ones count once.
        method: how similarity is taken; "keyword_fraction" favours opinions of few keywords.
        threshold: in [0, 1).

    Raises:
        DataError: an option is out of its range, or an opinion has no keyword.
    """

    def __init__(
        self,
        source: EncodedUnits,
        opinions: Sequence[Sequence[str]],
        method: AttachmentMethod = "tfidf",
        threshold: float = 0.0,
    ) -> None:
        if method not in get_args(AttachmentMethod) or not 0 <= threshold < 1:
            raise DataError(
                f"units are attached by one of {', '.join(get_args(AttachmentMethod))} with a threshold in [0, 1), "
                f"got {method!r} and {threshold}"
            )
        empty = [i for i, keywords in enumerate(opinions) if not any(keyword.split() for keyword in keywords)]
        if empty:
            raise DataError(f"opinions {empty} have no keyword; leave them out")
        self._source = source
        self._opinions = [list(dict.fromkeys(keywords)) for keywords in opinions]
        self._method = method
        self._threshold = threshold
        if method == "tfidf":
            self._tfidf = TfIdf(source)
            tokens = [" ".join(keywords).split() for keywords in self._opinions]
            self._vectors = self._tfidf.unit_vectors(encode(tokens, source.vocabulary).counts())

    def attach(self, units: EncodedUnits) -> Attachment:
        """The opinion of each unit.

        Args:
            units: encoded with the vocabulary of the source; other tokens are ignored.
        """
        if self._method == "tfidf":
            similarity = (self._tfidf.unit_vectors(units.counts()) @ self._vectors.T).tocsr()
        else:
            similarity = self._keyword_fraction(units)
        np.minimum(similarity.data, 1.0, out=similarity.data)  # rounding
        return Attachment(_best(similarity, self._threshold), similarity)

    def attach_source(self) -> Attachment:
        """The opinion of each of the source's own units."""
        return self.attach(self._source)

    def attach_tokens(self, units: Sequence[Sequence[str]]) -> Attachment:
        """The opinion of each unit, given as content tokens."""
        return self.attach(encode(units, self._source.vocabulary))

    def _keyword_fraction(self, units: EncodedUnits) -> Any:
        from scipy import sparse

        keywords = list(chain.from_iterable(self._opinions))
        sizes = np.array([len(keywords) for keywords in self._opinions], dtype=np.intp)
        columns = np.repeat(np.arange(len(sizes)), sizes)
        share = sparse.csr_array(
            (1.0 / sizes[columns], (np.arange(len(keywords)), columns)), shape=(len(keywords), len(sizes))
        )  # (keywords, opinions)
        has = units.contains(keywords)
        return (has @ share).tocsr()


def _best(similarity: Any, threshold: float) -> NDArray[np.intp]:
    """The first opinion of each row that ties with the row's highest similarity above the threshold."""
    opinion = np.full(similarity.shape[0], DUMMY, dtype=np.intp)
    if not similarity.nnz:
        return opinion
    highest = similarity.max(axis=1).toarray().ravel()
    entries = similarity.tocoo()
    is_best = (highest[entries.row] > threshold) & (entries.data >= highest[entries.row] - TIE)
    first = np.full(similarity.shape[0], similarity.shape[1], dtype=np.intp)
    np.minimum.at(first, entries.row[is_best], entries.col[is_best])
    has_opinion = first < similarity.shape[1]
    opinion[has_opinion] = first[has_opinion]
    return opinion
