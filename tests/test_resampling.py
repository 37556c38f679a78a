"""Draws, intervals, tests and verdicts over document sets."""

import math
import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand import resampling
from evenhand.errors import DataError
from evenhand.fairness.groups.coverage import over
from evenhand.resampling import (
    MOST_REACH,
    Bootstrap,
    ClusterMean,
    _mean_and_error,
    added_by_sets,
    cluster_interval,
    cluster_sums,
    defined,
    drawn_weights,
    exact_bounds,
    exchange_p_values,
    percentiles,
    pseudo_values,
    sign_flip_p_value,
    sign_flip_p_values,
    t_interval,
    too_few,
)

MANY = Bootstrap(resamples=9999, seed=1)


def interval(values, clusters, level=0.95, resamples=2000, seed=0):
    return cluster_interval(values, clusters, Bootstrap(level, resamples, seed))


def test_no_bound_of_a_mean_lies_off_the_scale_of_its_values():
    # nine grades of 5 and one of 4: the mean is 4.9, and the interval without a scale goes beyond 5
    values, sets = [5.0] * 9 + [4.0], list("abcdefghij")
    free, kept = (cluster_interval(values, sets, Bootstrap(), scale=scale) for scale in (None, (1, 5)))
    assert free.high > 5 and kept.high == 5 and (kept.estimate, kept.low) == (free.estimate, free.low)
    # a value off its scale is never outside its own interval
    assert cluster_interval([6.0] * 10, sets, Bootstrap(), scale=(1, 5)).high == 6.0


def test_fewer_than_five_clusters_have_a_mean_and_no_interval():
    found = interval([0.0, 1.0, 1.0, 0.0], list("abcd"))
    assert found == ClusterMean(0.5, None, None, n_draws=0, n_defined=0, n=4, n_clusters=4)
    assert interval([0.1, 0.9, 0.7, 0.3, 0.5], list("abcde")).low is not None


def test_both_requests_of_a_set_are_drawn_together():
    # sets whose two requests cancel out: every draw of whole sets has the mean 0
    found = interval([1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6], list("aabbccddeeff"))
    assert (found.estimate, found.low, found.high) == (0, 0, 0)
    assert (found.n, found.n_clusters) == (12, 6)


def test_five_clusters_that_agree_are_no_evidence_at_the_level_and_six_are():
    # all signs alike are chance in 2 / 2**5 of six pairs and in 2 / 2**4 of five
    assert (interval([0.5] * 5, list("abcde")).low, interval([0.5] * 6, list("abcdef")).low) == (None, 0.5)


def test_no_bound_is_much_further_off_than_that_of_students_t():
    # four zeros and a half: a third of the draws are all alike, so that bootstrap-t alone knows no bound
    found = interval([0.0, 0.0, 0.0, 0.0, 0.5], list("abcde"))
    reach = MOST_REACH * stats.t.ppf(0.975, 4) * 0.1
    assert -reach < found.low - 0.1 < 0 < found.high - 0.1 == pytest.approx(reach)


def test_bounds_of_whole_differences_are_no_nearer_than_those_of_students_t():
    # three of ten sets: bootstrap-t alone would exclude zero, though three signs are alike in a quarter of the cases
    found = interval([1, 1, 1, *[0] * 7], list("abcdefghij"))
    reach = stats.t.ppf(0.975, 9) * 0.3**0.5 * 0.7**0.5 / 3
    assert found.low - 0.3 == pytest.approx(-reach)
    assert found.low < 0
    assert reach <= found.high - 0.3 <= 1.4 * reach + 1e-9


def test_shares_of_which_one_is_not_whole_are_no_surer_than_one_set_makes_them():
    # nineteen sets of 9 of 9 and one of 8 of 9: a standard error that rests on one set has few degrees of freedom
    shares = cluster_interval([1.0] * 19 + [8 / 9], [*map(str, range(20))], Bootstrap(), is_rate=True)
    assert shares.low < 0.95 < shares.high


