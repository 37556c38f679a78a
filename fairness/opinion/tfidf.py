"""Tf-idf vectors of units, and their cosine."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encoding import EncodedUnits, encode
from .tokens import content_tokens


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
        from scipy import sparse

        weighted = (counts @ sparse.diags_array(self.idf)).tocsr()
        length = np.sqrt(weighted.power(2).sum(axis=1))
        return (sparse.diags_array(1 / np.where(length > 0, length, 1.0)) @ weighted).tocsr()


def text_similarity(units: Sequence[str]) -> NDArray[np.float64]:
    """Tf-idf cosines of the units' content tokens, in [0, 1], 1 on the diagonal; shape (units, units), dense.

    Source: docs/papers.md#shandilya-tokens and #dash-clusters.
    """
    encoded = encode([content_tokens(text) for text in units])
    vectors = TfIdf(encoded).unit_vectors(encoded.counts())
    similarity: NDArray[np.float64] = np.minimum((vectors @ vectors.T).toarray(), 1.0)
    np.fill_diagonal(similarity, 1.0)  # a unit without content tokens, too, is like itself
    return similarity
