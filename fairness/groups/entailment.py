"""Which document entails which unit of a summary: many document sets side by side.

A classifier's probabilities over (contradiction, neutral, entailment) become one number for each document and unit; units that
entail each other become one. Source: Li et al. 2025, eq. 2; docs/papers.md#li-entailment.
"""

from collections.abc import Sequence
from dataclasses import dataclass

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
    best = np.zeros((n_documents, len(classes)))
    np.maximum.at(best, places, gated(classes, gate).T)
    return best


def gated(classes: Floats, gate: bool) -> Floats:
    """Probability of entailment; with the gate 0 where it is not the first class of highest probability.

    Args:
        classes: probabilities of (contradiction, neutral, entailment), shape (..., 3).
        gate: as in `document_entailment`.
    """
    entailed: Floats = classes[..., ENTAILMENT]
    if not gate:
        return entailed
    # entailment is the last class, so another of the same probability comes before it
    return np.where((entailed <= classes[..., 0]) | (entailed <= classes[..., 1]), 0.0, entailed)


def checked(entailments: Entailments, is_document: NDArray[np.bool_], first_place: int = 0) -> Entailments:
    """The entailments, once they are known to hold together; `first_place` is that of their first set, for the message.

    Raises:
        DataError: a probability is outside [0, 1], or the label of a document is negative.
    """
    p, labels = entailments.probability, entailments.labels
    # nan fails both
    if not (p.min(initial=0.0) >= 0 and p.max(initial=0.0) <= 1) or ((labels < 0) & is_document).any():
        sound = ((p >= 0) & (p <= 1)).all(axis=(1, 2)) & ((labels >= 0) | ~is_document).all(axis=1)
        place = first_place + int(np.argmin(sound))
        raise DataError(f"set {place}: entailments are in [0, 1] and labels are places of declared values, from 0")
    return entailments


def merge_linked(
    entailments: Entailments, sets: NDArray[np.intp], unit: NDArray[np.intp], neighbour: NDArray[np.intp]
) -> tuple[Entailments, NDArray[np.intp]]:
    """Units that entail each other taken as one, and for each unit the first unit of its cluster, shape (sets, units).

    Linked units form a cluster, also through others. A cluster takes its first unit's place and the maximum over its members;
    the other places stop being units. Released code only.

    Args:
        entailments: of the sets.
        sets: place of the set of each link, (links,).
        unit: place of a unit in its set.
        neighbour: place of the unit that it is linked with; each link stands in both directions.
    """
    n_sets, n_units = entailments.units.shape
    first = np.broadcast_to(np.arange(n_units), (n_sets, n_units))
    if not len(sets):
        return entailments, first
    start = sets * n_units
    first = (_first_of_cluster(n_sets * n_units, start + unit, start + neighbour) % n_units).reshape(first.shape)

    places, moved = np.nonzero(first != np.arange(n_units))
    probability, units = entailments.probability.copy(), entailments.units.copy()
    by_unit = probability.swapaxes(1, 2)  # (sets, units, documents), a view
    np.maximum.at(by_unit, (places, first[places, moved]), by_unit[places, moved])
    by_unit[places, moved] = 0.0
    units[places, moved] = False
    return Entailments(probability, entailments.labels, units), first


def _first_of_cluster(n: int, node: NDArray[np.intp], neighbour: NDArray[np.intp]) -> NDArray[np.intp]:
    """The lowest node that each of n nodes is linked with, itself included and through others; links stand in both directions.

    Links are few and clusters small, so their lowest places are passed on until none falls, in numpy alone: a sparse graph
    costs more to build than all of it.
    """
    first: NDArray[np.intp] = np.arange(n)
    while True:
        before = first.copy()
        np.minimum.at(first, node, before[neighbour])
        # also what the lowest place was found to be linked with meanwhile
        first = first[first]
        if (first == before).all():
            return first
