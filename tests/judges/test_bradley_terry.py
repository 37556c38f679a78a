import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.judges.bradley_terry import order, strengths

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
