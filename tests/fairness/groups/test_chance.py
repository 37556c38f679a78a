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


def weighted(level):
    """What the null says is 0 on average."""
    return level.mass * np.array(level.gap)


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


def test_gap_is_the_share_less_the_expected_one():
    # both words are of value 0 alone
    found = NULL.level(["crew", "late"])
    assert found.gap == pytest.approx((4 / 6, -1 / 6, -3 / 6))
    assert found.mass == 2


def test_words_of_no_document_count_nowhere():
    assert NULL.level(["tax"]) is None
    assert NULL.level([]) is None
    assert NULL.level(["crew", "tax"]) == NULL.level(["crew"])
