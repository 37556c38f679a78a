from itertools import product

import numpy as np
import pytest

from evenhand.fairness.groups.chance import EqualCommonness

DOCUMENTS = [
    "ferry cheap cheap harbour".split(),
    "ferry late harbour crew".split(),
    "bridge cheap tolls".split(),
    "ferry bridge noise noise noise".split(),
]
LABELS = (0, 0, 1, 2)
NULL = EqualCommonness(DOCUMENTS, LABELS, 3)


def common(word):
    return sum(word in tokens for tokens in DOCUMENTS)


def as_common(word):
    """Occurrences, in any document, of words that as many documents have."""
    return [other for tokens in DOCUMENTS for other in tokens if common(other) == common(word)]


def test_gap_is_zero_on_average_over_words_that_are_as_common():
    for words in (["ferry"], ["cheap", "crew"], ["ferry", "bridge", "noise"]):
        gaps = [NULL.level([list(drawn)]).gap for drawn in product(*map(as_common, words))]
        assert np.mean(gaps, axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


def test_words_of_a_sentence_that_hang_together_leave_the_average_at_zero():
    # whatever the first word is, the second is the same again
    gaps = [NULL.level([[word, word]]).gap for word in as_common("cheap")]
    assert np.mean(gaps, axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


def test_expected_shares_are_those_of_words_that_are_as_common():
    # of the words in one document value 0 has late and crew, value 1 tolls, value 2 noise three times
    assert NULL.level([["crew"]]).expected == pytest.approx((2 / 6, 1 / 6, 3 / 6))
    assert sum(NULL.level([["ferry", "cheap"], ["tolls"]]).expected) == pytest.approx(1)


def test_a_word_of_a_value_alone_is_above_what_is_expected_of_it():
    gap = NULL.level([["crew", "late"]]).gap
    assert gap[0] > 0
    assert gap.sum() == pytest.approx(0)


def test_words_of_no_document_count_nowhere():
    assert NULL.level([["tax"]]) is None
    assert NULL.level([]) is None
    assert NULL.level([["crew", "tax"], ["tax"]]) == NULL.level([["crew"]])


@pytest.mark.parametrize("n_sentences", [1, 3, 9])
def test_drawn_shares_are_shares_about_the_expected_ones(n_sentences):
    null = EqualCommonness([["a", "b", "c"] * 5, ["a", "b", "d"] * 5], (0, 1), 2)
    level = null.level([["a", "b", "c"], ["a", "b", "d"], ["a", "c", "b"]] * 3)
    level = type(level)(level.expected, level.gaps[:n_sentences])
    drawn = level.shares()
    assert drawn.sum(axis=1) == pytest.approx(np.ones(len(drawn)))
    assert drawn.mean(axis=0) == pytest.approx(level.expected)
    assert len(drawn) == min(2**n_sentences, 64)
