import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.errors import DataError
from evenhand.fairness.groups.fairpo import (
    PairLogps,
    RunningState,
    choose_thinnings,
    contribution,
    dpo_losses,
    fair_pairs,
    fairpo_losses,
    paper_weights,
    perturb,
    slot_weights,
    thinnings,
)


def rng(seed=0):
    return np.random.default_rng(seed)


@settings(max_examples=60)
@given(st.lists(st.integers(0, 2), min_size=1, max_size=30), st.integers(0, 99))
def test_copies_lack_documents_of_their_value_only(labels, seed):
    differences = [0.1, -0.2, 0.05]
    found = perturb(labels, differences, rng(seed))
    assert found.n_removed == max(1, round(0.1 * len(labels)))
    assert sorted(found.original) == list(range(len(labels)))
    for copy in (found.minus_over, found.minus_under):
        if copy is not None:
            taken = set(range(len(labels))) - set(copy.documents)
            assert len(copy.documents) == len(set(copy.documents))
            assert 1 <= len(taken) <= found.n_removed
            assert {labels[i] for i in taken} == {copy.value}
    if found.complete:
        assert set(found.minus_over.documents) != set(found.minus_under.documents)


@pytest.mark.parametrize(("n", "removed"), [(8, 1), (15, 2), (20, 2), (25, 2), (27, 3), (30, 3), (4, 1)])
def test_number_removed_rounds_half_to_even_and_is_at_least_one(n, removed):
    labels = [i % 2 for i in range(n)]
    assert perturb(labels, [0.1, -0.1], rng()).n_removed == removed


def test_over_represented_value_needs_more_than_three_documents():
    # the first value leads but has three documents, so the next one is thinned
    found = perturb([0, 0, 0, 1, 1, 1, 1], [0.2, 0.1], rng())
    assert found.minus_over.value == 1


def test_ties_take_the_first_value():
    found = perturb([0, 1] * 5, [0.0, 0.0], rng())
    assert (found.minus_over.value, found.minus_under.value) == (0, 0)


def test_set_with_too_few_documents_of_every_value_is_incomplete():
    found = perturb([0, 1], [0.1, -0.1], rng())
    assert (found.minus_over, found.minus_under) == (None, None)
    assert not found.complete


def test_absent_value_needs_no_difference_and_is_never_thinned():
    found = perturb([0] * 5 + [2] * 5, [0.1, None, -0.1], rng())
    assert (found.minus_over.value, found.minus_under.value) == (0, 2)


def test_same_seed_gives_the_same_copies():
    labels = [0, 1, 2] * 6
    assert perturb(labels, [0.1, 0, -0.1], rng(4)) == perturb(labels, [0.1, 0, -0.1], rng(4))
    assert perturb(labels, [0.1, 0, -0.1], rng(4)) != perturb(labels, [0.1, 0, -0.1], rng(5))


@pytest.mark.parametrize(
    ("labels", "differences", "rate"), [([0, 1], [0.1], 0.1), ([0, 0], [0.1], 0.0), ([0, 1], [0.1, None], 0.1)]
)
def test_thinnings_that_do_not_go_together_are_refused(labels, differences, rate):
    with pytest.raises(DataError):
        perturb(labels, differences, rng(), rate=rate)


@settings(max_examples=150)
@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=45),
    st.lists(st.integers(-9, 9), min_size=3, max_size=3, unique=True),
    st.integers(0, 99),
)
def test_copies_drawn_beforehand_hold_those_that_perturb_would_make(labels, differences, seed):
    drawn = thinnings(labels, 3, rng(seed))
    chosen = choose_thinnings(labels, differences, [copy.value for copy in drawn])
    wanted = perturb(labels, differences, rng(seed))
    assert (chosen is not None) == wanted.complete
    if chosen is not None:
        over, under = (drawn[place] for place in chosen)
        for found, copy in ((over, wanted.minus_over), (under, wanted.minus_under)):
            assert (found.value, len(found.documents)) == (copy.value, len(copy.documents))
        assert set(over.documents) != set(under.documents)
    # no value is drawn for nothing: each more than once only where it may be both
    counts = [labels.count(value) for value in range(3)]
    eligible = [value for value in range(3) if counts[value] > min(3, wanted.n_removed)]
    assert sorted({copy.value for copy in drawn}) == eligible
    assert len(drawn) <= len(eligible) + 1


def test_value_that_may_be_both_is_drawn_twice():
    # one of eight is taken; only value 0 has more than three documents, 0 and 1 have more than one
    labels = [0] * 4 + [1] * 3 + [2]
    drawn = thinnings(labels, 3, rng())
    assert [copy.value for copy in drawn] == [0, 0, 1]
    # 0 leads and 1 lags; 0 leads though it lags behind 1, because 1 is too small; nobody asks for 2
    assert choose_thinnings(labels, [0.2, -0.1, -0.3], [0, 0, 1]) == (0, 2)
    assert choose_thinnings(labels, [0.1, 0.2, 0.3], [0, 0, 1]) == (0, 1)


def test_equal_differences_thin_the_first_value_and_then_the_next():
    labels = [0, 1] * 5
    assert [copy.value for copy in thinnings(labels, 2, rng())] == [0, 1]
    assert choose_thinnings(labels, [0.0, 0.0], [0, 1]) == (0, 1)


def test_no_copy_of_the_chosen_value_gives_none():
    assert choose_thinnings([0, 1] * 5, [0.1, -0.1], [1]) is None
    assert choose_thinnings([0, 1], [0.1, -0.1], []) is None


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


@settings(max_examples=50)
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


logps = hnp.arrays(float, (4, 3), elements=st.floats(-60, -1))


def test_dpo_at_the_reference_is_ln_two():
    assert dpo_losses(PairLogps([-3], [-4], [-3], [-4])).losses.tolist() == pytest.approx([np.log(2)])


def test_fairpo_worked_by_hand():
    # gaps 1 and -1, beta .1: rewards .1 w, -.1 w'; wrongness 1 / (1 + e^.2)
    found = fairpo_losses(PairLogps([-9], [-12], [-10], [-11]), [0.5], [1.5])
    assert found.reward_chosen.tolist() == pytest.approx([0.05])
    assert found.reward_rejected.tolist() == pytest.approx([-0.15])
    assert found.losses.tolist() == pytest.approx([-0.2 / (1 + np.exp(0.2))])


@settings(max_examples=50)
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
def test_log_probabilities_that_do_not_go_together_are_refused(chosen, beta, weight):
    with pytest.raises(DataError):
        fairpo_losses(PairLogps(chosen, [-1], [-1], [-1]), weight, [1], beta=beta)
