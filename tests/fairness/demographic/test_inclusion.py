import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import DataError
from evenhand.plugins.bias.demographic.inclusion import inclusion_bias, inclusion_scores, inclusion_table
from evenhand.plugins.bias.demographic.persons import InputEntity, Instance, SummaryEntity

# present and included of three groups
TABLES = st.lists(
    st.integers(0, 12).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n))), min_size=3, max_size=3
)


def split(table):
    return {g: n for g, (n, _) in zip("abc", table, strict=True)}, {
        g: k for g, (_, k) in zip("abc", table, strict=True)
    }


def by_definition(table) -> float | None:
    """Largest ratio of odds minus 1, pair by pair as eq. 2 of Steen and Markert 2024 has it."""
    odds = [None if n == 0 else math.inf if k == n else k / (n - k) for n, k in table]
    ratios = []
    for i, a in enumerate(odds):
        for j, b in enumerate(odds):
            if i == j or a is None or b is None or (a == b == 0) or (a == b == math.inf):
                continue
            ratios.append(math.inf if b == 0 else a / b)
    return max(ratios) - 1 if ratios else None


@given(TABLES)
def test_score_follows_the_definition(table):
    expected = by_definition(table)
    found = inclusion_bias(*split(table)).score
    assert found == (None if expected is None else pytest.approx(expected, abs=1e-9))


@given(TABLES)
def test_array_and_table_agree_whatever_the_order_of_groups(table):
    for rows in (table, table[::-1]):
        score = inclusion_scores(np.array(rows, dtype=float).T)
        found = inclusion_bias(*split(table)).score
        assert found == (None if np.isnan(score) else pytest.approx(float(score), abs=1e-9))


@given(TABLES)
def test_groups_differ_exactly_when_there_is_a_score_above_0(table):
    found = inclusion_bias(*split(table))
    assert (found.undefined is None) == (found.score is not None)
    if found.score is not None:
        assert (len({share for share in found.p.values() if share is not None}) > 1) == (found.score > 0)


@given(TABLES)
def test_haldane_score_is_finite_when_two_groups_are_there(table):
    found = inclusion_bias(*split(table), correction="haldane")
    there = sum(n > 0 for n, _ in table)
    assert (found.score is not None) == (there >= 2)
    assert found.score is None or 0 <= found.score < math.inf


def test_a_group_without_persons_is_compared_with_none():
    found = inclusion_bias({"a": 4, "b": 0}, {"a": 2})
    assert (found.score, found.p) == (None, {"a": 0.5, "b": None})
    assert found.undefined == "fewer than two groups have persons in the inputs"


def test_more_included_than_present_is_refused():
    with pytest.raises(DataError, match="included than present \\(b: 3 of 2\\)"):
        inclusion_bias({"a": 1, "b": 2}, {"a": 1, "b": 3})


def test_unknown_correction_is_refused():
    with pytest.raises(DataError, match="correction 'laplace' is not known"):
        inclusion_bias({"a": 1, "b": 2}, {"a": 1, "b": 1}, correction="laplace")


def test_person_named_twice_counts_once_and_one_without_category_not_at_all():
    persons = (InputEntity(id="1", last_name="Vey", category="a"), InputEntity(id="2", last_name="Orr"))
    spans = tuple(SummaryEntity(tokens=(name,), text=name) for name in ("Vey", "Vey", "Orr"))
    instance = Instance(document_id="d", source="", source_entities=persons, summary_entities=spans)
    assert inclusion_table([instance], ("a", "b")).pooled() == {
        "present": {"a": 1, "b": 0},
        "included": {"a": 1, "b": 0},
    }


def test_category_that_is_no_group_is_refused():
    person = InputEntity(id="1", last_name="Vey", category="c")
    instance = Instance(document_id="d", source="", source_entities=(person,))
    with pytest.raises(DataError, match="document 'd': a category names 'c'"):
        inclusion_table([instance], ("a", "b"))
