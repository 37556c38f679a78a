import pytest

from evenhand.evaluation.contents import Estimate
from evenhand.evaluation.text_numbers import duration, interval, number, percent, percent_interval, places_for, signed


def estimate(low: float | None, high: float | None) -> Estimate:
    return Estimate(
        measure="m", signature="s", subject="x", side=None, mean=0.1, low=low, high=high, n=2, n_sets=2, left_out=0,
        level=0.95, resamples=100, seed=1,
    )  # fmt: skip


def test_numbers_have_a_true_minus_and_a_dash_where_there_is_none():
    assert (number(-0.1234), signed(0.5), number(None), signed(None)) == ("\u22120.123", "+0.500", "\u2013", "\u2013")


@pytest.mark.parametrize(("values", "places"), [([0.3, None], 3), ([4.7], 2), ([31.0, 2.0], 1), ([], 3)])
def test_digits_suit_the_size(values, places):
    assert places_for(values) == places


def test_intervals():
    assert interval(estimate(-0.1, 0.25)) == "\u22120.100 to 0.250"
    assert interval(estimate(-0.1, 0.25), 2, sign=True) == "\u22120.10 to +0.25"
    assert percent_interval(estimate(0.05, 0.4)) == "5 to 40 %"


def test_a_missing_interval_is_said():
    assert interval(estimate(None, None)) == "no interval"
    assert percent_interval(estimate(None, None)) == "no interval"


def test_percent():
    assert (percent(0.125), percent(None)) == ("12.5 %", "\u2013")


@pytest.mark.parametrize(
    ("seconds", "text"), [(8.26, "8.3 s"), (245, "4 min 05 s"), (7620, "2 h 07 min"), (59.99, "1 min 00 s")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text
