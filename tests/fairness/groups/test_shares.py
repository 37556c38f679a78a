import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from evenhand.errors import DataError
from evenhand.fairness.groups.masses import Masses, pack
from evenhand.fairness.groups.shares import (
    TAU_GRID,
    ShareRule,
    area,
    area_by_cutoff,
    compare,
    kept_values,
    rule_of,
    under_represented,
    unfair,
    unfair_by_cutoff,
    unfair_by_tolerance,
    unfair_error_rate,
)

counts = hnp.arrays(np.int64, st.integers(1, 6), elements=st.integers(0, 9))


def visited(masses: list[int], cutoff: float) -> set[int]:
    """The released loop, step by step."""
    total, accumulated, kept = sum(masses), 0.0, set()
    for place in sorted(range(len(masses)), key=lambda k: -masses[k]):
        accumulated += masses[place] / total
        kept.add(place)
        if accumulated >= cutoff:
            break
    return kept


def kept(masses: list[int], rule: ShareRule) -> set[int]:
    source = np.array(masses, dtype=float)
    return set(np.flatnonzero(kept_values(source, np.ones(source.shape, dtype=bool), rule)).tolist())


@settings(max_examples=200)
@given(counts, st.sampled_from([0.0, 0.3, 0.8, 1.0]))
def test_released_cutoff_keeps_what_the_loop_visits(masses, cutoff):
    expected = visited(masses.tolist(), cutoff) if masses.sum() else set()
    assert kept(masses.tolist(), ShareRule("released", "inclusive", cutoff)) == expected


def test_rounding_lets_the_released_cutoff_keep_an_empty_value():
    # 3/7 + 2/7 + 2/7 = 0.9999999999999999 in double precision
    assert kept([2, 2, 3, 0], rule_of("released")) == {0, 1, 2, 3}
    assert kept([2, 2, 3, 0], rule_of("drop_zero")) == {0, 1, 2}


def test_cutoff_zero_keeps_the_heaviest_value_only():
    assert kept([1, 5, 5], ShareRule("released", "inclusive", 0.0)) == {1}


def test_paper_keeps_every_declared_value_and_nothing_else():
    source = np.array([[3.0, 0.0, 0.0]])
    declared = np.array([[True, True, False]])
    assert kept_values(source, declared, rule_of("paper")).tolist() == [[True, True, False]]


@pytest.mark.parametrize("mode", ["drop_zero", "released", "paper"])
def test_source_without_mass_keeps_nothing(mode):
    assert kept([0, 0], rule_of(mode)) == set()


def test_unknown_mode_names_the_nearest():
    with pytest.raises(DataError, match="mode 'relased' is not known; did you mean 'released'"):
        rule_of("relased")


def test_cutoff_beyond_one_is_refused():
    with pytest.raises(DataError, match=r"share of the source mass in \[0, 1\], got 1.5"):
        rule_of(ShareRule("released", "inclusive", 1.5))


tables = st.tuples(st.integers(1, 4), st.integers(1, 5)).flatmap(
    lambda shape: st.tuples(*[hnp.arrays(float, shape, elements=st.integers(0, 20)) for _ in range(2)])
)
modes = st.sampled_from(["drop_zero", "released", "paper"])


def test_worked_by_hand():
    # shares aimed at .3 .7, found .2 .8: the first lacks .1; mean .05, both are .05 from it; .2 <= .8 * .3 is unfair
    shares = compare([30, 70], [10, 40])
    assert shares.shortfall.tolist() == pytest.approx([0.1, 0.0])
    assert unfair_error_rate(shares) == pytest.approx(0.05)
    assert under_represented(shares).tolist() == [True, False]


def test_value_that_the_source_lacks_takes_part_only_in_the_paper():
    # kept 10 and 30: shares .25 .75; found 4 and 2: 2/3 1/3; lacking 5/12 of the second, mean 5/24
    source, target = [10, 0, 30], [4, 4, 2]
    assert unfair_error_rate(compare(source, target)) == pytest.approx(5 / 24)
    # all three: shares .25 0 .75; found .4 .4 .2; lacking .55, mean .55/3
    assert unfair_error_rate(compare(source, target, mode="paper")) == pytest.approx(0.55 / 3)


