"""Opinions: the communities of a KeyGraph."""

from dataclasses import dataclass
from typing import Any

from ...errors import DataError
from ...extras import need
from .key_graph import KeyGraph

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
    numbered = _numbered(vertices, graph, networkx)
    best: tuple[float, Partition] | None = None
    for seed in range(seeds):
        found = networkx.community.louvain_communities(numbered, weight="weight", resolution=resolution, seed=seed)
        value = networkx.community.modularity(numbered, found, weight="weight", resolution=resolution)
        # the smallest pair is the highest modularity, then the smallest partition
        best = min(filter(None, (best, (-round(float(value), DECIMALS), _canonical(vertices, found)))))
    assert best is not None
    return Communities(best[1], -best[0])


def _numbered(vertices: list[str], graph: KeyGraph, networkx: Any) -> Any:
    """The graph with numbers as vertices: sets of numbers, unlike sets of strings, have the same order in every process."""
    number = {vertex: i for i, vertex in enumerate(vertices)}
    edges = sorted((*sorted((number[a], number[b])), weight) for a, b, weight in graph.edges)
    numbered = networkx.Graph()
    numbered.add_nodes_from(range(len(vertices)))
    numbered.add_weighted_edges_from(edges)
    return numbered


def _canonical(vertices: list[str], found: list[set[int]]) -> Partition:
    named = (tuple(vertices[i] for i in sorted(each)) for each in found)
    return tuple(sorted(named, key=lambda keywords: (-len(keywords), keywords)))
