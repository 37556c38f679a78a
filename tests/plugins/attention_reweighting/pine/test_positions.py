"""Positions and order of segments: values by hand, and what must hold of all of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from segment_places import importance_order, segment_positions  # noqa: E402

from evenhand.plugins.attention_reweighting.pine.positions import base_positions  # noqa: E402


def test_segments_lie_side_by_side_with_the_nearest_last():
    # prefix 0-2; segment 0 (farthest) 3-4, segment 2 5-7, segment 1 (nearest) 8-11; suffix from 12
    assert segment_positions(3, [2, 4, 3], [1, 2, 0]) == ([3, 8, 5], 12)


def test_reading_order_is_the_ranking_from_the_last_segment():
    # what ordinary inference has: 10, 15
    assert segment_positions(10, [5, 5], [1, 0]) == ([10, 15], 20)


def test_base_positions_end_together():
    # prefix 0, 1; segments of 2 and 3 end at 6; suffix 7, 8
    assert base_positions(2, [2, 3], 2).tolist() == [0, 1, 5, 6, 4, 5, 6, 7, 8]


@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 5), st.randoms(use_true_random=False))
def test_any_ranking_fills_the_places_between_prefix_and_suffix(lens, prefix, random):
    order = random.sample(range(len(lens)), len(lens))
    starts, suffix = segment_positions(prefix, lens, order)
    places = sorted(place for start, n in zip(starts, lens, strict=True) for place in range(start, start + n))
    assert places == list(range(prefix, suffix))
    assert [starts[j] for j in reversed(order)] == sorted(starts)


def test_importance_is_a_mean_so_that_length_is_no_merit():
    # means 0.1, 0.4/3 and 0.4
    importance, order = importance_order([[0.1, 0.1], [0.05, 0.05, 0.3], [0.4]], None)
    assert importance == pytest.approx([0.1, 0.4 / 3, 0.4])
    assert order == [2, 1, 0]


def test_own_segment_is_nearest_and_equal_ones_keep_their_order():
    assert importance_order([[0.2, 0.2], [0.0, 0.0, 0.0], [0.6]], 1) == (pytest.approx([0.2, 0.0, 0.6]), [1, 2, 0])
    assert importance_order([[0.25], [0.25], [0.5]], None)[1] == [2, 0, 1]
