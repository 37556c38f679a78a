"""Keywords of a source: TextRank over its units' content tokens, and named entities."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import DataError
from .encoding import EncodedUnits, encode
from .tokens import content_tokens

MOST_ROUNDS = 1000
SETTLED = 1e-10
# scores that agree to so many decimals are tied
DECIMALS = 9


@dataclass(frozen=True)
class TextRank:
    """How central each token of a source is."""

    # token -> score, at least 1 - damping; tokens in alphabetical order
    scores: dict[str, float]
    # the best of them, best first
    keywords: tuple[str, ...]


def textrank(
    units: Sequence[Sequence[str]], *, window: int = 2, damping: float = 0.85, ratio: float = 1 / 3
) -> TextRank:
    """TextRank's keywords.

    Tokens that stand within a window of each other in some unit are neighbours; a token's score is
    (1 - d) + d * sum over its neighbours of their score / number of neighbours. Ties are settled by the alphabet.

    Source: Mihalcea and Tarau 2004; docs/papers.md#shandilya-keywords.

    Args:
        units: content tokens of each unit. To rank some parts of speech only, leave out the other tokens.
        window: tokens that a window holds, at least 2 (neighbours).
        damping: d, in [0, 1).
        ratio: share of the distinct tokens that become keywords, rounded up, in (0, 1].

    Raises:
        DataError: an option is out of its range.
    """
    if window < 2 or not 0 <= damping < 1 or not 0 < ratio <= 1:
        raise DataError(
            f"textrank needs window >= 2, damping in [0, 1) and ratio in (0, 1], got {window}, {damping} and {ratio}"
        )
    encoded = encode(units)
    tokens = list(encoded.vocabulary)
    scores = _scores(_neighbours(encoded, window), damping)
    # lexsort takes its last key first; tokens are in alphabetical order already
    order = np.lexsort((np.arange(len(tokens)), -np.round(scores, DECIMALS)))
    n_keywords = ceil(round(len(tokens) * ratio, DECIMALS))
    return TextRank(
        scores=dict(zip(tokens, scores.tolist(), strict=True)),
        keywords=tuple(tokens[i] for i in order[:n_keywords]),
    )


def entity_keywords(entities: Iterable[str]) -> tuple[str, ...]:
    """Keywords of named entities: each one's content tokens joined by blanks, each once, in order of first appearance.

    An entity without content tokens gives none. Source: docs/papers.md#shandilya-keywords.
    """
    found = (" ".join(content_tokens(entity)) for entity in entities)
    return tuple(dict.fromkeys(keyword for keyword in found if keyword))


def _neighbours(units: EncodedUnits, window: int) -> Any:
    """1.0 where two different tokens are neighbours: scipy.sparse CSR array, shape (vocabulary, vocabulary)."""
    from scipy import sparse

    first, second = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
    for distance in range(1, window):
        here, there = units.ids[:-distance], units.ids[distance:]
        joined = (units.unit[:-distance] == units.unit[distance:]) & (here != there)
        first += [here[joined], there[joined]]
        second += [there[joined], here[joined]]
    rows, columns = np.concatenate(first), np.concatenate(second)
    size = len(units.vocabulary)
    graph = sparse.coo_array((np.ones(len(rows)), (rows, columns)), shape=(size, size)).tocsr()
    graph.data[:] = 1.0  # however often they meet
    return graph


def _scores(neighbours: Any, damping: float) -> NDArray[np.float64]:
    degree = np.maximum(neighbours.sum(axis=0), 1.0)  # a token without neighbours gives nothing to anyone
    scores = np.ones(neighbours.shape[0])
    for _ in range(MOST_ROUNDS):
        before, scores = scores, (1 - damping) + damping * (neighbours @ (scores / degree))
        if np.abs(scores - before).max(initial=0.0) < SETTLED:
            break
    return scores