@pytest.mark.parametrize("sizes", [[1] * 12, [2] * 8, [1, 2, 3] * 5])
def test_the_bounds_are_those_of_a_bootstrap_t_in_loops(sizes):
    generator = np.random.default_rng(len(sizes))
    groups = [generator.exponential(size=size) for size in sizes]
    plan = Bootstrap(resamples=300)

    def mean_and_error(chosen):
        mean = np.concatenate(chosen).mean()
        left = [(group - mean).sum() for group in chosen]
        total = sum(map(len, chosen))
        return mean, math.sqrt(len(chosen) / (len(chosen) - 1) * sum(each**2 for each in left)) / total

    mean, error = mean_and_error(groups)
    ratios = []
    for row in np.concatenate(list(drawn_weights(len(groups), plan))):
        drawn, its_error = mean_and_error([groups[k] for k, times in enumerate(row) for _ in range(int(times))])
        ratios.append((drawn - mean) / its_error)
    reach = MOST_REACH * stats.t.ppf(0.975, len(groups) - 1)
    least, most = np.clip(np.quantile(ratios, [0.025, 0.975]), -reach, reach)
    found = cluster_interval(np.concatenate(groups).tolist(), [str(k) for k, g in enumerate(groups) for _ in g], plan)
    assert (found.low, found.high) == (pytest.approx(mean - most * error), pytest.approx(mean - least * error))


