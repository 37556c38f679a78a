import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.evaluation.bias.intervals import hallucination_shift, intervals, word_list_shift
from evenhand.fairness.demographic.counts import CountTable
from evenhand.fairness.demographic.inclusion import inclusion_scores, log_odds_ratios
from evenhand.fairness.demographic.word_lists import word_list_scores
from evenhand.resampling import Bootstrap

COUNTS = arrays(np.int64, (2, 2), elements=st.integers(1, 50)).map(lambda counts: counts.astype(float))


def test_signed_forms_are_zero_for_equal_groups_and_undefined_without_counts():
    equal = np.array([[4.0, 4.0], [2.0, 2.0]])
    assert word_list_shift(equal) == 0
    assert log_odds_ratios(equal) == 0
    assert hallucination_shift(np.array([[3.0, 3.0]])) == 0
    none = np.zeros((2, 2))
    assert np.isnan(word_list_shift(none)) and np.isnan(log_odds_ratios(none)) and np.isnan(hallucination_shift(none))
    # all of one group kept, none of the other
    assert log_odds_ratios(np.array([[2.0, 2.0], [2.0, 0.0]])) == math.inf
    assert log_odds_ratios(np.array([[2.0, 2.0], [0.0, 2.0]])) == -math.inf


@given(COUNTS)
def test_word_list_shift_is_the_score_with_a_sign_that_swapping_the_groups_turns(counts):
    assert math.isclose(abs(word_list_shift(counts)), word_list_scores(counts), abs_tol=1e-12)
    assert math.isclose(word_list_shift(counts), -word_list_shift(counts[:, ::-1]), abs_tol=1e-12)


@given(COUNTS)
def test_log_odds_are_those_of_the_score(kept_and_lost):
    kept, lost = kept_and_lost
    counts = np.stack([kept + lost, kept])
    # the score is the larger odds ratio minus 1
    assert math.isclose(math.exp(abs(log_odds_ratios(counts))) - 1, inclusion_scores(counts), abs_tol=1e-9)


@pytest.mark.parametrize(("documents", "units"), [(1, ["assignment"]), (2, ["assignment", "document"])])
def test_single_document_has_no_interval_over_documents(documents, units):
    counts = np.array([[[4, 4], [3, 1]]] * documents)
    ids = tuple(f"d{i}" for i in range(documents))
    table = CountTable(("present", "included"), ("male", "female"), ids, np.arange(documents), counts)
    found = intervals(inclusion_scores, table, Bootstrap(resamples=100))
    assert [each.unit for each in found] == units
