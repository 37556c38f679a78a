"""Correlations over a batch, and ROUGE-1 against gold summaries."""

from importlib.util import find_spec

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.opinions.measures.correlation import pearson, rouge1_f1

VALUES = st.lists(st.integers(-50, 50), min_size=2, max_size=12)


def test_worked_by_hand():
    # deviations -1, 0, 1 and -1, 1, 0: 1 / sqrt(2 * 2)
    assert pearson([1, 2, 3], [1, 3, 2]).r == pytest.approx(0.5)


def test_pairs_without_both_scores_are_left_out_and_counted():
    found = pearson([1, None, 2, 3, 9], [1, 5, 3, 2, None])
    assert (found.r, found.n, found.left_out) == (pytest.approx(0.5), 3, 2)


@pytest.mark.parametrize(
    ("x", "y"), [([], []), ([1.0], [2.0]), ([1, None], [2, 3]), ([0.1 + 0.2, 0.3], [1, 2]), ([1, 2], [0, 0])]
)
def test_fewer_than_two_pairs_or_a_constant_side_is_undefined(x, y):
    assert pearson(x, y).r is None


@given(VALUES, st.floats(0.1, 10), st.floats(-5, 5))
def test_a_rising_line_does_not_change_it_and_a_falling_one_turns_its_sign(x, slope, shift):
    y = list(np.random.default_rng(len(x)).permutation(x))
    found = pearson(x, y).r
    if len(set(x)) == 1:
        assert found is None
        return
    assert -1 - 1e-12 <= found <= 1 + 1e-12
    assert pearson([slope * v + shift for v in x], y).r == pytest.approx(found, abs=1e-9)
    assert pearson([-slope * v + shift for v in x], y).r == pytest.approx(-found, abs=1e-9)


def test_sides_of_different_length_are_refused():
    with pytest.raises(DataError, match="2 and 1 values"):
        pearson([1, 2], [1])


def test_infinite_values_are_refused():
    with pytest.raises(DataError, match="finite values"):
        pearson([1, float("inf")], [1, 2])


needs_rouge = pytest.mark.skipif(find_spec("rouge_score") is None, reason="needs rouge-score")


@needs_rouge
def test_each_gold_summary_counts_alike():
    # "red cat" and "red dog": 1 of 2 words shared, F1 1/2; "red cat": 1
    found = rouge1_f1("Red cat!", ["red dog", "RED CAT"])
    assert found.f1 == pytest.approx((0.5, 1.0))
    assert found.mean == pytest.approx(0.75)


@needs_rouge
def test_words_are_not_stemmed():
    assert rouge1_f1("cats", ["cat"]).mean == 0.0


@needs_rouge
def test_gold_summaries_that_rouge_cannot_read_are_left_out_and_counted():
    found = rouge1_f1("red cat", ["red cat", "Красный кот", ""])
    assert (found.f1, found.mean, found.left_out) == ((1.0, None, None), 1.0, 2)


@needs_rouge
@pytest.mark.parametrize(("summary", "gold"), [("", ["red cat"]), ("красный", ["red cat"]), ("red cat", [])])
def test_without_readable_words_it_is_undefined(summary, gold):
    assert rouge1_f1(summary, gold).mean is None
