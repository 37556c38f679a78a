import numpy as np
import pytest
from group_samples import text_masses, token_masses
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.special import softmax as scipy_softmax

from evenhand.errors import DataError
from evenhand.fairness.groups.masses import (
    Masses,
    Unscored,
    bart_scores,
    common_tokens,
    pack,
    rescale,
    softmax,
)


def test_shorter_samples_are_padded_and_marked():
    table = pack([Masses((1, 2), (3, 4)), Masses((5,), (6,))])
    assert table.source.tolist() == [[1, 2], [5, 0]]
    assert table.target.tolist() == [[3, 4], [6, 0]]
    assert table.declared.tolist() == [[True, True], [True, False]]


def test_no_sample_gives_an_empty_table():
    assert pack([]).source.shape == (0, 0)


@pytest.mark.parametrize("wrong", [Masses((1, 2), (1,)), Masses((1,), (1,), ("a", "b"))])
def test_masses_that_do_not_match_are_refused_by_place(wrong):
    with pytest.raises(DataError, match="sample 1: "):
        pack([Masses((1,), (1,)), wrong])


tokens = st.lists(st.sampled_from("abcdef"), max_size=8)


def named(source, target):
    return Masses(source, target, tuple(map(str, range(len(source)))))


def test_shared_token_counts_for_each_value_and_each_time():
    # c twice for both, a once for the first, z for none; the sources count all their tokens
    assert token_masses([["a", "b", "c"], ["c", "d"]], ["c", "c", "a", "z"]) == named((3, 2), (3, 2))


def test_repetition_in_the_source_does_not_count_in_the_summary():
    assert token_masses([["a"] * 6, ["b"]], ["a", "b"]) == named((6, 1), (1, 1))


def test_overlap_begins_anew_after_an_empty_intersection():
    # {a b} & {b} = {b}; {b} & {c} = {}; begins anew with {c d}: so b stays although two values have it
    values = [["a", "b"], ["b"], ["c"], ["c", "d"]]
    assert common_tokens(values) == {"c", "d"}


def test_blank_summary_is_unscored():
    assert text_masses(["a", "b"], " \n", str.split) == Unscored("empty summary")


def test_any_function_from_text_to_tokens_will_do():
    assert text_masses(["a b", ""], "b b", str.split) == named((2, 0), (2, 0))


@settings(max_examples=60)
@given(st.lists(tokens, min_size=1, max_size=4), tokens.filter(bool))
def test_matches_are_pairs_of_a_summary_token_and_a_value_that_has_it(values, summary):
    found = token_masses(values, summary)
    assert sum(found.target) == sum(token in value for token in summary for value in values)


scores = hnp.arrays(float, st.integers(1, 6), elements=st.floats(-50, 0))


@settings(max_examples=60)
@given(scores, st.floats(0.01, 5))
def test_softmax_is_scipys(given_scores, temperature):
    assert softmax(given_scores, temperature) == pytest.approx(scipy_softmax(given_scores / temperature))


@settings(max_examples=60)
@given(scores)
def test_softmax_of_a_shift_is_the_same(given_scores):
    assert softmax(given_scores - 3) == pytest.approx(softmax(given_scores), abs=1e-9)


def test_temperature_zero_shares_among_the_best():
    assert softmax([-1.0, -3.0, -1.0], 0).tolist() == [0.5, 0.0, 0.5]


def test_tiny_temperature_does_not_overflow():
    assert softmax([-1.0, -2.0], 1e-320).tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("given_scores", "temperature"), [([], 0.1), ([np.nan, 0], 0.1), ([0, 1], -1), ([0, 1], np.nan)]
)
def test_softmax_without_meaning_is_refused(given_scores, temperature):
    with pytest.raises(DataError, match="softmax"):
        softmax(given_scores, temperature)


def test_bart_score_is_the_mean_over_all_positions():
    assert bart_scores([[-1, -3], [-2, -4]]).tolist() == [-2, -3]


def test_bart_score_without_tokens_is_refused():
    with pytest.raises(DataError, match="at least one token"):
        bart_scores([[], []])


def test_precision_zero_falls_far_below_the_baseline():
    # -.83150584 / .16849416
    assert rescale(0.0) == pytest.approx(-4.934923797952406)


def test_rescaling_keeps_identity_and_puts_the_baseline_at_zero():
    assert rescale([1.0, 0.5], 0.5).tolist() == [1.0, 0.0]


def test_baseline_of_one_is_refused():
    with pytest.raises(DataError, match="below 1"):
        rescale(0.5, 1.0)
