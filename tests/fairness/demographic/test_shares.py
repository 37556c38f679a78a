import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.demographic.shares import (
    by_group,
    check_choice,
    check_known,
    defined,
    group_counts,
    shares,
    total_variation,
)

COUNTS = st.lists(st.integers(0, 1000), min_size=3, max_size=3).filter(any)


def test_shares_of_no_counts_are_undefined():
    assert np.isnan(shares([0, 0])).all()
    assert shares([[1, 3], [0, 0]])[0].tolist() == [0.25, 0.75]


@given(COUNTS, COUNTS)
def test_total_variation_is_a_distance_in_0_1(a, b):
    p, q = shares(a), shares(b)
    assert 0 <= total_variation(p, q) <= 1 + 1e-12
    assert total_variation(p, q) == pytest.approx(total_variation(q, p))
    assert total_variation(p, p) == 0


def test_total_variation_of_undefined_shares_is_undefined():
    assert math.isnan(total_variation([math.nan, math.nan], [0.5, 0.5]))


def test_counts_follow_the_order_of_the_groups_and_absent_ones_are_0():
    assert group_counts({"b": 2}, ("a", "b"), "present").tolist() == [0, 2]


@pytest.mark.parametrize(
    ("counts", "groups", "match"),
    [
        ({"a": 1}, ("a",), "two or more groups"),
        ({"a": 1}, ("a", "a"), "named once"),
        ({"c": 1}, ("a", "b"), "present names 'c'"),
        ({"a": -1}, ("a", "b"), "at least 0, got {'a': -1}"),
        ({"a": 0.5}, ("a", "b"), "whole numbers"),
    ],
)
def test_counts_that_do_not_hold_together_are_refused(counts, groups, match):
    with pytest.raises(DataError, match=match):
        group_counts(counts, groups, "present")


def test_infinity_is_defined_and_nan_is_none():
    assert defined(math.inf) == math.inf
    assert by_group(("a", "b"), [1.0, math.nan]) == {"a": 1.0, "b": None}


def test_unknown_choice_names_the_choices():
    with pytest.raises(DataError, match="unit 'row' is not known; choices are document, assignment"):
        check_choice("row", ("document", "assignment"), "unit")
    check_known({"a"}, ("a", "b"), "a reading")
