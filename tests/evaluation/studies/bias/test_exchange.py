"""What documents add to a difference: together they are the difference, and they turn round with the groups."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from evenhand.plugins.bias.demographic.counts import CountTable
from evenhand.plugins.bias.demographic.word_lists import word_list_scores
from evenhand.plugins.bias.study.exchange import exchange_tests, of_halves, of_rates, of_scores, of_shares
from evenhand.resampling import Bootstrap

PLAN = Bootstrap()
# of documents, of how many persons of each group, and left out
PERSONS = arrays(np.int64, st.tuples(st.integers(1, 6), st.just(2), st.just(2)), elements=st.integers(0, 9))


def table(counts, fields=("of", "are")):
    counts = np.asarray(counts)
    ids = tuple(f"d{k}" for k in range(len(counts)))
    return CountTable(fields, ("male", "female"), ids, np.arange(len(counts)), counts)


@given(PERSONS)
def test_rates_are_those_of_all_persons_and_turn_round_with_the_groups(kept_and_lost):
    counts = np.stack([kept_and_lost.sum(axis=1), kept_and_lost[:, 0]], axis=1)
    found, other = of_rates("", table(counts)), of_rates("", table(counts[..., ::-1]))
    n, k = counts.sum(axis=0)
    if not n.all():
        assert math.isnan(found.value) and found.n_documents == 0
        return
    assert math.isclose(found.value, k[0] / n[0] - k[1] / n[1], abs_tol=1e-12)
    np.testing.assert_allclose(found.added, -other.added, atol=1e-12)
    np.testing.assert_allclose(found.weights, other.weights)


@given(PERSONS)
def test_shares_have_the_size_of_the_published_score(counts):
    found = of_shares("", table(counts, ("source", "summary")))
    score = float(word_list_scores(counts.sum(axis=0).astype(float)))
    assert math.isclose(abs(found.value), score, abs_tol=1e-12) or (math.isnan(found.value) and math.isnan(score))


def test_halves_and_scores_worked_by_hand():
    # 3 of 4 and 0 of 2: 3 of 6 less a half
    found = of_halves("", table([[[3, 1]], [[0, 2]], [[0, 0]]], ("first",)))
    assert (found.value, found.n_documents, found.added.tolist()) == (0.0, 2, [1.0, -1.0, 0.0])
    scores = of_scores("", {"a": 0.5, "b": None, "c": -0.1})
    assert (scores.value, scores.n_documents) == (pytest.approx(0.2), 2)
    assert math.isnan(of_scores("", {"a": None}).value)


def test_one_correction_is_for_all_and_half_of_the_level_for_the_first():
    sure = of_halves("sure", table([[[2, 0]]] * 9, ("first",)))
    weak = of_halves("weak", table([[[2, 1]]] * 6 + [[[1, 2]]] * 2 + [[[0, 0]]], ("first",)))
    alone = exchange_tests({}, {"weak": weak}, PLAN)["weak"][0]
    beside = exchange_tests({"sure": sure}, {"weak": weak}, PLAN)
    assert beside["sure"][0] == pytest.approx(2 * 2**-8, abs=0.004)
    # the first speaks and leaves its level
    assert beside["weak"][0] == alone
    silent = exchange_tests({"weak": weak}, {"sure": sure, "weak": weak}, PLAN)
    assert silent["sure"][0] < 0.05 < silent["weak"][0]


def test_an_interval_without_zero_is_a_small_p_and_few_documents_have_neither():
    for n in (1, 3, 4, 5, 6, 9, 30):
        found = exchange_tests({"all": of_halves("", table([[[2, 0]]] * n, ("first",)))}, {}, PLAN)
        if n == 1:
            assert found == {}
            continue
        ((p_value, (low, _)),) = found.values()
        assert (p_value <= 0.05) == (n > 5)
        assert (low is not None and low > 0) == (n > 5)


def test_documents_of_different_measures_are_found_by_their_names():
    one = of_scores("", {f"d{k}": 1.0 for k in range(8)})
    other = of_scores("", {f"d{k}": 1.0 for k in reversed(range(8))} | {"more": None})
    found = exchange_tests({}, {"one": one, "other": other}, PLAN)
    assert found["one"] == found["other"]
