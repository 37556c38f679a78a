import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.fairness.groups import normalised_overall


def test_worked_by_hand():
    # first set: 0, .5, 1; second: 1, 0, 0
    assert normalised_overall([[1, 9], [2, 5], [3, 5]]).tolist() == pytest.approx([0.5, 0.25, 0.5])


def test_data_set_on_which_all_are_equal_says_nothing():
    assert normalised_overall([[1, 7], [2, 7]]).tolist() == [0, 1]
    assert np.isnan(normalised_overall([[7], [7]])).all()


def test_missing_score_is_refused():
    with pytest.raises(DataError, match="one finite score"):
        normalised_overall([[1, np.nan]])
