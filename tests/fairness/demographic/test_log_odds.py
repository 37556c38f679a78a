import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.demographic import log_odds_z

COUNTS = st.dictionaries(st.sampled_from("abcd"), st.integers(0, 50), max_size=4)


def test_z_worked_by_hand():
    # alpha 1, two words: seen in a 3 and 1, in b 1 and 1; delta of x: ln(3/1) - ln(1/1); variance 1/3 + 1/1
    found = log_odds_z({"x": 2}, {"y": 0}, alpha=1.0)
    assert found["x"] == pytest.approx(math.log(3) / math.sqrt(4 / 3))
    assert found["y"] == pytest.approx(-math.log(3) / math.sqrt(2))


@given(COUNTS, COUNTS)
def test_swapped_sets_change_the_sign(a, b):
    if len(a.keys() | b.keys()) < 2:
        return
    forth, back = log_odds_z(a, b), log_odds_z(b, a)
    assert forth == {word: pytest.approx(-z, abs=1e-9) for word, z in back.items()}


@pytest.mark.parametrize(
    ("a", "b", "alpha"),
    [({}, {}, 0.01), ({"x": 1}, {"x": 2}, 0.01), ({"x": 1}, {"y": 1}, 0.0), ({"x": -1}, {"y": 1}, 1.0)],
)
def test_tables_that_cannot_be_compared_are_refused(a, b, alpha):
    with pytest.raises(DataError, match="log-odds"):
        log_odds_z(a, b, alpha)
