"""Whether verdicts on places are false as seldom as they say: simulated corpora, a part of them here, all with `-m campaign`."""

from itertools import product

import pytest
from chance import most_false

from evenhand.benchmarks.calibration import Corpus
from evenhand.benchmarks.calibration_order import count_effects, count_places

SIZES = ((4, 4), (5, 2, 1))


def kinds(n_sets, manners=("extract", "common words")):
    return [Corpus(sizes, n_sets, own, manner) for sizes, own, manner in product(SIZES, (0.0, 0.3), manners)]


@pytest.mark.parametrize(("halved", "blocks"), [("nobody", False), ("value", False), ("value", True)])
def test_no_place_is_named_where_none_is_preferred(halved, blocks):
    found = sum(count_places(kind, halved, 3, blocks=blocks) for kind in kinds(16))
    assert found <= most_false(3 * len(kinds(16)))


def test_a_halved_third_is_found():
    assert sum(count_places(kind, "middle third", 2) for kind in kinds(30)) >= 0.6 * 2 * len(kinds(30))


@pytest.mark.parametrize("by_documents", [True, False])
def test_orders_name_the_cause(by_documents):
    wrong, right = 0, 0
    for kind in kinds(30, ("common words",)):
        counted = count_effects(kind, "middle third", 2, by_documents=by_documents)
        wrong, right = wrong + counted[0], right + counted[1]
    assert wrong <= most_false(8)
    assert right >= 6


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [12, 30, 200])
def test_all_corpora(n_sets):
    every = kinds(n_sets, ("extract", "lead", "words", "common words"))
    for halved, blocks in (("nobody", False), ("value", False), ("value", True)):
        found = sum(count_places(kind, halved, 20, blocks=blocks) for kind in every)
        assert found <= most_false(20 * len(every))
