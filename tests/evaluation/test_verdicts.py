"""Corrections for the number of tests, and the verdicts that rest on them."""

import math

import pytest

from evenhand.evaluation.verdicts import adjusted, adjusted_in_parts, exchanges, verdict
from evenhand.resampling import Bootstrap


def test_correction_by_hand():
    # Benjamini and Hochberg over 3: .01*3/1 = .03, .02*3/2 = .03, .9; what has no p-value is not counted
    assert adjusted([0.9, None, 0.01, 0.02]) == [pytest.approx(0.9), None, pytest.approx(0.03), pytest.approx(0.03)]
    assert adjusted([None]) == [None]
    assert adjusted([]) == []


ABOVE, ACROSS, BELOW, NO_BOUNDS = (0.1, 0.3), (-0.1, 0.3), (-0.3, -0.1), (None, None)


@pytest.mark.parametrize(
    ("bounds", "p", "n_sets", "expected"),
    [
        (ABOVE, 0.05, 5, "higher"),
        (BELOW, 0.05, 5, "lower"),
        ((0.1, math.inf), 0.05, 5, "higher"),
        (ABOVE, 0.05, 4, "no clear difference"),
        (ABOVE, 0.06, 50, "no clear difference"),
        (ABOVE, None, 50, "no clear difference"),
        (ACROSS, 0.001, 50, "no clear difference"),
        ((1e-12, 0.3), 0.001, 50, "no clear difference"),
        (NO_BOUNDS, 0.001, 50, "no clear difference"),
    ],
)
def test_a_verdict_needs_interval_test_and_sets(bounds, p, n_sets, expected):
    assert verdict(bounds, p, level=0.95, n_sets=n_sets) == expected


def test_no_p_value_counts_unless_its_part_does():
    tests = {"main": [0.004, 0.9], "other": [0.02, None, 0.03], "empty": [None]}
    found = adjusted_in_parts(tests, lambda smallest: {"main": 1.5 * smallest["main"], "other": 0.03})
    # main: .008 within, and .008 * 1.5 over the parts; other: .03 within
    assert found["main"] == [pytest.approx(0.012), pytest.approx(0.9)]
    assert found["other"] == [pytest.approx(0.03), None, pytest.approx(0.03)]
    assert found["empty"] == [None]


def test_exchanges_are_many_whatever_intervals_are_drawn_with():
    assert exchanges(Bootstrap(0.9, 100, 3)) == Bootstrap(0.9, 20_000, 3)
    assert exchanges(Bootstrap(resamples=50_000)).resamples == 50_000
