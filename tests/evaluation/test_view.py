from typing import Any

from evenhand.evaluation import view
from evenhand.evaluation.build import build_report
from evenhand.evaluation.contents import LedgerRow


def test_ledger_lines_put_sides_beside_each_other():
    rows = [
        LedgerRow(phase="round-00", stage="pairs", reason="margin", side="left", count=3),
        LedgerRow(phase="round-00", stage="pairs", reason="margin", side="right", count=4),
        LedgerRow(phase="round-00", stage="train", reason="too long", side="right", count=1),
    ]
    sides, lines = view.ledger_lines(rows)
    assert sides == ["left", "right"]
    assert [(line.stage, line.by_side, line.total) for line in lines] == [
        ("pairs", {"left": 3, "right": 4}, 7),
        ("train", {"right": 1}, 1),
    ]


def test_counts_are_flattened_without_what_was_left_out():
    counts = {"requests": 4, "contract_kept": {"left": 3}, "rate": 0.123456, "left_out": [{"count": 1}]}
    assert list(view.flat_counts(counts)) == [("requests", "4"), ("contract kept, left", "3"), ("rate", "0.1235")]


def test_tone_follows_what_the_judge_calls_better(make_run: Any):
    judges = {
        "fit": {"kind": "alignment"},
        "length": {"kind": "length"},
        "opposing": {"kind": "alignment", "against": "opposing"},
    }
    run = make_run(rounds=0, judges=judges, evaluation={"judges": ["length", "opposing"], "resamples": 200})
    # the best by fit is longer and agrees more with the other side, in both sets
    run.write("evaluation/base", {f"{s}/left": [(0.1, 10, 0.1), (0.2, 30, 0.5)] for s in "ab"})
    report = build_report(run.recipe, None)
    tones = {
        t.judge.name: view.tone(row, t.judge)
        for t in view.difference_tables(report)
        for comparison in t.comparisons
        for row in comparison.rows
    }
    assert tones == {"fit": "better", "length": "neutral", "opposing": "worse"}


def test_single_candidate_has_no_curve(make_run: Any):
    run = make_run(rounds=0, generate={"backend": "scripted", "plans": {"p": {"candidates": 1}}})
    run.write("evaluation/base", {"a/left": [(0.1, 0.2)], "b/left": [(0.1, 0.2)]})
    assert view.curve_panels(build_report(run.recipe, None)) == []


def test_later_rounds_are_drawn_stronger(small_run: Any):
    report = build_report(small_run.recipe, None)
    curves = [{"round": r, "name": "loss", "points": ((1, 0.7), (2, 0.6))} for r in range(3)]
    report = type(report).model_validate({**report.model_dump(), "training": curves})
    (panel,) = view.training_panels(report)
    strengths = [line.strength for line in panel.lines]
    assert strengths == sorted(strengths)
    assert strengths[-1] == 1.0