def test_the_interval_agrees_with_numpys_quantiles_of_another_bootstrap():
    # an independent bootstrap, written with plain loops, of 40 sets with two requests each
    generator = np.random.default_rng(7)
    values = generator.normal(0.2, 1.0, size=(40, 2))
    means = [values[generator.integers(0, 40, 40)].mean() for _ in range(20_000)]
    low, high = np.quantile(means, [0.025, 0.975])
    found = interval(values.ravel().tolist(), [str(i // 2) for i in range(80)], resamples=20_000)
    assert found.estimate == pytest.approx(values.mean())
    # of 40 sets both are nearly the same
    assert found.low == pytest.approx(low, abs=0.02)
    assert found.high == pytest.approx(high, abs=0.02)


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
    assert (found.estimate, found.n, found.n_clusters) == (0.5, 2, 2)


@pytest.mark.parametrize("values", [[], [None, None]])
def test_of_nothing_there_is_no_mean(values):
    assert interval(values, ["a"] * len(values)) == ClusterMean(None, None, None, 0, 0, n=0, n_clusters=0)


def test_one_set_has_a_mean_and_no_interval():
    assert interval([1.0, 2.0], ["a", "a"]) == ClusterMean(1.5, None, None, 0, 0, n=2, n_clusters=1)


def test_values_and_clusters_must_agree_in_number():
    with pytest.raises(DataError, match="2 values, but 1 clusters"):
        interval([1.0, 2.0], ["a"])


def test_a_draw_has_as_many_clusters_as_there_are():
    weights = np.concatenate(list(drawn_weights(7, Bootstrap(resamples=200))))
    assert weights.shape == (200, 7)
    assert (weights.sum(axis=1) == 7).all()


def test_draws_within_strata_keep_their_sizes():
    strata = np.array([0, 0, 0, 1, 2, 2])
    weights = np.concatenate(list(drawn_weights(6, Bootstrap(resamples=300), strata=strata)))
    assert (weights[:, :3].sum(axis=1) == 3).all() and (weights[:, 3] == 1).all()
    assert (weights[:, 4:].sum(axis=1) == 2).all()
    # each of two is drawn twice in a quarter of the draws
    assert np.mean(weights[:, 4] == 2) == pytest.approx(0.25, abs=0.08)


def test_draws_repeat_with_their_seed():
    one, two, other = (next(drawn_weights(9, Bootstrap(seed=seed))).tolist() for seed in (4, 4, 5))
    assert one == two != other


@pytest.mark.parametrize("plan", [{"resamples": 0}, {"level": 1.0}, {"level": 0.0}])
def test_a_plan_that_cannot_be_drawn_is_refused(plan):
    with pytest.raises(DataError):
        Bootstrap(**plan)


def test_rows_are_added_up_by_cluster_in_order_of_appearance():
    assert cluster_sums([[1.0, 2.0], [10.0, 20.0], [3.0, 4.0]], ["b", "a", "b"]).tolist() == [[4.0, 6.0], [10.0, 20.0]]


def test_percentiles_are_interpolated_along_the_draws():
    # 10 % and 90 % of 0, 1, ..., 10, and of twice that
    low, high = percentiles([[i, 2 * i] for i in range(11)], level=0.8)
    assert low == pytest.approx([1, 2])
    assert high == pytest.approx([9, 18])


def test_exact_bounds_by_hand():
    # none of 5: above p, (1 - p)**5 is less than 2.5 %: 1 - 0.025**(1/5) = .5218
    assert exact_bounds(0.0, 5, 0.95) == (0.0, pytest.approx(0.5218, abs=1e-4))
    assert exact_bounds(1.0, 5, 0.95) == (pytest.approx(0.4782, abs=1e-4), 1.0)


def test_independent_values_have_the_interval_of_clopper_and_pearson_of_one_less():
    # 8 of 10 sets: their variance over sets is p (1 - p) / 9
    found = cluster_interval([1.0] * 8 + [0.0] * 2, list("abcdefghij"), Bootstrap(), is_rate=True)
    assert (found.low, found.high) == pytest.approx(exact_bounds(0.8, 9, 0.95))
    low, high = stats.binomtest(8, 10).proportion_ci()
    assert exact_bounds(0.8, 10, 0.95) == (pytest.approx(low), pytest.approx(high))


def test_values_that_agree_within_sets_count_once():
    values = [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0]
    alone = cluster_interval(values, list("abcdefgh"), Bootstrap(), is_rate=True)
    twice = cluster_interval(
        [v for v in values for _ in "ab"], [s for s in "abcdefgh" for _ in "ab"], Bootstrap(), is_rate=True
    )
    # a little wider, because the seven degrees of freedom of the variance are not the 15 of sixteen values
    assert twice.low == pytest.approx(alone.low, abs=0.05) and twice.low < alone.low


@pytest.mark.parametrize("rate", [0.0, 0.25, 1.0])
def test_rates_without_an_exception_have_an_interval_of_their_sets(rate):
    found = cluster_interval([rate] * 10, list("aabbccddee"), Bootstrap(), is_rate=True)
    assert (found.low, found.high) == exact_bounds(rate, 5, 0.95)


def test_all_sets_on_one_side_by_hand():
    # 4 sets: of the 2^4 sign patterns two are as extreme as +.+.+.+, so p = 2/16
    assert sign_flip_p_value([0.1, 0.2, 0.3, 0.4], list("abcd"), MANY) == pytest.approx(2 / 16)


def test_requests_of_a_set_change_sign_together():
    # two requests a set: still 2 sets and 2^2 patterns, p = 2/4; as 4 independent requests it would be 2/16
    assert sign_flip_p_value([0.1, 0.2, 0.3, 0.4], list("aabb"), MANY) == pytest.approx(2 / 4)


def test_unscored_requests_are_left_out():
    assert sign_flip_p_value([0.1, None, 0.3], list("abc"), MANY) == pytest.approx(2 / 4)


@pytest.mark.parametrize("differences", [[], [None, None], [0.1, None], [0.1, 0.2]])
def test_fewer_than_two_sets_have_no_p_value(differences):
    assert sign_flip_p_value(differences, ["a"] * len(differences), MANY) is None


def test_nothing_differs():
    assert sign_flip_p_value([0.0, 1e-12, 0.0], list("abc"), MANY) == 1.0


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=7))
def test_direction_does_not_matter_and_exchanging_sets_is_flipping_signs(differences):
    sets = [str(place) for place in range(len(differences))]
    there = sign_flip_p_value(differences, sets, MANY)
    back = sign_flip_p_value([-d for d in differences], sets, MANY)
    assert there == back
    assert 0 < there <= 1
    assert there == pytest.approx(scipy_p_value(differences, MANY) if any(differences) else 1.0)


def scipy_p_value(differences, plan):
    """What scipy 1.17 makes of them, each of a set of its own."""
    found = stats.permutation_test(
        (np.array(differences, dtype=float),), lambda x, axis: np.sum(x, axis=axis), permutation_type="samples",
        vectorized=True, n_resamples=plan.resamples, rng=np.random.default_rng(plan.seed),
    )  # fmt: skip
    return found.pvalue


def test_drawn_patterns_find_what_those_of_scipy_find():
    drawn, plan = np.random.default_rng(0), Bootstrap(resamples=5000)
    for size in (0.0, 0.2, 0.4):
        differences = drawn.normal(size, 1, 40).tolist()
        here, there = sign_flip_p_value(differences, [*map(str, range(40))], plan), scipy_p_value(differences, plan)
        # four standard errors of two draws
        assert here == pytest.approx(there, abs=4 * np.sqrt(2 * max(there * (1 - there), 1e-3) / 5000))


@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e6])
def test_scale_does_not_matter(scale):
    differences = np.random.default_rng(1).normal(1, 1, 7)
    sets = [str(place) for place in range(7)]
    assert sign_flip_p_value((scale * differences).tolist(), sets, MANY) == sign_flip_p_value(
        differences.tolist(), sets, MANY
    )


