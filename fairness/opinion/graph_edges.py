"""Edges of the Opinion Interaction Graph: which opinions talk of the same things."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from .attachment import DUMMY
from .encoding import EncodedUnits, encode
from .exposure import checked_attachment
from .tfidf import TfIdf

# opinions less alike than this have no edge
LEAST_WEIGHT = 0.001


def interaction_edges(
    units: Sequence[Sequence[str]] | EncodedUnits,
    attachment: Sequence[int] | NDArray[np.intp],
    n_opinions: int,
    *,
    least_weight: float = LEAST_WEIGHT,
) -> tuple[tuple[int, int, float], ...]:
    """(i, j, weight) for opinions i < j, in order: the tf-idf cosine of their joined units, in (0, 1].

    For inspection; no score uses them. The dummy takes no part.

    Source: Shandilya et al. 2020, section VII.A, step 3; docs/papers.md#shandilya-edges.

    Args:
        units: content tokens of each unit.
        attachment: position of each unit's opinion, -1 for none; shape (units,).
        n_opinions: number of opinions.
        least_weight: what an edge must reach, above 0.

    Raises:
        DataError: units and attachment differ in number, an opinion does not exist, or `least_weight` is not above 0.
    """
    from scipy import sparse

    if not least_weight > 0:
        raise DataError(f"least_weight must be above 0, got {least_weight}")
    encoded = units if isinstance(units, EncodedUnits) else encode(units)
    opinions = checked_attachment(attachment, encoded.n_units, n_opinions)
    attached = np.flatnonzero(opinions != DUMMY)
    joining = sparse.csr_array(
        (np.ones(len(attached)), (opinions[attached], attached)), shape=(n_opinions, encoded.n_units)
    )
    vectors = TfIdf(encoded).unit_vectors(joining @ encoded.counts())  # (opinions, vocabulary)
    alike = sparse.triu(vectors @ vectors.T, k=1).tocsr()
    alike.sort_indices()
    edges = alike.tocoo()
    return tuple(
        (int(i), int(j), min(float(weight), 1.0))
        for i, j, weight in zip(edges.row, edges.col, edges.data, strict=True)
        if weight >= least_weight
    )
