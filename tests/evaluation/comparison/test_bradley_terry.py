import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.evaluation.comparison.bradley_terry import order, row_wins, strength_bounds, strengths, wins
from evenhand.resampling import Bootstrap, cluster_sums, drawn_weights

# first row: b beats a, a ties with c, b beats c; second row: a is unscored, b beats c
SCORES = [[2.0, 3.0, 2.0], [None, 3.0, 1.0]]


def test_higher_score_wins_a_tie_gives_half_and_unscored_is_skipped():
    assert wins(SCORES).tolist() == [[0, 0, 0.5], [1, 0, 2], [0.5, 0, 0]]


def test_ties_can_be_dropped():
    assert wins(SCORES, "drop").tolist() == [[0, 0, 0], [1, 0, 2], [0, 0, 0]]


def test_renamed_systems_permute_the_table():
    permuted = wins([[row[i] for i in (2, 0, 1)] for row in SCORES])
    assert np.array_equal(permuted, wins(SCORES)[np.ix_([2, 0, 1], [2, 0, 1])])


def test_rows_of_different_length_are_refused():
    with pytest.raises(DataError, match=r"rows have \[2, 3\] scores"):
        row_wins([[1.0, 2.0, 3.0], [1.0, 2.0]])


def test_no_row_gives_no_wins():
    assert row_wins([]).shape == (0, 0, 0)


tables = st.integers(1, 5).flatmap(
    lambda n: st.lists(st.lists(st.integers(0, 30), min_size=n, max_size=n), min_size=n, max_size=n)
)


def test_two_systems_worked_by_hand():
    # 7 to 3: strengths differ by ln(7/3) and have mean 0
    assert strengths([[0, 7], [3, 0]], prior=0).tolist() == pytest.approx([math.log(7 / 3) / 2, -math.log(7 / 3) / 2])


@given(tables, st.sampled_from([0.01, 0.1, 1.0]))
def test_expected_wins_equal_the_wins_that_were_counted(table, prior):
    # what makes strengths those of maximum likelihood: each system's wins, virtual ones included, are as many as expected
    found = strengths(table, prior)
    counted = np.array(table, dtype=float) + prior
    np.fill_diagonal(counted, 0)
    chance = 1 / (1 + np.exp(found[None, :] - found[:, None]))
    expected = (counted + counted.T) * chance
    assert expected.sum(axis=1) == pytest.approx(counted.sum(axis=1), abs=1e-6)
    assert found.mean() == pytest.approx(0, abs=1e-12)


@given(tables)
def test_swapped_wins_and_losses_swap_the_signs(table):
    assert strengths(np.transpose(table)) == pytest.approx(-strengths(table), abs=1e-7)


def test_lopsided_tables_settle():
    # 1 beats 2 beats 3 beats 4 in all of 2,000 comparisons: the neighbours differ by about ln(2000 / 0.001) = 14.5
    table = np.triu(np.full((4, 4), 2000.0), k=1)
    found = strengths(table, prior=0.001)
    assert found.tolist() == sorted(found, reverse=True)
    assert found[0] - found[1] > 10


def test_what_cannot_be_told_without_a_prior_is_refused():
    with pytest.raises(DataError, match=r"^not_identifiable: .*give a prior above 0"):
        strengths([[0, 1], [0, 0]], prior=0)


@pytest.mark.parametrize(
    ("table", "prior"),
    [
        ([[0, 1]], 0.1), ([[0, -1], [1, 0]], 0.1), ([[0, 1], [1, 0]], -1), ([], 0.1), ([[0, math.inf], [1, 0]], 0.1),
        ([[0, math.nan], [1, 0]], 0.1), ([[0, 1], [1, 0]], math.inf), ([[0, 1], [1, 0]], math.nan),
    ],
)  # fmt: skip
def test_what_is_no_table_of_wins_is_refused(table, prior):
    with pytest.raises(DataError, match="square table"):
        strengths(table, prior)


def test_a_system_alone_has_strength_0():
    assert strengths([[0]]).tolist() == [0]


def test_wins_against_oneself_do_not_count():
    assert strengths([[9, 7], [3, 9]], prior=0) == pytest.approx(strengths([[0, 7], [3, 0]], prior=0))


def test_order_is_by_strength_and_then_by_place():
    assert order([0.1, 0.5, 0.1 + 1e-12, -1.0]) == [1, 0, 2, 3]


TWO = [[1.0, 2.0], [1.0, 2.0], [2.0, 1.0]]


def test_interval_is_spanned_by_the_fits_of_the_draws():
    # draws of b, b, a and of b, a, a with prior 1: wins of b over a 3 to 2 and 2 to 3, so b's strength is +-ln(1.5)/2
    low, high = strength_bounds(row_wins(TWO), [np.array([[1, 1, 1], [1, 0, 2]])], prior=1.0, level=0.98)
    half = np.log(1.5) / 2
    # percentiles 1 and 99 of two values, interpolated: 0.98 of the way from the middle to the ends
    assert low == pytest.approx([-0.98 * half, -0.98 * half])
    assert high == pytest.approx([0.98 * half, 0.98 * half])


def test_sides_of_a_document_set_are_drawn_together():
    # in every set each system wins once, so every draw has equal strengths
    won = cluster_sums(row_wins([[1.0, 2.0], [2.0, 1.0]] * 3), list("aabbcc"))
    for bound in strength_bounds(won, drawn_weights(3, Bootstrap(resamples=20, seed=1))):
        assert bound == pytest.approx([0, 0], abs=1e-9)


def test_without_draws_there_are_no_bounds():
    assert np.isnan(strength_bounds(row_wins(TWO), [])).tolist() == [[True, True]] * 2


def test_a_draw_that_cannot_be_told_is_refused():
    with pytest.raises(DataError, match=r"^not_identifiable"):
        strength_bounds(row_wins(TWO), [np.array([[1, 1, 1], [2, 1, 0]])], prior=0)


def test_no_request_is_refused_before_anything_is_fitted():
    with pytest.raises(DataError, match="need requests, got none"):
        strength_bounds(np.zeros((0, 2, 2)), [])