def test_no_drawn_p_value_is_below_that_of_equal_signs():
    sets = [str(place) for place in range(10)]
    found = [sign_flip_p_value([1.0] * 10, sets, Bootstrap(resamples=1000, seed=seed)) for seed in range(60)]
    # 1 / 1001 of draws that have no pattern as far would be
    assert min(found) == pytest.approx(2 / 2**10)


def test_patterns_of_many_sets_are_held_a_block_at_a_time():
    sets, differences = [str(place) for place in range(10_000)], np.random.default_rng(2).normal(0, 1, 10_000).tolist()
    tracemalloc.start()
    sign_flip_p_value(differences, sets, Bootstrap(resamples=300))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    # all patterns at once are 24 MB as whole numbers, and as much as numbers with a sign
    assert peak < 16e6


def test_a_draw_of_one_cluster_alone_has_no_error():
    table = np.array([[0.3, 1.0], [-0.1, 3.0], [1e-3, 2.0]])
    means, errors = _mean_and_error(table, np.array([[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0]]))
    assert errors.tolist() == [0.0, 0.0, 0.0]
    assert means == pytest.approx([0.3, -0.1 / 3, 5e-4])


def test_drawn_patterns_count_the_observed_one_and_undefined_quantities_have_no_p_value():
    # 20 sets that all gain: only the patterns that exchange none or all are as far, 2 of a million, and none of 99 drawn
    found = exchange_p_values(
        lambda marks: np.stack([(1 - 2 * marks).sum(axis=1), np.full(len(marks), np.nan)], axis=1),
        np.array([20.0, np.nan]), 20, Bootstrap(resamples=99),
    )  # fmt: skip
    assert found.tolist() == [pytest.approx(1 / 100), pytest.approx(np.nan, nan_ok=True)]


def test_t_interval_of_a_mean_is_the_usual_one():
    values = np.random.default_rng(0).exponential(size=(9, 2)) - 0.4
    columns = np.column_stack([values, np.ones(9)])
    found = t_interval(lambda sums: sums[..., :2] / sums[..., 2:], columns, np.ones((9, 2), dtype=bool), 0.9)
    usual = stats.ttest_1samp(values, 0)
    between = usual.confidence_interval(0.9)
    assert found.p_value == pytest.approx(usual.pvalue)
    assert np.stack([found.low, found.high]) == pytest.approx(np.stack([between.low, between.high]))


