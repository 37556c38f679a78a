import numpy as np
import pytest

from evenhand.evaluation.audit.contents import Number
from evenhand.evaluation.audit.worst import Rows, extremes, worst_group


def number(value, estimate, *, measure="shortfall (words)", family="value-shares", small=False, low=None, high=None):
    return Number(
        measure=measure, family=family, signature="s", system="mine", value=value, estimate=estimate, low=low, high=high, n=40,
        left_out={}, level=0.9, resamples=100, n_defined=100, seed=0, is_share=True, is_small=small,
    )  # fmt: skip


def rows(numbers, spread):
    generator = np.random.default_rng(0)
    means = np.array([n.estimate for n in numbers])
    return Rows(numbers, means + spread * generator.standard_normal((100, len(numbers))))


def test_the_largest_lack_is_worst_where_the_interval_tells_it():
    found = worst_group(rows([number("left", 0.1), number("right", 0.3)], 0.01), "stance")
    assert (found.value, found.next_value, found.verdict) == ("right", "left", "told")
    assert found.gap == pytest.approx(0.2)
    assert (
        found.sentence
        == "The worst-represented stance is right: on average it lacks 30.0 points of 100 of what it should have; next is left."
    )


def test_cannot_tell_where_the_interval_holds_0():
    found = worst_group(rows([number("left", 0.29), number("right", 0.3)], 0.1), "stance")
    assert found.verdict == "cannot tell"
    assert found.low < 0 < found.high
    assert found.sentence.startswith("Cannot tell which stance")


def test_small_groups_are_kept_out():
    found = worst_group(
        rows([number("left", 0.1), number("right", 0.3), number("rare", 0.9, small=True)], 0.01), "stance"
    )
    assert (found.value, found.small) == ("right", ("rare",))
    alone = worst_group(rows([number("left", 0.1), number("rare", 0.9, small=True)], 0.01), "stance")
    assert (alone.value, alone.verdict) == (None, "cannot tell")


def test_by_coverage_the_lowest_difference_is_worst_and_extremes_say_what_they_cannot_tell():
    keys = {"measure": "coverage difference (words)", "family": "coverage"}
    numbers = [
        number("left", 0.2, low=0.1, high=0.3, **keys),
        number("right", -0.1, low=-0.3, high=0.1, **keys),
        number("rare", -0.9, small=True, low=-1.0, high=-0.8, **keys),
    ]
    assert worst_group(rows(numbers, 0.01), "stance").value == "right"
    assert extremes(rows(numbers, 0.01)) == (
        "Most over-represented is left (+20.0 points), most under-represented right (\u221210.0 points, cannot tell: its "
        "interval holds 0)."
    )
