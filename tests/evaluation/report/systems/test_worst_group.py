"""Choosing by the worst group: which group, how sure, and what is left out."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.evaluation.report.systems import worst_group
from evenhand.evaluation.report.systems.worst_group import mean_draws, without_part
from evenhand.resampling import Bootstrap, drawn_weights, percentiles

PLAN = Bootstrap(resamples=400)
GROUPS = ("left", "right")


def worst_groups(scores, systems, groups, plan, *, least_sets=3, lower_is_better=False):
    """With the choice that is made where nothing else is tested."""
    found = worst_group.worst_groups(
        scores, systems, groups, plan, least_sets=least_sets, lower_is_better=lower_is_better
    )
    return worst_group.choice_alone(scores, found, plan, lower_is_better=lower_is_better)


def constant(*rows, n_sets=12):
    """Scores of each system, the same in every set: one number a group."""
    return [[list(row)] * n_sets for row in rows]


def test_the_system_whose_worst_group_is_better_is_chosen():
    # means are 0.6 and 0.5, but the worst groups 0.3 and 0.4
    found = worst_groups(constant((0.9, 0.3), (0.4, 0.6)), ["even", "fair"], GROUPS, PLAN)
    even, fair = found.systems
    assert (even.side, even.value, even.chance_of_best) == ("right", pytest.approx(0.3), 0.0)
    assert (fair.side, fair.value, fair.chance_of_best) == ("left", pytest.approx(0.4), 1.0)
    assert (fair.low, fair.high) == (pytest.approx(0.4), pytest.approx(0.4))
    assert found.choice == "fair"


def test_lower_is_better_turns_worst_and_best_round():
    found = worst_groups(constant((0.9, 0.3), (0.4, 0.6)), ["a", "b"], GROUPS, PLAN, lower_is_better=True)
    assert [(each.side, each.value) for each in found.systems] == [
        ("left", pytest.approx(0.9)),
        ("right", pytest.approx(0.6)),
    ]
    assert found.choice == "b"
    assert found.systems[0].low == pytest.approx(0.9)


def test_equal_systems_share_the_chance_and_nobody_is_chosen():
    found = worst_groups(constant((0.5, 0.2), (0.2, 0.5)), ["a", "b"], GROUPS, PLAN)
    assert [each.chance_of_best for each in found.systems] == [0.5, 0.5]
    assert found.choice is None


def test_a_lead_by_one_set_cannot_be_told():
    scores = np.array(constant((0.5, 0.5), (0.5, 0.5)))
    scores[0, 0] = 0.9
    found = worst_groups(scores, ["ahead", "behind"], GROUPS, Bootstrap(resamples=4000))
    # the set that makes the lead is missing in (11/12)**12 = 35.2 % of the draws, which are then tied: 0.648 + 0.352 / 2
    assert found.systems[0].chance_of_best == pytest.approx(0.824, abs=0.02)
    assert found.choice is None


def test_one_system_is_no_choice():
    assert worst_groups(constant((0.5, 0.2)), ["alone"], GROUPS, PLAN).choice is None


def test_small_groups_are_marked_and_kept_out():
    scores = np.array(constant((0.5, 0.1, 0.6), (0.4, 0.9, 0.7)))
    scores[:, 2:, 1] = np.nan
    found = worst_groups(scores, ["a", "b"], ("left", "right", "far"), PLAN)
    left, right, _ = found.systems[0].groups
    assert (left.n_sets, found.is_small(left), right.n_sets, found.is_small(right)) == (12, False, 2, True)
    assert right.value == pytest.approx(0.1)
    assert (found.systems[0].side, found.choice) == ("left", "a")
    # a set without the group is no cell without a value
    assert found.left_out == 0
    assert without_part(found) == "right: 2 sets, takes no part"


def test_one_group_that_is_left_makes_no_choice():
    # by the one side that has sets enough b is best in every draw; on the other it is the worse by far
    scores = np.array(constant((0.5, 0.57), (0.1, 0.87), n_sets=20))
    scores[:, 8:, 0] = np.nan
    found = worst_groups(scores, ["a", "b"], GROUPS, PLAN, least_sets=10)
    assert [each.chance_of_best for each in found.systems] == [0.0, 1.0]
    assert found.choice is None
    assert without_part(found) == "left: 8 sets, takes no part"


def test_note_of_many_small_groups_names_three_of_them():
    found = worst_groups(np.ones((2, 1, 5)), ["a", "b"], list("vwxyz"), PLAN)
    assert without_part(found) == "v: 1 set, w: 1 set, x: 1 set, 2 more, take no part"
    assert without_part(worst_groups(np.ones((2, 3, 2)), ["a", "b"], GROUPS, PLAN)) == ""


def test_cells_that_one_system_lacks_are_left_out_for_all_and_counted():
    scores = np.array(constant((0.5, 0.5), (0.5, 0.5)))
    scores[0, 0] = [9.0, 9.0]
    scores[1, 0] = np.nan
    found = worst_groups(scores, ["a", "b"], GROUPS, PLAN)
    assert found.left_out == 2
    assert [each.value for each in found.systems] == [0.5, 0.5]


def test_no_group_with_enough_sets_has_no_worst_one():
    found = worst_groups(constant((0.5, 0.2), (0.2, 0.5), n_sets=2), ["a", "b"], GROUPS, PLAN)
    (first, _) = found.systems
    assert (first.side, first.value, first.low, first.chance_of_best, found.choice) == (None, None, None, None, None)


def test_one_set_has_no_chance():
    found = worst_groups(constant((0.5, 0.2), n_sets=1), ["a"], GROUPS, PLAN, least_sets=1)
    assert (found.systems[0].value, found.systems[0].low, found.systems[0].chance_of_best) == (0.2, None, None)


@pytest.mark.parametrize("shape", [(1, 3, 2), (2, 3, 1), (2, 3), (0, 3, 2)])
def test_other_shapes_are_refused(shape):
    with pytest.raises(DataError, match=r"\(systems, sets, groups\)"):
        worst_groups(np.zeros(shape), ["a", "b"], GROUPS, PLAN)


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_names_and_order_do_not_matter_and_chances_sum_to_one(seed):
    scores = np.random.default_rng(seed).normal(size=(3, 12, 2))
    found = worst_groups(scores, ["a", "b", "c"], GROUPS, PLAN)
    assert sum(each.chance_of_best for each in found.systems) == pytest.approx(1)
    turned = worst_groups(scores[::-1, :, ::-1], ["c", "b", "a"], GROUPS[::-1], PLAN)
    for mine, other in zip(found.systems, turned.systems[::-1], strict=True):
        assert (mine.side, mine.value) == (other.side, pytest.approx(other.value))
        assert mine.chance_of_best == pytest.approx(other.chance_of_best)
        assert mine.low <= mine.high
    # the worst group is the lowest of the means, by numpy
    assert [each.value for each in found.systems] == pytest.approx(scores.mean(axis=1).min(axis=1).tolist())


def test_mean_draws_are_those_of_whole_sets():
    # two sets: a draw has the first twice, the second twice or both; column means then 0, 1 or 1/2, and 5 in the second wherever
    # the second set is drawn
    draws = mean_draws(np.array([[0.0, np.nan], [1.0, 5.0]]), Bootstrap(resamples=4000))
    assert draws.shape == (4000, 2)
    assert set(draws[:, 0].tolist()) == {0.0, 0.5, 1.0}
    # both in half of the draws
    assert np.mean(draws[:, 0] == 0.5) == pytest.approx(0.5, abs=0.03)
    assert (np.isnan(draws[:, 1]) == (draws[:, 0] == 0)).all()
    assert np.nanmax(draws[:, 1]) == np.nanmin(draws[:, 1]) == 5.0


def test_mean_draws_in_blocks_are_those_of_one_piece():
    # 30 sets: 40,000 draws are 1.2 million numbers, more than a block holds; here all at once, by numpy
    values = np.random.default_rng(2).normal(size=(30, 2))
    drawn = np.random.default_rng(5).multinomial(30, np.full(30, 1 / 30), size=40_000)
    found = mean_draws(values, Bootstrap(resamples=40_000, seed=5))
    assert np.allclose(found, drawn @ values / 30, rtol=0, atol=1e-12)


def test_mean_draws_hold_a_block_at_a_time():
    # 10,000 draws of 1,500 sets are 120 MB of numbers
    tracemalloc.start()
    mean_draws(np.ones((1500, 1)), Bootstrap(resamples=10_000))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40e6


def test_mean_draws_have_the_interval_of_other_draws():
    values = np.random.default_rng(3).normal(size=(30, 1))
    plan = Bootstrap(resamples=20_000)
    others = np.concatenate(list(drawn_weights(30, plan))) @ values / 30
    bounds = [np.ravel(percentiles(drawn, 0.95)) for drawn in (mean_draws(values, plan), others)]
    assert bounds[0] == pytest.approx(bounds[1], abs=0.01)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [0.1, 0.3, 0.7, 2.3])
def test_many_sets_that_agree_have_the_value_in_every_draw(value):
    assert mean_draws(np.full((1000, 1), value), Bootstrap(resamples=100)) == pytest.approx(value)


def test_mean_draws_of_many_sets_are_spread_as_draws_are(monkeypatch):
    values = np.random.default_rng(2500).exponential(size=2500)
    table = np.stack([values, np.sqrt(values) + np.arange(len(values)) % 7], axis=1)
    table[::5, 1] = np.nan
    plan = Bootstrap(resamples=20_000)
    found = mean_draws(table, plan)
    monkeypatch.setattr(worst_group, "MANY_SETS", math.inf)
    drawn = mean_draws(table, plan)
    assert found.shape == drawn.shape
    assert not np.array_equal(found, drawn)
    assert found.mean(axis=0) == pytest.approx(drawn.mean(axis=0), rel=0.002)
    assert np.cov(found.T) == pytest.approx(np.cov(drawn.T), rel=0.08)