def test_t_interval_rests_on_the_sets_of_its_quantity():
    columns = np.array([[0.1, 1], [0.5, 1], [0.2, 1], [0.4, 1], [0.3, 1], [0, 0], [0, 0]])
    rests_on = columns[:, 1:] > 0
    found = t_interval(lambda sums: sums[..., :1] / sums[..., 1:], columns, rests_on, 0.95)
    alone = t_interval(lambda sums: sums[..., :1] / sums[..., 1:], columns[:5], rests_on[:5], 0.95)
    assert (found.low, found.high, found.p_value) == (alone.low, alone.high, alone.p_value)


def test_sets_that_agree_are_as_sure_as_their_signs():
    columns = np.column_stack([np.full(6, 0.3), np.zeros(6), np.ones(6)])
    found = t_interval(lambda sums: sums[..., :2] / sums[..., 2:], columns, np.ones((6, 2), dtype=bool), 0.95)
    assert found.p_value == pytest.approx([2.0**-5, 1.0])


def test_four_sets_have_a_test_and_no_t_interval():
    columns = np.column_stack([[0.1, 0.2, 0.3, 0.4], np.ones(4)])
    found = t_interval(lambda sums: sums[..., :1] / sums[..., 1:], columns, np.ones((4, 1), dtype=bool), 0.95)
    assert np.isnan([found.low, found.high]).all()
    p_value = stats.ttest_1samp([0.1, 0.2, 0.3, 0.4], 0).pvalue
    assert found.at(0) == (pytest.approx(0.25), None, None, pytest.approx(p_value))


def test_one_set_has_no_t_interval():
    found = t_interval(lambda sums: sums, np.array([[0.3]]), np.ones((1, 1), dtype=bool), 0.95)
    assert np.isnan([found.low, found.high, found.p_value]).all()


def ratio(sums):
    return over(sums[..., :1], sums[..., 1:])


def test_sets_add_their_part_of_a_ratio_however_much_they_weigh():
    columns = np.array([[0.6, 2.0], [-0.2, 1.0], [0.0, 0.0], [0.4, 5.0]])
    found = added_by_sets(ratio, columns, columns[:, 1:])
    assert found[[0, 1, 3], 0] == pytest.approx([0.6 / 8, -0.2 / 8, 0.4 / 8])
    assert np.isnan(found[2, 0])


def test_signs_of_several_quantities_have_the_p_value_of_each_alone():
    # of all sets, of few of them, of one, of none that differs, and of very many
    generator = np.random.default_rng(3)
    totals = np.full((2000, 5), np.nan)
    for place, n in enumerate((40, 9, 1, 40, 2000)):
        totals[:n, place] = 0.0 if place == 3 else generator.exponential(size=n) - 0.7
    found = sign_flip_p_values(totals, MANY)
    alone = [sign_flip_p_value([defined(value) for value in its], [*map(str, range(2000))], MANY) for its in totals.T]
    assert [defined(p) for p in found] == alone
    exact = stats.permutation_test((totals[:9, 1],), np.mean, permutation_type="samples", n_resamples=np.inf)
    assert (found[1], alone[2], alone[3], alone[4]) == (pytest.approx(exact.pvalue), None, 1.0, 1e-4)


def test_signs_hold_their_level_where_few_sets_weigh_much_and_pseudo_values_and_t_do_not():
    false = dict.fromkeys(("signs", "pseudo-values", "t"), 0)
    for seed in range(200):
        generator = np.random.default_rng(seed)
        weights = np.exp(1.2 * generator.normal(size=(12, 1)))
        columns, all_sets = np.hstack([weights * generator.normal(size=(12, 1)), weights]), np.ones((12, 1), dtype=bool)
        found = {
            "signs": sign_flip_p_values(added_by_sets(ratio, columns, weights), MANY),
            "pseudo-values": sign_flip_p_values(pseudo_values(ratio, columns, all_sets), MANY),
            "t": t_interval(ratio, columns, all_sets, 0.95).p_value,
        }
        for name, p_values in found.items():
            false[name] += p_values[0] <= 0.05
    # 5 % of 200 and two standard errors are 16
    assert false["signs"] <= 16 < min(false["pseudo-values"], false["t"])


