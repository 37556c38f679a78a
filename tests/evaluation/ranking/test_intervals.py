import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.evaluation.ranking import row_wins, strength_bounds
from evenhand.resampling import Bootstrap, cluster_sums, drawn_weights

SCORES = [[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]


def test_interval_is_spanned_by_the_fits_of_the_draws():
    # draws of b, b, a and of b, a, a with prior 1: wins of b over a 3 to 2 and 2 to 3, so b's strength is +-ln(1.5)/2
    low, high = strength_bounds(row_wins(SCORES), [np.array([[1, 1, 1], [1, 0, 2]])], prior=1.0, level=0.98)
    half = np.log(1.5) / 2
    # percentiles 1 and 99 of two values, interpolated: 0.98 of the way from the middle to the ends
    assert low == pytest.approx([-0.98 * half, -0.98 * half])
    assert high == pytest.approx([0.98 * half, 0.98 * half])


def test_sides_of_a_document_set_are_drawn_together():
    # in every set each system wins once, so every draw has equal strengths
    won = cluster_sums(row_wins([[1.0, 2.0], [2.0, 1.0]] * 3), list("aabbcc"))
    for bound in strength_bounds(won, drawn_weights(3, Bootstrap(resamples=20, seed=1))):
        assert bound == pytest.approx([0, 0], abs=1e-9)


def test_without_draws_there_are_no_bounds():
    assert np.isnan(strength_bounds(row_wins(SCORES), [])).tolist() == [[True, True]] * 2


def test_a_draw_that_cannot_be_told_is_refused():
    with pytest.raises(DataError, match=r"^not_identifiable"):
        strength_bounds(row_wins(SCORES), [np.array([[1, 1, 1], [2, 1, 0]])], prior=0)


def test_no_request_is_refused_before_anything_is_fitted():
    with pytest.raises(DataError, match="need requests, got none"):
        strength_bounds(np.zeros((0, 2, 2)), [])
