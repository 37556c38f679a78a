import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.groups.fairpo import RunningState, contribution, paper_weights, slot_weights


def test_contribution_worked_by_hand():
    # e^(-2/2) and e^(-6/3): slot 0 has both summaries, slot 1 only the second
    found = contribution([[1, 0], [1, 1]], [[0.5, 0], [0.1, 0.2]], [-2.0, -6.0], [2, 3])
    p, q = np.exp(-1), np.exp(-2)
    assert found.count.tolist() == pytest.approx([p + q, q])
    assert found.loss.tolist() == pytest.approx([0.5 * p + 0.1 * q, 0.2 * q])


def test_parts_of_a_batch_add_up_to_the_batch():
    flags, weight, logps, n = [[1, 0], [0, 1], [1, 1]], [[0.2, 0], [0, 0.3], [0.1, 0.4]], [-3.0, -4, -5], [2, 3, 4]
    whole = contribution(flags, weight, logps, n)
    parts = contribution(flags[:1], weight[:1], logps[:1], n[:1]) + contribution(
        flags[1:], weight[1:], logps[1:], n[1:]
    )
    assert parts.loss == pytest.approx(whole.loss)
    assert parts.count == pytest.approx(whole.count)


def test_state_decays_at_each_boundary():
    step = contribution([[1, 0]], [[0.5, 0]], [0.0], [1])
    state = RunningState.start(1).after(step).after(step)
    # 1 * .75 + 1 and .5 of that
    assert state.count.tolist() == [1.75, 0]
    assert state.loss.tolist() == [0.875, 0]


def test_slot_without_pairs_has_the_mean_over_all():
    state = RunningState(np.array([0.6, 0.0]), np.array([2.0, 0.0]))
    assert state.averages().tolist() == pytest.approx([0.3, 0.3])
    assert state.averages(2.0).tolist() == pytest.approx([0.09, 0.09])
    assert RunningState.start(1).averages().tolist() == [0, 0]


def test_summary_without_tokens_and_wrong_decay_are_refused():
    with pytest.raises(DataError, match="one token or more"):
        contribution([[1, 0]], [[0.5, 0]], [0.0], [0])
    step = contribution([[1, 0]], [[0.5, 0]], [0.0], [1])
    with pytest.raises(DataError, match="decay"):
        RunningState.start(1).after(step, 1.5)


# averages .3 over and .1 under
LEANING = RunningState(np.array([0.6, 0.2]), np.array([2.0, 2.0]))


def test_weights_worked_by_hand():
    # ratio 3: 2/(1+3) for a chosen summary that leans along, 2/(1+1/3) for one that leans against; rejected the other way
    both = [[1, 0], [0, 1]]
    assert slot_weights(both, both, LEANING, "chosen").tolist() == pytest.approx([0.5, 1.5])
    assert slot_weights(both, both, LEANING, "rejected").tolist() == pytest.approx([1.5, 0.5])
    # temperature 2: ratio 9
    assert slot_weights([[1, 0]], [[1, 0]], LEANING, "chosen", temperature=2.0).tolist() == pytest.approx([0.2])


def test_summary_without_slots_and_state_without_pairs_weigh_one():
    assert slot_weights([[0, 0]], [[0, 0]], LEANING, "chosen").tolist() == [1]
    assert slot_weights([[1, 0]], [[1, 0]], RunningState.start(1), "chosen").tolist() == [1]


def test_average_of_zero_is_raised_and_gives_a_number():
    state = RunningState(np.array([0.6, 0.0]), np.array([2.0, 2.0]))
    # .3 over 1e-8
    assert slot_weights([[1, 0]], [[1, 0]], state, "chosen") == pytest.approx(2 / (1 + 3e7))
    assert slot_weights([[1, 0]], [[1e6, 0]], state, "rejected").tolist() == [2]


def test_small_averages_keep_their_ratio_while_neither_is_zero():
    # 1e-3 and 5e-4 to the third power are 1e-9 and 1.25e-10: ratio 8, for chosen 2/(1+8), for rejected 2/(1+1/8)
    state = RunningState(np.array([1e-3, 5e-4]), np.ones(2))
    assert slot_weights([[1, 0]], [[1, 0]], state, "chosen", temperature=3).tolist() == pytest.approx([2 / 9])
    assert slot_weights([[1, 0]], [[1, 0]], state, "rejected", temperature=3).tolist() == pytest.approx([16 / 9])
    # ratio 2, C = 3 to the same power of 8
    assert paper_weights([[3]], [2e-9], [1e-9], "chosen").tolist() == pytest.approx([2 / 9])


def test_where_one_average_is_zero_both_are_raised():
    # 1e-9 beside 0: both 1e-8, ratio 1; the other value's ratio of 4e-9 and 1e-9 stays 4
    state = RunningState(np.array([1e-9, 0.0, 4e-9, 1e-9]), np.ones(4))
    flags = [[1, 0, 0, 0], [0, 0, 1, 0]]
    assert slot_weights(flags, flags, state, "chosen").tolist() == pytest.approx([1.0, 0.4])
    assert paper_weights([[1, 0]], [1e-9, 4e-9], [0.0, 1e-9], "chosen").tolist() == pytest.approx([1.0])


@settings(max_examples=50)
@given(st.integers(0, 2**32 - 1))
def test_weights_stay_between_zero_and_two_and_both_sides_add_up_to_two(seed):
    rng = np.random.default_rng(seed)
    state = RunningState(rng.random(6), rng.random(6))
    flags, power = rng.random((5, 6)) < 0.5, rng.random((5, 6)) * 3
    chosen, rejected = (slot_weights(flags, power, state, side) for side in ("chosen", "rejected"))
    assert ((chosen >= 0) & (chosen <= 2)).all()
    # 2/(1+r) + 2/(1+1/r) = 2
    assert chosen + rejected == pytest.approx(2)


def test_paper_form_worked_by_hand():
    # ratio 2: C = 1 gives 2/3, C = -1 gives 4/3, mean 1; C = 1 twice gives 2/3
    found = paper_weights([[1, -1], [1, 1]], [0.2, 0.2], [0.1, 0.1], "chosen")
    assert found.tolist() == pytest.approx([1, 2 / 3])
    assert paper_weights([[1, 1]], [0.2, 0.2], [0.1, 0.1], "rejected").tolist() == pytest.approx([4 / 3])
    # temperature 2: ratio sqrt 2
    assert paper_weights([[1]], [0.2], [0.1], "chosen", temperature=2).tolist() == pytest.approx([2 / (1 + np.sqrt(2))])


def test_slots_that_do_not_go_together_are_refused():
    with pytest.raises(DataError, match="slots need shape"):
        slot_weights([[1, 0, 0]], [[1, 0, 0]], LEANING, "chosen")
    with pytest.raises(DataError, match="'chosen' or 'rejected'"):
        slot_weights([[1, 0]], [[1, 0]], LEANING, "best")
    with pytest.raises(DataError, match="temperature above 0"):
        paper_weights([[1]], [0.2], [0.1], "chosen", temperature=0)
