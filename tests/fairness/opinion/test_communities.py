"""Communities of a KeyGraph."""

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.opinion import KeyGraph, communities

pytest.importorskip("networkx")
PAIRS = [(a, b) for a in "abcdef" for b in "abcdef" if a < b]
WEIGHTS = st.dictionaries(st.sampled_from(PAIRS), st.integers(1, 4), max_size=len(PAIRS))


def graph_of(weights):
    return KeyGraph(tuple("abcdef"), tuple((a, b, float(weight)) for (a, b), weight in sorted(weights.items())))


def modularity(partition, weights):
    """By Newman's formula."""
    m = sum(weights.values())
    total = 0.0
    for part in partition:
        inside = sum(w for (a, b), w in weights.items() if a in part and b in part)
        degree = sum(w * ((a in part) + (b in part)) for (a, b), w in weights.items())
        total += inside / m - (degree / (2 * m)) ** 2
    return total


@given(WEIGHTS)
@settings(max_examples=40)
def test_modularity_is_that_of_the_partition_and_the_partition_is_in_canonical_order(weights):
    found = communities(graph_of(weights))
    assert sorted(keyword for part in found.partition for keyword in part) == list("abcdef")
    assert all(list(part) == sorted(part) for part in found.partition)
    assert list(found.partition) == sorted(found.partition, key=lambda part: (-len(part), part))
    if weights:
        assert found.modularity == pytest.approx(modularity(found.partition, weights), abs=1e-9)
    else:
        assert found.modularity is None


def test_a_square_has_two_equally_good_halvings_and_the_alphabet_decides():
    # ab|cd and ad|bc both have modularity 2 * (1/4 - (4/8)^2) = 0; Louvain ends with either, by its visiting order
    square = KeyGraph(tuple("abcd"), (("a", "b", 1), ("b", "c", 1), ("c", "d", 1), ("a", "d", 1)))
    found = communities(square, seeds=40)
    assert found.modularity == pytest.approx(0, abs=1e-12)
    assert found.partition == (("a", "b"), ("c", "d"))


def test_order_of_vertices_and_edges_does_not_matter():
    edges = (("a", "b", 2), ("b", "c", 1), ("c", "d", 2), ("d", "e", 1), ("e", "f", 2), ("a", "f", 1))
    ordered = KeyGraph(tuple("abcdef"), edges)
    turned = KeyGraph(tuple("fedcba"), tuple((b, a, w) for a, b, w in reversed(edges)))
    assert communities(turned) == communities(ordered)


def test_higher_resolution_gives_smaller_communities():
    edges = [(a, b, 1.0) for a, b in PAIRS]
    whole = KeyGraph(tuple("abcdef"), tuple(edges))
    assert len(communities(whole).partition) == 1
    assert len(communities(whole, resolution=3.0).partition) == 6


@pytest.mark.parametrize("vertices", [(), ("b", "a")])
def test_without_edges_each_keyword_is_an_opinion_and_modularity_is_undefined(vertices):
    found = communities(KeyGraph(vertices, ()))
    assert (found.partition, found.modularity) == (tuple((v,) for v in sorted(vertices)), None)


@pytest.mark.parametrize("wrong", [{"resolution": 0.0}, {"seeds": 0}])
def test_options_out_of_range_are_refused(wrong):
    with pytest.raises(DataError, match="resolution above 0 and at least one seed"):
        communities(KeyGraph(("a",), ()), **wrong)


def test_the_result_does_not_hang_on_the_hash_seed_of_the_process():
    program = (
        "import random\n"
        "from evenhand.fairness.opinion import KeyGraph, communities\n"
        "draw = random.Random(3)\n"
        "names = tuple(f'k{i:02}' for i in range(40))\n"
        "edges = tuple((a, b, draw.randint(1, 3)) for a in names for b in names if a < b and draw.random() < 0.1)\n"
        "print(communities(KeyGraph(names, edges)))\n"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1
