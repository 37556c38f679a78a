import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.fairpo.triples import choose_thinnings, fair_pairs, thinnings


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
