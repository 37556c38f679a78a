import numpy as np
import pytest

from evenhand.fairness.groups import (
    TAU_GRID,
    Masses,
    area,
    compare,
    pack,
    unfair,
    unfair_by_cutoff,
    unfair_by_tolerance,
)


def test_area_of_constant_and_of_linear_curves():
    assert area(np.ones(11)) == pytest.approx(1)
    assert area(TAU_GRID) == pytest.approx(0.5)
    # a step at the last point is one half trapezoid
    assert area(np.eye(11)[10]) == pytest.approx(0.05)


def test_curve_begins_where_a_value_is_missing_and_ends_unfair():
    # shares .6 .4, found 1 0 and .5 .5: the first is unfair from 0 on; the second from .5/.6 = .833 on, at .9
    curve = unfair_by_tolerance(compare([[6, 4], [6, 4]], [[3, 0], [5, 5]]))
    assert curve[:, 0].tolist() == [True] * 11
    assert curve[:, 1].tolist() == [False] * 9 + [True, True]


def test_source_without_mass_is_neither_fair_nor_unfair():
    shares = compare([[0, 0], [3, 1]], [[1, 1], [0, 2]])
    assert np.isnan(unfair(shares)).tolist() == [True, False]
    assert np.isnan(unfair_by_tolerance(shares)).tolist() == [[True, False]] * 11
    curve = unfair_by_cutoff(pack([Masses((0, 0), (1, 1)), Masses((3, 1), (0, 2))]))
    assert np.isnan(curve[:, 0]).all()
    assert not np.isnan(curve[:, 1]).any()


def test_cutoff_curve_grows_by_values():
    # one value survives until .6 is not enough: the second enters at cut-off .7, and it lacks everything
    table = pack([Masses((6, 4), (5, 0))])
    assert unfair_by_cutoff(table)[:, 0].tolist() == [False] * 7 + [True] * 4
