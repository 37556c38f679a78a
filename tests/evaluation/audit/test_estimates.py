import numpy as np
import pytest

from evenhand.evaluation.audit.estimates import bounds, drawn_weights, draws
from evenhand.evaluation.audit.figures import Figures, mean_deviation, over
from evenhand.evaluation.audit.quantities import OPINION_GRAPH, Measure, Quantity
from evenhand.evaluation.compare import Bootstrap

BOOTSTRAP = Bootstrap(level=0.9, resamples=200, seed=4)


def mean_figures(values):
    """The mean of the values that are there."""
    array = np.array(values, dtype=float)
    known = ~np.isnan(array)
    return Figures(
        quantities=(Quantity(Measure(OPINION_GRAPH)),),
        columns=np.column_stack([known.astype(float), np.nan_to_num(array)]),
        reduce=lambda sums: over(sums[..., 1:], sums[..., :1]),
        rests_on=known[:, None],
        unfairness=array,
        left_out=tuple(None if k else "nothing" for k in known),
    )


def test_a_draw_has_as_many_sets_as_there_are():
    weights = np.concatenate(list(drawn_weights(7, BOOTSTRAP)))
    assert weights.shape == (200, 7)
    assert (weights.sum(axis=1) == 7).all()


def test_draws_repeat_with_their_seed_and_leave_out_unscored_sets():
    with_hole = draws(mean_figures([0.0, np.nan, 1.0, 3.0]), BOOTSTRAP)
    without = draws(mean_figures([0.0, 1.0, 3.0]), BOOTSTRAP)
    assert with_hole.tolist() == without.tolist()


def test_equal_sets_leave_no_doubt_and_one_set_no_interval():
    assert bounds(draws(mean_figures([2.0, 2.0, 2.0]), BOOTSTRAP)[:, 0], 0.9) == (2.0, 2.0, 200)
    assert bounds(draws(mean_figures([2.0]), BOOTSTRAP)[:, 0], 0.9) == (None, None, 0)


def test_bounds_are_percentiles_of_the_defined_draws():
    # 0, 1, ..., 10: the fifth percentile lies at .5, the ninety-fifth at 9.5
    assert bounds(np.array([*range(11), np.nan], dtype=float), 0.9) == pytest.approx((0.5, 9.5, 11))


def test_mean_deviation_leaves_out_what_is_undefined():
    # 0 and 4 lie 2 from their mean
    assert mean_deviation(np.array([[0.0, np.nan, 4.0], [np.nan] * 3])).tolist() == pytest.approx(
        [2.0, np.nan], nan_ok=True
    )
