"""The KeyGraph: which keywords occur together in units."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ...errors import DataError
from .encoding import EncodedUnits, encode


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
