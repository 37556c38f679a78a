import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.evaluation.ranking import row_wins, wins

# first row: b beats a, a ties with c, b beats c; second row: a is unscored, b beats c
SCORES = [[2.0, 3.0, 2.0], [None, 3.0, 1.0]]


def test_higher_score_wins_a_tie_gives_half_and_unscored_is_skipped():
    assert wins(SCORES).tolist() == [[0, 0, 0.5], [1, 0, 2], [0.5, 0, 0]]


def test_ties_can_be_dropped():
    assert wins(SCORES, "drop").tolist() == [[0, 0, 0], [1, 0, 2], [0, 0, 0]]


def test_renamed_systems_permute_the_table():
    permuted = wins([[row[i] for i in (2, 0, 1)] for row in SCORES])
    assert np.array_equal(permuted, wins(SCORES)[np.ix_([2, 0, 1], [2, 0, 1])])


def test_rows_of_different_length_are_refused():
    with pytest.raises(DataError, match=r"rows have \[2, 3\] scores"):
        row_wins([[1.0, 2.0, 3.0], [1.0, 2.0]])


def test_no_row_gives_no_wins():
    assert row_wins([]).shape == (0, 0, 0)
