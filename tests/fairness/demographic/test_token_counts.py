import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.fairness.demographic.token_counts import count_vectors
from evenhand.fairness.stop_words import ENGLISH_STOP_WORDS

sklearn_text = pytest.importorskip("sklearn.feature_extraction.text", reason="needs scikit-learn to compare with")


def test_stop_words_are_those_of_scikit_learn():
    assert ENGLISH_STOP_WORDS == sklearn_text.ENGLISH_STOP_WORDS
    assert len(ENGLISH_STOP_WORDS) == 318


@given(st.lists(st.text(alphabet="aBc thE_1\u00e9\u0130'-.", max_size=30), min_size=1, max_size=5))
def test_similarities_are_those_of_scikit_learns_counts(texts):
    ours = count_vectors(texts)
    products = (ours @ ours.T).toarray()
    try:
        theirs = sklearn_text.CountVectorizer(stop_words="english").fit_transform(texts)
    except ValueError:  # scikit-learn refuses texts of stop words alone
        assert not products.any()
        return
    assert np.array_equal(products, (theirs @ theirs.T).toarray())
    assert ours.shape == theirs.shape


def test_texts_without_words_have_vectors_without_length():
    assert count_vectors(["", "the"]).shape == (2, 0)
