import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.fairness.groups.fairpo import RunningState, contribution


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
