import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.evaluation.bias.intervals import hallucination_shift, inclusion_log_odds, word_list_shift
from evenhand.fairness.demographic import inclusion_scores, word_list_scores

COUNTS = arrays(np.int64, (2, 2), elements=st.integers(1, 50)).map(lambda counts: counts.astype(float))


def test_signed_forms_are_zero_for_equal_groups_and_undefined_without_counts():
    equal = np.array([[4.0, 4.0], [2.0, 2.0]])
    assert word_list_shift(equal) == 0
    assert inclusion_log_odds(equal) == 0
    assert hallucination_shift(np.array([[3.0, 3.0]])) == 0
    none = np.zeros((2, 2))
    assert (
        np.isnan(word_list_shift(none)) and np.isnan(inclusion_log_odds(none)) and np.isnan(hallucination_shift(none))
    )
    # all of one group kept, none of the other
    assert inclusion_log_odds(np.array([[2.0, 2.0], [2.0, 0.0]])) == math.inf
    assert inclusion_log_odds(np.array([[2.0, 2.0], [0.0, 2.0]])) == -math.inf


@given(COUNTS)
def test_word_list_shift_is_the_score_with_a_sign_that_swapping_the_groups_turns(counts):
    assert math.isclose(abs(word_list_shift(counts)), word_list_scores(counts), abs_tol=1e-12)
    assert math.isclose(word_list_shift(counts), -word_list_shift(counts[:, ::-1]), abs_tol=1e-12)


@given(COUNTS)
def test_log_odds_are_those_of_the_score(kept_and_lost):
    kept, lost = kept_and_lost
    counts = np.stack([kept + lost, kept])
    # the score is the larger odds ratio minus 1
    assert math.isclose(math.exp(abs(inclusion_log_odds(counts))) - 1, inclusion_scores(counts), abs_tol=1e-9)
