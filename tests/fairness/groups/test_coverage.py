import numpy as np
import pytest
from group_samples import entailments
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.fairness.groups.coverage import (
    coverage,
    equal_coverage,
    parity_significance,
)


@st.composite
def document_sets(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, units = draw(st.integers(1, 6)), draw(st.integers(0, 5))
    p = (rng.random((n, units)) * (rng.random((n, units)) < 0.6)).round(3)
    return p, rng.integers(0, 3, n).tolist()


def plainly(p: np.ndarray, labels: list[int]) -> float | None:
    """Equal Coverage, unit by unit and document by document."""
    covered = [j for j in range(p.shape[1]) if any(row[j] > 0 for row in p)]
    present = sorted(set(labels))
    if not covered or len(present) < 2:
        return None
    each = [sum(row[j] for j in covered) / len(covered) for row in p]
    overall = sum(each) / len(each)
    means = []
    for value in present:
        own = [c for c, label in zip(each, labels, strict=True) if label == value]
        means.append(sum(own) / len(own))
    return sum(abs(mean - overall) for mean in means) / len(present)


def test_worked_by_hand():
    # left .8 and .6, right .2: overall 1.6/3, means .7 and .2, gaps 1/6 and 1/3, mean gap 1/4
    table = coverage(entailments([([[0.8], [0.6], [0.2]], [0, 0, 1])]), 2)
    assert equal_coverage(table).tolist() == pytest.approx([0.25])
    assert table.difference[0].tolist() == pytest.approx([1 / 6, -1 / 3])


@settings(max_examples=80)
@given(st.lists(document_sets(), max_size=6))
def test_many_sets_at_once_are_each_set_alone(sets):
    found = equal_coverage(coverage(entailments(sets), 3))
    expected = [plainly(p, labels) for p, labels in sets]
    assert [None if np.isnan(x) else x for x in found] == [None if x is None else pytest.approx(x) for x in expected]


@settings(max_examples=40)
@given(document_sets(), st.randoms(use_true_random=False))
def test_order_of_documents_and_units_does_not_matter(given_set, random):
    p, labels = given_set
    rows, columns = list(range(len(labels))), list(range(p.shape[1]))
    random.shuffle(rows)
    random.shuffle(columns)
    shuffled = (p[rows][:, columns], [labels[i] for i in rows])
    one, other = equal_coverage(coverage(entailments([given_set, shuffled]), 3))
    assert one == pytest.approx(other, nan_ok=True)


def test_uncovered_unit_counts_only_with_the_paper():
    sets = entailments([([[0.8, 0.0], [0.4, 0.0]], [0, 1])])
    # covered only: .8 .4, gaps .2; all: .4 .2, gaps .1
    assert equal_coverage(coverage(sets, 2)).tolist() == pytest.approx([0.2])
    assert equal_coverage(coverage(sets, 2, "paper")).tolist() == pytest.approx([0.1])


def test_label_beyond_the_declared_values_is_refused():
    with pytest.raises(DataError, match="below 2, got 2"):
        coverage(entailments([([[0.5]], [2])]), 2)


def test_unknown_mode_names_the_nearest():
    with pytest.raises(DataError, match="did you mean 'paper'"):
        coverage(entailments([]), 2, "papers")


def test_significance_of_what_is_sure_and_of_what_is_chance():
    assert parity_significance([0.1, 0.2, 0.3], "over") == 0
    assert parity_significance([0.1, 0.2, 0.3], "under") == 1
    # as many up as down: resampled sums are positive in somewhat less than half of the draws, ties being neither
    even = parity_significance([0.1, -0.1] * 50, "over", seed=3)
    assert 0.45 < even < 0.62
    assert even == parity_significance([0.1, -0.1] * 50, "over", seed=3)


@pytest.mark.parametrize("values", [[], [[0.1]], [np.nan]])
def test_significance_of_nothing_is_refused(values):
    with pytest.raises(DataError, match="one finite deviation"):
        parity_significance(values, "over")


def test_direction_that_is_neither_is_refused():
    with pytest.raises(DataError, match="'over' or 'under', got 'up'"):
        parity_significance([0.1], "up")
