import numpy as np
import pytest
from group_samples import entailments
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.groups.coverage import coverage, equal_coverage
from evenhand.plugins.published.bounds import greedy_coverage_parity, greedy_equal_coverage


def random_set(seed: int, sentences: int = 6, documents: int = 5):
    rng = np.random.default_rng(seed)
    matrix = (rng.random((documents, sentences)) * (rng.random((documents, sentences)) < 0.7)).round(3)
    return matrix, [0, 1, 2, 0, 1][:documents]


def measured(matrix, labels, selected) -> float:
    return float(equal_coverage(coverage(entailments([(matrix[:, list(selected)], labels)]), 3))[0])


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["lower", "upper"]))
def test_trace_is_what_the_selected_sentences_have(seed, bound):
    matrix, labels = random_set(seed)
    found = greedy_equal_coverage(matrix, labels, 4, bound)
    for n, value in enumerate(found.trace, start=1):
        assert value == pytest.approx(measured(matrix, labels, found.selected[:n]))


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1))
def test_each_step_takes_the_best_of_the_sentences_left(seed):
    matrix, labels = random_set(seed)
    for bound, best in (("lower", min), ("upper", max)):
        found = greedy_equal_coverage(matrix, labels, 3, bound)
        for n, value in enumerate(found.trace):
            before = found.selected[:n]
            left = [j for j in range(matrix.shape[1]) if j not in before]
            values = [measured(matrix, labels, [*before, j]) for j in left]
            assert value == pytest.approx(best(v for v in values if not np.isnan(v)))


def test_ties_take_the_first_sentence():
    matrix = [[0.5, 0.5, 0.5], [0.5, 0.5, 0.5]]
    assert greedy_equal_coverage(matrix, [0, 1], 2, "upper").selected == (0, 1)


def test_documents_that_entail_nothing_have_no_bound():
    found = greedy_equal_coverage([[0.0], [0.0]], [0, 1], 3, "lower")
    assert found.selected == ()
    assert found.last is None


@pytest.mark.parametrize(("labels", "most"), [([0, 0], 1), ([0, 1], 0)])
def test_bound_without_meaning_is_refused(labels, most):
    with pytest.raises(DataError, match="at least two values and at least 1 sentence"):
        greedy_equal_coverage([[0.5], [0.5]], labels, most, "lower")


@settings(max_examples=30)
@given(st.lists(st.integers(0, 2**32 - 1), max_size=5))
def test_parity_bound_is_what_the_selections_have(seeds):
    sets = [random_set(seed, documents=1 + seed % 5) for seed in seeds]
    found = {}
    for bound in ("lower", "upper"):
        chosen, found[bound] = greedy_coverage_parity(sets, 3, 2, bound)
        picked = [(m[:, list(own)], labels) for (m, labels), own in zip(sets, chosen, strict=True) if own]
        assert found[bound] == pytest.approx(parity(picked))


def parity(sets):
    """Mean over values of the absolute mean difference of their documents, document by document; None without an answer."""
    gaps = {0: [], 1: [], 2: []}
    for matrix, labels in sets:
        table = coverage(entailments([(matrix, labels)]), 3)
        if table.scored[0]:
            for label, covered in zip(labels, table.by_document[0], strict=True):
                gaps[label].append(covered - table.overall[0])
    means = [abs(np.mean(own)) for own in gaps.values() if own]
    return np.mean(means) if means else None


def test_parity_balances_the_second_set_against_the_first():
    # the first set can only favour the first value; the second then takes the sentence that favours the other
    first = ([[0.9], [0.1]], [0, 1])
    second = ([[0.9, 0.1], [0.1, 0.9]], [0, 1])
    chosen, lowest = greedy_coverage_parity([first, second], 2, 1, "lower")
    assert chosen == [(0,), (1,)]
    assert lowest == pytest.approx(0)
    assert greedy_coverage_parity([first, second], 2, 1, "upper") == ([(0,), (0,)], pytest.approx(0.4))


def test_one_valued_set_takes_no_part_in_parity():
    assert greedy_coverage_parity([([[0.9], [0.1]], [0, 0])], 2, 1, "lower") == ([()], None)
