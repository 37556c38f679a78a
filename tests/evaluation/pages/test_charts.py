import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.evaluation.pages.charts import Line, Point, Scale, panel, scale, ticks
from evenhand.number import Number


def test_places_are_per_cent_of_the_axis():
    axis = Scale(-1.0, 3.0, ())
    assert [axis.at(v) for v in (-1, 0, 3)] == [0, 25, 100]


def test_values_beyond_the_axis_stay_at_its_ends():
    assert [Scale(0.0, 1.0, ()).at(v) for v in (-5, 7)] == [0, 100]


def test_round_ticks_by_hand():
    # 0.2 wide, at most 5: steps of 0.05 fit
    assert ticks(0.0, 0.2, 5) == pytest.approx((0.0, 0.05, 0.1, 0.15, 0.2))
    assert ticks(-1.0, 1.0, 3) == (-1.0, 0.0, 1.0)


@given(low=st.floats(-1e3, 1e3), width=st.floats(1e-3, 1e3), most=st.integers(3, 8))
def test_ticks_lie_on_the_axis_and_are_few(low, width, most):
    found = ticks(low, low + width, most)
    assert 1 <= len(found) <= most
    assert all(low - 1e-6 <= tick <= low + width + 1e-6 for tick in found)


@given(st.lists(st.floats(-1e6, 1e6), max_size=5), st.booleans())
def test_scale_holds_all_values(values, zero):
    axis = scale(values, zero=zero)
    assert axis.low < axis.high
    assert all(axis.low <= value <= axis.high for value in [*values, *([0.0] if zero else [])])


def test_scale_of_equal_values_has_width():
    axis = scale([0.5, 0.5, None])
    assert axis.low < 0.5 < axis.high
    assert math.isfinite(axis.at(0.5))


def test_rounding_noise_is_no_distance():
    # means of twelve scores of 1, added up in another order
    axis = scale([1.0, 1 - 1e-16])
    assert axis.high - axis.low == pytest.approx(0.12)
    assert axis.at(1.0) == axis.at(1 - 1e-16)


def test_panel_holds_intervals_and_has_whole_ticks():
    made = panel(
        "t",
        "",
        "draws",
        [
            Line(
                "a", 0, (Point(1, Number(value=0.5, low=0.2, high=0.6)), Point(2, Number(value=0.7, low=0.6, high=0.9)))
            )
        ],
    )
    assert made.x.ticks == (1, 2)
    assert made.y.low <= 0.2
    assert made.y.high >= 0.9


def test_panel_of_one_point_has_width():
    assert panel("t", "", "step", [Line("a", 0, (Point(1, Number(value=0.5)),))]).x.at(1) == 0
