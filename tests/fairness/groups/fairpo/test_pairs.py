import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.groups.fairpo import fair_pairs

ZERO = np.zeros((3, 2))


def test_worked_by_hand():
    ec = [[0.05, 0.01, 0.02], [0.00, 0.09, 0.09]]
    difference = [[[0.1, -0.1], [0.02, -0.01], [0, 0]], [[0.0, 0.0], [0.03, -0.03], [0, 0]]]
    found = fair_pairs(ec, difference, [[2, 4], [1, 1]])
    # least and, of equal ones, first greatest
    assert found.chosen.tolist() == [1, 0]
    assert found.rejected.tolist() == [0, 1]
    # roots .2 and .3, mean .25
    assert found.margin_weight.tolist() == pytest.approx([0.8, 1.2])
    # chosen of the first set: C = 2 * .02 = .04 over, 4 * -.01 = .04 under; of the second: none
    assert found.chosen_slots.flags.tolist() == [[True, False, False, True], [False] * 4]
    assert found.chosen_slots.weight[0].tolist() == pytest.approx([0.04, 0, 0, 0.04])
    # one pair only: no spread
    assert found.chosen_slots.power[0].tolist() == [1, 0, 0, 1]
    # rejected: weights .2 and .03 over value 0: ln .2 and ln .03 are one spread from their mean: e^.5, e^-.5
    assert found.rejected_slots.power[:, 0].tolist() == pytest.approx([np.exp(0.5), np.exp(-0.5)])
    assert found.counts.tolist() == [[2, 2, 4, 4], [1, 1, 1, 1]]


def test_equally_fair_candidates_give_no_pair():
    found = fair_pairs([[0.1, 0.1, 0.1], [0.1, 0.2, 0.1]], [ZERO, ZERO], [[1, 1], [1, 1]])
    assert found.sets.tolist() == [1]
    assert found.n_equal == 1


def test_absent_value_may_have_no_difference():
    difference = np.array([[[0.1, np.nan], [0.2, np.nan], [0.0, np.nan]]])
    found = fair_pairs([[0.1, 0.2, 0.3]], difference, [[3, 0]])
    assert found.chosen_slots.flags.tolist() == [[True, False, False, False]]
    with pytest.raises(DataError, match="leave its set out"):
        fair_pairs([[0.1, 0.2, 0.3]], difference, [[3, 1]])


def test_no_set_gives_no_pair():
    found = fair_pairs(np.zeros((0, 3)), np.zeros((0, 3, 2)), np.zeros((0, 2)))
    assert found.sets.shape == (0,)
    assert found.margin_weight.shape == (0,)


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 8), st.integers(0, 2**32 - 1))
def test_invariants(n, seed):
    rng = np.random.default_rng(seed)
    ec, difference = rng.random((n, 3)), rng.normal(size=(n, 3, 3)).round(2)
    found = fair_pairs(ec, difference, rng.integers(0, 5, (n, 3)))
    assert found.margin_weight.mean() == pytest.approx(1)
    for slots in (found.chosen_slots, found.rejected_slots):
        # a value is over- or under-represented, never both
        assert not (slots.flags[:, 0::2] & slots.flags[:, 1::2]).any()
        assert ((slots.weight > 0) == slots.flags).all()
        assert ((slots.power > 0) == slots.flags).all()


def test_shapes_that_do_not_go_together_are_refused():
    with pytest.raises(DataError, match="pairs need shapes"):
        fair_pairs([[0.1, 0.2]], [ZERO], [[1, 1]])
