"""The objective of fair selection."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.opinion import Objective, ObjectivePlan

SIMILARITY = np.array([[1, 0.5, 0], [0.5, 1, 0.25], [0, 0.25, 1]])
CLUSTERS = [[0, 1], [2]]
# centralities 1.5, 1.75, 1.25


def random_objective(seed, coverage, alpha):
    draw = np.random.default_rng(seed)
    half = np.triu(draw.random((6, 6)), k=1)
    return Objective(half + half.T + np.eye(6), [[0, 4], [1, 2, 5], [3]], 3, ObjectivePlan(coverage, alpha))


def test_per_unit_coverage_worked_by_hand():
    # alpha 0.4: caps 0.6, 0.7, 0.5; unit 1 brings 0.5, 1, 0.25: 0.5 + 0.7 + 0.25
    found = Objective(SIMILARITY, CLUSTERS, 1, ObjectivePlan(alpha=0.4)).value([1])
    assert found.coverage == pytest.approx(1.45)
    assert found.diversity == pytest.approx(np.sqrt(1.75 / 3))
    assert found.objective == pytest.approx((1.45 + np.sqrt(1.75 / 3)) / 2)


def test_global_coverage_worked_by_hand():
    # cap 0.1/3 * 4.5 = 0.15, which any single unit exceeds; units 0 and 2 stand in different clusters
    plan = ObjectivePlan("global", lambda_coverage=2.0, lambda_diversity=0.0)
    found = Objective(SIMILARITY, CLUSTERS, 2, plan).value([2, 0])
    assert found.coverage == pytest.approx(0.15)
    assert found.diversity == pytest.approx(np.sqrt(1.5 / 3) + np.sqrt(1.25 / 3))
    assert found.objective == pytest.approx(0.3)


def test_alpha_is_the_summarys_share_of_the_units_unless_given():
    default, given_alpha = (
        Objective(SIMILARITY, CLUSTERS, 2),
        Objective(SIMILARITY, CLUSTERS, 9, ObjectivePlan(alpha=2 / 3)),
    )
    assert default.value([0, 1]) == given_alpha.value([0, 1])


@given(st.integers(0, 500), st.sampled_from(["per_unit", "global"]), st.sampled_from([None, 0.1, 0.5, 2.0]))
def test_it_is_monotone_and_submodular_and_gains_are_its_differences(seed, coverage, alpha):
    objective = random_objective(seed, coverage, alpha)
    sets = [set(chosen) for size in range(4) for chosen in combinations(range(6), size)]
    value = {frozenset(s): objective.value(sorted(s)).objective for s in sets}
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


def test_nothing_selected_is_worth_0():
    assert Objective(SIMILARITY, CLUSTERS, 1).value([]).objective == 0


@pytest.mark.parametrize("clusters", [[[0, 1]], [[0, 1], [1, 2]], [[0, 1], [2, 3]]])
def test_clusters_that_are_no_partition_are_refused(clusters):
    with pytest.raises(DataError, match="clusters hold each of the units 0 to 2 once"):
        Objective(SIMILARITY, clusters, 1)


@pytest.mark.parametrize("selected", [[0, 0], [3], [-1]])
def test_selections_of_units_that_do_not_exist_or_repeat_are_refused(selected):
    with pytest.raises(DataError, match="different units from 0 to 2"):
        Objective(SIMILARITY, CLUSTERS, 1).value(selected)


def test_plans_out_of_range_are_refused():
    with pytest.raises(DataError, match="coverage='local' is not known; take one of per_unit, global"):
        ObjectivePlan("local")
    for wrong in ({"alpha": -0.1}, {"lambda_coverage": float("nan")}, {"lambda_diversity": -1.0}):
        with pytest.raises(DataError, match="finite and at least 0"):
            ObjectivePlan(**wrong)
