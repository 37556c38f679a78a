from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.plugins.judge_studies.people.matching import THRESHOLD, covered, multiset_overlap, n_matched
from evenhand.text import words

parts = st.tuples(st.integers(0, 20), st.integers(0, 10)).map(lambda p: (p[0], p[0] + p[1]))
highlights = st.lists(st.lists(parts, min_size=1, max_size=2), max_size=4)


def n_spans_matched(a, b, threshold=THRESHOLD, text=None):
    """Matched highlights that are given by their places."""
    return n_matched([covered(each, text) for each in a], [covered(each, text) for each in b], threshold)


def span_overlap(a, b):
    """Overlap of highlights given by their places."""
    return multiset_overlap(list(map(covered, a)), list(map(covered, b)), THRESHOLD)


def n_strings_matched(a, b, threshold):
    """Matched highlights that are given by their texts."""
    return n_matched([Counter(words(each)) for each in a], [Counter(words(each)) for each in b], threshold)


def test_a_share_of_exactly_the_threshold_is_enough():
    # 5 of the smaller one's 10 characters
    assert n_spans_matched([[(0, 10)]], [[(5, 20)]]) == 1
    assert n_spans_matched([[(0, 10)]], [[(6, 20)]]) == 0


def test_overlapping_parts_of_a_highlight_count_once():
    # 0 to 10, marked twice, has 10 characters; 5 are shared with the larger one
    assert n_spans_matched([[(0, 10), (0, 10)]], [[(5, 30)]], threshold=0.5) == 1
    assert n_spans_matched([[(0, 10), (0, 10)]], [[(5, 30)]], threshold=0.51) == 0


def test_line_breaks_are_not_counted():
    # "ab" and the break before it: 3 places, 2 characters; the other has one of them
    text = "x\nab"
    assert n_spans_matched([[(1, 4)]], [[(0, 3)]], threshold=0.6, text=text) == 0
    assert n_spans_matched([[(1, 4)]], [[(0, 3)]], threshold=0.6) == 1


def test_an_empty_highlight_matches_nothing():
    assert span_overlap([[(3, 3)]], [[(0, 9)]]) == 0


def test_repeated_tokens_count_as_often_as_both_have_them():
    # shared: the, ferry; smaller size 4
    assert n_strings_matched(["the the the ferry"], ["The ferry at night, now"], threshold=0.5) == 1
    assert n_strings_matched(["the the the ferry"], ["The ferry at night, now"], threshold=0.51) == 0


@given(highlights)
def test_highlights_match_themselves_when_they_are_not_empty(found):
    filled = [each for each in found if any(end > start for start, end in each)]
    assert span_overlap(filled, filled) == (1 if filled else None)
    assert n_spans_matched(filled, filled) == len(filled)


@given(highlights, highlights)
def test_annotators_may_change_places_and_highlights_their_order(a, b):
    found, matched = span_overlap(a, b), n_spans_matched(a, b)
    assert (found, matched) == (span_overlap(b, a), n_spans_matched(b, a)) == (span_overlap(a[::-1], b), matched)
    assert matched <= min(len(a), len(b))
    if found is not None:
        assert found == pytest.approx(sum(matched / len(each) if each else 0 for each in (a, b)) / 2)
