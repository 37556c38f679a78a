"""What a summary's units and the windows of its documents have to do with each other, by a classifier, by an encoder or by words.

Source: Li et al. 2025, eq. 2; docs/papers.md#li-entailment.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from math import floor
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...fairness.content_tokens import content_tokens
from ...fairness.encoding import encode
from ...fairness.groups.entailment import MERGE_ABOVE
from ...fairness.groups.masses import Unscored
from ...runfolder.timing import booked
from ..aligner import Aligner, Pair, Pairing
from ..nli import Classes, NliAligner
from ..shared import NoModel, OneModel

Floats = NDArray[np.float64]

UNIT_TOO_LONG = "a unit exceeds the classifier's length"


@dataclass(frozen=True)
class Compared:
    """What premises and claims of a pairing have to do with each other."""

    # (contradiction, neutral, entailment), shape (claims, premises, 3)
    classes: Floats
    # entailment of a claim by another one, (claims, claims); None where nobody asked, or where `links` says it
    between: Floats | None = None
    # claims that entail each other; see `SetEvidence`
    links: NDArray[np.intp] | None = None
    # comparisons in which a text was cut
    n_cut: int = 0
    # claims of which something can be said, (claims,); None: all
    has_content: NDArray[np.bool_] | None = None


class ClaimComparer(Protocol):
    """Compares premises with claims in the three classes of natural language inference."""

    loads: str

    def compare(self, pairings: Sequence[Pairing], *, between: bool) -> list[Compared | Unscored]:
        """The comparisons of each pairing; with `between` also of its claims with each other."""
        ...

    def close(self) -> None:
        """Give a model's memory back."""
        ...


class Classifier(OneModel[NliAligner]):
    """The three classes of a classifier."""

    def compare(self, pairings: Sequence[Pairing], *, between: bool) -> list[Compared | Unscored]:
        """The comparisons of each pairing; with `between` also of its claims with each other."""
        if not pairings:
            return []
        classifier = self._model.get()
        with_claims = [_with_claims(p) if between else p for p in pairings]
        with booked("models"):
            classes, cut = classifier.classes(with_claims)
        return [
            _of_pairing(p, len(pairing.premises), classes, cut)
            for p, pairing in zip(with_claims, pairings, strict=True)
        ]


def _with_claims(pairing: Pairing) -> Pairing:
    """The pairing with its claims as further premises."""
    return Pairing((*pairing.premises, *pairing.claims), pairing.claims)


def _split(classes: Floats, n_premises: int, n_cut: int) -> Compared:
    """What was compared with premises, and what with the claims after them, where there are such."""
    between = classes[:, n_premises:, 2] if classes.shape[1] > n_premises else None
    return Compared(classes[:, :n_premises], between, n_cut=n_cut)


def _of_pairing(
    pairing: Pairing, n_premises: int, found: Mapping[Pair, Classes], cut: Set[Pair]
) -> Compared | Unscored:
    pairs = [[(premise, claim) for premise in pairing.premises] for claim in pairing.claims]
    if any(pair not in found for row in pairs for pair in row):
        return Unscored(UNIT_TOO_LONG)
    classes = np.array([[found[pair] for pair in row] for row in pairs])  # (claims, premises, classes)
    return _split(classes, n_premises, sum(pair in cut for row in pairs for pair in row))


class Likeness(OneModel[Aligner]):
    """The cosines of an encoder."""

    def compare(self, pairings: Sequence[Pairing], *, between: bool) -> list[Compared | Unscored]:
        """The comparisons of each pairing; with `between` also of its claims with each other."""
        if not pairings:
            return []
        encoder = self._model.get()
        with booked("models"):
            alignments = encoder.align([_with_claims(p) if between else p for p in pairings])
        return [
            _split(as_classes(alignment.matrix.T), len(p.premises), alignment.n_cut)
            for alignment, p in zip(alignments, pairings, strict=True)
        ]


class SharedWords(NoModel):
    """The share of a claim's distinct content words that a premise has; a claim without any is left out."""

    def compare(self, pairings: Sequence[Pairing], *, between: bool) -> list[Compared | Unscored]:
        """The comparisons of each pairing; with `between` also of its claims with each other."""
        tokens: dict[str, list[str]] = {}
        for text in dict.fromkeys(text for p in pairings for text in (*p.premises, *p.claims)):
            tokens[text] = content_tokens(text)
        return [self._compare(p, tokens, between) for p in pairings]

    def _compare(self, pairing: Pairing, tokens: dict[str, list[str]], between: bool) -> Compared:
        n = len(pairing.premises)
        present = encode([tokens[text] for text in (*pairing.premises, *pairing.claims)]).counts() > 0
        has, wanted = present[:n], present[n:]  # (texts, vocabulary)
        shared = (wanted.astype(float) @ has.astype(float).T).toarray()  # (claims, premises)
        sizes = np.asarray(wanted.sum(axis=1), dtype=float).reshape(-1, 1)
        has_content = sizes[:, 0] > 0
        likeness = np.divide(shared, sizes, out=np.zeros_like(shared), where=sizes > 0)
        links = alike([frozenset(tokens[claim]) for claim in pairing.claims]) if between else None
        return Compared(as_classes(likeness), links=links, has_content=has_content)


def alike(texts: Sequence[Set[str]]) -> NDArray[np.intp]:
    """Pairs of texts that share more than MERGE_ABOVE of the words of either, each in both directions, shape (links, 2).

    Of texts with the very same words each is linked with the first alone: whoever follows links finds the same clusters. Neither
    memory nor, in texts that differ, time grows with the number of pairs: two texts that share so much share one of the few words
    of each that are rarest among all.
    """
    first: dict[Set[str], int] = {}
    pairs = [
        (place, earlier) for place, words in enumerate(texts) if (earlier := first.setdefault(words, place)) != place
    ]
    frequency = Counter(word for words in first for word in words)
    with_word: dict[str, list[int]] = defaultdict(list)
    for words, place in first.items():
        rarest = sorted(words, key=lambda word: (frequency[word], word))[: len(words) - floor(MERGE_ABOVE * len(words))]
        for other in {place for word in rarest for place in with_word[word]}:
            if len(words & texts[other]) > MERGE_ABOVE * max(len(words), len(texts[other])):
                pairs.append((place, other))
        for word in rarest:
            with_word[word].append(place)
    links = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return np.concatenate([links, links[:, ::-1]])


def as_classes(likeness: Any) -> Floats:
    """(0, 1 - s, s) for a likeness s in [0, 1]: the released gate then keeps what is above one half.

    Args:
        likeness: any shape; the classes become its last axis.
    """
    s = np.asarray(likeness, dtype=float)
    return np.stack([np.zeros_like(s), 1 - s, s], axis=-1)
