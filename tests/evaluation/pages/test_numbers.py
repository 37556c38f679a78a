import math

import pytest

from evenhand.evaluation.pages.numbers import (
    interval,
    number,
    p_value,
    percent,
    places_for,
    signed,
    slug,
    with_unit,
)
from evenhand.text.shown import counted_as


def test_numbers_have_a_true_minus_and_a_dash_where_there_is_none():
    assert (number(-0.1234), signed(0.5), number(None), signed(None)) == ("\u22120.123", "+0.500", "\u2013", "\u2013")
    assert (number(math.inf), number(-math.inf), signed(math.inf)) == ("\u221e", "\u2212\u221e", "+\u221e")


def test_what_is_written_as_0_has_no_sign():
    assert {signed(0.0), signed(-0.0), signed(-0.0004), signed(0.0004), number(-0.0004)} == {"0.000"}
    assert (signed(-0.0006), number(-0.0006)) == ("\u22120.001", "\u22120.001")


@pytest.mark.parametrize(("values", "places"), [([0.3, None], 3), ([4.7], 2), ([31.0, 2.0], 1), ([], 3)])
def test_digits_suit_the_size(values, places):
    assert places_for(values) == places


def test_intervals():
    assert interval(-0.1, 0.25) == "\u22120.100 to 0.250"
    assert interval(-0.1, 0.25, 2, sign=True) == "\u22120.10 to +0.25"
    assert interval(0.05, 0.4, 1, "%") == "5.0 to 40.0"


def test_a_missing_or_empty_interval_is_said():
    assert interval(None, None) == interval(0.1, None) == "no interval"
    assert interval(0.1, 0.1) == "no variation"


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.125, "12.5 %"), (None, "\u2013"), (0.0, "0.0 %"), (1.0, "100.0 %"),
        # all but one of ten thousand is not all, and one of them is not none
        (0.9999, "> 99.9 %"), (0.0001, "< 0.1 %"), (0.9994, "99.9 %"), (0.9995, "> 99.9 %"),
    ],
)  # fmt: skip
def test_percent(share, text):
    assert percent(share) == text


def test_p_values_are_never_written_as_zero_that_are_not():
    assert [p_value(p) for p in (0.0, 0.0001, 0.0006, None)] == ["0.000", "< 0.001", "0.001", "\u2013"]


def test_units():
    assert with_unit(0.5, 1, "%") == "50.0 %"
    assert with_unit(-0.051, 1, "points", sign=True) == "\u22125.1 points"
    assert with_unit(None, 1, "points") == "\u2013"


def test_slugs_are_names_of_files():
    assert (slug("Scores by ../rouge_1: a|b"), slug("..."), len(slug("x" * 200))) == (
        "scores-by-rouge-1-a-b",
        "table",
        60,
    )


@pytest.mark.parametrize(
    ("n", "text", "said"),
    [
        (1, "votes of people of no group", "1 vote of people of no group"),
        (2000, "votes of people", "2,000 votes of people"),
        (1, "turns", "1 turn"),
    ],
)
def test_a_reason_that_begins_with_a_plural_is_counted(n, text, said):
    assert counted_as(n, text) == said
