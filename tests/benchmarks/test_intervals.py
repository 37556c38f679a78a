"""Intervals of few document sets have the true mean in them as often as they say: a part of the simulation."""

from math import sqrt

import pytest

from evenhand.benchmarks.intervals import RATES, SCORES, count_held

TRIALS = 300


@pytest.mark.parametrize(
    ("name", "n_sets", "least"),
    [
        ("normal", 5, 0.94),
        ("normal, two a set", 8, 0.94),
        ("uniform", 5, 0.94),
        ("exponential", 10, 0.92),
        ("half zeros, else exponential", 10, 0.92),
        ("differences of rates", 6, 0.94),
        ("differences of rates", 10, 0.94),
    ],
)
def test_means_are_held(name, n_sets, least):
    found = count_held(SCORES[name], n_sets, TRIALS)
    assert found.held >= TRIALS * least - 2 * sqrt(TRIALS * least * (1 - least))


def test_no_interval_is_much_wider_than_students_t_of_normal_scores():
    assert count_held(SCORES["normal"], 5, TRIALS).width < 1.25


@pytest.mark.parametrize("name", ["95%", "80%, two alike a set", "shares of nine, 80%", "shares of nine, 95%"])
@pytest.mark.parametrize("n_sets", [5, 12, 20])
def test_rates_are_held_and_have_always_an_interval(name, n_sets):
    found = count_held(RATES[name], n_sets, TRIALS)
    assert found.held >= TRIALS * 0.95 - 2 * sqrt(TRIALS * 0.95 * 0.05)
    assert found.none == 0
