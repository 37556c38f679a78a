"""Corrections for the number of tests, and the verdicts that rest on them."""

import math

import numpy as np
import pytest

from evenhand.evaluation.verdicts import adjusted, adjusted_in_parts, exchanges, holm, verdict
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


def test_holm_by_hand():
    # weights 2, 1, 1 of 4: .02 * 4/2 = .04; then 1 of the 2 that are left: .03 * 2 = .06; then the last by itself, but not below
    found = holm({"main": 0.02, "one": 0.03, "other": 0.05}, lambda part: 2.0 if part == "main" else 1.0)
    assert found == {"main": pytest.approx(0.04), "one": pytest.approx(0.06), "other": pytest.approx(0.06)}
    assert holm({"alone": 0.7}, lambda _: 0.1) == {"alone": pytest.approx(0.7)}
    assert holm({"a": 0.9, "b": 0.8}, lambda _: 1.0) == {"a": 1.0, "b": 1.0}
    assert holm({}, lambda _: 1.0) == {}


def test_no_p_value_counts_unless_its_part_does():
    tests = {"main": [0.004, 0.9], "other": [0.02, None, 0.03], "empty": [None]}
    found = adjusted_in_parts(tests, lambda smallest: holm(smallest, lambda part: 1.0 if part == "main" else 0.5))
    # main: .008 within, and .008 * 1.5 over the parts; other: .03 within, and .03 when main is done
    assert found["main"] == [pytest.approx(0.012), pytest.approx(0.9)]
    assert found["other"] == [pytest.approx(0.03), None, pytest.approx(0.03)]
    assert found["empty"] == [None]


@pytest.mark.parametrize("is_first_real", [False, True])
def test_parts_without_a_difference_say_something_in_a_twentieth_of_pages(is_first_real):
    generator = np.random.default_rng(3)
    n_pages, wrong = 2000, 0

    def over(smallest):
        return holm(smallest, lambda part: 2.0 if part == "main" else 1.0)

    for _ in range(n_pages):
        drawn = {name: generator.random(size).tolist() for name, size in (("main", 8), ("side", 30), ("other", 3))}
        if is_first_real:
            drawn["main"] = [1e-6] * 8
        found = adjusted_in_parts(drawn, over)
        told = [part for part, p_values in found.items() if min(p_values) <= 0.05]
        assert ("main" in told) >= is_first_real
        wrong += bool(set(told) - ({"main"} if is_first_real else set()))
    # two standard errors of the simulation are 1 %, and the correction is no coarser than that
    assert 0.035 <= wrong / n_pages <= 0.06


def test_exchanges_are_many_whatever_intervals_are_drawn_with():
    assert exchanges(Bootstrap(0.9, 100, 3)) == Bootstrap(0.9, 20_000, 3)
    assert exchanges(Bootstrap(resamples=50_000)).resamples == 50_000
