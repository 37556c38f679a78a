import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.evaluation.study.significance import adjusted, sign_flip_p_value

OPTIONS = {"resamples": 9999, "seed": 1}


def test_all_sets_on_one_side_by_hand():
    # 4 sets: of the 2^4 sign patterns two are as extreme as +.+.+.+, so p = 2/16
    assert sign_flip_p_value([0.1, 0.2, 0.3, 0.4], list("abcd"), **OPTIONS) == pytest.approx(2 / 16)


def test_requests_of_a_set_change_sign_together():
    # two requests a set: still 2 sets and 2^2 patterns, p = 2/4; as 4 independent requests it would be 2/16
    assert sign_flip_p_value([0.1, 0.2, 0.3, 0.4], list("aabb"), **OPTIONS) == pytest.approx(2 / 4)


def test_unscored_requests_are_left_out():
    assert sign_flip_p_value([0.1, None, 0.3], list("abc"), **OPTIONS) == pytest.approx(2 / 4)


@pytest.mark.parametrize("differences", [[], [None, None], [0.1, None], [0.1, 0.2]])
def test_fewer_than_two_sets_have_no_p_value(differences: list[float | None]):
    assert sign_flip_p_value(differences, ["a"] * len(differences), **OPTIONS) is None


def test_nothing_differs():
    assert sign_flip_p_value([0.0, 1e-12, 0.0], list("abc"), **OPTIONS) == 1.0


@given(st.lists(st.integers(-5, 5), min_size=2, max_size=7))
def test_direction_does_not_matter(differences: list[int]):
    sets = [str(place) for place in range(len(differences))]
    there = sign_flip_p_value(differences, sets, **OPTIONS)
    back = sign_flip_p_value([-d for d in differences], sets, **OPTIONS)
    assert there == back
    assert 0 < there <= 1


def test_correction_by_hand():
    # Benjamini and Hochberg over 3: .01*3/1 = .03, .02*3/2 = .03, .9; what has no p-value is not counted
    assert adjusted([0.9, None, 0.01, 0.02]) == [pytest.approx(0.9), None, pytest.approx(0.03), pytest.approx(0.03)]


def test_nothing_to_correct():
    assert adjusted([None]) == [None]
    assert adjusted([]) == []
