"""Opinions: keywords of a source, the graph of those that occur together, and its communities.

Keywords are TextRank's over the units' content tokens, and named entities.

Source: Shandilya et al. 2020, section VII.A, steps 1 and 2; docs/papers.md#shandilya-keywords and #shandilya-communities.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....errors import DataError
from ....extras import need
from ....fairness.content_tokens import content_tokens
from ....fairness.encoding import EncodedUnits, encode

MOST_ROUNDS = 1000
SETTLED = 1e-10
# scores that agree to so many decimals are tied
SCORE_DECIMALS = 9


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
    scores = _scores(_neighbours(encoded, window), len(tokens), damping)
    # lexsort takes its last key first; tokens are in alphabetical order already
    order = np.lexsort((np.arange(len(tokens)), -np.round(scores, SCORE_DECIMALS)))
    n_keywords = ceil(round(len(tokens) * ratio, SCORE_DECIMALS))
    return TextRank(
        scores=dict(zip(tokens, scores.tolist(), strict=True)),
        keywords=tuple(tokens[i] for i in order[:n_keywords]),
    )


def entity_keywords(entities: Iterable[str]) -> tuple[str, ...]:
    """Keywords of named entities: each one's content tokens joined by blanks, each once, in order of first appearance.

    An entity without content tokens gives none. Source: docs/papers.md#shandilya-keywords.
    """
    keywords = (" ".join(content_tokens(entity)) for entity in entities)
    return tuple(dict.fromkeys(keyword for keyword in keywords if keyword))


def _neighbours(units: EncodedUnits, window: int) -> NDArray[np.intp]:
    """Every two different tokens that are neighbours, both ways, each once however often they meet: shape (2, pairs)."""
    size = len(units.vocabulary)
    met = [np.zeros(0, dtype=np.intp)]
    for distance in range(1, window):
        first, second = units.ids[:-distance], units.ids[distance:]
        joined = (units.unit[:-distance] == units.unit[distance:]) & (first != second)
        first, second = first[joined], second[joined]
        met += [first * size + second, second * size + first]
    return np.stack(np.divmod(np.unique(np.concatenate(met)), max(1, size)))


def _scores(neighbours: NDArray[np.intp], n_tokens: int, damping: float) -> NDArray[np.floating[Any]]:
    to, of = neighbours
    degree = np.maximum(np.bincount(to, minlength=n_tokens), 1.0)  # a token without neighbours gives nothing to anyone
    scores: NDArray[np.floating[Any]] = np.ones(n_tokens)
    for _ in range(MOST_ROUNDS):
        inflow = np.bincount(to, (scores / degree)[of], minlength=n_tokens)
        before, scores = scores, (1 - damping) + damping * inflow
        if np.abs(scores - before).max(initial=0.0) < SETTLED:
            break
    return scores


@dataclass(frozen=True)
class KeyGraph:
    """Keywords, and the number of units that each two of them share."""

    # in alphabetical order
    vertices: tuple[str, ...]
    # (a, b, units with both), a before b, at least 1, in alphabetical order
    edges: tuple[tuple[str, str, float], ...]

    def __post_init__(self) -> None:
        known = set(self.vertices)
        wrong = [edge for edge in self.edges if not (edge[0] in known and edge[1] in known and edge[0] != edge[1])]
        wrong += [edge for edge in self.edges if not edge[2] > 0]
        if wrong:
            raise DataError(f"edges {wrong} do not join two different vertices with a weight above 0; leave them out")


def key_graph(units: Sequence[Sequence[str]] | EncodedUnits, keywords: Iterable[str]) -> KeyGraph:
    """The graph of the keywords; a keyword that meets no other stays as a vertex without edges.

    Source: Shandilya et al. 2020, section VII.A, steps 1 and 2; docs/papers.md#shandilya-communities.

    Args:
        units: content tokens of each unit.
        keywords: each one or more content tokens joined by blanks; a unit has a keyword of several tokens when they stand
            side by side. Repeated keywords count once.
    """
    from scipy import sparse

    encoded = units if isinstance(units, EncodedUnits) else encode(units)
    vertices = sorted({" ".join(keyword.split()) for keyword in keywords})
    contains = encoded.contains(vertices)
    together = sparse.triu(contains.T @ contains, k=1).tocsr()
    together.sort_indices()
    edges = together.tocoo()
    return KeyGraph(
        vertices=tuple(vertices),
        edges=tuple(
            (vertices[a], vertices[b], float(weight))
            for a, b, weight in zip(edges.row, edges.col, edges.data, strict=True)
        ),
    )


# modularities that agree to so many decimals are tied
DECIMALS = 12

Partition = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Communities:
    """A partition of the keywords."""

    # canonical order: keywords sorted inside, communities by falling size and then alphabetically
    partition: Partition
    # in [-1/2, 1), higher is a clearer division; None for a graph without edges
    modularity: float | None


def communities(graph: KeyGraph, *, resolution: float = 1.0, seeds: int = 10) -> Communities:
    """The partition of highest modularity that Louvain finds from `seeds` visiting orders, by networkx.

    Keywords without edges are communities of their own. The paper asks for communities of fixed size; Louvain has no such
    parameter and none is used. Ties between partitions go to the smallest in canonical order.

    Source: Blondel et al. 2008; Shandilya et al. 2020, section VII.A, steps 1 and 2; docs/papers.md#shandilya-communities.

    Args:
        graph: the KeyGraph.
        resolution: above 0; higher gives more, smaller communities. The modularity is taken at the same resolution.
        seeds: visiting orders tried, at least 1: seeds 0, 1, ...

    Raises:
        DataError: an option is out of its range.
        MissingExtra: networkx is not installed.
    """
    if not resolution > 0 or seeds < 1:
        raise DataError(f"communities needs resolution above 0 and at least one seed, got {resolution} and {seeds}")
    if not graph.edges:
        return Communities(tuple((vertex,) for vertex in sorted(graph.vertices)), None)
    networkx = need("networkx", "the Opinion Interaction Graph")
    vertices = sorted(graph.vertices)
    numbered = networkx.Graph()
    numbered.add_nodes_from(range(len(vertices)))
    numbered.add_weighted_edges_from(_numbered_edges(vertices, graph))
    # seeds mostly agree, and a modularity takes almost as long as a division
    modularities: dict[Partition, float] = {}
    for seed in range(seeds):
        division = networkx.community.louvain_communities(numbered, weight="weight", resolution=resolution, seed=seed)
        named = (tuple(vertices[i] for i in sorted(community)) for community in division)
        canonical = tuple(sorted(named, key=lambda keywords: (-len(keywords), keywords)))
        if canonical not in modularities:
            modularity = networkx.community.modularity(numbered, division, weight="weight", resolution=resolution)
            modularities[canonical] = round(modularity, DECIMALS)
    best = min(modularities, key=lambda partition: (-modularities[partition], partition))
    return Communities(best, modularities[best])


def _numbered_edges(vertices: list[str], graph: KeyGraph) -> list[tuple[int, int, float]]:
    """Edges of numbers: sets of numbers, unlike sets of strings, have the same order in every process."""
    number = {vertex: i for i, vertex in enumerate(vertices)}
    joined = ((number[a], number[b], weight) for a, b, weight in graph.edges)
    return sorted((min(a, b), max(a, b), weight) for a, b, weight in joined)
