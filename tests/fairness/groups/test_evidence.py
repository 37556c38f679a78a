import numpy as np
import pytest

from evenhand.errors import DataError
from evenhand.fairness.groups import SetEvidence, cover_set, coverage, entailments_of, equal_coverage

# two units, three documents: covered .9 .6 0 and 0 .8 .7
NLI = [[[0.0, 0.1, 0.9], [0.1, 0.3, 0.6], [0.5, 0.1, 0.4]], [[0.9, 0.0, 0.1], [0.0, 0.2, 0.8], [0.2, 0.1, 0.7]]]


def test_one_set_worked_by_hand():
    found = cover_set(SetEvidence(NLI, [0, 1, 2], [0, 0, 1]), 2)
    # documents .45 .7 .35, overall .5; values .575 and .35; gaps .075 and .15
    assert found.by_document == pytest.approx((0.45, 0.7, 0.35))
    assert found.overall == pytest.approx(0.5)
    assert found.difference == pytest.approx((0.075, -0.15))
    assert found.ec == pytest.approx(0.1125)
    assert found.clusters == ((0,), (1,))


def test_merged_units_count_once_with_their_maximum():
    found = cover_set(SetEvidence(NLI, [0, 1, 2], [0, 0, 1], [[1.0, 0.96], [0.97, 1.0]]), 2)
    assert found.clusters == ((0, 1),)
    assert found.n_units == 1
    assert found.by_document == pytest.approx((0.9, 0.8, 0.7))


def test_many_sets_are_each_set_alone():
    sets = [SetEvidence(NLI, [0, 1, 2], [0, 0, 1], np.eye(2)), SetEvidence([NLI[0]], [0, 1, 1], [1, 0])]
    entailments, _ = entailments_of(sets)
    together = equal_coverage(coverage(entailments, 2))
    assert together.tolist() == pytest.approx([cover_set(each, 2).ec for each in sets])


def test_entailment_between_units_has_to_fit_its_set():
    with pytest.raises(DataError, match=r"set 1: entailment between units needs shape \(2, 2\), got \(3, 3\)"):
        entailments_of([SetEvidence(NLI, [0, 1, 2], [0, 0, 1]), SetEvidence(NLI, [0, 1, 2], [0, 0, 1], np.eye(3))])


def test_one_valued_set_has_no_answer_but_is_zero_in_the_paper():
    evidence = SetEvidence([[[0, 0.1, 0.9], [0, 0.2, 0.8]]], [0, 1], [1, 1])
    assert cover_set(evidence, 2).ec is None
    assert cover_set(evidence, 2).unscored == "single value"
    assert cover_set(evidence, 2, "paper").ec == 0


def test_absent_value_has_no_coverage():
    found = cover_set(SetEvidence([[[0, 0.1, 0.9], [0, 0.2, 0.8]]], [0, 1], [0, 2]), 3)
    assert found.by_value == (0.9, None, 0.8)
    assert found.difference[1] is None
    assert found.counts == (1, 0, 1)


def test_set_without_covered_unit_has_no_numbers():
    found = cover_set(SetEvidence([[[0.9, 0, 0.1], [0.8, 0, 0.2]]], [0, 1], [0, 1]), 2)
    assert (found.ec, found.overall, found.unscored) == (None, None, "no unit covered")
    assert found.by_document == found.by_value == found.difference == (None, None)


def test_set_without_units_has_no_answer_in_any_mode():
    evidence = SetEvidence(np.zeros((0, 2, 3)), [0, 1], [0, 1])
    assert cover_set(evidence, 2).unscored == cover_set(evidence, 2, "paper").unscored == "no unit covered"
