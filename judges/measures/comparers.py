"""What a summary's units and the windows of its documents have to do with each other, by a classifier, by an encoder or by words.

Source: Li et al. 2025 (arXiv:2412.08795); specification of group fairness, section 14.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...fairness.groups import Unscored
from ...fairness.opinion import content_tokens
from ...fairness.opinion.encoding import encode
from ...timing import booked
from ..aligner import Aligner, Pair, Pairing
from ..nli import Classes, NliAligner
from ..shared import Lazy

Floats = NDArray[np.float64]

UNIT_TOO_LONG = "a unit exceeds the classifier's length"


@dataclass(frozen=True)
class Compared:
    """What premises and claims of a pairing have to do with each other."""

    # (contradiction, neutral, entailment), shape (claims, premises, 3)
    classes: Floats
    # comparisons in which a text was cut
    n_cut: int = 0
    # claims of which something can be said, (claims,); None: all
    has_content: NDArray[np.bool_] | None = None


class Comparer(Protocol):
    """Compares premises with claims in the three classes of natural language inference."""

    loads: str

    def compare(self, pairings: Sequence[Pairing]) -> list[Compared | Unscored]:
        """The comparisons of each pairing."""
        ...

    def close(self) -> None:
        """Give a model's memory back."""
        ...


class Classifier:
    """The three classes of a classifier."""

    def __init__(self, model: Lazy[NliAligner]) -> None:
        self.loads = model.key
        self._model = model

    def compare(self, pairings: Sequence[Pairing]) -> list[Compared | Unscored]:
        """The comparisons of each pairing."""
        if not pairings:
            return []
        classifier = self._model.get()
        with booked("models"):
            found, cut = classifier.classes(pairings)
        return [_of_pairing(p, found, cut) for p in pairings]

    def close(self) -> None:
        """Give the model's memory back."""
        self._model.close()


def _of_pairing(pairing: Pairing, found: Mapping[Pair, Classes], cut: Set[Pair]) -> Compared | Unscored:
    pairs = [[(premise, claim) for premise in pairing.premises] for claim in pairing.claims]
    if any(pair not in found for row in pairs for pair in row):
        return Unscored(UNIT_TOO_LONG)
    classes = np.array([[found[pair] for pair in row] for row in pairs])  # (claims, premises, classes)
    return Compared(classes, sum(pair in cut for row in pairs for pair in row))


class Likeness:
    """The cosines of an encoder."""

    def __init__(self, model: Lazy[Aligner]) -> None:
        self.loads = model.key
        self._model = model

    def compare(self, pairings: Sequence[Pairing]) -> list[Compared | Unscored]:
        """The comparisons of each pairing."""
        if not pairings:
            return []
        encoder = self._model.get()
        with booked("models"):
            found = encoder.align(pairings)
        return [Compared(as_classes(alignment.matrix.T), alignment.n_cut) for alignment in found]

    def close(self) -> None:
        """Give the model's memory back."""
        self._model.close()


class SharedWords:
    """The share of a claim's distinct content words that a premise has; a claim without any is left out."""

    loads = ""

    def compare(self, pairings: Sequence[Pairing]) -> list[Compared | Unscored]:
        """The comparisons of each pairing."""
        tokens: dict[str, list[str]] = {}
        for text in dict.fromkeys(text for p in pairings for text in (*p.premises, *p.claims)):
            tokens[text] = content_tokens(text)
        return [self._compare(p, tokens) for p in pairings]

    def _compare(self, pairing: Pairing, tokens: dict[str, list[str]]) -> Compared:
        n = len(pairing.premises)
        present = encode([tokens[text] for text in (*pairing.premises, *pairing.claims)]).counts() > 0
        has, wanted = present[:n], present[n:]  # (texts, vocabulary)
        shared = (wanted.astype(float) @ has.astype(float).T).toarray()  # (claims, premises)
        sizes = np.asarray(wanted.sum(axis=1), dtype=float).reshape(-1, 1)
        has_content = sizes[:, 0] > 0
        likeness = np.divide(shared, sizes, out=np.zeros_like(shared), where=sizes > 0)
        return Compared(as_classes(likeness), has_content=has_content)

    def close(self) -> None:
        """Nothing to give back."""


def as_classes(likeness: Any) -> Floats:
    """(0, 1 - s, s) for a likeness s in [0, 1]: the released gate then keeps what is above one half.

    Args:
        likeness: any shape; the classes become its last axis.
    """
    s = np.asarray(likeness, dtype=float)
    return np.stack([np.zeros_like(s), 1 - s, s], axis=-1)
