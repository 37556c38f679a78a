"""Average linkage."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.opinion import cluster_units
from evenhand.fairness.opinion.clusters import number_of_clusters


def similarities(n, seed, grid=None):
    """A random symmetric table; on a coarse grid it is full of ties."""
    draw = np.random.default_rng(seed)
    half = np.triu(draw.integers(0, grid, (n, n)) / grid if grid else draw.random((n, n)), k=1)
    return half + half.T + np.eye(n)


def slow_clusters(similarity, k):
    """By definition, with exact fractions of a grid of eighths."""
    from fractions import Fraction

    clusters = [[i] for i in range(len(similarity))]
    while len(clusters) > k:
        pairs = [(a, b) for i, a in enumerate(clusters) for b in clusters[i + 1 :]]

        def distance(pair):
            total = sum(1 - Fraction(float(similarity[x, y])) for x in pair[0] for y in pair[1])
            return total / (len(pair[0]) * len(pair[1]))

        first, second = min(pairs, key=distance)  # the first of equals; clusters are in order of first member
        clusters = sorted([c for c in clusters if c not in (first, second)] + [sorted(first + second)])
    return tuple(map(tuple, clusters))


# scipy is imported by the first example
@settings(deadline=None)
@given(st.integers(1, 25), st.integers(0, 1000), st.data())
def test_without_ties_it_is_scipys_linkage(n, seed, data):
    hierarchy = pytest.importorskip("scipy.cluster.hierarchy")
    k = data.draw(st.integers(1, n))
    table = similarities(n, seed)
    found = cluster_units(table, k)
    if n > 1:
        links = hierarchy.linkage((1 - table)[np.triu_indices(n, 1)], "average")
        label = hierarchy.fcluster(links, k, "maxclust")
        assert found == tuple(sorted(tuple(np.flatnonzero(label == name).tolist()) for name in set(label)))
    assert len(found) == k


@given(st.integers(1, 9), st.integers(0, 1000), st.data())
def test_ties_go_to_the_lowest_positions(n, seed, data):
    k = data.draw(st.integers(1, n))
    table = similarities(n, seed, grid=4)
    assert cluster_units(table, k) == slow_clusters(table, k)


def test_a_tenth_of_the_units_is_the_default():
    assert [number_of_clusters(n) for n in (1, 9, 10, 29, 30)] == [1, 1, 1, 2, 3]
    assert len(cluster_units(similarities(30, 0))) == 3
    assert cluster_units(np.zeros((0, 0))) == ()


@pytest.mark.parametrize("k", [0, 4])
def test_an_impossible_number_of_clusters_is_refused(k):
    with pytest.raises(DataError, match=f"3 units cannot form {k} clusters"):
        cluster_units(np.eye(3), k)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1.0, 0.5]], r"square table, got shape \(1, 2\)"),
        ([1.0], "square table"),
        ([[1.0, -0.5], [-0.5, 1.0]], "similarity of units 0 and 1 is -0.5"),
        ([[1.0, float("nan")], [0.5, 1.0]], "similarity of units 0 and 1 is nan"),
        ([[1.0, 0.5], [0.25, 1.0]], "units 0 and 1 have 0.5 and 0.25"),
    ],
)
def test_similarities_that_do_not_hold_together_are_refused(table, message):
    with pytest.raises(DataError, match=message):
        cluster_units(table, 1)
