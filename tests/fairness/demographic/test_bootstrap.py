import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.demographic import (
    BootstrapPlan,
    CountRow,
    bootstrap,
    hallucination_scores,
    inclusion_scores,
    interval,
    replicates,
    tabulate,
    word_list_scores,
)

GROUPS = ("male", "female")


def table(*documents, fields=("hallucinated",)):
    """A table of documents, each a list of assignments' counts."""
    rows = (CountRow(f"d{d}", a, counts) for d, each in enumerate(documents) for a, counts in enumerate(each))
    return tabulate(rows, fields, GROUPS)


THREE = table([[[3, 1]], [[0, 2]]], [[[1, 1]]], [[[4, 0]], [[0, 0]], [[1, 5]]])


def test_drawn_document_enters_with_all_its_assignments():
    # d1 twice and d2 once: 2 * (1, 1) + (5, 5) = (7, 7); d0 three times: (9, 9); d2, d0, d0: (5, 5) + 2 * (3, 3)
    found = replicates(hallucination_scores, THREE, "document", [[1, 1, 2], [0, 0, 0], [2, 0, 0]])
    assert found.tolist() == [0.0, 0.0, 0.0]
    # one document of (3, 1): 3/4 against a half
    assert replicates(hallucination_scores, table([[[3, 1]]]), "document", [[0]]).tolist() == [0.25]


def test_drawn_assignments_stay_in_their_document():
    # d0: second twice (0, 4); d1: (1, 1); d2: first, first, second (8, 0) -> (9, 5), 9/14 - 1/2
    found = replicates(hallucination_scores, THREE, "assignment", [[[1, 1], [0], [0, 0, 1]]])
    assert found.tolist() == [pytest.approx(9 / 14 - 0.5)]


@pytest.mark.parametrize(
    ("unit", "draw", "match"),
    [
        ("document", [3], "positions of the documents, 0 to 2"),
        ("document", [-1], "positions"),
        ("assignment", [[0], [0]], "one list a document: 3 are needed, got 2"),
        ("assignment", [[0], [1], [0]], "assignments of document 'd1', 0 to 0"),
        ("row", [0], "unit 'row' is not known"),
    ],
)
def test_resamples_that_are_none_of_the_table_are_refused(unit, draw, match):
    with pytest.raises(DataError, match=match):
        replicates(hallucination_scores, THREE, unit, [draw])


@pytest.mark.parametrize("unit", ["document", "assignment"])
def test_same_seed_gives_the_same_interval_and_another_seed_another(unit):
    counts = np.random.default_rng(0).integers(20, size=(12, 5, 1, 2))
    plans = [BootstrapPlan(resamples=150, seed=seed) for seed in (1, 1, 2)]
    found = [bootstrap(hallucination_scores, table(*counts), unit, plan) for plan in plans]
    assert found[0] == found[1] != found[2]
    assert found[0].estimate == found[2].estimate
    assert found[0].n == 150


def test_one_document_can_only_be_drawn_again_but_its_assignments_vary():
    one = table([[[3, 1]], [[1, 3]], [[2, 0]]])
    by_document = bootstrap(hallucination_scores, one, "document")
    # (6, 4): 6/10 against a half
    assert (by_document.low, by_document.high) == (pytest.approx(0.1), pytest.approx(0.1))
    by_assignment = bootstrap(hallucination_scores, one, "assignment")
    assert by_assignment.low < by_assignment.high


def test_drawn_documents_spread_as_sampling_theory_says():
    # half of 200 documents have one man, half one woman; p of a resample has standard deviation sqrt(.25 / 200) = .0354,
    # so |p - 1/2| has its 95 % point near 1.96 * .0354 = .069 for bounds at 2.5 % and 97.5 % of a folded normal: 2.24 * .0354
    many = table(*[[[[1, 0]]], [[[0, 1]]]] * 100)
    found = bootstrap(hallucination_scores, many, "document", BootstrapPlan(resamples=4000))
    assert found.high == pytest.approx(2.2414 * math.sqrt(0.25 / 200), rel=0.08)
    by_assignment = bootstrap(hallucination_scores, many, "assignment")
    assert (by_assignment.low, by_assignment.high) == (0.0, 0.0)


def test_undefined_replicates_are_omitted_and_counted_or_leave_no_interval(caplog):
    scores = [0.1, math.nan, 0.3, 0.2]
    omitted = interval(scores, BootstrapPlan(), estimate=0.2)
    # positions .05 and 1.95 of .1, .2, .3
    assert (omitted.low, omitted.high) == (pytest.approx(0.105), pytest.approx(0.295))
    assert (omitted.n, omitted.n_defined, omitted.is_doubtful) == (4, 3, True)
    assert "only 3 of 4 bootstrap replicates" in caplog.text
    propagated = interval(scores, BootstrapPlan(undefined="propagate"))
    assert (propagated.low, propagated.high, propagated.estimate) == (None, None, None)
    assert interval([math.nan], BootstrapPlan()).low is None


def test_infinite_replicates_are_defined():
    # of 1, 2, inf, inf: position .075 -> 1.075; position 2.925 lies between two infinities
    found = interval([math.inf, 1.0, 2.0, math.inf], BootstrapPlan())
    assert (found.low, found.high, found.n_defined) == (pytest.approx(1.075), math.inf, 4)


@pytest.mark.filterwarnings("error")
def test_bound_beside_an_infinity_is_infinite():
    # position .025 * 999 = 24.975 lies between the last of 25 -inf and 1
    scores = np.array([-math.inf] * 25 + [1.0] * 975)
    low = interval(scores, BootstrapPlan())
    assert (low.low, low.high, low.n_defined) == (-math.inf, 1.0, 1000)
    high = interval(-scores, BootstrapPlan())
    assert (high.low, high.high) == (-1.0, math.inf)


@pytest.mark.filterwarnings("error")
def test_bound_between_both_infinities_is_undefined():
    # of -inf and inf, positions .025 and .975
    found = interval([-math.inf, math.inf], BootstrapPlan())
    assert (found.low, found.high, found.n_defined) == (None, None, 2)


@given(st.lists(st.floats(-5, 5), min_size=1, max_size=30), st.floats(0.05, 0.99))
def test_percentiles_are_numpys(scores, level):
    found = interval(scores, BootstrapPlan(level=level))
    low, high = np.quantile(scores, [(1 - level) / 2, 1 - (1 - level) / 2])
    assert (found.low, found.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


def test_every_pooled_measure_can_be_resampled():
    two = table([[[4, 6], [1, 3]]], [[[3, 1], [2, 0]]], fields=("present", "included"))
    assert bootstrap(inclusion_scores, two, "document").n_defined == 1000
    assert bootstrap(word_list_scores, two, "assignment").estimate is not None


@pytest.mark.parametrize("plan", [{"resamples": 0}, {"level": 1.0}, {"undefined": "zero"}])
def test_plan_that_cannot_be_drawn_is_refused(plan):
    with pytest.raises(DataError):
        BootstrapPlan(**plan)


def test_empty_table_is_refused():
    with pytest.raises(DataError, match="at least one document"):
        bootstrap(hallucination_scores, table(), "document")
