"""The benchmark of measures with a model: its ways find the same."""

import pytest

from evenhand.benchmarks.matching import N_DOCUMENTS, ONE_CALL, SET_BY_SET, matching_tables, random_items

pytest.importorskip("torch")
pytest.importorskip("transformers")


def test_both_ways_find_the_same_in_both_tables():
    tables = matching_tables(4, repeats=1)
    assert [table.title for table in tables] == ["BERTScore of 4 sets of 8 documents", "NLI of 1 sets of 8 documents"]
    for table, n_sets in zip(tables, (4, 1), strict=True):
        one, many = table.rows
        assert (one.name, many.name) == (ONE_CALL, SET_BY_SET)
        assert one.counts["sets"] == many.counts["sets"] == n_sets
        assert one.counts["sum"] == pytest.approx(many.counts["sum"], abs=1e-4)


def test_sets_are_the_same_every_time_and_have_several_values():
    first, again = random_items(3, seed=1), random_items(3, seed=1)
    assert first == again != random_items(3, seed=2)
    assert all(len(each.documents) == N_DOCUMENTS and len({d.value for d in each.documents}) > 1 for each in first)
