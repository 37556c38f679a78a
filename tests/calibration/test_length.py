"""A fast part of `python -m evenhand.benchmarks.length`."""

import pytest

from evenhand.benchmarks.length import CURVES, count, drawn


@pytest.mark.parametrize("curve", [name for name in CURVES if name != "none"])
def test_what_length_alone_explains_is_not_clear_at_equal_length(curve: str):
    found = count(curve, 0.0, 50, 20)
    # 5 % of 20, and two standard errors
    assert found.clear >= 15 and found.clear_at_equal_length <= 3 and found.warned >= 10


def test_a_gain_of_a_judge_that_does_not_see_length_is_kept():
    found = count("none", 0.05, 50, 20)
    assert found.clear_at_equal_length >= 19 and found.warned <= 1


def test_simulations_are_the_same_twice():
    assert drawn("straight", 0.0, 6, 1) == drawn("straight", 0.0, 6, 1)
