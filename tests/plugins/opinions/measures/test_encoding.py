"""Units as arrays."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.encoding import TfIdf, encode, text_similarity

UNITS = st.lists(st.lists(st.sampled_from("abc"), max_size=6), max_size=6)
KEYWORDS = st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3).map(" ".join), max_size=5)


def test_counts_and_numbers_follow_the_alphabet():
    found = encode([["b", "a", "b"], [], ["c"]])
    assert list(found.vocabulary) == ["a", "b", "c"]
    assert found.counts().toarray().tolist() == [[1, 2, 0], [0, 0, 0], [0, 0, 1]]


@given(UNITS, KEYWORDS)
def test_a_unit_contains_a_keyword_when_its_tokens_stand_side_by_side(units, keywords):
    found = encode(units).contains(keywords).toarray()
    expected = [[f" {keyword} " in f" {' '.join(unit)} " for keyword in keywords] for unit in units]
    assert (found.tolist() == [[float(each) for each in row] for row in expected]) or not (units and keywords)
    assert found.shape == (len(units), len(keywords))


def test_tokens_outside_a_given_vocabulary_keep_their_place():
    source = encode([["city", "hall"]])
    other = encode([["city", "town", "hall"], ["city", "hall"]], source.vocabulary)
    assert other.contains(["city hall"]).toarray().tolist() == [[0], [1]]
    assert other.counts().toarray().tolist() == [[1, 1], [1, 1]]


def test_keywords_do_not_cross_units():
    assert encode([["city"], ["hall"]]).contains(["city hall"]).nnz == 0


def test_texts_in_place_of_tokens_are_refused():
    with pytest.raises(DataError, match=r"units \[1\] are texts"):
        encode([["a"], "b c"])


WEIGHED = st.lists(st.lists(st.sampled_from(["tax", "bridge", "ferry", "school"]), max_size=6), min_size=1, max_size=6)


@given(WEIGHED)
def test_vectors_are_scikit_learns(units):
    vectorizers = pytest.importorskip("sklearn.feature_extraction.text")
    encoded = encode(units)
    found = TfIdf(encoded).unit_vectors(encoded.counts()).toarray()
    if not encoded.vocabulary:
        assert found.shape == (len(units), 0)
        return
    vectorizer = vectorizers.TfidfVectorizer(analyzer=list, vocabulary=list(encoded.vocabulary))
    np.testing.assert_allclose(found, vectorizer.fit_transform(units).toarray(), atol=1e-12)


def test_similarity_worked_by_hand():
    # "tax" stands in both units, idf ln(3/3) + 1 = 1; "cuts" and "rise" in one, idf w = ln(3/2) + 1: cosine 1 / (1 + w^2)
    weight = np.log(1.5) + 1
    found = text_similarity(["Tax cuts!", "The tax rise", "..."])
    # a third unit without content tokens: n = 3, tax ln(4/3) + 1, the others ln(4/2) + 1
    tax, other = np.log(4 / 3) + 1, np.log(2) + 1
    assert found[0, 1] == pytest.approx(tax**2 / (tax**2 + other**2))
    assert found[2].tolist() == [0, 0, 1]
    assert text_similarity(["Tax cuts!", "The tax rise"])[0, 1] == pytest.approx(1 / (1 + weight**2))


def test_the_same_content_is_wholly_similar_and_never_more():
    found = text_similarity(["Tax cuts help", "tax CUTS help", "the schools"])
    assert found[0, 1] == pytest.approx(1)
    assert found.max() <= 1
    assert np.array_equal(np.diag(found), [1, 1, 1])


def test_no_unit_gives_an_empty_table():
    assert text_similarity([]).shape == (0, 0)
