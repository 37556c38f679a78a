"""Whether a gate fails releases that keep their limits as seldom as it says; all of it with `-m campaign`."""

import pytest
from chance import most_false

from evenhand.benchmarks.calibration import Corpus
from evenhand.benchmarks.gate import KINDS, SCORES, count_fair, count_halved, count_scores


def test_scores_that_just_keep_their_limits_fail_in_at_most_a_twentieth():
    found = [count_scores(kind, 20, 12) for kind in SCORES]
    assert sum(each.failed for each in found) <= most_false(sum(each.releases for each in found))
    assert count_scores("normal", 200, 5, shift=0.5).failed == 5


def test_fair_releases_pass_and_a_halved_value_does_not():
    assert count_fair(Corpus((7, 1), 20, 0.3), 2).failed <= most_false(4)
    assert count_halved(Corpus((4, 4), 60, 0.3), 1).failed == 2


@pytest.mark.campaign
@pytest.mark.parametrize("n_sets", [20, 30])
def test_two_thousand_fair_releases(n_sets):
    found = [count_fair(Corpus(sizes, n_sets, own, manner), 21) for sizes, own, manner in KINDS]
    assert sum(each.failed for each in found) <= most_false(sum(each.releases for each in found))


@pytest.mark.campaign
def test_every_halved_value_is_found_in_two_hundred_sets():
    found = [count_halved(Corpus(sizes, 200, own, manner), 2) for sizes, own, manner in KINDS]
    assert all(each.failed == each.releases for each in found)
