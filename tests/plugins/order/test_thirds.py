import numpy as np
import pytest

from evenhand.plugins.order.places import turned_places
from evenhand.plugins.order.thirds import (
    by_third,
    can_be_told,
    expected_within,
    place_and_documents,
    sums_of_orders,
    thirds,
)


def test_thirds_are_alike_from_both_ends():
    assert [thirds(range(n)).tolist() for n in (1, 2, 4)] == [[1], [0, 2], [0, 1, 1, 2]]
    for n in range(1, 40):
        assert (thirds(range(n)) == 2 - thirds(range(n))[::-1]).all()


def test_a_value_that_has_much_room_is_no_place_that_has_it():
    # the first two documents are one value's, which has .8 of the summary instead of .5, shared out as expected, 2:3
    expected = expected_within(np.array([0.4, 0.4, 0.2]), np.array([0.2, 0.3, 0.5]), [0, 0, 1])
    assert expected == pytest.approx([0.32, 0.48, 0.2])
    assert by_third(expected, thirds(range(3))) == pytest.approx([0.32, 0.48, 0.2])


def test_place_is_told_from_a_value_only_where_the_value_stands_elsewhere_too():
    assert can_be_told([0, 0, 1, 1, 2, 2], thirds(range(6))).tolist() == [False, False, False]
    assert can_be_told([0, 1, 1, 0, 2, 2], thirds(range(6))).tolist() == [True, True, False]


@pytest.mark.parametrize(("n", "n_orders"), [(3, 3), (4, 3), (5, 3), (8, 3), (8, 8), (9, 4)])
def test_effects_of_places_and_documents_are_found_as_they_were_planted(n, n_orders):
    generator = np.random.default_rng(n)
    place, sums = np.array([0.6, -0.4, -0.1]), 0.0
    home = thirds(range(n))
    of_documents = []
    for _ in range(5):
        documents = generator.normal(size=n)
        documents -= documents.mean()
        stood = np.array([thirds(turned_places(n, turn, n_orders)) for turn in range(n_orders)])
        gaps = (documents + place[stood] - place[home].mean()) / n
        sums = sums + sums_of_orders(gaps, np.full(n_orders, 7.0), stood, home)
        of_documents.append(by_third(documents / n, home))
    share = np.bincount(home, minlength=3) / n
    given, by_place, by_documents = place_and_documents(sums)
    assert by_place == pytest.approx(share * (place - share @ place))
    assert by_documents == pytest.approx(np.mean(of_documents, axis=0))
    assert given == pytest.approx(by_place + by_documents)


def test_orders_that_leave_a_third_in_place_tell_nothing():
    home = thirds(range(6))
    backwards = np.array([home, home[::-1]])
    given, by_place, by_documents = place_and_documents(sums_of_orders(np.zeros((2, 6)), np.ones(2), backwards, home))
    assert given == pytest.approx(np.zeros(3))
    assert np.isnan([by_place, by_documents]).all()
