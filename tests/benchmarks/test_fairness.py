"""The fairness benchmark: its ways find the same, and a small run writes its figures."""

import json

import numpy as np
import pytest

from evenhand.benchmarks.fairness import (
    LOOP,
    ONE_ARRAY,
    ONE_BY_ONE,
    PLAIN_LOOP,
    TOGETHER,
    coverage_table,
    evidence_table,
    main,
    random_evidence,
    random_sets,
)


def test_array_and_loop_find_the_same_equal_coverage():
    counts = {row.name: row.counts["mean EC"] for row in coverage_table(40, repeats=1).rows}
    assert set(counts) == {ONE_ARRAY, LOOP}
    assert max(counts.values()) == pytest.approx(min(counts.values()), abs=1e-12)


@pytest.mark.parametrize("n_windows", [1, 3])
def test_probabilities_are_reduced_to_the_same_equal_coverage_by_all_ways(n_windows):
    counts = {row.name: row.counts["mean EC"] for row in evidence_table(40, n_windows, repeats=1).rows}
    assert set(counts) == {TOGETHER, ONE_BY_ONE, PLAIN_LOOP}
    assert max(counts.values()) == pytest.approx(min(counts.values()), abs=1e-12)


def test_in_some_sets_units_are_merged_and_in_most_none():
    merged = [(each.between_units > 0.95).sum() - 12 for each in random_evidence(60, 1, seed=1)]
    assert 10 < merged.count(2) < 30
    assert merged.count(2) + merged.count(0) == 60


def test_entailments_are_mostly_gated_away_and_every_value_occurs():
    matrices, labels = random_sets(30, seed=1)
    assert matrices.shape == (30, 20, 12)
    assert 0.6 < (matrices == 0).mean() < 0.8
    assert np.unique(labels).tolist() == [0, 1, 2]


@pytest.mark.slow
def test_quick_run_writes_all_tables(tmp_path, capsys):
    out = tmp_path / "fairness.json"
    main(["--quick", "--output", str(out)])
    report = json.loads(out.read_text())
    assert [len(table["rows"]) for table in report["tables"]] == [2, 3, 3]
    assert "Equal Coverage" in capsys.readouterr().out
