from itertools import combinations

import pytest

from evenhand.evaluation.audit.contents import SHARES
from evenhand.evaluation.audit.correction import CAUSES, DIFFERENCES, corrected, corrected_pairs

ONE, OTHER = "one", "other"


def test_a_page_of_one_part_is_corrected_within_it_alone():
    # Benjamini and Hochberg over two: .01 * 2 / 1, .04 * 2 / 2
    assert corrected({(SHARES, ONE): [0.01, 0.04]}) == {(SHARES, ONE): [pytest.approx(0.02), pytest.approx(0.04)]}
    assert corrected({}) == {}
    assert corrected({("coverage", ONE): [None, None]}) == {("coverage", ONE): [None, None]}


def test_what_the_page_is_made_for_has_as_much_as_everything_else_together():
    # of one system half is for shares, and a quarter for each of two others
    found = corrected({(SHARES, ONE): [0.02], ("coverage", ONE): [0.02], ("order", ONE): [0.5]})
    # coverage is asked after shares, and Holm never goes back
    assert found[SHARES, ONE] == [pytest.approx(0.04)]
    assert found["coverage", ONE] == [pytest.approx(0.04)]
    # of two systems a tenth is for published differences, and a half of the rest for shares: 0.225 for each
    tests = {
        (SHARES, ONE): [0.9], (SHARES, OTHER): [0.009], ("coverage", ONE): [0.9], ("coverage", OTHER): [0.0045],
        (DIFFERENCES, OTHER): [0.0045],
    }  # fmt: skip
    found = corrected(tests)
    # .0045 / .225 first; then .009 of what is left, .775, by .225: .031; then .0045 * .55 / .1
    assert found["coverage", OTHER] == [pytest.approx(0.02)]
    assert found[SHARES, OTHER] == [pytest.approx(0.031)] == found[DIFFERENCES, OTHER]


def test_systems_are_compared_where_one_is_named_and_share_what_naming_had():
    tests = {(SHARES, ONE): [0.001], (SHARES, OTHER): [0.9], (DIFFERENCES, OTHER): [0.9]}
    pairs = {(SHARES, OTHER): [0.02]}
    found = corrected_pairs(pairs, ONE, tests, corrected(tests))
    # nine tenths of the level are for shares, and there is one pair
    assert found == {(SHARES, OTHER): [pytest.approx(0.02 / 0.9)]}
    # with nobody named under either nothing is said, however sure
    unnamed = tests | {(SHARES, ONE): [0.2]}
    found = corrected_pairs({(SHARES, OTHER): [0.0001]}, ONE, unnamed, corrected(unnamed))
    assert found[SHARES, OTHER][0] > 0.2


def test_a_part_without_p_values_takes_no_share():
    tests = {(SHARES, ONE): [0.03], ("coverage", ONE): [0.9], ("order", ONE): [0.9], (CAUSES, "place"): [0.9]}
    silent = {("tone", ONE): [None], (DIFFERENCES, OTHER): [None]}
    assert corrected(tests | silent) == corrected(tests) | silent


def test_the_same_holds_however_parts_are_called_and_ordered():
    tests = {
        (SHARES, ONE): [0.001, 0.2],
        ("coverage", ONE): [0.01],
        (DIFFERENCES, OTHER): [0.02],
        ("tone", OTHER): [0.3],
    }
    for one, other in combinations(tests, 2):
        swapped = {part: tests[part] for part in (other, one, *tests)}
        assert corrected(swapped) == corrected(tests)
