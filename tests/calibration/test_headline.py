"""Whether the headline of an audit names somebody falsely as seldom as pages say: a part here, all with `-m campaign`."""

from itertools import product
from math import sqrt
from typing import get_args

import pytest

from evenhand.benchmarks.calibration import OWN, Corpus, Manner
from evenhand.benchmarks.calibration_headline import ALL_SIZES, PAGES, Kinds, count_headed, count_pages


def most_false(trials: int) -> float:
    """5 % and two standard errors of the simulation."""
    return trials * 0.05 + 2 * sqrt(trials * 0.05 * 0.95)


def test_the_headline_names_somebody_in_no_more_than_a_twentieth_of_fair_corpora():
    kinds = product(ALL_SIZES, OWN, ("extract", "common words"))
    found = [count_headed(Corpus(sizes, 12, own, manner), 10, planted=False) for sizes, own, manner in kinds]
    assert sum(each.false for each in found) <= most_false(sum(each.trials for each in found))


@pytest.mark.parametrize(("sizes", "least"), [((7, 1), 0.65), ((5, 2, 1), 0.4)])
def test_the_headline_finds_half_of_a_value_in_thirty_sets_as_often_as_promised(sizes, least):
    found = [count_headed(Corpus(sizes, 30, 0.3, manner), 3) for manner in get_args(Manner)]
    trials = sum(each.trials for each in found)
    # so few corpora may have two standard errors less; the campaign has no such allowance
    fewest = least * trials - 2 * sqrt(trials * least * (1 - least))
    assert min(sum(each.smallest for each in found), sum(each.largest for each in found)) >= fewest


def test_the_headline_of_two_hundred_sets_finds_the_half_of_a_value():
    found = count_headed(Corpus((7, 1), 200, 0.3), 2)
    assert (found.smallest, found.largest) == (2, 2)


@pytest.mark.parametrize("of", [Kinds(2), Kinds(3, are_orders=True, has_tone=True)], ids=str)
def test_a_page_of_several_says_something_in_no_more_than_a_twentieth_of_fair_corpora(of):
    kinds = product(ALL_SIZES, OWN, ("extract", "common words"))
    found = [count_pages(of, Corpus(sizes, 12, own, manner), 2, planted=False) for sizes, own, manner in kinds]
    n_all = sum(each.trials for each in found)
    assert sum(each.false for each in found) <= most_false(n_all)
    # with 5 % for each table some would say something more often
    assert sum(each.apart for each in found) > sum(each.false for each in found)


def test_of_two_systems_the_one_that_halves_a_value_is_less_fair_in_two_hundred_sets():
    found = count_pages(Kinds(2), Corpus((7, 1), 200, 0.3), 2)
    assert (found.found, found.less_fair, found.others) == (2, 2, 0)


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [12, 30, 200])
def test_all_headlines(n_sets):
    kinds = list(product(ALL_SIZES, OWN, get_args(Manner)))
    found = {kind: count_headed(Corpus(kind[0], n_sets, *kind[1:]), 10 if n_sets == 200 else 40) for kind in kinds}
    n_all = sum(each.trials for each in found.values())
    assert sum(each.false for each in found.values()) <= most_false(n_all)
    # four families that have 5 % each would name somebody far more often
    assert sum(each.apart for each in found.values()) > most_false(n_all)
    least = {30: {(7, 1): 0.65, (5, 2, 1): 0.4}, 200: dict.fromkeys(ALL_SIZES, 0.95)}
    for sizes, share in least.get(n_sets, {}).items():
        mine = [each for kind, each in found.items() if kind[0] == sizes]
        trials = sum(each.trials for each in mine)
        assert sum(each.smallest for each in mine) >= share * trials
        assert sum(each.largest for each in mine) >= share * trials


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [12, 30, 200])
@pytest.mark.parametrize("of", [of for pages in PAGES.values() for of in pages], ids=str)
def test_all_pages(of, n_sets):
    kinds = list(product(ALL_SIZES, OWN, get_args(Manner)))
    found = [count_pages(of, Corpus(kind[0], n_sets, *kind[1:]), 4 if n_sets == 200 else 10) for kind in kinds]
    n_all = sum(each.trials for each in found)
    assert sum(each.false for each in found) <= most_false(n_all)
    assert sum(each.others for each in found) <= most_false(n_all)
    if n_sets == 200 and not of.are_orders:
        assert sum(each.found for each in found) >= 0.95 * n_all
