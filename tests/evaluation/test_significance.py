"""One rule for all that a page concludes."""

import itertools

import numpy as np
import pytest

from evenhand.evaluation.significance import DRAWS, NullDraws, Unit, concluded, dealt, flipped
from evenhand.resampling import Bootstrap

PLAN = Bootstrap()


def drawn_of(rng: np.random.Generator, n_sets: int, n_tests: int, lean: float = 0.0) -> NullDraws:
    added = rng.normal(size=(n_sets, n_tests))
    added[:, 0] += lean
    return flipped(added, None, PLAN)


def test_one_test_has_the_p_value_of_all_patterns_of_signs() -> None:
    added = np.array([0.9, 1.2, 0.4, 0.8, -0.3, 1.1, 0.6, 0.7])
    sums = [abs(np.dot(signs, added)) for signs in itertools.product((-1, 1), repeat=len(added))]
    exact = np.mean(np.array(sums) >= abs(added.sum()) - 1e-9)
    (found,), _ = concluded([flipped(added[:, None], None, PLAN)], [], PLAN.level)
    assert found.p_value[0] == pytest.approx(exact, abs=0.006)


def test_intervals_without_zero_are_clear_verdicts_and_no_others() -> None:
    rng = np.random.default_rng(0)
    for n_sets in (7, 12, 40):
        for lean in (0.0, 0.5, 1.0, 2.0):
            (first,), (rest,) = concluded(
                [drawn_of(rng, n_sets, 3, lean)], [drawn_of(rng, n_sets, 9, lean)], PLAN.level
            )
            for each in (first, rest):
                clear = each.p_value <= 0.05
                assert (clear == ((each.low > 1e-9) | (each.high < -1e-9))).all()


def test_a_half_that_speaks_leaves_its_level_to_the_other() -> None:
    rng = np.random.default_rng(1)
    silent, loud = drawn_of(rng, 30, 2), drawn_of(rng, 30, 2, lean=3.0)
    weak = drawn_of(rng, 30, 4, lean=0.5)
    (_,), (beside_silence,) = concluded([silent], [weak], PLAN.level)
    (_,), (beside_speech,) = concluded([loud], [weak], PLAN.level)
    assert beside_speech.p_value[0] == pytest.approx(beside_silence.p_value[0] / 2)
    # and has it from the beginning where nothing else is asked
    (alone,), _ = concluded([weak], [], PLAN.level)
    assert alone.p_value[0] == beside_speech.p_value[0]


def test_fewer_than_six_sets_make_nothing_clear_and_nothing_is_bounded_by_four() -> None:
    added = np.ones((5, 1))
    (few,), (other,) = concluded([flipped(added, None, PLAN)], [flipped(added, None, PLAN)], PLAN.level)
    assert few.p_value[0] > 0.05 and other.p_value[0] > 0.05
    (four,), _ = concluded([flipped(added[:4], None, PLAN)], [], PLAN.level)
    assert four.low[0] == -np.inf and four.high[0] == np.inf


def test_what_has_no_value_has_no_test_and_takes_nothing_from_the_others() -> None:
    rng = np.random.default_rng(2)
    added = rng.normal(size=(20, 2)) + 0.6
    with_gap = np.column_stack([added, np.full(20, np.nan)])
    (one,), _ = concluded([flipped(added, None, PLAN)], [], PLAN.level)
    (other,), _ = concluded([flipped(with_gap, None, PLAN)], [], PLAN.level)
    assert np.isnan(other.p_value[2]) and np.isnan(other.low[2])
    np.testing.assert_array_equal(one.p_value, other.p_value[:2])


def test_pages_of_nothing_say_something_seldom() -> None:
    rng, pages = np.random.default_rng(3), 200
    says = 0
    for _ in range(pages):
        found = concluded([drawn_of(rng, 12, 3)], [drawn_of(rng, 12, 20)], PLAN.level)
        says += min(each.p_value.min() for half in found for each in half) <= 0.05
    # 5 %, and three standard errors
    assert says / pages <= 0.05 + 3 * (0.05 * 0.95 / pages) ** 0.5


@pytest.mark.parametrize("n_sets", [2, 6, 9, 12])
def test_where_patterns_are_few_all_are_as_frequent(n_sets: int) -> None:
    (found,), _ = concluded([flipped(np.ones((n_sets, 1)), None, PLAN)], [], PLAN.level)
    # all signs equal, one way or the other
    assert found.p_value[0] == pytest.approx(2.0 ** (1 - n_sets), abs=2.5 / DRAWS)


def test_what_differs_by_design_hands_on_nothing_and_keeps_its_place_among_the_others() -> None:
    rng = np.random.default_rng(4)
    weak, weak_too, loud = (drawn_of(rng, 12, 3, lean) for lean in (0.6, 0.6, 5.0))
    (alone,), (other,) = concluded([weak], [weak_too], PLAN.level)
    (first,), (rest, design) = concluded([weak], [weak_too], PLAN.level, [loud])
    np.testing.assert_array_equal(first.p_value, alone.p_value)
    assert design.p_value[0] <= 0.05 and (rest.p_value >= other.p_value).all()
    # where it was asked with the others, they would hand their level on
    (helped,), _ = concluded([weak], [weak_too, loud], PLAN.level)
    assert helped.p_value[0] == pytest.approx(alone.p_value[0] / 2)


