"""The training benchmark: its contenders, its notes, and a small run."""

import json
import math
from argparse import Namespace

import pytest

from evenhand.benchmarks.measure import Extrapolated, Row, Run, Table
from evenhand.benchmarks.training import ALONE, COMPACT, LIMIT, OURS, PAIRED, RANDOM, STOCK, Bench, growth, main, shares
from evenhand.models.flops import lora_flops, seen_from, step_flops
from evenhand.models.sizes import Sizes


def table(seconds: float) -> Table:
    return Table("", (Row(OURS, (Run(seconds, 0, {}),)),), 1, (), "")


def test_growth_is_relative_to_the_fewest_candidates_of_each_prompt():
    notes = growth([table(2), table(3), table(10), table(20)], [300, 1400], [9, 18])
    assert notes == [
        "evenhand, prompt of 300 tokens, cost relative to n = 9: n = 18: 1.50",
        "evenhand, prompt of 1400 tokens, cost relative to n = 9: n = 18: 2.00",
    ]
    assert growth([table(2)], [300], [9]) == []


def test_a_note_says_which_share_of_a_ratio_is_tokens_and_which_is_the_head():
    def row(name, seconds, tokens, work, part=None):
        return Row(name, (Run(seconds, 0, {"tokens": tokens, "TFLOP": work}),), part)

    part = Extrapolated(1, 36, "pairs")
    rows = (row(OURS, 2.0, 100, 4.0), row(STOCK, 7.5, 150, 9.0, part), row(COMPACT, 4.0, 150, 6.0, part))
    # 36 * 150 / 100, 36 * 9 / 4, 36 * 7.5 / 2; and 36 * 6 / 4, 36 * 4 / 2
    assert shares(Table("n = 9", rows, 1, (), "")) == (
        "TRL against evenhand, n = 9: 54 times the tokens and 81 times the operations; 135 times the seconds; with a compact "
        "head 54 times the operations, about what a GPU should show, and 72 times the seconds"
    )
    assert "compact" not in shares(Table("n = 9", rows[:2], 1, (), ""))
    assert shares(Table("n = 9", (rows[0], Row(STOCK, ())), 1, (), "")) == "n = 9: not all was run"


def tiny_options(**changed):
    """Of a benchmark on a tiny random model: one pair of stock TRL, one run of each contender."""
    usual = {
        "random": "tiny", "model": None, "dtype": "float32", "attention": "sdpa", "quick": True, "pairs": 1, "pairwise_batch": 1,
        "repeats": 1, "peak": None, "checkpointing": False,
    }  # fmt: skip
    return Namespace(**usual | changed)


@pytest.mark.usefixtures("fresh_accelerate")
def test_both_sides_of_a_set_have_one_loss_and_their_documents_once_or_twice(tmp_path):
    pytest.importorskip("trl")
    options = tiny_options()
    counts = {row.name: row.counts for row in Bench(options, str(tmp_path)).sides(100, 2).rows}
    # candidates of 48 and 60 tokens without their last ones, prompts of 100 of which 57 are alike; policy and reference
    assert counts["each side"]["tokens"] == 2 * 2 * (100 + 47 + 59)
    assert counts["both sides"]["tokens"] == counts["each side"]["tokens"] - 2 * 57
    assert counts["both sides"]["TFLOP"] < counts["each side"]["TFLOP"]
    assert counts["both sides"]["loss"] == pytest.approx(counts["each side"]["loss"], rel=1e-5)
    assert abs(counts["both sides"]["loss"] - math.log(2)) > 1e-3


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_accelerate")
def test_all_contenders_compute_one_loss_and_say_what_ran(tmp_path):
    pytest.importorskip("trl")
    options = tiny_options(pairs=0, pairwise_batch=2)
    bench = Bench(options, str(tmp_path))
    found = bench.table(60, 4)
    counts = {row.name: row.counts for row in found.rows}
    assert RANDOM["tiny"]["num_hidden_layers"] == 2
    losses = {name: each["loss"] for name, each in counts.items() if name != LIMIT}
    assert set(losses) >= {OURS, ALONE, PAIRED, STOCK}
    # ln 2 is what policies have that are their reference, whatever is computed
    assert abs(losses[STOCK] - math.log(2)) > 1e-3
    assert losses == pytest.approx(dict.fromkeys(losses, losses[STOCK]), rel=1e-5)
    # candidates of 48, 60, 72 and 48 tokens, 224 without their last ones, each in three of the six pairs; policy and reference
    assert {name: each["tokens"] for name, each in counts.items()} == {
        OURS: 2 * (60 + 224), LIMIT: 2 * (60 + 224), ALONE: 2 * (4 * 60 + 224), PAIRED: 2 * (6 * 60 + 3 * 224),
        **{name: 2 * 3 * (4 * 60 + 228) for name in (STOCK, COMPACT) if name in counts},
    }  # fmt: skip
    # a layer: 128 x 128 for queries and output, twice 128 x 64 for keys and values, thrice 128 x 256; no adapter
    sizes = Sizes(
        0, 2 * (2 * 128 * 128 + 2 * 128 * 64 + 3 * 128 * 256), 128 * 1000, 0, layers=2, width=128, kv_width=64
    )
    assert counts[OURS]["TFLOP"] == pytest.approx(step_flops(sizes, 60, [47, 59, 71, 47], 228) / 1e12)
    work = [counts[name]["TFLOP"] for name in (OURS, ALONE, PAIRED, COMPACT, STOCK) if name in counts]
    assert work == sorted(set(work))
    # each summary in three pairs, behind its prompt; of micro-batches of two pairs the longest row has 132 tokens, and all rows
    # have logits for what comes next
    seen = 3 * sum(seen_from(0, 60 + n) for n in (48, 60, 72, 48))
    for name, n_logits in ((COMPACT, 3 * 228), (STOCK, 3 * 4 * 131)):
        if COMPACT in counts:
            assert counts[name]["TFLOP"] == pytest.approx(lora_flops(sizes, 3 * 468, seen, n_logits) / 1e12)


