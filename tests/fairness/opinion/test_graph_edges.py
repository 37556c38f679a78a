"""Edges between opinions."""

import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.fairness.opinion import interaction_edges

# opinions 0 and 1 share "tax"; 2 shares nothing; the last unit is the dummy's
UNITS = [["tax", "cuts"], ["tax", "rise"], ["school"], ["tax", "school", "rise"]]
ATTACHED = [0, 1, 2, -1]


def test_worked_by_hand():
    # n = 4: tax in 3 units ln(5/4) + 1, cuts in 1 ln(5/2) + 1, rise in 2 ln(5/3) + 1
    tax, cuts, rise = (np.log(5 / (1 + df)) + 1 for df in (3, 1, 2))
    (edge,) = interaction_edges(UNITS, ATTACHED, 3)
    assert edge[:2] == (0, 1)
    assert edge[2] == pytest.approx(tax**2 / np.sqrt((tax**2 + cuts**2) * (tax**2 + rise**2)))


def test_edges_under_the_least_weight_and_of_opinions_without_units_are_left_out():
    weight = interaction_edges(UNITS, ATTACHED, 4)[0][2]
    assert interaction_edges(UNITS, ATTACHED, 3, least_weight=weight + 1e-9) == ()
    assert interaction_edges([], [], 0) == ()


def test_opinions_that_say_the_same_have_an_edge_of_at_most_1():
    assert interaction_edges([["a", "b", "c"], ["c", "b", "a"]], [0, 1], 2)[0][2] == pytest.approx(1)


def test_bad_input_is_refused():
    with pytest.raises(DataError, match="4 units, but an attachment of shape"):
        interaction_edges(UNITS, [0], 1)
    with pytest.raises(DataError, match="opinion 2 does not exist; attachments are -1"):
        interaction_edges(UNITS, ATTACHED, 2)
    with pytest.raises(DataError, match="least_weight must be above 0"):
        interaction_edges(UNITS, ATTACHED, 3, least_weight=0)
