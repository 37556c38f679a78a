"""Average linkage, and the objective of fair selection."""

from itertools import combinations

import numpy as np
import pytest
from group_samples import value_of
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.opinions.measures.objective import (
    Objective,
    ObjectivePlan,
    cluster_units,
    number_of_clusters,
)


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


SIMILARITY = np.array([[1, 0.5, 0], [0.5, 1, 0.25], [0, 0.25, 1]])
CLUSTERS = [[0, 1], [2]]
# centralities 1.5, 1.75, 1.25


def worth(units, plan=None):
    """What a selection brings: what each unit adds to those before it."""
    return value_of(Objective(SIMILARITY, CLUSTERS, len(units), plan), units)


def random_objective(seed, coverage, alpha):
    draw = np.random.default_rng(seed)
    half = np.triu(draw.random((6, 6)), k=1)
    return Objective(half + half.T + np.eye(6), [[0, 4], [1, 2, 5], [3]], 3, ObjectivePlan(coverage, alpha))


def test_per_unit_coverage_worked_by_hand():
    # alpha 0.4: caps 0.6, 0.7, 0.5; unit 1 brings 0.5, 1, 0.25: 0.5 + 0.7 + 0.25
    assert worth([1], ObjectivePlan(alpha=0.4)) == pytest.approx((1.45 + np.sqrt(1.75 / 3)) / 2)
    assert worth([1], ObjectivePlan(alpha=0.4, lambda_coverage=1, lambda_diversity=0)) == pytest.approx(1.45)


def test_global_coverage_worked_by_hand():
    # cap 0.1/3 * 4.5 = 0.15, which any single unit exceeds; units 0 and 2 stand in different clusters
    assert worth([2, 0], ObjectivePlan("global", lambda_coverage=2, lambda_diversity=0)) == pytest.approx(0.3)
    diversity = np.sqrt(1.5 / 3) + np.sqrt(1.25 / 3)
    assert worth([2, 0], ObjectivePlan("global", lambda_coverage=0, lambda_diversity=1)) == pytest.approx(diversity)


def test_alpha_is_the_summarys_share_of_the_units_unless_given():
    assert worth([0, 1]) == worth([0, 1], ObjectivePlan(alpha=2 / 3))


@given(st.integers(0, 500), st.sampled_from(["per_unit", "global"]), st.sampled_from([None, 0.1, 0.5, 2.0]))
def test_it_is_monotone_and_submodular_and_gains_are_its_differences(seed, coverage, alpha):
    objective = random_objective(seed, coverage, alpha)
    sets = [set(chosen) for size in range(4) for chosen in combinations(range(6), size)]
    value = {frozenset(s): value_of(objective, sorted(s)) for s in sets}
    for small in (s for s in sets if len(s) < 3):
        chosen = objective.start()
        for unit in small:
            objective.add(chosen, unit)
        rest = np.array(sorted(set(range(6)) - small))
        gains = objective.gains(chosen, rest)
        differences = [value[frozenset(small | {unit})] - value[frozenset(small)] for unit in rest.tolist()]
        assert gains == pytest.approx(np.array(differences), abs=1e-9)
        assert gains.min() >= 0
        for larger in (s for s in sets if small < s and len(s) == len(small) + 1 and len(s) < 3):
            for unit, gain in zip(rest.tolist(), differences, strict=True):
                if unit not in larger:
                    assert value[frozenset(larger | {unit})] - value[frozenset(larger)] <= gain + 1e-9


@pytest.mark.parametrize("clusters", [[[0, 1]], [[0, 1], [1, 2]], [[0, 1], [2, 3]]])
def test_clusters_that_are_no_partition_are_refused(clusters):
    with pytest.raises(DataError, match="clusters hold each of the units 0 to 2 once"):
        Objective(SIMILARITY, clusters, 1)


def test_plans_out_of_range_are_refused():
    with pytest.raises(DataError, match="coverage='local' is not known; take one of per_unit, global"):
        ObjectivePlan("local")
    for wrong in ({"alpha": -0.1}, {"lambda_coverage": float("nan")}, {"lambda_diversity": -1.0}):
        with pytest.raises(DataError, match="finite and at least 0"):
            ObjectivePlan(**wrong)
