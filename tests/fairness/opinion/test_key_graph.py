"""The KeyGraph."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.opinion import KeyGraph, key_graph

UNITS = st.lists(st.lists(st.sampled_from("abcdefg"), max_size=6), max_size=8)


@given(UNITS, st.sets(st.sampled_from("abcdefgh")))
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
