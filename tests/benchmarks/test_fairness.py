"""The fairness benchmark: its ways find the same, and a small run writes its figures."""

import json

import numpy as np
import pytest

from evenhand.benchmarks.fairness import LOOP, ONE_ARRAY, SET_BY_SET, coverage_table, main, random_sets


def test_array_and_loop_find_the_same_equal_coverage():
    counts = {row.name: row.counts["mean EC"] for row in coverage_table(40, repeats=1).rows}
    assert set(counts) == {ONE_ARRAY, SET_BY_SET, LOOP}
    assert max(counts.values()) == pytest.approx(min(counts.values()), abs=1e-12)


def test_entailments_are_mostly_gated_away_and_every_value_occurs():
    matrices, labels = random_sets(30, seed=1)
    assert matrices.shape == (30, 20, 12)
    assert 0.6 < (matrices == 0).mean() < 0.8
    assert np.unique(labels).tolist() == [0, 1, 2]


def test_quick_run_writes_three_tables(tmp_path, capsys):
    out = tmp_path / "fairness.json"
    main(["--quick", "--output", str(out)])
    report = json.loads(out.read_text())
    assert [len(table["rows"]) for table in report["tables"]] == [3, 2, 2]
    growth = report["tables"][1]["rows"]
    assert [row["counts"]["sets"] for row in growth] == [50, 100]
    assert "Equal Coverage" in capsys.readouterr().out