def test_of_a_mean_each_set_says_its_own_value():
    # sums and numbers of values of three sets, of which the second has none: means 2, -, 5 and a mean over sets of 3.5
    columns = np.array([[2.0, 1.0], [0.0, 0.0], [5.0, 1.0]])
    found = pseudo_values(lambda sums: sums[..., :1] / sums[..., 1:], columns, columns[:, 1:] > 0)
    assert found[[0, 2], 0] == pytest.approx([2, 5])
    assert np.isnan(found[1, 0])


def test_of_a_ratio_sets_say_the_jackknifes_values():
    # 6 / 4; without each of the sets 2 / 1, 5 / 3 and 5 / 4: three times the whole less twice those
    columns = np.array([[4.0, 3.0], [1.0, 1.0], [1.0, 0.0]])
    found = pseudo_values(lambda sums: sums[..., :1] / sums[..., 1:], columns, np.ones((3, 1), dtype=bool))
    assert found[:, 0] == pytest.approx([3 * 1.5 - 2 * 2, 3 * 1.5 - 2 * 5 / 3, 3 * 1.5 - 2 * 5 / 4])


def test_a_quantity_that_rests_on_one_set_is_said_by_none():
    # what the second sum needs is in the first set alone
    columns = np.array([[3.0, 1.0], [1.0, 0.0], [0.0, 0.0]])
    found = pseudo_values(
        lambda sums: np.where(sums[..., 1:] > 0, sums[..., :1], np.nan), columns, np.ones((3, 1), dtype=bool)
    )
    assert np.isnan(found).all()


def _skewed(n: int) -> tuple[list[float], list[str]]:
    """Two exponential values a set, one in ten sets without the second."""
    generator = np.random.default_rng(n)
    values, sets = generator.exponential(size=2 * n), np.repeat(np.arange(n), 2)
    kept = (np.arange(2 * n) % 2 == 0) | (generator.random(2 * n) > 0.1)
    return values[kept].tolist(), sets[kept].astype(str).tolist()


def test_bounds_of_many_sets_are_those_that_draws_come_to(monkeypatch):
    values, sets = _skewed(2500)
    plan = Bootstrap(resamples=40_000)
    found = cluster_interval(values, sets, plan)
    monkeypatch.setattr(resampling, "MANY_SETS", math.inf)
    drawn = cluster_interval(values, sets, plan)
    error = (drawn.high - drawn.low) / 2 / stats.norm.ppf(0.975)
    # the noise of 40,000 draws is about .013 of a standard error
    assert found.low == pytest.approx(drawn.low, abs=0.05 * error)
    assert found.high == pytest.approx(drawn.high, abs=0.05 * error)
    # and not those of Student's t, which is as far to both sides
    assert (found.high - found.estimate) / (found.estimate - found.low) > 1.02
    assert (found.n_draws, drawn.n_draws) == (0, 40_000)


def test_bounds_of_many_sets_know_that_large_sets_may_be_the_worse_ones(monkeypatch):
    generator = np.random.default_rng(0)
    good = np.arange(500) % 2
    sets = np.repeat(np.arange(500), np.where(good, 1, 5))
    values, names = (good[sets] + generator.normal(size=len(sets)) / 10).tolist(), sets.astype(str).tolist()
    plan = Bootstrap(resamples=60_000)
    found = cluster_interval(values, names, plan)
    monkeypatch.setattr(resampling, "MANY_SETS", math.inf)
    drawn = cluster_interval(values, names, plan)
    error = (drawn.high - drawn.low) / 2 / stats.norm.ppf(0.975)
    middle = ((found.high + found.low) - (drawn.high + drawn.low)) / 2 / error
    # without the term for the sizes it is .11
    assert (found.n_draws, drawn.n_draws) == (0, 60_000)
    assert middle == pytest.approx(0, abs=0.02)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [0.1, 0.3, 0.7, 2.3])
