from itertools import product

import numpy as np
import pytest

from evenhand.fairness.groups.chance import EqualCommonness, PointsAsCommon

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


def weighted(level):
    """What the null says is 0 on average."""
    return level.mass * (np.array(level.share) - level.expected)


def test_weighted_gap_is_zero_on_average_over_words_that_are_as_common():
    for words in (["ferry"], ["cheap", "crew"], ["ferry", "bridge", "noise"]):
        gaps = [weighted(NULL.level(drawn)) for drawn in product(*map(as_common, words))]
        assert np.mean(gaps, axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


def test_words_that_hang_together_leave_the_average_at_zero():
    # whatever the first word is, the second is the same again
    gaps = [weighted(NULL.level([word, word])) for word in as_common("cheap")]
    assert np.mean(gaps, axis=0) == pytest.approx(np.zeros(3), abs=1e-12)


def test_expected_shares_are_those_of_words_that_are_as_common():
    # of the words in one document value 0 has late and crew, value 1 tolls, value 2 noise three times
    assert NULL.level(["crew"]).expected == pytest.approx((2 / 6, 1 / 6, 3 / 6))
    assert sum(NULL.level(["ferry", "cheap", "tolls"]).expected) == pytest.approx(1)


def test_share_is_that_of_the_words_found():
    # both words are of value 0 alone
    found = NULL.level(["crew", "late"])
    assert found.share == (1, 0, 0)
    assert found.mass == 2


def test_words_of_no_document_count_nowhere():
    assert NULL.level(["tax"]) is None
    assert NULL.level([]) is None
    assert NULL.level(["crew", "tax"]) == NULL.level(["crew"])


# four sentences: two of document 0 alone, one of document 1 alone, one that 1 and 2 have
SENTENCES = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, 1.0, 0.8], [0.0, 0.0, 0.0, 0.8]])


def test_a_point_is_expected_in_the_documents_of_sentences_that_are_in_as_many():
    null = PointsAsCommon(SENTENCES)
    # in one document: two of three such sentences are document 0's; in two: the only one is of 1 and 2
    assert null.expected(np.array([[0.0], [0.0], [0.9]])) == pytest.approx([0.6, 0.3, 0.0])
    assert null.expected(np.array([[0.6], [0.6], [0.0]])) == pytest.approx([0.0, 0.6, 0.6])
    # what is added up is the summary's own
    both = np.array([[0.0, 0.6], [0.0, 0.6], [0.9, 0.0]])
    assert null.expected(both) == pytest.approx([0.6, 0.9, 0.6])


def test_sentences_themselves_have_no_gap_on_average():
    expected = PointsAsCommon(SENTENCES).expected(SENTENCES)
    assert expected == pytest.approx(SENTENCES.sum(axis=1))


def test_points_in_a_number_of_documents_that_no_sentence_has_go_by_the_nearest():
    null = PointsAsCommon(SENTENCES)
    assert null.expected(np.array([[1.0], [1.0], [1.0]])) == pytest.approx([0.0, 1.5, 1.5])


def test_points_of_no_document_are_expected_nowhere():
    assert PointsAsCommon(SENTENCES).expected(np.zeros((3, 2))).tolist() == [0, 0, 0]
    assert PointsAsCommon(np.zeros((2, 1))).expected(np.array([[1.0], [0.0]])) == pytest.approx([0.5, 0.5])