def test_the_largest_of_each_draw_is_enough() -> None:
    added = np.random.default_rng(5).normal(size=(12, 9)) + 0.5
    added[:11, 4] = np.nan
    (whole,), _ = concluded([flipped(added, None, PLAN)], [], PLAN.level)
    (largest,), _ = concluded([flipped(added, None, PLAN, only_largest=True)], [], PLAN.level)
    np.testing.assert_allclose(whole.p_value, largest.p_value)
    np.testing.assert_allclose(whole.low, largest.low)


def units_of(
    rng: np.random.Generator, n_sets: int, labels: list[int], n_systems: int = 1, lean: float = 0.0
) -> list[Unit]:
    made = []
    for _ in range(n_sets):
        leftover = rng.normal(size=(n_systems, len(labels)))
        leftover[:, np.array(labels) == 0] += lean
        made.append(Unit(leftover - leftover.mean(axis=1, keepdims=True), np.array(labels), np.ones(n_systems)))
    return made


def all_deals(units: list[Unit], label: int) -> np.ndarray:
    """Sums of a label over units and of their squares, in every way that labels can be dealt, (deals, 2)."""
    by_unit = [
        [
            each.leftover[0][np.array(dealt_labels) == label].sum()
            for dealt_labels in itertools.permutations(each.labels)
        ]
        for each in units
    ]
    return np.array([[sum(sums), sum(x * x for x in sums)] for sums in itertools.product(*by_unit)])


def test_labels_are_dealt_as_often_as_all_permutations_say() -> None:
    units = units_of(np.random.default_rng(4), 3, [0, 0, 1, 2], lean=0.8)
    found = dealt(units, 3, PLAN)
    for label in range(3):
        deals = all_deals(units, label)
        # their variance, of which the sum is a floor of what a sum is divided by
        assert found.floor[label] == pytest.approx(deals[:, 0].var())
        sizes = np.abs(deals[:, 0]) / np.sqrt(np.maximum(deals[:, 1], found.floor[label]))
        mine = abs(found.observed[label])
        assert mine == pytest.approx(sizes[0])
        (each,), _ = concluded([found.only([label])], [], PLAN.level)
        assert each.p_value[0] == pytest.approx(np.mean(sizes >= mine - 1e-9), abs=0.035)


def test_systems_have_the_same_deals() -> None:
    (one,) = units_of(np.random.default_rng(5), 1, [0, 1, 1])
    twice = [Unit(np.vstack([one.leftover, -2 * one.leftover]), one.labels, np.array([1.0, 2.0]))] * 8
    found = dealt(twice, 2, PLAN)
    np.testing.assert_allclose(found.drawn[:, :2], found.drawn[:, 2:])
    np.testing.assert_allclose(found.observed[:2], -found.observed[2:])
    # and those of a system by itself
    alone = dealt([Unit(each.leftover[:1], each.labels, each.weight[:1]) for each in twice], 2, PLAN)
    np.testing.assert_allclose(alone.drawn, found.drawn[:, :2])


def test_intervals_of_deals_without_zero_are_clear_verdicts_and_no_others() -> None:
    rng = np.random.default_rng(6)
    for n_sets, lean in itertools.product((6, 12, 30), (0.0, 0.4, 1.0)):
        (each,), _ = concluded([dealt(units_of(rng, n_sets, [0, 0, 1, 1], lean=lean), 2, PLAN)], [], PLAN.level)
        clear = each.p_value <= 0.05
        assert (clear == ((each.low > 1e-9) | (each.high < -1e-9))).all()


def test_what_labels_cannot_tell_has_no_test_and_what_is_exactly_as_expected_has_p_1() -> None:
    one_label = Unit(np.array([[0.5, -0.5]]), np.array([0, 0]), np.ones(1))
    exact = Unit(np.zeros((1, 3)), np.array([0, 0, 1]), np.ones(1))
    assert np.isnan(dealt([one_label] * 9, 2, PLAN).observed).all()
    (each,), _ = concluded([dealt([one_label, *[exact] * 9], 3, PLAN)], [], PLAN.level)
    # a third label is in no unit
    np.testing.assert_array_equal(each.p_value, [1, 1, np.nan])
    np.testing.assert_array_equal([each.low, each.high], [[0, 0, np.nan]] * 2)
    assert dealt([], 2, PLAN).observed.size == 0


def test_a_system_without_summaries_is_not_tested_and_takes_nothing_from_the_other() -> None:
    units = units_of(np.random.default_rng(7), 12, [0, 0, 1], n_systems=1, lean=0.9)
    beside = [Unit(np.vstack([u.leftover, 0 * u.leftover]), u.labels, np.array([1.0, 0.0])) for u in units]
    (one,), _ = concluded([dealt(units, 2, PLAN)], [], PLAN.level)
    (both,), _ = concluded([dealt(beside, 2, PLAN)], [], PLAN.level)
    np.testing.assert_array_equal(both.p_value, [*one.p_value, np.nan, np.nan])


@pytest.mark.parametrize("labels", [[0, 0, 0, 0, 0, 0, 0, 1], [0, 0, 1, 1], list(range(6))])
def test_pages_of_labels_that_mean_nothing_name_somebody_seldom(labels: list[int]) -> None:
    rng, pages, says = np.random.default_rng(8), 100, 0
    for _ in range(pages):
        (each,), _ = concluded([dealt(units_of(rng, 10, labels), 1 + max(labels), PLAN)], [], PLAN.level)
        says += np.nanmin(each.p_value) <= 0.05
    assert says / pages <= 0.05 + 3 * (0.05 * 0.95 / pages) ** 0.5
