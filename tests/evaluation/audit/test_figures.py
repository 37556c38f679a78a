import numpy as np
import pytest

from evenhand.evaluation.audit.contents import OPINION_GRAPH, Measure, Quantity
from evenhand.evaluation.audit.figures import Figures, mean_deviation
from evenhand.fairness.groups.coverage import over
from evenhand.resampling import Bootstrap

BOOTSTRAP = Bootstrap(level=0.9, resamples=200, seed=4)


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


def test_draws_repeat_with_their_seed_and_leave_out_unscored_sets():
    with_hole = mean_figures([0.0, np.nan, 1.0, 3.0]).draws(BOOTSTRAP)
    without = mean_figures([0.0, 1.0, 3.0]).draws(BOOTSTRAP)
    assert with_hole.tolist() == without.tolist()


def test_equal_sets_vary_in_no_draw_and_a_single_set_has_none():
    assert set(mean_figures([2.0, 2.0, 2.0]).draws(BOOTSTRAP)[:, 0].tolist()) == {2.0}
    assert mean_figures([2.0]).draws(BOOTSTRAP).shape == (0, 1)


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
