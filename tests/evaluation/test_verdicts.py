"""Verdicts, and what they rest on."""

import math

import pytest

from evenhand.evaluation.verdicts import exchanges, verdict
from evenhand.resampling import Bootstrap

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


def test_exchanges_are_many_whatever_intervals_are_drawn_with():
    assert exchanges(Bootstrap(0.9, 100, 3)) == Bootstrap(0.9, 20_000, 3)
    assert exchanges(Bootstrap(resamples=50_000)).resamples == 50_000
