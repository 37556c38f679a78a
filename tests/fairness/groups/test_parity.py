import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.fairness.groups import coverage, coverage_fairness, deviations, pack_entailments, parity_significance

FAIR = ([[0.5], [0.5]], [0, 1])
FIRST = ([[0.9], [0.5]], [0, 1])
SECOND = ([[0.5], [0.9]], [0, 1])


def table(*sets, n_values=2):
    return coverage(pack_entailments(sets), n_values)


def test_gaps_that_cancel_have_parity_but_no_equal_coverage():
    # each set's gaps are .2; over both sets each value's documents are +.2 and -.2
    found = coverage_fairness([table(FIRST, SECOND)])
    assert found.ec == pytest.approx(0.2)
    assert found.cp == pytest.approx(0)


def test_gaps_that_add_up_are_worked_by_document():
    # three sets: +.2 for the first value in two of them, 0 in the third: means +-.4/3
    found = coverage_fairness([table(FIRST, FIRST, FAIR)])
    assert found.mean_difference == pytest.approx((0.4 / 3, -0.4 / 3))
    assert found.cp == pytest.approx(0.4 / 3)
    assert (found.over_represented, found.under_represented) == (0, 1)
    assert found.n_documents == (3, 3)


def test_batches_add_up_to_the_whole():
    whole, parts = (
        coverage_fairness([table(FIRST, SECOND, FAIR)]),
        coverage_fairness([table(FIRST), table(SECOND, FAIR)]),
    )
    assert (parts.ec, parts.cp) == pytest.approx((whole.ec, whole.cp))
    assert parts.n_documents == whole.n_documents


def test_sets_without_an_answer_are_counted_and_enter_nothing():
    one_valued, uncovered = ([[0.9], [0.1]], [0, 0]), ([[0.0], [0.0]], [0, 1])
    found = coverage_fairness([table(FIRST, one_valued, uncovered)])
    assert found.left_out == {"single value": 1, "no unit covered": 1}
    assert found.n_scored == 1
    assert found.n_documents == (1, 1)


def test_value_without_documents_has_no_mean_and_divides_nothing():
    found = coverage_fairness([table(([[0.9], [0.5]], [0, 2]), n_values=3)])
    assert found.mean_difference[1] is None
    assert found.cp == pytest.approx(0.2)
    assert found.under_represented == 2
    assert found.n_values == 2
    # the released divisor: three values
    assert coverage_fairness([table(FIRST)], n_values=3).cp == pytest.approx(0.4 / 3)


@pytest.mark.parametrize("tables", [[], [table(([[0.0], [0.0]], [0, 1]))]])
def test_nothing_scored_is_no_number(tables):
    found = coverage_fairness(tables)
    assert (found.ec, found.cp, found.over_represented, found.under_represented) == (None,) * 4


def test_batches_of_other_values_are_refused():
    with pytest.raises(DataError, match="declares 2 values, another 3"):
        coverage_fairness([table(FIRST), table(FIRST, n_values=3)])


def test_deviations_of_a_set_sum_to_zero():
    values, labels = deviations(table(FIRST, ([[0.9], [0.3], [0.2]], [1, 1, 0])))
    assert values[:2].sum() == pytest.approx(0)
    assert values[2:].sum() == pytest.approx(0)
    assert labels.tolist() == [0, 1, 1, 1, 0]


def test_significance_of_what_is_sure_and_of_what_is_chance():
    assert parity_significance([0.1, 0.2, 0.3], "over") == 0
    assert parity_significance([0.1, 0.2, 0.3], "under") == 1
    # as many up as down: resampled sums are positive in somewhat less than half of the draws, ties being neither
    even = parity_significance([0.1, -0.1] * 50, "over", seed=3)
    assert 0.45 < even < 0.62
    assert even == parity_significance([0.1, -0.1] * 50, "over", seed=3)


@pytest.mark.parametrize("values", [[], [[0.1]], [np.nan]])
def test_significance_of_nothing_is_refused(values):
    with pytest.raises(DataError, match="one finite deviation"):
        parity_significance(values, "over")


def test_direction_that_is_neither_is_refused():
    with pytest.raises(DataError, match="'over' or 'under', got 'up'"):
        parity_significance([0.1], "up")
