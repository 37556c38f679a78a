"""The stop words are those that the papers' programs took from scikit-learn."""

import pytest

from evenhand.fairness.stop_words import ENGLISH_STOP_WORDS


def test_the_list_is_scikit_learns():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    assert text.ENGLISH_STOP_WORDS == ENGLISH_STOP_WORDS
    assert len(ENGLISH_STOP_WORDS) == 318
