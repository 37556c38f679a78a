"""Whether groups are named falsely as seldom as pages say: simulated corpora, a part of them here, all with `-m campaign`."""

from itertools import product
from typing import get_args

import pytest
from chance import most_false

from evenhand.benchmarks.calibration import OWN, SIZES, Corpus, Manner, RealDocuments, count_named, count_named_of
from evenhand.corpora.bundled import DOCUMENTS

MANNERS = get_args(Manner)


def named_of(kinds, trials, **planted):
    """Trials, and those of them that named somebody falsely."""
    found = [count_named(kind, trials, planted=False, **planted) for kind in kinds]
    return sum(each.trials for each in found), sum(each.false for each in found)


@pytest.mark.slow
def test_nobody_is_named_in_more_than_a_twentieth_of_fair_corpora():
    kinds = [Corpus(*each[:1], 16, *each[1:]) for each in product(((4, 4), (7, 1), (2,) * 12), (0.0, 0.7), MANNERS)]
    trials, false = named_of(kinds, 2)
    assert false <= most_false(trials)


def test_a_side_that_is_ten_times_as_long_is_named_no_more_often():
    trials, false = named_of([Corpus((4, 4), 16, 0.3, manner, longer=10) for manner in ("longest", "lead")], 6)
    assert false <= most_false(trials)


def test_copies_of_a_document_make_no_bias():
    kinds = product(((4, 4), (6, 2)), ("extract", "common words"))
    trials, false = named_of([Corpus(sizes, 16, 0.3, manner, copies=True) for sizes, manner in kinds], 5)
    assert false <= most_false(trials)


@pytest.mark.slow
def test_half_of_a_value_is_found_in_a_hundred_sets():
    found = [count_named(Corpus(sizes, 100, 0.3), 3) for sizes in ((4, 4), (5, 2, 1))]
    assert sum(each.largest for each in found) >= 5
    assert found[0].smallest == 3


def test_sentences_of_real_documents_take_no_side():
    real = RealDocuments.read(DOCUMENTS["reviews"], "sentiment")
    found = [count_named_of(real, 30, manner, 6) for manner in ("extract", "lead", "longest")]
    assert sum(each.false for each in found) <= most_false(18)


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [8, 12, 30, 100])
def test_all_corpora(n_sets):
    kinds = list(product(SIZES, OWN, MANNERS))
    found = {kind: count_named(Corpus(kind[0], n_sets, *kind[1:]), 20) for kind in kinds}
    assert sum(each.false for each in found.values()) <= most_false(sum(each.trials for each in found.values()))
    for sizes, share in {30: {(4, 4): 0.8}, 100: {(4, 4): 0.95, (7, 1): 0.8}}.get(n_sets, {}).items():
        mine = [each for kind, each in found.items() if kind[0] == sizes and kind[2] == "extract"]
        assert sum(each.largest for each in mine) >= share * sum(each.trials for each in mine)