def test_share_exactly_at_the_tolerance_is_unfair_by_code_and_fair_by_paper():
    # .4 against .8 * .5
    assert unfair(compare([5, 5], [2, 3]))
    assert not unfair(compare([5, 5], [2, 3], mode="paper"))


def test_summary_without_matches_counts_as_uniform():
    assert compare([9, 1, 0], [0, 0, 7]).target.tolist() == [0.5, 0.5, 0.0]


def test_single_value_is_fair_below_tau_one():
    shares = compare([12], [0])
    assert not unfair(shares, 0.99)
    assert unfair(shares, 1.0)
    assert unfair_error_rate(shares) == 0


def test_source_without_mass_has_no_answer():
    shares = compare([[0, 0], [1, 1]], [[1, 1], [1, 1]])
    assert shares.scorable.tolist() == [False, True]
    assert np.isnan(unfair_error_rate(shares)).tolist() == [True, False]


def test_equal_aim_is_equal_over_the_values_that_take_part():
    assert compare([60, 0, 40], [1, 1, 1], aim="equal").gold.tolist() == [0.5, 0.0, 0.5]
    assert compare([60, 0, 40], [1, 1, 1], aim="equal", mode="paper").gold.tolist() == pytest.approx([1 / 3] * 3)


def test_custom_aim_is_restricted_and_renormalised():
    # weights 2 1 1 without the second: 2/3 and 1/3
    assert compare([5, 0, 5], [1, 1, 1], aim=(2, 1, 1)).gold.tolist() == pytest.approx([2 / 3, 0, 1 / 3])


def test_custom_aim_without_weight_on_what_is_there_is_refused():
    with pytest.raises(DataError, match="no weight on the values that take part"):
        compare([5, 0], [1, 1], aim=(0, 1))


@pytest.mark.parametrize(
    ("source", "target", "options", "message"),
    [
        ([1, 2], [1], {}, "shape"),
        ([1, -2], [1, 1], {}, "at least 0, got -2"),
        ([1, 2], [1, float("nan")], {}, "target masses are finite"),
        ([1, 2], [1, 1], {"aim": "fair"}, "fairness target 'fair' is not known"),
        ([1, 2], [1, 1], {"aim": (1, -1)}, "at least 0"),
        ([1, 2], [1, 1], {"aim": (1, 1, 1)}, "3 weights, but 2 values"),
        (3, 3, {}, "one for each declared value"),
    ],
)
def test_what_holds_not_together_is_refused(source, target, options, message):
    with pytest.raises(DataError, match=message):
        compare(source, target, **options)


@pytest.mark.parametrize("tau", [-0.1, 1.1, float("nan")])
def test_tolerance_outside_zero_and_one_is_refused(tau):
    with pytest.raises(ValueError, match="tolerance tau"):
        unfair(compare([1, 1], [1, 1]), tau)


@settings(max_examples=100)
@given(tables, modes)
def test_shares_sum_to_one_and_rates_stay_in_bounds(masses, mode):
    shares = compare(*masses, mode=mode)
    ok = shares.scorable
    assert shares.gold.sum(axis=-1)[ok] == pytest.approx(1)
    assert shares.target.sum(axis=-1)[ok] == pytest.approx(1)
    uer = unfair_error_rate(shares)[ok]
    assert ((uer >= 0) & (uer < 1)).all()


@settings(max_examples=100)
@given(tables, st.randoms(use_true_random=False))
def test_order_of_values_does_not_matter(masses, random):
    order = list(range(masses[0].shape[1]))
    random.shuffle(order)
    ours, theirs = compare(*masses), compare(*(x[:, order] for x in masses))
    assert unfair_error_rate(ours) == pytest.approx(unfair_error_rate(theirs), nan_ok=True)
    assert (under_represented(ours)[:, order] == under_represented(theirs)).all()


