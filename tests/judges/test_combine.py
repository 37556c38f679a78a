"""Scores combined into rewards; expected values by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.config import RewardSection
from evenhand.config.judges import RougeJudge, RubricJudge, RuleJudge
from evenhand.errors import DataError, RecipeError
from evenhand.judges.combine import combine_group, combine_scores, reward_ranges, z_scores


def reward(combine, **weights):
    return RewardSection(judges=("a", "b"), combine=combine, weights=weights)


def rewards(group, section, ranges=None):
    return combine_group(group, section, ranges or {})


GROUP = [{"a": 1.0, "b": 10.0}, {"a": 3.0, "b": 10.0}, {"a": 5.0, "b": 40.0}]


def test_mean_is_of_the_raw_scores():
    assert rewards(GROUP, reward("mean")) == [5.5, 6.5, 22.5]


def test_weighted_mean_divides_by_the_sum_of_weights():
    # (2*1 + 10)/3, (2*3 + 10)/3, (2*5 + 40)/3
    assert rewards(GROUP, reward("weighted", a=2, b=1)) == pytest.approx([4.0, 16 / 3, 50 / 3])


def test_negative_weight_stands_for_something_unwanted():
    # (1*5 - 1*40) / (1 + 1)
    assert rewards(GROUP[2:], reward("weighted", a=1, b=-1)) == [-17.5]


def test_z_mean_worked_by_hand():
    # a: mean 3, deviation sqrt(8/3); z = -sqrt(3/2), 0, sqrt(3/2)
    # b: mean 20, deviation sqrt(200); z = -1/sqrt(2), -1/sqrt(2), sqrt(2)
    a, b = 1.5**0.5, 2**0.5
    expected = [(-a - b / 2) / 2, (0 - b / 2) / 2, (a + b) / 2]
    assert rewards(GROUP, reward("z_mean")) == pytest.approx(expected)


def test_z_mean_takes_weights():
    a, b = 1.5**0.5, 2**0.5
    assert rewards(GROUP, reward("z_mean", a=3, b=1))[2] == pytest.approx((3 * a + b) / 4)


def test_missing_part_leaves_the_reward_out_and_the_others_in_place():
    group = [*GROUP, {"a": 100.0, "b": None}]
    assert rewards(group, reward("mean"))[3] is None
    found = rewards(group, reward("z_mean"))
    assert found[3] is None
    # its known score still belongs to the spread of judge a
    assert found[:3] != rewards(GROUP, reward("z_mean"))


def test_judge_that_cannot_tell_candidates_apart_gives_zero():
    # the deviation of these three equal numbers is 1.4e-17 in floating point
    assert [row["a"] for row in z_scores([{"a": 0.1}, {"a": 0.1}, {"a": 0.1}])] == [0, 0, 0]
    assert z_scores([{"a": 4.0}, {"a": None}]) == [{"a": 0.0}, {"a": None}]
    assert z_scores([]) == []


@given(st.lists(st.floats(-100, 100), min_size=2, max_size=9), st.floats(0.01, 100), st.floats(-100, 100))
def test_z_scores_do_not_depend_on_the_scale(values, factor, shift):
    moved = z_scores([{"a": factor * value + shift} for value in values])
    if max(values) - min(values) > 1e-3:
        for row, other in zip(z_scores([{"a": value} for value in values]), moved, strict=True):
            assert row["a"] == pytest.approx(other["a"], abs=1e-4)


def test_methods_on_the_unit_scale_worked_by_hand():
    scores, ranges = {"a": 4.0, "b": 0.5}, {"a": (1, 5), "b": (0, 1)}
    # 4 on 1-5 is 0.75
    expected = {"normalized_average": 0.625, "min": 0.5, "product": 0.375, "harmonic": 0.6}
    for method, value in expected.items():
        assert combine_scores(scores, method, ranges=ranges) == pytest.approx(value)


@pytest.mark.parametrize(
    ("combine", "expected"),
    # 4 on a scale from 1 to 5 is 3/4, 0.5 on one from 0 to 1 stays; 5 is 1 and 0 is 0
    [("normalized_average", [5 / 8, 0.5]), ("min", [0.5, 0]), ("product", [3 / 8, 0]), ("harmonic", [0.6, 0])],
)
def test_recipe_can_choose_each_combination_on_the_judges_own_scales(combine, expected):
    judges = {
        "a": RubricJudge(kind="rubric", rubric="coverage", model={"name": "org/model"}),
        "b": RougeJudge(kind="rouge"),
        "unused": RuleJudge(kind="length"),
    }
    ranges = reward_ranges(reward(combine), judges)
    assert ranges == {"a": (1, 5), "b": (0, 1)}
    group = [{"a": 4.0, "b": 0.5}, {"a": 5.0, "b": 0.0}, {"a": 5.0, "b": None}]
    assert rewards(group, reward(combine), ranges) == [*map(pytest.approx, expected), None]


def test_judge_without_bounds_has_no_place_on_the_unit_scale():
    judges = {"a": RougeJudge(kind="rouge"), "b": RuleJudge(kind="length")}
    with pytest.raises(RecipeError, match=r"combine 'min' maps scores to \[0, 1\], and the scale of 'b' has no bounds"):
        reward_ranges(reward("min"), judges)
    assert reward_ranges(reward("mean"), judges) == {}


def test_harmonic_mean_is_zero_when_a_part_is():
    assert combine_scores({"a": 1, "b": 5}, "harmonic", ranges={"a": (1, 5), "b": (1, 5)}) == 0


@pytest.mark.parametrize("method", ["average", "weighted", "normalized_average", "min", "product", "harmonic"])
def test_missing_part_is_missing_under_every_method(method):
    assert combine_scores({"a": 4, "b": None}, method, {"a": 1, "b": 1}, {"a": (1, 5), "b": (1, 5)}) is None


def test_mistakes_are_named():
    with pytest.raises(RecipeError, match="no weight for judge 'b'"):
        combine_scores({"a": 1, "b": 2}, "weighted", {"a": 1})
    with pytest.raises(RecipeError, match="are all 0"):
        combine_scores({"a": 1, "b": 2}, "weighted", {"a": 0, "b": 0})
    with pytest.raises(RecipeError, match="combination 'median' is not known"):
        combine_scores({"a": 1}, "median")
    with pytest.raises(DataError, match="scale is not given"):
        combine_scores({"a": 1}, "min")
    with pytest.raises(DataError, match=r"score 6 is off its scale from 1 to 5"):
        combine_scores({"a": 6}, "min", ranges={"a": (1, 5)})
    with pytest.raises(DataError, match=r"low < high, got \(5, 1\)"):
        combine_scores({"a": 3}, "min", ranges={"a": (5, 1)})
    with pytest.raises(DataError, match="no score to combine"):
        combine_scores({}, "average")
