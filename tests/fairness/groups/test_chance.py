from itertools import product

import numpy as np
import pytest

from evenhand.fairness.groups.chance import DRAWS, EqualCommonness, PointsAsCommon, mean_size, random_signs

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


def test_gaps_of_sentences_add_up_to_that_of_the_summary():
    sentences = ["ferry crew".split(), ["tax"], "noise tolls bridge".split()]
    words = [word for its in sentences for word in its]
    level = NULL.level(words, sentences)
    assert level.gaps[1] == (0, 0, 0)
    (whole,) = NULL.level(words, [words]).gaps
    assert np.sum(level.gaps, axis=0) == pytest.approx(whole)


def test_draws_have_the_expected_mean_and_among_them_is_the_summary():
    sentences = ["ferry cheap crew".split(), "noise bridge ferry cheap harbour".split()]
    words = [word for its in sentences for word in its]
    level = NULL.level(words, sentences)
    drawn = level.drawn()
    assert drawn.shape == (DRAWS, 3)
    found = level.mass * np.array(level.share)
    assert np.isclose(drawn, found).all(axis=1).any()
    # as no mass is cut off at 0 here
    assert drawn.mean(axis=0) == pytest.approx(found - np.sum(level.gaps, axis=0))
    assert (drawn == level.drawn()).all()


@pytest.mark.parametrize("n", [0, 1, 3, 5])
def test_of_few_parts_all_signs_are_drawn_alike(n):
    patterns, times = np.unique(random_signs(n, 3), axis=0, return_counts=True)
    assert len(patterns) == 2**n
    assert set(times.tolist()) == {DRAWS // 2**n}


def test_signs_of_many_parts_are_drawn_of_what_the_summary_is():
    many = random_signs(40, 5)
    assert many.shape == (DRAWS, 40)
    assert abs(many.mean()) < 4 / np.sqrt(many.size)
    assert (many != random_signs(40, 6)).any()


@pytest.mark.parametrize("mean", [-2.0, 0.0, 0.3, 5.0])
def test_mean_sizes_are_those_of_normal_numbers(mean):
    drawn = np.abs(np.random.default_rng(1).normal(mean, 0.7, size=200_000)).mean()
    assert mean_size(np.array(mean), np.array(0.49)) == pytest.approx(drawn, abs=0.005)
    # without scatter, and with what rounding leaves of none
    assert mean_size(np.array([mean, mean]), np.array([0.0, -1e-18])).tolist() == [abs(mean)] * 2


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
