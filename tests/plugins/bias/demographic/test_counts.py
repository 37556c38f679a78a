import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.bias.demographic.counts import (
    CountRow,
    bootstrap,
    by_group,
    check_choice,
    check_known,
    counts_of,
    defined,
    group_counts,
    percentile_interval,
    replicates,
    shares,
    tabulate,
    total_variation,
)
from evenhand.plugins.bias.demographic.hallucination import hallucination_scores
from evenhand.plugins.bias.demographic.inclusion import inclusion_scores
from evenhand.plugins.bias.demographic.word_lists import word_list_scores
from evenhand.resampling import Bootstrap

COUNTS = st.lists(st.integers(0, 1000), min_size=3, max_size=3).filter(any)


def test_shares_of_no_counts_are_undefined():
    assert np.isnan(shares([0, 0])).all()
    assert shares([[1, 3], [0, 0]])[0].tolist() == [0.25, 0.75]


@given(COUNTS, COUNTS)
def test_total_variation_is_a_distance_in_0_1(a, b):
    p, q = shares(a), shares(b)
    assert 0 <= total_variation(p, q) <= 1 + 1e-12
    assert total_variation(p, q) == pytest.approx(total_variation(q, p))
    assert total_variation(p, p) == 0


def test_total_variation_of_undefined_shares_is_undefined():
    assert math.isnan(total_variation([math.nan, math.nan], [0.5, 0.5]))


def test_counts_follow_the_order_of_the_groups_and_absent_ones_are_0():
    assert group_counts({"b": 2}, ("a", "b"), "present").tolist() == [0, 2]


@pytest.mark.parametrize(
    ("counts", "groups", "match"),
    [
        ({"a": 1}, ("a",), "two or more groups"),
        ({"a": 1}, ("a", "a"), "named once"),
        ({"c": 1}, ("a", "b"), "present names 'c'"),
        ({"a": -1}, ("a", "b"), "at least 0, got {'a': -1}"),
        ({"a": 0.5}, ("a", "b"), "whole numbers"),
    ],
)
def test_counts_that_do_not_hold_together_are_refused(counts, groups, match):
    with pytest.raises(DataError, match=match):
        group_counts(counts, groups, "present")


def test_infinity_is_defined_and_nan_is_none():
    assert defined(math.inf) == math.inf
    assert by_group(("a", "b"), [1.0, math.nan]) == {"a": 1.0, "b": None}


def test_unknown_choice_names_the_choices():
    with pytest.raises(DataError, match="unit 'row' is not known; choices are document, assignment"):
        check_choice("row", ("document", "assignment"), "unit")
    check_known({"a"}, ("a", "b"), "a reading")


GROUPS = ("male", "female")


def test_rows_of_one_assignment_are_added_up():
    rows = [
        CountRow("d1", 0, [[1, 2], [1, 0]]),
        CountRow("d2", 0, [[5, 5], [0, 0]]),
        CountRow("d1", 0, [[3, 0], [1, 0]]),
        CountRow("d1", 1, [[1, 1], [1, 1]]),
    ]
    table = tabulate(iter(rows), ("present", "included"), GROUPS)
    assert table.document_ids == ("d1", "d2")
    assert table.document.tolist() == [0, 0, 1]
    assert table.counts[0].tolist() == [[4, 2], [2, 0]]
    assert np.bincount(table.document).tolist() == [2, 1]
    assert table.pooled() == {"present": {"male": 10, "female": 8}, "included": {"male": 3, "female": 1}}


def test_given_rows_are_not_written_to():
    counts = np.array([[1, 2]])
    tabulate([CountRow("d", 0, counts), CountRow("d", 0, counts)], ("hallucinated",), GROUPS)
    assert counts.tolist() == [[1, 2]]


def test_table_of_no_rows_pools_to_0():
    assert tabulate([], ("hallucinated",), GROUPS).pooled() == {"hallucinated": {"male": 0, "female": 0}}


@pytest.mark.parametrize("counts", [[[1, 2, 3]], [1, 2], [[-1, 2]]])
def test_row_of_another_shape_or_below_0_is_refused(counts):
    with pytest.raises(DataError, match="document 'd', assignment 7"):
        tabulate([CountRow("d", 7, counts)], ("hallucinated",), GROUPS)


def table(*documents, fields=("hallucinated",)):
    """A table of documents, each a list of assignments' counts."""
    rows = (CountRow(f"d{d}", a, counts) for d, each in enumerate(documents) for a, counts in enumerate(each))
    return tabulate(rows, fields, GROUPS)


THREE = table([[[3, 1]], [[0, 2]]], [[[1, 1]]], [[[4, 0]], [[0, 0]], [[1, 5]]])


def test_drawn_document_enters_with_all_its_assignments():
    # d1 twice and d2 once: 2 * (1, 1) + (5, 5) = (7, 7); d0 three times: (9, 9); d2, d0, d0: (5, 5) + 2 * (3, 3)
    weights = np.array([[0, 2, 1], [3, 0, 0], [2, 0, 1]], dtype=float)
    assert replicates(hallucination_scores, counts_of(THREE, "document"), weights).tolist() == [0.0, 0.0, 0.0]
    # one document of (3, 1): 3/4 against a half
    one = counts_of(table([[[3, 1]]]), "document")
    assert replicates(hallucination_scores, one, np.ones((1, 1))).tolist() == [0.25]


