"""The training benchmark: its pairs, its notes, and a small run."""

import json

import pytest

from evenhand.benchmarks.measure import Row, Run, Table
from evenhand.benchmarks.training import LIMIT, OURS, STOCK, growth, main


def table(seconds: float) -> Table:
    return Table("", (Row(OURS, (Run(seconds, 0, {}),)),), 1, (), "")


def test_growth_is_relative_to_the_fewest_candidates_of_each_prompt():
    notes = growth([table(2), table(3), table(10), table(20)], [300, 1400], [9, 18])
    assert notes == [
        "evenhand, prompt of 300 tokens, cost relative to n = 9: n = 18: 1.50",
        "evenhand, prompt of 1400 tokens, cost relative to n = 9: n = 18: 2.00",
    ]
    assert growth([table(2)], [300], [9]) == []


@pytest.mark.usefixtures("fresh_accelerate")
def test_quick_run_compares_the_same_pairs(tiny_model, tmp_path, capsys):
    pytest.importorskip("trl")
    output = tmp_path / "training.json"
    main(["--quick", "--model", str(tiny_model), "--dtype", "float32", "--output", str(output), "--peak", "0.1"])
    found = json.loads(output.read_text(encoding="utf-8"))
    three, four = found["tables"]
    assert four["title"] == "n = 4, 6 pairs, prompt of 60 tokens"
    rows = {row["name"]: row for row in three["rows"]}
    assert list(rows) == [OURS, LIMIT, STOCK]
    # a prompt of 60 and candidates of 48, 60 and 72 tokens without their last; policy and reference
    assert rows[OURS]["runs"][0]["counts"] == {"tokens": 2 * (60 + 47 + 59 + 71), "logits": 2 * (48 + 60 + 72)}
    assert rows[LIMIT]["runs"][0]["counts"] == rows[OURS]["runs"][0]["counts"]
    # one of the three pairs: prompt and summary of both sides; policy and reference
    assert rows[STOCK]["runs"][0]["counts"] == {"tokens": 2 * (2 * 60 + 48 + 60)}
    assert rows[STOCK]["extrapolated"]["factor"] == 3
    assert "relative to n = 3" in found["notes"][0]
    assert "% of the device's" in found["notes"][2]
    assert str(tiny_model) not in output.read_text(encoding="utf-8")
    assert "3 pairs, prompt of 60" in capsys.readouterr().out


@pytest.mark.usefixtures("fresh_accelerate")
def test_random_weights_need_neither_model_nor_tokenizer(tmp_path, monkeypatch):
    pytest.importorskip("trl")
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    output = tmp_path / "training.json"
    main(["--quick", "--random", "tiny", "--model", "nowhere/at-all", "--dtype", "float32", "--output", str(output)])
    three, _ = json.loads(output.read_text(encoding="utf-8"))["tables"]
    rows = {row["name"]: row for row in three["rows"]}
    assert rows[OURS]["runs"][0]["counts"] == {"tokens": 2 * (60 + 47 + 59 + 71), "logits": 2 * (48 + 60 + 72)}
    assert not (tmp_path / "cache").exists()
