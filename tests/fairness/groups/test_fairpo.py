import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.groups.fairpo import (
    RunningState,
    choose_thinnings,
    contribution,
    fair_pairs,
    paper_weights,
    slot_weights,
    thinnings,
)


def rng(seed=0):
    return np.random.default_rng(seed)


def made(labels, differences, seed=0, **options):
    """The two copies that make a pair, drawn before the differences are known; None where there are none."""
    drawn = thinnings(labels, len(differences), rng(seed), **options)
    chosen = choose_thinnings(labels, differences, [copy.value for copy in drawn], **options)
    return None if chosen is None else tuple(drawn[place] for place in chosen)


@settings(max_examples=150)
@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=45),
    st.lists(st.integers(-9, 9), min_size=3, max_size=3, unique=True),
    st.integers(0, 99),
)
def test_copies_lack_documents_of_the_first_and_last_value_that_have_enough(labels, differences, seed):
    drawn = thinnings(labels, 3, rng(seed))
    n = max(1, round(0.1 * len(labels)))
    counts = [labels.count(value) for value in range(3)]
    for copy in drawn:
        taken = set(range(len(labels))) - set(copy.documents)
        assert len(copy.documents) == len(set(copy.documents))
        assert len(taken) == min(n, counts[copy.value])
        assert {labels[i] for i in taken} == {copy.value}
    over = [value for value in range(3) if counts[value] > 3]
    under = [value for value in range(3) if counts[value] > n]
    found = made(labels, differences, seed)
    assert (found is not None) == bool(over and under)
    if found is not None:
        assert found[0].value == max(over, key=differences.__getitem__)
        assert found[1].value == min(under, key=differences.__getitem__)
        assert set(found[0].documents) != set(found[1].documents)
    # no value is drawn for nothing: each more than once only where it may be both
    eligible = [value for value in range(3) if counts[value] > min(3, n)]
    assert sorted({copy.value for copy in drawn}) == eligible
    assert len(drawn) <= len(eligible) + 1


@pytest.mark.parametrize(("n", "removed"), [(8, 1), (15, 2), (20, 2), (25, 2), (27, 3), (30, 3), (9, 1)])
def test_number_removed_rounds_half_to_even_and_is_at_least_one(n, removed):
    labels = [i % 2 for i in range(n)]
    assert {n - len(copy.documents) for copy in made(labels, [0.1, -0.1])} == {removed}


def test_over_represented_value_needs_more_than_three_documents():
    # the first value leads but has three documents, so the next one is thinned
    assert made([0, 0, 0, 1, 1, 1, 1], [0.2, 0.1])[0].value == 1


def test_set_with_too_few_documents_of_every_value_has_no_pair():
    assert made([0, 1], [0.1, -0.1]) is None


def test_absent_value_needs_no_difference_and_is_never_thinned():
    assert [copy.value for copy in made([0] * 5 + [2] * 5, [0.1, None, -0.1])] == [0, 2]


def test_same_seed_gives_the_same_copies():
    labels = [0, 1, 2] * 6
    assert thinnings(labels, 3, rng(4)) == thinnings(labels, 3, rng(4))
    assert thinnings(labels, 3, rng(4)) != thinnings(labels, 3, rng(5))


@pytest.mark.parametrize(
    ("labels", "differences", "rate"), [([0, 1], [0.1], 0.1), ([0, 0], [0.1], 0.0), ([0, 1], [0.1, None], 0.1)]
)
def test_thinnings_that_do_not_go_together_are_refused(labels, differences, rate):
    with pytest.raises(DataError):
        choose_thinnings(labels, differences, [], rate=rate)


@pytest.mark.parametrize(("labels", "n_values", "rate"), [([0, 1], 1, 0.1), ([0, -1], 2, 0.1), ([0, 0], 1, 1.0)])
def test_labels_and_rates_that_cannot_be_thinned_are_refused(labels, n_values, rate):
    with pytest.raises(DataError, match=r"rate in \(0, 1\)"):
        thinnings(labels, n_values, rng(), rate=rate)


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
