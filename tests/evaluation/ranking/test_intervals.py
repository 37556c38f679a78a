import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.evaluation.ranking import strength_intervals, strengths, strengths_of_draws, wins
from evenhand.resampling import cluster_draws

SCORES = [[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]


def test_interval_is_spanned_by_the_fits_of_the_draws():
    # draws of b, b, a and of b, a, a with prior 1: wins of b over a 3 to 2 and 2 to 3, so b's strength is +-ln(1.5)/2
    found = strength_intervals(SCORES, [[0, 1, 2], [0, 2, 2]], prior=1.0, level=0.98)
    half = np.log(1.5) / 2
    # percentiles 1 and 99 of two values, interpolated: 0.98 of the way from the middle to the ends
    assert found.point == pytest.approx([-half, half])
    assert found.low == pytest.approx([-0.98 * half, -0.98 * half])
    assert found.high == pytest.approx([0.98 * half, 0.98 * half])


def test_sides_of_a_document_set_are_drawn_together():
    # in every set each system wins once, so every draw has equal strengths
    scores = [[1.0, 2.0], [2.0, 1.0]] * 3
    draws = cluster_draws(["a", "a", "b", "b", "c", "c"], resamples=20, seed=1)
    found = strength_intervals(scores, draws)
    assert found.low == pytest.approx([0, 0], abs=1e-9)
    assert found.high == pytest.approx([0, 0], abs=1e-9)


def test_point_is_the_fit_of_all_requests():
    assert strength_intervals(SCORES, [[0, 1, 2]]).point == pytest.approx(strengths(wins(SCORES)))


def test_a_draw_that_cannot_be_told_is_refused():
    with pytest.raises(DataError, match=r"^not_identifiable"):
        strength_intervals(SCORES, [[0, 1, 2], [0, 0, 1]], prior=0)


def test_without_draws_there_is_no_interval():
    with pytest.raises(DataError, match="need draws, got none"):
        strength_intervals(SCORES, [])


def test_no_request_is_told_before_anything_is_fitted():
    with pytest.raises(DataError, match="need requests, got none"):
        strength_intervals([], [[0]])
    with pytest.raises(DataError, match="need requests, got none"):
        strengths_of_draws(np.zeros((0, 2, 2)), [[0]], prior=0.1, level=0.95)
