"""Whether word lists are named falsely as seldom as pages say: simulated corpora, a part here, all with `-m campaign`."""

from collections import Counter
from itertools import product
from typing import get_args

import pytest
from chance import most_false

from evenhand.benchmarks.calibration import Corpus, Manner
from evenhand.benchmarks.calibration_word_lists import count_named

SIZES = ((4, 4), (7, 1))


def test_lists_are_named_in_no_more_than_a_twentieth_of_fair_corpora_and_halves_are_found():
    kinds = list(product(SIZES, (0.0, 0.3), ("extract", "common words")))
    found = [count_named(Corpus(sizes, 30, own, manner), 3) for sizes, own, manner in kinds]
    trials = sum(each.trials for each in found)
    assert sum(each.false for each in found) <= most_false(trials)
    assert min(sum(each.smallest for each in found), sum(each.largest for each in found)) >= 0.25 * trials


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [12, 30, 200])
def test_all_corpora(n_sets):
    false = Counter[str]()
    for sizes, own, manner in product(SIZES, (0.0, 0.3), get_args(Manner)):
        false[manner] += count_named(Corpus(sizes, n_sets, own, manner), 20).false
    assert max(false.values()) <= most_false(80)