@pytest.mark.usefixtures("fresh_accelerate")
@pytest.mark.parametrize(("checkpointing", "n_runs"), [(False, 2), (True, 3)])
def test_checkpointing_runs_layers_again_in_every_trainer(tmp_path, monkeypatch, checkpointing, n_runs):
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("trl")
    options = tiny_options(checkpointing=checkpointing)
    bench, calls = Bench(options, str(tmp_path)), []
    # what a layer calls, since transformers 5.24 runs no layer again whose own forward was changed
    inside = transformers.models.llama.modeling_llama.LlamaMLP
    plain = inside.forward
    monkeypatch.setattr(inside, "forward", lambda self, *args: calls.append(1) or plain(self, *args))
    for name in (OURS, LIMIT, STOCK):
        calls.clear()
        bench.table(60, 3, [name])
        # of two layers; policy and reference, and on the way back
        assert len(calls) == 2 * n_runs, name


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_accelerate")
def test_requests_of_a_pass_share_nothing(tmp_path):
    pytest.importorskip("trl")
    options = tiny_options()
    one, three = (Bench(options, str(tmp_path)).table(60, 3, [OURS, LIMIT, STOCK], n) for n in (1, 3))
    for name in (OURS, LIMIT):
        assert three.row(name).counts["tokens"] == 3 * one.row(name).counts["tokens"]
        assert three.row(name).counts["TFLOP"] == pytest.approx(3 * one.row(name).counts["TFLOP"])
    assert three.row(STOCK).extrapolated.factor == 9


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_accelerate")
def test_quick_run_compares_the_same_pairs(tiny_model, tmp_path, capsys):
    pytest.importorskip("trl")
    output = tmp_path / "training.json"
    main(["--quick", "--model", str(tiny_model), "--dtype", "float32", "--output", str(output), "--peak", "0.1"])
    found = json.loads(output.read_text(encoding="utf-8"))
    three, four = found["tables"]
    assert four["title"] == "n = 4, 6 pairs, prompt of 60 tokens"
    rows = {row["name"]: row for row in three["rows"]}
    assert list(rows)[:5] == [OURS, LIMIT, ALONE, PAIRED, STOCK]
    counts = {name: row["runs"][0]["counts"] for name, row in rows.items()}
    # a prompt of 60 and candidates of 48, 60 and 72 tokens without their last; policy and reference
    assert counts[OURS]["tokens"] == 2 * (60 + 47 + 59 + 71)
    assert counts[LIMIT]["tokens"] == counts[OURS]["tokens"]
    # one of the three pairs: prompt and summary of both sides; policy and reference
    assert counts[STOCK]["tokens"] == 2 * (2 * 60 + 48 + 60)
    assert rows[STOCK]["extrapolated"]["factor"] == 3
    assert "relative to n = 3" in found["notes"][0]
    assert "TRL against evenhand" in found["notes"][1]
    assert "% of the device's" in found["notes"][3]
    assert str(tiny_model) not in output.read_text(encoding="utf-8")
    assert "3 pairs, prompt of 60" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_accelerate")
def test_random_weights_need_neither_model_nor_tokenizer(tmp_path, monkeypatch):
    pytest.importorskip("trl")
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    output = tmp_path / "training.json"
    main(["--quick", "--random", "tiny", "--model", "nowhere/at-all", "--dtype", "float32", "--output", str(output)])
    three, _ = json.loads(output.read_text(encoding="utf-8"))["tables"]
    rows = {row["name"]: row for row in three["rows"]}
    assert rows[OURS]["runs"][0]["counts"]["tokens"] == 2 * (60 + 47 + 59 + 71)
    assert not (tmp_path / "cache").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("fresh_accelerate")
def test_contenders_may_be_named(tmp_path):
    pytest.importorskip("trl")
    output = tmp_path / "training.json"
    options = ["--quick", "--random", "tiny", "--dtype", "float32", "--output", str(output)]
    main([*options, "--only", ALONE, OURS])
    found = json.loads(output.read_text(encoding="utf-8"))
    three, _ = found["tables"]
    assert ([row["name"] for row in three["rows"]], three["baselines"]) == ([OURS, ALONE], [])
    tokens = [row["runs"][0]["counts"]["tokens"] for row in three["rows"]]
    # a prompt of 60 once or with each of three candidates; policy and reference
    assert tokens == [2 * (60 + 177), 2 * (3 * 60 + 177)]
    assert not [note for note in found["notes"] if "TRL" in note]
    main([*options, "--only", LIMIT])
    assert json.loads(output.read_text(encoding="utf-8"))["notes"] == []