def test_drawn_assignments_stay_in_their_document():
    # d0: second twice (0, 4); d1: (1, 1); d2: first, first, second (8, 0) -> (9, 5), 9/14 - 1/2
    weights = np.array([[0, 2, 1, 2, 1, 0]], dtype=float)
    found = replicates(hallucination_scores, counts_of(THREE, "assignment"), weights)
    assert found.tolist() == [pytest.approx(9 / 14 - 0.5)]


def test_unknown_unit_or_policy_is_refused():
    with pytest.raises(DataError, match="unit 'row' is not known"):
        bootstrap(hallucination_scores, THREE, "row")
    with pytest.raises(DataError, match="undefined 'zero' is not known"):
        bootstrap(hallucination_scores, THREE, "document", undefined="zero")


@pytest.mark.parametrize("unit", ["document", "assignment"])
def test_same_seed_gives_the_same_interval_and_another_seed_another(unit):
    counts = np.random.default_rng(0).integers(20, size=(12, 5, 1, 2))
    plans = [Bootstrap(resamples=150, seed=seed) for seed in (1, 1, 2)]
    found = [bootstrap(hallucination_scores, table(*counts), unit, plan) for plan in plans]
    assert found[0] == found[1] != found[2]
    assert found[0].estimate == found[2].estimate
    assert found[0].n_draws == 150


def test_one_document_can_only_be_drawn_again_but_its_assignments_vary():
    one = table([[[3, 1]], [[1, 3]], [[2, 0]]])
    by_document = bootstrap(hallucination_scores, one, "document")
    # (6, 4): 6/10 against a half
    assert (by_document.low, by_document.high) == (pytest.approx(0.1), pytest.approx(0.1))
    by_assignment = bootstrap(hallucination_scores, one, "assignment")
    assert by_assignment.low < by_assignment.high


def test_drawn_documents_spread_as_sampling_theory_says():
    # half of 200 documents have one man, half one woman; p of a resample has standard deviation sqrt(.25 / 200) = .0354,
    # so |p - 1/2| has its 95 % point near 1.96 * .0354 = .069 for bounds at 2.5 % and 97.5 % of a folded normal: 2.24 * .0354
    many = table(*[[[[1, 0]]], [[[0, 1]]]] * 100)
    found = bootstrap(hallucination_scores, many, "document", Bootstrap(resamples=4000))
    assert found.high == pytest.approx(2.2414 * math.sqrt(0.25 / 200), rel=0.08)
    by_assignment = bootstrap(hallucination_scores, many, "assignment")
    assert (by_assignment.low, by_assignment.high) == (0.0, 0.0)


def test_undefined_draws_are_omitted_and_counted_or_leave_no_interval(caplog):
    # the second document has nobody: drawn twice, a quarter of the draws, there is no score
    two = table([[[3, 1]]], [[[0, 0]]])
    omitted = bootstrap(hallucination_scores, two, "document")
    assert (omitted.low, omitted.high) == (0.25, 0.25)
    assert omitted.n_defined == pytest.approx(750, abs=60)
    assert f"only {omitted.n_defined} of 1000 bootstrap replicates" in caplog.text
    propagated = bootstrap(hallucination_scores, two, "document", undefined="propagate")
    assert (propagated.estimate, propagated.low, propagated.high) == (0.25, None, None)


def test_every_pooled_measure_can_be_resampled():
    two = table([[[4, 6], [1, 3]]], [[[3, 1], [2, 0]]], fields=("present", "included"))
    assert bootstrap(inclusion_scores, two, "document").n_defined == 1000
    assert bootstrap(word_list_scores, two, "assignment").estimate is not None


def test_empty_table_is_refused():
    with pytest.raises(DataError, match="at least one document"):
        bootstrap(hallucination_scores, table(), "document")


def test_undefined_draws_are_omitted_and_counted_or_leave_no_bounds():
    drawn = [0.1, math.nan, 0.3, 0.2]
    omitted = percentile_interval(drawn, 0.95, 0.2)
    # positions .05 and 1.95 of .1, .2, .3
    assert (omitted.low, omitted.high) == (pytest.approx(0.105), pytest.approx(0.295))
    assert (omitted.estimate, omitted.n_draws, omitted.n_defined) == (0.2, 4, 3)
    propagated = percentile_interval(drawn, 0.95, undefined="propagate")
    assert (propagated.low, propagated.high, propagated.estimate) == (None, None, None)
    assert percentile_interval([math.nan], 0.95).low is percentile_interval([], 0.95).low is None


@pytest.mark.filterwarnings("error")
def test_infinite_draws_are_defined():
    # of 1, 2, inf, inf: position .075 -> 1.075; position 2.925 lies between two infinities
    found = percentile_interval([math.inf, 1.0, 2.0, math.inf], 0.95)
    assert (found.low, found.high, found.n_defined) == (pytest.approx(1.075), math.inf, 4)
    # position .025 * 999 = 24.975 lies between the last of 25 -inf and 1
    drawn = np.array([-math.inf] * 25 + [1.0] * 975)
    low, high = percentile_interval(drawn, 0.95), percentile_interval(-drawn, 0.95)
    assert (low.low, low.high, low.n_defined) == (-math.inf, 1.0, 1000)
    assert (high.low, high.high) == (-1.0, math.inf)
    # of -inf and inf, positions .025 and .975
    between = percentile_interval([-math.inf, math.inf], 0.95)
    assert (between.low, between.high, between.n_defined) == (None, None, 2)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.floats(0.05, 0.99))
def test_percentiles_are_numpys(drawn, level):
    found = percentile_interval(drawn, level)
    low, high = np.quantile(drawn, [(1 - level) / 2, 1 - (1 - level) / 2])
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))
