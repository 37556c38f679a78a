import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.errors import DataError
from evenhand.fairness.groups.fairpo import PairLogps, dpo_losses, fairpo_losses

logps = hnp.arrays(float, (4, 3), elements=st.floats(-60, -1))


def test_dpo_at_the_reference_is_ln_two():
    assert dpo_losses(PairLogps([-3], [-4], [-3], [-4])).losses.tolist() == pytest.approx([np.log(2)])


def test_fairpo_worked_by_hand():
    # gaps 1 and -1, beta .1: rewards .1 w, -.1 w'; wrongness 1 / (1 + e^.2)
    found = fairpo_losses(PairLogps([-9], [-12], [-10], [-11]), [0.5], [1.5])
    assert found.reward_chosen.tolist() == pytest.approx([0.05])
    assert found.reward_rejected.tolist() == pytest.approx([-0.15])
    assert found.losses.tolist() == pytest.approx([-0.2 / (1 + np.exp(0.2))])


@settings(max_examples=50, deadline=None)
@given(logps, hnp.arrays(float, (2, 3), elements=st.floats(0.1, 1.9)))
def test_gradient_is_dpos_with_each_part_scaled(given_logps, weights):
    torch = pytest.importorskip("torch")
    beta = 0.1
    tensors = [torch.tensor(row, dtype=torch.float64, requires_grad=i < 2) for i, row in enumerate(given_logps)]
    chosen, rejected = tensors[0] - tensors[2], tensors[1] - tensors[3]
    w_chosen, w_rejected = torch.tensor(weights, dtype=torch.float64)
    factor = torch.sigmoid(-beta * (chosen - rejected)).detach()
    loss = factor * -beta * (w_chosen * chosen - w_rejected * rejected)
    ours = fairpo_losses(PairLogps(*given_logps), *weights, beta=beta)
    assert ours.losses == pytest.approx(loss.detach().numpy())
    scaled = torch.autograd.grad(loss.sum(), tensors[:2])
    plain = torch.autograd.grad(-torch.nn.functional.logsigmoid(beta * (chosen - rejected)).sum(), tensors[:2])
    for weight, one, other in zip(weights, scaled, plain, strict=True):
        assert one.numpy() == pytest.approx(weight * other.numpy())


def test_margin_weights_scale_each_pair():
    pairs = PairLogps([-3, -3], [-4, -5], [-3, -3], [-4, -4])
    plain, weighted = dpo_losses(pairs), dpo_losses(pairs, margin_weight=[0.5, 1.5])
    assert weighted.losses.tolist() == pytest.approx([0.5 * plain.losses[0], 1.5 * plain.losses[1]])
    assert weighted.mean == pytest.approx(weighted.losses.sum() / 2)


def test_hopeless_pair_does_not_overflow():
    assert dpo_losses(PairLogps([-1e6], [0], [0], [-1e6])).losses.tolist() == pytest.approx([2e5])


@pytest.mark.parametrize(("chosen", "beta", "weight"), [([-1, -2], 0.1, [1]), ([-1], 0, [1]), ([-1], 0.1, [1, 1])])
def test_what_holds_not_together_is_refused(chosen, beta, weight):
    with pytest.raises(DataError):
        fairpo_losses(PairLogps(chosen, [-1], [-1], [-1]), weight, [1], beta=beta)