@settings(max_examples=100)
@given(tables, modes)
def test_rows_do_not_touch_each_other(masses, mode):
    together = unfair_error_rate(compare(*masses, mode=mode))
    alone = [float(unfair_error_rate(compare(s, t, mode=mode))) for s, t in zip(*masses, strict=True)]
    assert together == pytest.approx(alone, nan_ok=True)


@settings(max_examples=100)
@given(tables)
def test_a_larger_tolerance_never_makes_fair(masses):
    shares = compare(*masses)
    assume(shares.scorable.all())
    rates = np.stack([unfair(shares, tau) for tau in (0, 0.2, 0.5, 0.8, 1)])
    assert (rates[1:] >= rates[:-1]).all()
    # shares of the same sum cannot all exceed what is aimed at
    assert unfair(shares, 1.0).all()


def test_area_of_constant_and_of_linear_curves():
    assert area(np.ones(11)) == pytest.approx(1)
    assert area(TAU_GRID) == pytest.approx(0.5)
    # a step at the last point is one half trapezoid
    assert area(np.eye(11)[10]) == pytest.approx(0.05)


def test_curve_begins_where_a_value_is_missing_and_ends_unfair():
    # shares .6 .4, found 1 0 and .5 .5: the first is unfair from 0 on; the second from .5/.6 = .833 on, at .9
    curve = unfair_by_tolerance(compare([[6, 4], [6, 4]], [[3, 0], [5, 5]]))
    assert curve[:, 0].tolist() == [True] * 11
    assert curve[:, 1].tolist() == [False] * 9 + [True, True]


def test_source_without_mass_is_neither_fair_nor_unfair():
    shares = compare([[0, 0], [3, 1]], [[1, 1], [0, 2]])
    assert np.isnan(unfair(shares)).tolist() == [True, False]
    assert np.isnan(unfair_by_tolerance(shares)).tolist() == [[True, False]] * 11
    curve = unfair_by_cutoff(pack([Masses((0, 0), (1, 1)), Masses((3, 1), (0, 2))]))
    assert np.isnan(curve[:, 0]).all()
    assert not np.isnan(curve[:, 1]).any()


def test_cutoff_curve_grows_by_values():
    # one value survives until .6 is not enough: the second enters at cut-off .7, and it lacks everything
    table = pack([Masses((6, 4), (5, 0))])
    assert unfair_by_cutoff(table)[:, 0].tolist() == [False] * 7 + [True] * 4


def test_area_over_cutoffs_leaves_out_what_has_no_source_mass():
    # shares .75 .25 against 0 1: alone up to cut-off .7, the first value has nothing of the summary and both are uniform over it,
    # so fair; from .8 on both are kept and the first is unfair: points .8, .9, 1 are 2 1/2 trapezoids of 0.1
    assert area_by_cutoff([Masses((0, 0), (1, 1)), Masses((3, 1), (0, 2))]) == pytest.approx(0.25)
    assert area_by_cutoff([Masses((0, 0), (1, 1))]) is None


def test_area_over_cutoffs_is_that_of_the_mean_curve():
    numbers = np.random.default_rng(1).integers(0, 9, (500, 2, 3)).tolist()
    many = [Masses(tuple(source), tuple(target)) for source, target in numbers if any(source)]
    expected = area(unfair_by_cutoff(pack(many), tau=0.6).mean(axis=1))
    assert area_by_cutoff(many, tau=0.6) == pytest.approx(expected)


@pytest.mark.parametrize("n_before", [0, 1, 40])
def test_sample_of_fewer_values_than_the_aim_is_refused_wherever_it_stands(n_before):
    three, two = Masses((1, 1, 1), (1, 1, 1)), Masses((1, 1), (1, 1))
    with pytest.raises(DataError, match=rf"has 3 weights, but the scored sample at place {n_before} declares 2 values"):
        area_by_cutoff([three] * n_before + [two] + [three], aim=(1, 1, 1))


def test_mode_that_is_not_known_names_the_nearest():
    with pytest.raises(DataError, match="did you mean 'paper'"):
        compare([1], [1], mode="papr")
