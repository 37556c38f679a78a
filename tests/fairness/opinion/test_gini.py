"""The Gini coefficient."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.opinion import gini
from evenhand.fairness.opinion.gini import rank_sum

SHARES = st.lists(st.floats(0, 1e6, allow_subnormal=False), min_size=1, max_size=30)


def test_worked_by_hand():
    # 1, 2, 6: (-2 * 1 + 0 * 2 + 2 * 6) / (3 * 9) = 10/27
    assert gini([6, 1, 2]) == pytest.approx(10 / 27)


@given(SHARES)
def test_equals_the_mean_absolute_difference_over_twice_the_mean(values):
    found = gini(values)
    if found is None:
        assert not any(values)
        return
    x = np.array(values) / max(values)
    assert found == pytest.approx(np.abs(x[:, None] - x).sum() / (2 * len(x) * x.sum()), abs=1e-12)
    assert 0 <= found <= 1 - 1 / len(x) + 1e-12


@given(SHARES, st.floats(1e-3, 1e3), st.randoms())
def test_order_and_scale_do_not_matter(values, scale, random):
    changed = [value * scale for value in values]
    random.shuffle(changed)
    assert gini(changed) == pytest.approx(gini(values), abs=1e-9)


@given(SHARES)
def test_a_population_doubled_is_as_unequal(values):
    assert gini(values + values) == pytest.approx(gini(values), abs=1e-9)


@pytest.mark.parametrize("values", [[], [0.0], [0.0, 0.0, 0.0]])
def test_nothing_to_share_out_is_undefined(values):
    assert gini(values) is None


@pytest.mark.parametrize("values", [[0.1] * 7, [1e308, 1e308], [5e-324, 5e-324], [3.0]])
def test_equal_values_give_exactly_0(values):
    assert gini(values) == 0.0


@pytest.mark.parametrize("values", [[0.5, -0.1], [float("nan")], [float("inf"), 1.0]])
def test_negative_and_infinite_values_are_refused(values):
    with pytest.raises(DataError, match="finite values of at least 0, got"):
        gini(values)


def test_a_table_is_refused():
    with pytest.raises(DataError, match=r"got shape \(1, 2\)"):
        gini([[0.1, 0.2]])


def test_rank_sum_is_half_of_all_differences():
    # differences of 1, 2, 6: 1 + 4 + 5 = 10
    assert rank_sum([2, 6, 1]) == 10
