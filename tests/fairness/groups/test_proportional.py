import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.groups import proportional_representation

pairs = st.lists(st.tuples(st.integers(0, 20), st.floats(-5, 0)), min_size=1, max_size=5).filter(
    lambda values: any(n for n, _ in values)
)


def test_worked_by_hand():
    # equal scores: .5 .5 against .25 .75; the second lacks .25, mean .125; both differ by .25
    found = proportional_representation([1, 3], [-2, -2])
    assert found.pr == pytest.approx(0.125)
    assert found.pr_abs == pytest.approx(0.25)


@settings(max_examples=60, deadline=None)
@given(pairs)
def test_absolute_difference_is_twice_the_measure(values):
    found = proportional_representation(*zip(*values, strict=True))
    assert found.pr_abs == pytest.approx(2 * found.pr)


def test_absent_value_takes_no_part():
    found = proportional_representation([5, 0, 15], [-3.0, -3.3, -3.1])
    assert found.values == (0, 2)
    assert sum(found.p_target) == pytest.approx(1)


def test_source_without_mass_is_refused():
    with pytest.raises(DataError, match="undefined for a source without mass"):
        proportional_representation([0, 0], [-1, -2])
