import numpy as np
import pytest

from evenhand.evaluation.audit.figures import Figures, bounds_of, mean_deviation
from evenhand.evaluation.audit.kinds import COVERAGE_DIFFERENCE, UER, Measure, NumberKind, Quantity
from evenhand.fairness.groups.coverage import over
from evenhand.resampling import Bootstrap, cluster_interval, defined

OPINION_GRAPH = NumberKind("opinion graph", is_share=False)


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


def bounds(values, kind=OPINION_GRAPH, level=0.95):
    figures = mean_figures(values)
    estimate = defined(figures.all_sets()[0])
    return bounds_of(estimate, figures.said()[:, 0], kind, Bootstrap(level))


def test_intervals_are_those_of_scored_sets_and_few_have_none():
    values = [0.0, 1.0, 3.0, 2.0, 5.0]
    assert bounds([np.nan, *values]) == bounds(values)
    # of a mean they are those of a report: bootstrap-t of the values themselves, cut where the measure ends
    report = cluster_interval(values, [*map(str, range(5))], Bootstrap())
    assert bounds(values, COVERAGE_DIFFERENCE) == (pytest.approx(report.low), pytest.approx(report.high))
    assert bounds(values)[0] == max(0.0, report.low)
    assert bounds(values[1:]) == bounds([]) == (None, None)


def test_where_most_sets_have_none_the_interval_reaches_further_up_than_that_of_t():
    # five of twelve sets: t is as far from the mean on both sides, though a set more would pull it up alone
    values = [0.0] * 7 + [0.1, 0.1, 0.2, 0.3, 0.6]
    low, high = bounds(values, UER)
    mean, reach = np.mean(values), 2.201 * np.std(values, ddof=1) / np.sqrt(12)
    assert high - mean > 1.2 * reach
    assert 0 <= low < mean


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
