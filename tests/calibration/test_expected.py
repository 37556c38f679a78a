"""How far aggregates of fair summaries lie from what is expected of them: a part here, all with `-m campaign`."""

from collections import Counter
from itertools import product
from math import sqrt
from typing import get_args

import pytest

from evenhand.benchmarks.calibration import Corpus, Manner
from evenhand.benchmarks.calibration_expected import count_beyond
from evenhand.benchmarks.calibration_word_lists import count_named

MANNERS = get_args(Manner)


def most_false(trials):
    """5 % and two standard errors of the simulation."""
    return trials * 0.05 + 2 * sqrt(trials * 0.05 * 0.95)


def beyond(kinds, trials, measure="shares", halved=None):
    """By aggregate, of all kinds together."""
    sums = {}
    for corpus in kinds:
        for name, found in count_beyond(corpus, trials, measure, halved).items():
            sums[name] = sums[name] + found if name in sums else found
    return sums


def test_error_rates_of_fair_summaries_are_seldom_above_what_is_expected():
    kinds = [
        Corpus(sizes, 30, own, manner)
        for sizes, own, manner in product(((4, 4), (7, 1)), (0.0, 0.3), ("extract", "common words"))
    ]
    found = beyond(kinds, 4)
    for name in ("UER", "SOF"):
        assert found[name].above <= most_false(found[name].trials)
        # to three tenths of a point of a hundred: with the scatter of sentences by a third smaller or larger it is more
        assert abs(found[name].found - found[name].expected) < 0.003


def test_error_rates_of_summaries_that_read_half_of_a_side_are_above():
    kinds = [Corpus((7, 1), 40, own, "common words") for own in (0.0, 0.3)]
    found = beyond(kinds, 3, halved="first")
    assert found["UER"].above >= 5
    assert found["SOF"].above >= 5


def test_lists_are_named_in_no_more_than_a_twentieth_of_fair_corpora_and_halves_are_found():
    kinds = list(product(((4, 4), (7, 1)), (0.0, 0.3), ("extract", "common words")))
    found = [count_named(Corpus(sizes, 30, own, manner), 3) for sizes, own, manner in kinds]
    trials = sum(each.trials for each in found)
    assert sum(each.false for each in found) <= most_false(trials)
    assert min(sum(each.smallest for each in found), sum(each.largest for each in found)) >= 0.25 * trials


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [12, 30, 200])
def test_all_corpora_by_word_lists(n_sets):
    false = Counter()
    for sizes, own, manner in product(((4, 4), (7, 1)), (0.0, 0.3), MANNERS):
        false[manner] += count_named(Corpus(sizes, n_sets, own, manner), 20).false
    assert max(false.values()) <= most_false(80)


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [30, 200])
@pytest.mark.parametrize("measure", ["shares", "coverage"])
def test_all_aggregates(n_sets, measure):
    kinds = [
        Corpus(sizes, n_sets, own, manner)
        for sizes, own, manner in product(((4, 4), (7, 1), (5, 2, 1)), (0.0, 0.3), MANNERS)
    ]
    found = beyond(kinds, 10, measure)
    # BUR of extracts lies above where a value has one document, which docs/fairness.md#expected says
    for name in {"shares": ("UER", "AUC", "SOF"), "coverage": ("Equal Coverage", "Coverage Parity")}[measure]:
        assert found[name].above <= most_false(found[name].trials)
