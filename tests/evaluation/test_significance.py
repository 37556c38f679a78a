"""One rule for all that a page concludes."""

import itertools

import numpy as np
import pytest

from evenhand.evaluation.significance import DRAWS, NullDraws, concluded, flipped
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
