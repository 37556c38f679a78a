"""Keywords, the KeyGraph and its communities."""

import os
import subprocess
import sys
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.opinions.measures.communities import (
    KeyGraph,
    communities,
    entity_keywords,
    key_graph,
    textrank,
)

pytest.importorskip("networkx")

UNITS = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=6), max_size=6)


def test_a_star_worked_by_hand():
    # hub h with leaves x and y: S(x) = .15 + .85 S(h)/2, S(h) = .15 + .85 (S(x) + S(y)) = .15 + .255 + .7225 S(h)
    hub = 0.405 / (1 - 0.7225)
    found = textrank([["x", "h", "y"]])
    assert found.scores == pytest.approx({"h": hub, "x": 0.15 + 0.425 * hub, "y": 0.15 + 0.425 * hub}, abs=1e-8)
    assert found.keywords == ("h",)


@given(UNITS, st.integers(2, 4))
def test_on_a_connected_graph_it_is_pagerank_times_the_number_of_tokens(units, window):
    networkx = pytest.importorskip("networkx")
    graph = networkx.Graph()
    for unit in units:
        graph.add_nodes_from(unit)
        for i, here in enumerate(unit):
            graph.add_edges_from((here, there) for there in unit[i + 1 : i + window] if there != here)
    if len(graph) < 2 or not networkx.is_connected(graph):
        return
    ranks = networkx.pagerank(graph, alpha=0.85, tol=1e-12, max_iter=1000)
    expected = {token: len(graph) * rank for token, rank in ranks.items()}
    assert textrank(units, window=window).scores == pytest.approx(expected, abs=1e-6)


@given(UNITS, st.randoms())
def test_order_of_units_does_not_matter(units, random):
    shuffled = random.sample(units, len(units))
    found, expected = textrank(shuffled), textrank(units)
    assert found.keywords == expected.keywords
    assert found.scores == pytest.approx(expected.scores, abs=1e-9)


def test_windows_do_not_cross_units():
    assert textrank([["a"], ["b"]]).scores == pytest.approx({"a": 0.15, "b": 0.15})


@pytest.mark.parametrize(("n", "ratio", "expected"), [(1, 1 / 3, 1), (9, 1 / 3, 3), (10, 1 / 3, 4), (100, 0.55, 55)])
def test_the_number_of_keywords_is_rounded_up(n, ratio, expected):
    # 100 * 0.55 is 55.00000000000001 in floating point
    units = [[f"t{i:03}"] for i in range(n)]
    assert len(textrank(units, ratio=ratio).keywords) == expected


@pytest.mark.parametrize("units", [[], [[], []]])
def test_no_token_gives_no_keyword(units):
    found = textrank(units)
    assert (found.scores, found.keywords) == ({}, ())


@pytest.mark.parametrize("wrong", [{"window": 1}, {"damping": 1.0}, {"damping": -0.1}, {"ratio": 0.0}, {"ratio": 1.1}])
def test_options_out_of_range_are_refused(wrong):
    with pytest.raises(DataError, match="textrank needs window >= 2"):
        textrank([["a"]], **wrong)


def test_entities_become_keywords_of_their_content_tokens():
    assert entity_keywords(["The City Hall", "Anna", "city hall", "the", "O'Neil\u2019s"]) == (
        "city hall",
        "anna",
        "o'neil",
    )


GRAPH_UNITS = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=6), max_size=8)


@given(GRAPH_UNITS, st.sets(st.sampled_from("abcdefgh")))
def test_an_edge_counts_the_units_with_both_keywords(units, keywords):
    found = key_graph(units, keywords)
    counted = [(a, b, sum({a, b} <= set(unit) for unit in units)) for a, b in combinations(sorted(keywords), 2)]
    assert found.vertices == tuple(sorted(keywords))
    assert found.edges == tuple(edge for edge in counted if edge[2])


def test_a_repeated_keyword_is_one_vertex():
    assert key_graph([["a", "b"]], ["b", "a", "a", " b "]) == KeyGraph(("a", "b"), (("a", "b", 1.0),))


@pytest.mark.parametrize("edge", [("a", "z", 1), ("a", "a", 1), ("a", "b", 0), ("a", "b", float("nan"))])
def test_edges_that_join_nothing_are_refused(edge):
    with pytest.raises(DataError, match="do not join two different vertices"):
        KeyGraph(("a", "b"), (edge,))


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
def test_options_of_communities_out_of_range_are_refused(wrong):
    with pytest.raises(DataError, match="resolution above 0 and at least one seed"):
        communities(KeyGraph(("a",), ()), **wrong)


def test_the_result_does_not_hang_on_the_hash_seed_of_the_process():
    program = (
        "import random\n"
        "from evenhand.plugins.opinions.measures.communities import KeyGraph, communities\n"
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
