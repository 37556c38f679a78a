import numpy as np
import pytest

from evenhand.evaluation.audit.contents import Number
from evenhand.evaluation.audit.quantities import UNDER_REPRESENTED, Measure
from evenhand.evaluation.audit.worst import Rows, extremes, worst_group

COVERAGE = {"measure": "coverage difference (words)", "family": "coverage"}


def number(
    value, estimate, *, measure="under-represented (words)", family="value-shares", small=False, low=None, high=None
):
    return Number(
        measure=measure, family=family, signature="s", system="mine", value=value, estimate=estimate, low=low, high=high, n=40,
        left_out={}, level=0.9, resamples=100, n_defined=100, seed=0, is_share=True, is_small=small,
    )  # fmt: skip


def rows(numbers, spread, draws=100):
    generator = np.random.default_rng(0)
    means = np.array([n.estimate for n in numbers])
    return Rows(numbers, means + spread * generator.standard_normal((draws, len(numbers))))


def test_the_most_often_under_represented_is_worst_where_the_interval_tells_it():
    found = worst_group(rows([number("left", 0.1), number("right", 0.3)], 0.01), "stance")
    assert (found.value, found.next_value, found.verdict) == ("right", "left", "told")
    assert found.gap == pytest.approx(0.2)
    assert (
        found.sentence
        == "The worst-represented stance is right: it is under-represented in 30.0 % of the summaries of its sets; next is left."
    )


def test_a_large_group_is_not_worst_for_its_size():
    # of a due share of 86 points a shortfall of 5.6 is little, of a due share of 11 one of 2.9 is much
    keys = {"left": (0.86, 0.056, 0.15), "right": (0.11, 0.029, 0.34)}
    names = ("share in sources (words)", "shortfall (words)", "under-represented (words)")
    numbers = [number(value, x, measure=m) for value, its in keys.items() for m, x in zip(names, its, strict=True)]
    found = worst_group(rows(numbers, 0.001), "stance")
    assert (found.value, found.measure) == ("right", Measure(UNDER_REPRESENTED, "words"))
    assert found.sentence.endswith("The largest shortfall is that of left: 5.6 points of share (due 86.0 %).")


def test_where_nothing_is_under_represented_nobody_is_worst():
    found = worst_group(rows([number("left", 0.0), number("right", 0.0)], 0.0), "stance")
    assert (found.verdict, found.sentence) == ("cannot tell", "No stance is under-represented in any summary.")


def test_cannot_tell_where_the_interval_includes_zero():
    found = worst_group(rows([number("left", 0.29), number("right", 0.3)], 0.1), "stance")
    assert found.verdict == "cannot tell"
    assert found.low < 0 < found.high
    assert found.sentence.startswith("No stance is clearly the worst-represented")
    assert found.sentence.endswith("but the interval of its distance to left includes zero.")


def test_without_an_interval_none_is_said_to_include_zero():
    found = worst_group(rows([number("left", 0.1), number("right", 0.3)], 0.1, draws=0), "stance")
    assert (found.low, found.verdict) == (None, "cannot tell")
    assert found.sentence.endswith("but its distance to left has no interval.")


def test_of_two_that_fare_alike_none_is_worst():
    found = worst_group(rows([number("left", 1.0), number("right", 1.0), number("far", 0.0)], 0.0), "stance")
    assert found.verdict == "cannot tell"
    assert found.sentence.endswith(
        "(it is under-represented in 100.0 % of the summaries of its sets), but right has the same."
    )


def test_small_groups_are_kept_out():
    found = worst_group(
        rows([number("left", 0.1), number("right", 0.3), number("rare", 0.9, small=True)], 0.01), "stance"
    )
    assert (found.value, found.small) == ("right", ("rare",))
    assert found.sentence.startswith("The worst-represented stance among those with enough sets is right")
    alone = worst_group(rows([number("left", 0.1), number("rare", 0.9, small=True)], 0.01), "stance")
    assert (alone.value, alone.verdict) == (None, "cannot tell")


def test_by_coverage_the_lowest_difference_is_worst_and_extremes_say_what_they_cannot_tell():
    numbers = [
        number("left", 0.2, low=0.1, high=0.3, **COVERAGE),
        number("right", -0.1, low=-0.3, high=0.1, **COVERAGE),
        number("rare", -0.9, small=True, low=-1.0, high=-0.8, **COVERAGE),
    ]
    found = worst_group(rows(numbers, 0.01), "stance")
    assert found.value == "right"
    assert "covered 10.0 points of 100 less than all documents of their sets" in found.sentence
    assert extremes(rows(numbers, 0.01)) == (
        "Among those with enough sets, most over-represented is left (+20.0 points), most under-represented right (\u221210.0 "
        "points, not clearly: its interval includes zero)."
    )


def test_extremes_without_interval_and_on_the_other_side_of_zero():
    numbers = [
        number("left", 0.2, low=None, high=None, **COVERAGE),
        number("right", 0.1, low=0.05, high=0.2, **COVERAGE),
    ]
    assert extremes(rows(numbers, 0.01)) == (
        "Most over-represented is left (+20.0 points, without an interval), most under-represented right (+10.0 points, but its "
        "interval lies on the other side of zero)."
    )
