"""Room by a document's place in its set: is who speaks first summarised more?

A set is read in thirds. Each document has the matched words of a summary that it shares, and what is expected of it (`chance`);
a third has those of its documents. The measure is our own. That speaking order matters was found for summaries of parliamentary
debates (arXiv:2507.14221), of which the middle was left out.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ...fairness.groups.coverage import over

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

THIRDS = ("first third", "middle third", "last third")


def thirds(places: Sequence[int]) -> Places:
    """The third of each document, 0 to 2, by the middle of its place; alike from both ends.

    Args:
        places: of all documents of a set, counted from 0.
    """
    return np.asarray([int(len(THIRDS) * (place + 0.5) / len(places)) for place in places], dtype=np.intp)


def by_third(amounts: Floats, of: Places) -> Floats:
    """Sums over the documents of each third, (thirds,)."""
    return np.bincount(of, weights=amounts, minlength=len(THIRDS)).astype(float)


def expected_within(room: Floats, expected: Floats, labels: Sequence[int]) -> Floats:
    """What is expected of each document, (documents,), of a summary that may prefer a value, but no place within it.

    Each value has the room that it has, and shares it out among its documents as `expected` does: a value whose documents stand
    first is otherwise taken for a place.

    Args:
        room: share of each document in the summary.
        expected: the same as taste expects it.
        labels: value of each document.
    """
    places = np.asarray(labels)
    value_room, value_expected = (np.bincount(places, weights=amounts).astype(float) for amounts in (room, expected))
    return np.asarray(expected * np.nan_to_num(over(value_room, value_expected))[places])


def can_be_told(labels: Sequence[int], of: Places) -> NDArray[np.bool_]:
    """Whether some value has documents in the third and in another, (thirds,): else place and value are the same."""
    counts = np.zeros((max(labels) + 1, len(THIRDS)))
    np.add.at(counts, (np.asarray(labels), of), 1)
    return np.asarray(((counts > 0) & (counts < counts.sum(axis=1, keepdims=True))).any(axis=0))


# what a set adds to `place_and_documents`: normal equations (a matrix and a vector), room of the thirds, gaps of the documents by
# their third of the file, how often those stood in which third, gaps in the first order, weights of all orders and of the first
_THIRDS = len(THIRDS)
_SHAPES = ((_THIRDS, _THIRDS), (_THIRDS,), (_THIRDS,), (_THIRDS,), (_THIRDS, _THIRDS), (_THIRDS,), (2,))
N_SUMS = sum(map(np.prod, _SHAPES))


def sums_of_orders(gaps: Floats, weights: Floats, stood: Places, home: Places) -> Floats:
    """What a set adds whose documents were summarised in several orders, (sums,); sums over sets go to `place_and_documents`.

    Args:
        gaps: room of each document less what is expected of it, (orders, documents).
        weights: matched words, (orders,).
        stood: third in which each document stood, (orders, documents).
        home: third of each document in the file, (documents,).
    """
    n, total = len(home), weights.sum()
    stands = (stood[..., None] == np.arange(_THIRDS)).astype(float)  # (orders, documents, thirds)
    mean = np.einsum("r,rdk->dk", weights, stands) / total
    within = stands - mean
    normal = np.einsum("r,rdj,rdk->jk", weights, within, within)
    moment = np.einsum("r,rdk,rd->k", weights, within, n * gaps)
    comes = (home[:, None] == np.arange(_THIRDS)).astype(float)  # (documents, thirds)
    from_home = np.einsum("r,rd,dk->k", weights, gaps, comes)
    moved = np.einsum("dj,dk->jk", comes, mean) * total / n
    first = weights[0] * np.einsum("d,dk->k", gaps[0], stands[0])
    sums = (normal, moment, mean.sum(axis=0) * total / n, from_home, moved, first, np.array([total, weights[0]]))
    return np.concatenate([part.ravel() for part in sums])


def place_and_documents(sums: Floats) -> Floats:
    """Gaps of each third in points of share, (..., 3, thirds): in the first order, by its place, and by its documents.

    A document's gap, in parts of an equal room, is taken for the sum of an effect of its own and one of the third that it stands
    in, by least squares within documents, so orders need not be balanced. A third's gap by its place is what any documents would
    have there; its gap by its documents is what those that stand there in the file have wherever they stand. nan where the orders
    do not move documents through all thirds.
    """
    ends = np.cumsum([int(np.prod(shape)) for shape in _SHAPES])[:-1]
    parts = np.split(sums, ends, axis=-1)
    normal, moment, room, from_home, moved, first, weights = (
        part.reshape(*sums.shape[:-1], *shape) for part, shape in zip(parts, _SHAPES, strict=True)
    )
    total, first_total = weights[..., :1], weights[..., 1:]
    share = over(room, total)
    # effects are known up to a constant: the room of all thirds together is 1
    effect = np.einsum("...jk,...k->...j", np.linalg.pinv(normal, rcond=1e-9, hermitian=True), moment)
    effect -= (share * effect).sum(axis=-1, keepdims=True)
    is_known = np.linalg.matrix_rank(normal, tol=1e-6, hermitian=True) >= (room > 0).sum(axis=-1) - 1
    place = np.where(is_known[..., None], share * effect, np.nan)
    documents = over(from_home - np.einsum("...jk,...k->...j", moved, effect), total)
    documents = np.where(is_known[..., None], documents, np.nan)
    return np.stack([over(first, first_total), place, documents], axis=-2)