@pytest.mark.parametrize("n", [600, 1000, 3000])
def test_many_sets_that_agree_have_the_value_for_both_bounds(value, n):
    names = [str(place) for place in range(n)]
    found = cluster_interval([value] * n, names, Bootstrap(resamples=100))
    assert (found.low, found.high) == (pytest.approx(value), pytest.approx(value))
    assert sign_flip_p_value([value - value * (1 - 1e-16)] * n, names, Bootstrap(resamples=100)) == 1.0


def test_few_large_sets_among_many_are_drawn():
    # one set in a hundred has any score at all: 30 sets are worth 30, not 3,000
    values = [1.0 + i / 3000 if i % 100 == 0 else 0.0 for i in range(3000)]
    found = cluster_interval(values, [str(i) for i in range(3000)], Bootstrap(resamples=50))
    assert found.n_draws == 50
    assert resampling.effective_sets(np.array(values)) == pytest.approx(30, abs=5)


def test_the_p_value_of_many_sets_is_that_which_exchanges_come_to(monkeypatch):
    generator = np.random.default_rng(0)
    differences = generator.normal(0.045, 1.0, size=2000)
    sets = [str(i) for i in range(2000)]
    plan = Bootstrap(resamples=40_000)
    found = sign_flip_p_value(differences.tolist(), sets, plan)
    least = sign_flip_p_value((differences + 1).tolist(), sets, plan)
    monkeypatch.setattr(resampling, "MANY_SETS", math.inf)
    drawn = sign_flip_p_value(differences.tolist(), sets, plan)
    assert 0.005 < drawn < 0.5
    assert found == pytest.approx(drawn, abs=4 * math.sqrt(drawn / 40_000))
    assert least == 1 / 40_001 == sign_flip_p_value((differences + 1).tolist(), sets, plan)


NONE = "there are no intervals with fewer than 5, and"
LEAST_P = "the smallest p that its tests can have is"


@pytest.mark.parametrize(
    ("n", "level", "rest"),
    [
        # flips of five sets that all say the same have p of 1/16, of six 1/32, two-sided
        (1, 0.95, f"1 document set: {NONE} {LEAST_P} 1, so no difference is clear; take 6 or more."),
        (5, 0.95, f"5 document sets: {LEAST_P} 0.0625, so no difference is clear; take 6 or more."),
        (6, 0.99, f"6 document sets: {LEAST_P} 0.03125, so no difference is clear; take 8 or more."),
        # an interval is all that it takes where the level is low, or tests exchange no sets
        (3, 0.5, f"3 document sets: {NONE} {LEAST_P} 0.25, so no difference is clear; take 5 or more."),
        (4, None, "4 document sets: with fewer than 5 nothing is concluded; take 5 or more."),
    ],
)
def test_too_few_sets_are_said_in_one_sentence(n, level, rest):
    assert too_few(n, level) == f"The comparison rests on {rest}"
    study = rest.replace("document set", "document")
    assert too_few(n, level, subject="The study", unit="document") == f"The study rests on {study}"


@pytest.mark.parametrize(("n", "level"), [(6, 0.95), (8, 0.99), (5, 0.5), (5, None)])
def test_of_enough_sets_nothing_is_said(n, level):
    assert not too_few(n, level)


@given(st.integers(0, 60), st.floats(0.5, 0.9999))
def test_sets_are_too_few_where_no_test_of_theirs_could_be_clear(n, level):
    clear = n >= 5 and 2.0 ** (1 - n) <= 1 - level + 1e-12
    assert bool(too_few(n, level)) == (not clear)
