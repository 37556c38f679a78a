"""Whether groups are named falsely as seldom as pages say: simulated corpora, a part of them here, all with `-m campaign`."""

from itertools import product
from math import sqrt
from typing import get_args

import pytest

from evenhand.benchmarks.calibration import (
    OWN,
    PAIRS,
    SIZES,
    UNEVEN,
    Corpus,
    Manner,
    RealDocuments,
    count_fairer,
    count_named,
    count_named_of,
    count_uneven,
)
from evenhand.corpora.bundled import DOCUMENTS

MANNERS = get_args(Manner)


def most_false(trials: int) -> float:
    """5 % and two standard errors of the simulation."""
    return trials * 0.05 + 2 * sqrt(trials * 0.05 * 0.95)


def test_nobody_is_named_in_more_than_a_twentieth_of_fair_corpora():
    kinds = list(product(((4, 4), (7, 1), (5, 2, 1)), (0.0, 0.3), ("extract", "common words")))
    found = [count_named(Corpus(sizes, 30, own, manner), 12, planted=False) for sizes, own, manner in kinds]
    assert sum(each.false for each in found) <= most_false(sum(each.trials for each in found))


def test_nobody_is_named_more_often_where_few_summaries_are_nearly_all_there_is():
    # by pseudo-values and by Student's t it were 63 of 200 of the last, and 30 of the one before
    found = [count_uneven(12, lengths, 40) for lengths in UNEVEN]
    assert sum(each.false for each in found) <= most_false(sum(each.trials for each in found))


@pytest.mark.parametrize(("sizes", "least"), [((7, 1), 0.65), ((5, 2, 1), 0.4)])
def test_half_of_a_value_is_missed_in_thirty_sets_as_seldom_as_promised(sizes, least):
    found = [count_named(Corpus(sizes, 30, 0.3, manner), 10) for manner in ("extract", "common words")]
    trials = sum(each.trials for each in found)
    assert min(sum(each.smallest for each in found), sum(each.largest for each in found)) >= least * trials


def test_two_hundred_sets_find_the_half_of_a_value():
    found = count_named(Corpus((7, 1), 200, 0.3), 4)
    assert (found.smallest, found.largest) == (4, 4)


def test_manners_of_writing_are_no_difference_in_fairness_and_a_halved_value_is():
    found = [count_fairer(Corpus((7, 1), 40, own), "common words", 30) for own in (0.0, 0.3)]
    assert sum(each.false for each in found) <= most_false(60)
    assert sum(each.smallest for each in found) >= 0.5 * 60


def test_nobody_is_named_by_coverage_in_more_than_a_twentieth_of_fair_corpora_and_halves_are_found():
    kinds = list(product(((4, 4), (7, 1)), (0.0, 0.3), ("extract", "common words")))
    found = [count_named(Corpus(sizes, 20, own, manner), 4, "coverage") for sizes, own, manner in kinds]
    trials = sum(each.trials for each in found)
    assert sum(each.false for each in found) <= most_false(trials)
    assert sum(each.largest for each in found) >= 0.4 * trials


def test_manners_of_writing_are_no_difference_in_coverage_and_a_halved_value_is():
    found = [count_fairer(Corpus(sizes, 30, 0.3), "common words", 8, "coverage") for sizes in ((4, 4), (6, 2), (7, 1))]
    assert sum(each.false for each in found) <= most_false(24)
    assert sum(each.smallest for each in found) >= 0.35 * 24


def test_nothing_is_said_of_coverage_where_most_of_what_summaries_say_is_in_no_document():
    found = count_named(Corpus((7, 1), 12, 0.3, "words"), 2, "coverage")
    assert (found.false, found.smallest, found.largest) == (0, 0, 0)


@pytest.mark.parametrize("measure", ["shares", "coverage"])
def test_sentences_of_real_documents_take_no_side(measure):
    found = [
        count_named_of(RealDocuments.read(DOCUMENTS["reviews"], "sentiment"), 48, manner, 8, measure)
        for manner in ("extract", "lead")
    ]
    assert sum(each.false for each in found) <= most_false(16)


def test_copies_of_a_document_make_no_bias_by_shares():
    found = [
        count_named(Corpus(sizes, 30, 0.3, manner, copies=True), 6, planted=False)
        for sizes, manner in product(((4, 4), (6, 2)), ("extract", "common words"))
    ]
    assert sum(each.false for each in found) <= most_false(sum(each.trials for each in found))


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [12, 30, 200])
def test_all_corpora_by_coverage(n_sets):
    kinds = product(((4, 4), (6, 2), (7, 1), (5, 2, 1)), (0.0, 0.3), MANNERS)
    found = [count_named(Corpus(kind[0], n_sets, *kind[1:]), 40, "coverage", planted=False) for kind in kinds]
    assert sum(each.false for each in found) <= most_false(sum(each.trials for each in found))


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [30, 60])
def test_systems_of_other_manners_do_not_differ_by_coverage(n_sets):
    kinds = product(SIZES, OWN, PAIRS)
    found = [count_fairer(Corpus(sizes, n_sets, own, one), other, 15, "coverage") for sizes, own, (one, other) in kinds]
    assert sum(each.false for each in found) <= most_false(sum(each.trials for each in found))


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [5, 12, 30, 200])
def test_all_corpora(n_sets):
    kinds = list(product(((4, 4), (6, 2), (7, 1), (5, 2, 1)), (0.0, 0.3), MANNERS))
    found = {kind: count_named(Corpus(kind[0], n_sets, *kind[1:]), 40) for kind in kinds}
    total = sum(each.trials for each in found.values())
    assert sum(each.false for each in found.values()) <= most_false(total)
    least = {30: {(7, 1): 0.65, (5, 2, 1): 0.4}, 200: dict.fromkeys(((4, 4), (6, 2), (7, 1), (5, 2, 1)), 0.95)}
    for sizes, share in least.get(n_sets, {}).items():
        mine = [each for kind, each in found.items() if kind[0] == sizes]
        trials = sum(each.trials for each in mine)
        assert sum(each.smallest for each in mine) >= share * trials
        assert sum(each.largest for each in mine) >= share * trials


@pytest.mark.campaign
@pytest.mark.parametrize("sentences", [(3, 6), (12, 24)])
def test_thousands_of_sets_make_no_finding_of_a_small_bias(sentences):
    kinds = product(((7, 1), (5, 2, 1)), (0.0, 0.3), MANNERS)
    n_sets = 2000 if sentences == (3, 6) else 400
    found = [count_named(Corpus(s, n_sets, own, manner, sentences), 5, planted=False) for s, own, manner in kinds]
    assert sum(each.false for each in found) <= most_false(sum(each.trials for each in found))


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [12, 30, 200])
def test_systems_of_other_manners_do_not_differ(n_sets):
    pairs = (("extract", "common words"), ("extract", "lead"), ("lead", "common words"), ("words", "extract"))
    kinds = product(((4, 4), (7, 1), (5, 2, 1)), (0.0, 0.3), pairs)
    found = [count_fairer(Corpus(sizes, n_sets, own, one), other, 15) for sizes, own, (one, other) in kinds]
    assert sum(each.false for each in found) <= most_false(sum(each.trials for each in found))
