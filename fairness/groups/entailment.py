"""Which document entails which unit of a summary: many document sets side by side.

A classifier's probabilities over (contradiction, neutral, entailment) become one number for each document and unit; units that
entail each other become one. Source: Li et al. 2025 (arXiv:2412.08795) and its code; specification of group fairness, section 14.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import DataError

Floats = NDArray[np.float64]
ENTAILMENT = 2
MERGE_ABOVE = 0.95


@dataclass(frozen=True)
class Entailments:
    """p(document, unit) of document sets, in [0, 1]; padded with 0 to the largest set."""

    # (sets, documents, units)
    probability: Floats
    # attribute value of each document as its place in the declared list, -1 for padding, (sets, documents)
    labels: NDArray[np.intp]
    # which places are units, (sets, units)
    units: NDArray[np.bool_]


def document_entailment(nli: ArrayLike, windows: Sequence[int], n_documents: int, *, gate: bool = True) -> Floats:
    """The best window of each document for each unit, shape (documents, units), in [0, 1]; 0 for a document without window.

    Args:
        nli: probabilities of (contradiction, neutral, entailment), shape (units, windows, 3).
        windows: place of each window's document, shape (windows,).
        n_documents: of the set.
        gate: a window counts only where entailment is the first class of highest probability, as released; the paper has
            no such gate.

    Raises:
        DataError: the shapes do not go together, or a window's document is not in the set.
    """
    classes = np.asarray(nli, dtype=float)
    places = np.asarray(windows, dtype=int)
    if classes.ndim != 3 or classes.shape[1:] != (len(places), 3):
        raise DataError(f"entailment needs shape (units, {len(places)} windows, 3 classes), got {classes.shape}")
    if ((places < 0) | (places >= n_documents)).any():
        raise DataError(f"a window's document is a place below {n_documents}, got {places.tolist()}")
    entailed = classes[..., ENTAILMENT]  # (units, windows)
    if gate:
        entailed = np.where(classes.argmax(axis=-1) == ENTAILMENT, entailed, 0.0)
    best = np.zeros((n_documents, len(classes)))
    np.maximum.at(best, places, entailed.T)
    return best


def pack_entailments(sets: Sequence[tuple[ArrayLike, Sequence[int]]]) -> Entailments:
    """Document sets side by side.

    Args:
        sets: p(document, unit) of shape (documents, units) and the documents' labels, for each set.

    Raises:
        DataError: a set's matrix has not one row for each label, a probability is outside [0, 1], or a label is negative.
    """
    matrices = [np.asarray(matrix, dtype=float) for matrix, _ in sets]
    wrong = [place for place, (_, labels) in enumerate(sets) if matrices[place].shape[:-1] != (len(labels),)]
    if wrong:
        shape, n = matrices[wrong[0]].shape, len(sets[wrong[0]][1])
        raise DataError(f"set {wrong[0]}: {n} labels, but entailments of shape {shape}; one row a document is needed")
    documents, units = np.array([matrix.shape for matrix in matrices], dtype=int).reshape(-1, 2).T
    is_document = np.arange(documents.max(initial=0)) < documents[:, None]
    is_unit = np.arange(units.max(initial=0)) < units[:, None]
    probability = np.zeros((*is_document.shape, is_unit.shape[1]))
    if sets:
        probability[is_document[:, :, None] & is_unit[:, None]] = np.concatenate([m.ravel() for m in matrices])
    values = np.full(is_document.shape, -1, dtype=int)
    values[is_document] = np.fromiter(chain.from_iterable(labels for _, labels in sets), int)
    sound = ((probability >= 0) & (probability <= 1)).all(axis=(1, 2)) & ((values >= 0) | ~is_document).all(axis=1)
    if not sound.all():
        place = int(np.argmin(sound))
        raise DataError(f"set {place}: entailments are in [0, 1] and labels are places of declared values, from 0")
    return Entailments(probability, values, is_unit)


def merge_units(
    entailments: Entailments, between_units: ArrayLike, above: float = MERGE_ABOVE
) -> tuple[Entailments, NDArray[np.intp]]:
    """Units that entail each other taken as one, and for each unit the first unit of its cluster, shape (sets, units).

    Two units are linked when both directions exceed `above`; linked ones form a cluster, also through others. A cluster takes
    its first unit's place and the maximum over its members; the other places stop being units. Released code only.

    Args:
        entailments: of the sets.
        between_units: probability that a unit entails another, shape (sets, units, units); which axis is the premise does
            not matter.
        above: what both directions have to exceed.

    Raises:
        DataError: the shapes differ.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    mutual = np.asarray(between_units, dtype=float)
    n_sets, n_units = entailments.units.shape
    if mutual.shape != (n_sets, n_units, n_units):
        raise DataError(f"entailment between units needs shape {(n_sets, n_units, n_units)}, got {mutual.shape}")
    linked = (mutual > above) & (mutual.swapaxes(1, 2) > above)
    linked &= entailments.units[:, :, None] & entailments.units[:, None]
    sets, one, other = np.nonzero(linked)
    size = n_sets * n_units
    if size == 0:
        return entailments, np.zeros((n_sets, n_units), dtype=int)
    edges = (np.ones(len(sets), dtype=bool), (sets * n_units + one, sets * n_units + other))
    _, cluster = connected_components(coo_array(edges, shape=(size, size)), directed=False)
    first, inverse = np.unique(cluster, return_index=True, return_inverse=True)[1:]

    by_unit = entailments.probability.swapaxes(1, 2).reshape(
        size, entailments.labels.shape[1]
    )  # (sets * units, documents)
    order = np.argsort(cluster, kind="stable")
    merged = np.zeros_like(by_unit)
    merged[first] = np.maximum.reduceat(by_unit[order], np.searchsorted(cluster[order], np.arange(len(first))))
    stays = np.zeros(size, dtype=bool)
    stays[first] = True
    probability = merged.reshape(n_sets, n_units, by_unit.shape[1]).swapaxes(1, 2)
    result = Entailments(probability, entailments.labels, entailments.units & stays.reshape(n_sets, n_units))
    return result, (first[inverse] % n_units).reshape(n_sets, n_units)
