"""Units as arrays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.opinion.encoding import encode

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
