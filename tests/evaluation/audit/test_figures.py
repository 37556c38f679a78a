import numpy as np
import pytest

from evenhand.evaluation.audit.contents import OPINION_GRAPH, Measure, Quantity
from evenhand.evaluation.audit.figures import Figures, mean_deviation
from evenhand.fairness.groups.coverage import over


def mean_figures(values):
    """The mean of the values that are there, of which 1 is expected."""
    array = np.array(values, dtype=float)
    known = ~np.isnan(array)
    return Figures(
        quantities=(Quantity(Measure(OPINION_GRAPH)),),
        columns=np.column_stack([known.astype(float), np.nan_to_num(array)]),
        reduce=lambda sums: over(sums[..., 1:], sums[..., :1]),
        rests_on=known[:, None],
        unfairness=array,
        left_out=tuple(None if k else "nothing" for k in known),
        expect=lambda sums: over(sums[..., :1], sums[..., :1]),
        nulls=("one",),
    )


def test_intervals_are_those_of_scored_sets_and_few_have_none():
    values = [0.0, 1.0, 3.0, 2.0, 5.0]
    with_hole, without = (mean_figures(each).intervals(0.9) for each in ([np.nan, *values], values))
    assert (with_hole.low, with_hole.high) == (without.low, without.high)
    assert with_hole.estimate == pytest.approx([2.2])
    assert np.isnan(mean_figures(values[1:]).intervals(0.9).low).all()
    assert np.isnan(mean_figures([]).intervals(0.9).low).all()


def test_quantities_stand_beside_what_is_expected_of_them():
    figures = mean_figures([0.0, np.nan, 1.0, 5.0])
    # 2 less 1; of no set there is neither
    assert figures.beyond(figures.columns.sum(axis=0)).tolist() == [1.0]
    assert figures.scored.tolist() == [True, False, True, True]
    assert np.isnan(figures.beyond(0 * figures.columns.sum(axis=0)))


def test_mean_deviation_leaves_out_what_is_undefined():
    # 0 and 4 lie 2 from their mean
    assert mean_deviation(np.array([[0.0, np.nan, 4.0], [np.nan] * 3])).tolist() == pytest.approx(
        [2.0, np.nan], nan_ok=True
    )
