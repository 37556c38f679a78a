"""Bootstrap intervals over document sets."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from evenhand.errors import DataError
from evenhand.resampling import Interval, cluster_draws, cluster_interval, cluster_mean_draws, percentile_bounds


def interval(values, clusters, level=0.95, resamples=2000, seed=0):
    return cluster_interval(values, clusters, level=level, resamples=resamples, seed=seed)


def test_two_clusters_worked_by_hand():
    # draws of two sets out of {0, 1}: means 0 (1/4), 1/2 (1/2), 1 (1/4); the middle 95 % reach from 0 to 1
    found = interval([0.0, 1.0], ["a", "b"])
    assert found == Interval(mean=0.5, low=0.0, high=1.0, n=2, n_clusters=2, level=0.95)


def test_both_requests_of_a_set_are_drawn_together():
    # three sets whose two requests cancel out: every draw of whole sets has the mean 0
    found = interval([1, -1, 2, -2, 3, -3], ["a", "a", "b", "b", "c", "c"])
    assert (found.mean, found.low, found.high) == (0, 0, 0)
    assert (found.n, found.n_clusters) == (6, 3)


def test_clusters_of_different_size_weigh_by_their_requests():
    # a draw of "a" twice has the mean 0, of "b" twice 1, of both 3/4: the sum of sums over the sum of counts
    found = interval([0.0, 1.0, 1.0, 1.0], ["a", "b", "b", "b"], level=0.6)
    assert found.mean == 0.75
    assert (found.low, found.high) == (0.0, 1.0)


@pytest.mark.parametrize("sizes", [[1] * 1500, [2] * 40, [1, 2, 3] * 500])
def test_the_bounds_are_those_of_scipys_bootstrap_to_the_last_bit(sizes):
    generator = np.random.default_rng(len(sizes))
    groups = [generator.normal(0.2, 1.0, size=size).tolist() for size in sizes]
    found = interval(
        [v for group in groups for v in group], [str(i) for i, group in enumerate(groups) for _ in group], resamples=900
    )
    expected = stats.bootstrap(
        (np.array([sum(group) for group in groups]), np.array(sizes, dtype=float)),
        lambda s, c, axis: s.sum(axis=axis) / c.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=900,
        method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval
    assert (found.low, found.high) == (expected.low, expected.high)


def test_the_interval_agrees_with_numpys_quantiles_of_another_bootstrap():
    # an independent bootstrap, written with plain loops, of 40 sets with two requests each
    generator = np.random.default_rng(7)
    values = generator.normal(0.2, 1.0, size=(40, 2))
    means = [values[generator.integers(0, 40, 40)].mean() for _ in range(20_000)]
    low, high = np.quantile(means, [0.025, 0.975])
    found = interval(values.ravel().tolist(), [str(i // 2) for i in range(80)], resamples=20_000)
    assert found.mean == pytest.approx(values.mean())
    assert found.low == pytest.approx(low, abs=0.01)
    assert found.high == pytest.approx(high, abs=0.01)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    values = np.random.default_rng(1).normal(size=30).tolist()
    clusters = [str(i) for i in range(30)]
    assert interval(values, clusters, seed=3) == interval(values, clusters, seed=3)
    assert interval(values, clusters, seed=3) != interval(values, clusters, seed=4)


def test_renaming_the_sets_changes_nothing():
    values = np.random.default_rng(1).normal(size=12).tolist()
    assert interval(values, list("aabbccddeeff")) == interval(values, list("zzyyxxwwvvuu"))


def test_missing_values_are_left_out_and_not_counted():
    found = interval([None, 0.5, None, 0.5], ["a", "b", "c", "d"])
    assert (found.mean, found.n, found.n_clusters) == (0.5, 2, 2)


@pytest.mark.parametrize("values", [[], [None, None]])
def test_of_nothing_there_is_no_mean(values):
    assert interval(values, ["a"] * len(values)) == Interval(None, None, None, 0, 0, 0.95)


def test_one_set_has_a_mean_and_no_interval():
    assert interval([1.0, 2.0], ["a", "a"]) == Interval(1.5, None, None, 2, 1, 0.95)


def test_values_and_clusters_must_agree_in_number():
    with pytest.raises(DataError, match="2 values, but 1 clusters"):
        interval([1.0, 2.0], ["a"])


def test_a_draw_has_as_many_clusters_with_all_of_their_rows():
    clusters = ["a", "b", "a", "c"]
    for rows in cluster_draws(clusters, resamples=50, seed=0):
        drawn = [clusters[row] for row in rows]
        # a has two rows and comes with both: 0 and 2 are equally often
        assert list(rows).count(0) == list(rows).count(2)
        assert drawn.count("a") / 2 + drawn.count("b") + drawn.count("c") == 3


def test_draws_repeat_with_their_seed():
    one, two = (list(map(list, cluster_draws(["a", "b", "c"], resamples=9, seed=4))) for _ in range(2))
    assert one == two
    assert one != list(map(list, cluster_draws(["a", "b", "c"], resamples=9, seed=5)))


def test_percentile_bounds_are_interpolated_along_the_draws():
    # 10 % and 90 % of 0, 1, ..., 10, and of twice that
    low, high = percentile_bounds([[i, 2 * i] for i in range(11)], level=0.8)
    assert low == pytest.approx([1, 2])
    assert high == pytest.approx([9, 18])


def test_mean_draws_are_those_of_whole_clusters():
    # two clusters: a draw is a twice, b twice or both; column means then 0, 1 or 3/4, and 5 in the second wherever b is drawn
    table = [[0.0, np.nan], [1.0, 5.0], [1.0, 5.0], [1.0, 5.0]]
    draws = cluster_mean_draws(table, ["a", "b", "b", "b"], resamples=4000, seed=0)
    assert draws.shape == (4000, 2)
    assert set(draws[:, 0].tolist()) == {0.0, 0.75, 1.0}
    # both in half of the draws
    assert np.mean(draws[:, 0] == 0.75) == pytest.approx(0.5, abs=0.03)
    assert (np.isnan(draws[:, 1]) == (draws[:, 0] == 0)).all()
    assert np.nanmax(draws[:, 1]) == np.nanmin(draws[:, 1]) == 5.0


def test_mean_draws_in_blocks_are_those_of_one_piece():
    # 30 clusters: 40,000 draws are 1.2 million numbers, more than a block holds; here all at once, by numpy
    values = np.random.default_rng(2).normal(size=(30, 2))
    drawn = np.random.default_rng(5).multinomial(30, np.full(30, 1 / 30), size=40_000)
    found = cluster_mean_draws(values, [str(i) for i in range(30)], resamples=40_000, seed=5)
    assert np.allclose(found, drawn @ values / 30, rtol=0, atol=1e-12)


def test_mean_draws_hold_a_block_at_a_time():
    # 10,000 draws of 1,500 sets are 120 MB of numbers
    tracemalloc.start()
    cluster_mean_draws(np.ones((1500, 1)), [str(i) for i in range(1500)], resamples=10_000, seed=0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40e6


def test_mean_draws_agree_with_the_interval():
    values = np.random.default_rng(3).normal(size=60)
    clusters = [str(i // 2) for i in range(60)]
    low, high = percentile_bounds(cluster_mean_draws(values[:, None], clusters, resamples=20_000, seed=0), 0.95)
    found = interval(values.tolist(), clusters, resamples=20_000)
    assert (low[0], high[0]) == (pytest.approx(found.low, abs=0.01), pytest.approx(found.high, abs=0.01))
