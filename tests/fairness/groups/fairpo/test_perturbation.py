import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.groups.fairpo import choose_thinnings, perturb, thinnings


def rng(seed=0):
    return np.random.default_rng(seed)


@settings(max_examples=60, deadline=None)
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
def test_what_holds_not_together_is_refused(labels, differences, rate):
    with pytest.raises(DataError):
        perturb(labels, differences, rng(), rate=rate)


@settings(max_examples=150, deadline=None)
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
