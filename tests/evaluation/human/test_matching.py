from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.plugins.people.matching import THRESHOLD, Overlap, covered, multiset_overlap
from evenhand.text import words

parts = st.tuples(st.integers(0, 20), st.integers(0, 10)).map(lambda p: (p[0], p[0] + p[1]))
highlights = st.lists(st.lists(parts, min_size=1, max_size=2), max_size=4)


def span_overlap(a, b, threshold=THRESHOLD, text=None):
    """Overlap of highlights given by their places."""
    return multiset_overlap([covered(each, text) for each in a], [covered(each, text) for each in b], threshold)


def string_overlap(a, b, threshold):
    """Overlap of highlights given by their texts."""
    return multiset_overlap([Counter(words(each)) for each in a], [Counter(words(each)) for each in b], threshold)


def test_a_share_of_exactly_the_threshold_is_enough():
    # 5 of the smaller one's 10 characters
    assert span_overlap([[(0, 10)]], [[(5, 20)]]).matches == 1
    assert span_overlap([[(0, 10)]], [[(6, 20)]]).matches == 0


def test_overlapping_parts_of_a_highlight_count_once():
    # 0 to 10, marked twice, has 10 characters; 5 are shared with the larger one
    assert span_overlap([[(0, 10), (0, 10)]], [[(5, 30)]], threshold=0.5).matches == 1
    assert span_overlap([[(0, 10), (0, 10)]], [[(5, 30)]], threshold=0.51).matches == 0


def test_line_breaks_are_not_counted():
    # "ab" and the break before it: 3 places, 2 characters; the other has one of them
    text = "x\nab"
    assert span_overlap([[(1, 4)]], [[(0, 3)]], threshold=0.6, text=text).matches == 0
    assert span_overlap([[(1, 4)]], [[(0, 3)]], threshold=0.6).matches == 1


def test_an_empty_highlight_matches_nothing():
    assert span_overlap([[(3, 3)]], [[(0, 9)]]) == Overlap(0, 0.0, 0.0, 0.0)


def test_repeated_tokens_count_as_often_as_both_have_them():
    # shared: the, ferry; smaller size 4
    assert string_overlap(["the the the ferry"], ["The ferry at night, now"], threshold=0.5).matches == 1
    assert string_overlap(["the the the ferry"], ["The ferry at night, now"], threshold=0.51).matches == 0


@given(highlights)
def test_highlights_match_themselves_when_they_are_not_empty(found):
    filled = [each for each in found if any(end > start for start, end in each)]
    assert span_overlap(filled, filled) == (
        Overlap(len(filled), 1.0, 1.0, 1.0) if filled else Overlap(0, None, None, None)
    )


@given(highlights, highlights)
def test_annotators_may_change_places_and_highlights_their_order(a, b):
    found, swapped = span_overlap(a, b), span_overlap(b, a)
    assert (found.matches, found.ratio_a, found.overlap) == (swapped.matches, swapped.ratio_b, swapped.overlap)
    assert span_overlap(a[::-1], b) == found
    assert found.matches <= min(len(a), len(b))
    if found.overlap is not None:
        assert found.overlap == pytest.approx((found.ratio_a + found.ratio_b) / 2)
