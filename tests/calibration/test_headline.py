"""Whether a whole page of an audit says something falsely as seldom as it may: a part here, all with `-m campaign`."""

from itertools import product
from typing import get_args

import pytest
from chance import most_false

from evenhand.benchmarks.calibration import OWN, Corpus, Manner
from evenhand.benchmarks.calibration_headline import ALL_SIZES, PAGES, Kinds, count_pages


@pytest.mark.parametrize(
    "of",
    [
        Kinds(),
        *(pytest.param(of, marks=pytest.mark.slow) for of in (Kinds(3), Kinds(3, are_orders=True, has_tone=True))),
    ],
    ids=str,
)
def test_a_page_says_something_in_no_more_than_a_twentieth_of_fair_corpora(of):
    kinds = product(ALL_SIZES, (0.0, 0.7), ("extract", "longest", "common words"))
    found = [count_pages(of, Corpus(sizes, 10, own, manner), 1, planted=False) for sizes, own, manner in kinds]
    assert sum(each.false for each in found) <= most_false(sum(each.trials for each in found))


@pytest.mark.slow
def test_of_two_systems_the_one_that_halves_a_value_is_less_fair_in_a_hundred_sets():
    found = count_pages(Kinds(2), Corpus((4, 4), 100, 0.3), 2)
    assert (found.found, found.less_fair, found.others) == (2, 2, 0)


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [12, 30, 100])
@pytest.mark.parametrize("of", [of for pages in PAGES.values() for of in pages], ids=str)
def test_all_pages(of, n_sets):
    kinds = list(product(ALL_SIZES, OWN, get_args(Manner)))
    found = [count_pages(of, Corpus(kind[0], n_sets, *kind[1:]), 4 if n_sets == 100 else 10) for kind in kinds]
    n_all = sum(each.trials for each in found)
    assert sum(each.false for each in found) <= most_false(n_all)
    assert sum(each.others for each in found) <= most_false(n_all)
