"""Statistics over topics, against numbers that are worked by hand or by other means."""

import numpy as np
import pytest
from scipy import stats

from evenhand.plugins.judge_studies.agreement import correlations, within
from evenhand.plugins.judge_studies.figures import flips, mean, mean_of_cells, ranks, slopes, spread

NAN = np.nan
TOPICS = list("abcdefgh")


def test_mean_is_the_usual_t_interval_where_topics_have_one_article():
    values = np.array([0.1, 0.4, 0.3, 0.9, 0.2, 0.6, NAN, 0.5])
    found = mean(values, TOPICS)
    known = values[~np.isnan(values)]
    low, high = stats.t.interval(0.95, len(known) - 1, known.mean(), stats.sem(known))
    assert (found.number.value, found.number.low, found.number.high) == pytest.approx((known.mean(), low, high))
    assert found.number.p_value == pytest.approx(stats.ttest_1samp(known, 0).pvalue)
    assert found.number.n_sets == 7


def test_both_sides_of_a_topic_are_one_piece_of_evidence():
    twice = mean(np.repeat([0.1, 0.4, 0.3, 0.9, 0.2], 2), [t for t in "abcde" for _ in range(2)])
    once = mean(np.array([0.1, 0.4, 0.3, 0.9, 0.2]), list("abcde"))
    assert twice.number == pytest.approx(once.number) or twice.number.low == pytest.approx(once.number.low)


def test_few_topics_have_a_value_and_no_verdict():
    found = mean(np.array([0.1, 0.4]), ["a", "b"])
    assert (found.number.value, found.number.low, found.number.p_value) == (0.25, None, None)


def test_cells_count_and_not_articles():
    table = np.array([[1.0, 1.0, 1.0], [0.0, NAN, NAN]])
    assert mean_of_cells(table, ["a", "b"]).number.value == 0.75


def test_slopes_are_those_of_least_squares_with_an_intercept_for_each_article():
    generator = np.random.default_rng(0)
    x, z = generator.normal(size=(2, 8, 5))
    y = 2 * x - z + generator.normal(size=(8, 1)) + 0.1 * generator.normal(size=(8, 5))
    y[3, 2] = NAN
    design = np.c_[x.ravel(), z.ravel(), np.repeat(np.eye(8), 5, axis=0)]
    known = ~np.isnan(y.ravel())
    expected = np.linalg.lstsq(design[known], y.ravel()[known], rcond=None)[0][:2]
    assert [each.number.value for each in slopes(y, [x, z], TOPICS)] == pytest.approx(expected)


def test_slopes_of_what_cannot_be_told_apart_are_unknown():
    x = np.arange(40.0).reshape(8, 5)
    assert [each.number.value for each in slopes(x, [x, 2 * x], TOPICS)] == [None, None]


def test_an_article_whose_scores_are_alike_has_no_agreement_and_counts():
    truths = np.array([[0.0, 0.5, 1.0], [0.0, 0.5, 1.0], [0.5, 0.5, 0.5], [1.0, NAN, NAN]])
    scores = np.array([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0]])
    assert list(within(truths, scores)) == pytest.approx([1.0, 0.0, NAN, NAN], nan_ok=True)


def test_pooled_correlation_is_spearmans():
    generator = np.random.default_rng(1)
    truths, scores = generator.normal(size=(2, 8, 5))
    found, _ = correlations(truths, scores, TOPICS)
    assert found.value == pytest.approx(stats.spearmanr(truths.ravel(), scores.ravel()).statistic)
    assert found.low < found.value < found.high


def test_pooled_correlation_of_known_values_that_do_not_differ_is_undefined_as_that_of_articles_is():
    alike, differing = np.ones((8, 5)), np.random.default_rng(1).normal(size=(8, 5))
    assert [each.value for each in correlations(alike, differing, TOPICS)] == [None, None]
    # scores that do not differ order nothing, and that is known
    assert [each.value for each in correlations(differing, alike, TOPICS)] == [0.0, 0.0]


def test_ranks_are_standardised_within_articles():
    found = ranks(np.array([[10.0, 30.0, 20.0, NAN], [5.0, 5.0, NAN, NAN]]))
    assert found[0, :3] == pytest.approx(np.array([-1, 1, 0]) * np.sqrt(1.5))
    assert list(found[1, :2]) == [0.0, 0.0] and np.isnan(found[1, 2])


def test_flips_count_pairs_that_had_an_order():
    before = np.array([[1.0, 2.0, 3.0], [1.0, 1.0, 1.0]])
    after = np.array([[2.0, 1.0, 3.0], [1.0, 2.0, 3.0]])
    assert list(flips(before, after)) == pytest.approx([1 / 3, NAN], nan_ok=True)


def test_spread_is_within_articles():
    assert spread(np.array([[1.0, 3.0], [101.0, 103.0]])) == pytest.approx(np.sqrt(2))
    assert spread(np.array([[1.0, 1.0], [5.0, 5.0]])) == 0.0
