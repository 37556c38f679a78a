from typing import Any

import pytest

from evenhand.errors import DataError
from evenhand.evaluation.report.checkpoint.ledger import duplicates, read_ledger
from evenhand.evaluation.report.checkpoint.provenance import read_receipts, stage_rows
from evenhand.runfolder.phases import open_phase
from evenhand.storage import write_json


def ledger_of(run: Any) -> tuple[list[Any], list[tuple[str, str, str, str, int]]]:
    totals, rows = read_ledger(run.recipe, stage_rows(read_receipts(run.recipe)))
    return totals, [(row.phase, row.stage, row.reason, row.side, row.count) for row in rows]


def test_failures_and_unscored_are_counted_by_reason_and_side(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {"a/left": [(0.1, None), (0.2, None)], "a/right": [(0.1, None)]}, without=["b/right"])
    assert ledger_of(run)[1] == [
        ("evaluation/base", "generate", "too_long", "right", 1),
        ("evaluation/base", "judge", "overlap: no verdict at end of reply", "left", 2),
        ("evaluation/base", "judge", "overlap: no verdict at end of reply", "right", 1),
    ]


def test_duplicates_are_counted_within_a_request_after_folding_white_space():
    # of five texts one repeats an earlier text of its request; the same text in another request is none
    assert duplicates([["a b", "a  b", "c"], ["a b", "d"]]) == (5, 1)
    assert duplicates([]) == (0, 0)


def test_totals_by_hand(make_run: Any):
    run = make_run(rounds=0)
    same = {"text": "The Left says so."}
    run.write(
        "evaluation/base", {"a/left": [(0.1, 0.3), (0.2, None)]}, without=["b/right"], candidate=lambda r, i: dict(same)
    )
    (totals,), _ = ledger_of(run)
    assert (totals.requests, totals.failed, totals.candidates, totals.judgements, totals.unscored) == (2, 1, 2, 4, 1)
    assert (totals.duplicate_rate, totals.pairs) == (0.5, None)


def test_what_reranking_and_training_left_out_is_in_it(small_run: Any):
    small_run.write("round-00", {"a/left": [(0.1,), (0.2,)]})
    folder = open_phase(small_run.recipe, "round-00").folder
    rows = [{"stage": "pairs", "side": "left", "reason": "margin", "count": 3}]
    write_json(folder / "ledger.json", {"rows": rows, "tie_rate": 0.25})
    (folder / "pairs.jsonl").write_text("{}\n{}\n")
    small_run.receipt("round-00", "train", {"left_out": [{"side": "left", "reason": "too long", "count": 2}]})
    totals, found = ledger_of(small_run)
    assert found == [("round-00", "pairs", "margin", "left", 3), ("round-00", "train", "too long", "left", 2)]
    assert (totals[0].phase, totals[0].pairs, totals[0].tie_rate) == ("round-00", 2, 0.25)


def test_a_row_in_ledger_and_receipt_counts_once(small_run: Any):
    small_run.write("round-00", {"a/left": [(0.1,)]})
    rows = [{"stage": "pairs", "side": "left", "reason": "margin", "count": 3}]
    write_json(open_phase(small_run.recipe, "round-00").folder / "ledger.json", {"rows": rows})
    small_run.receipt("round-00", "rerank", {"left_out": rows})
    assert ledger_of(small_run)[1] == [("round-00", "pairs", "margin", "left", 3)]


def test_failures_are_not_counted_again_from_the_receipt(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {"a/left": [(0.1, 0.3)]}, without=["b/right"])
    run.receipt("evaluation/base", "generate", {"left_out": [{"side": "right", "reason": "refused", "count": 1}]})
    assert [row[2] for row in ledger_of(run)[1]] == ["too_long"]


def test_nothing_left_out_is_an_empty_ledger(small_run: Any):
    assert ledger_of(small_run)[1] == []


def test_row_of_another_form_is_refused_with_its_place(small_run: Any):
    write_json(open_phase(small_run.recipe, "evaluation/base").folder / "ledger.json", {"rows": [{"reason": "x"}]})
    with pytest.raises(DataError, match=r"ledger.json: row .*a row has stage, side, reason and count"):
        ledger_of(small_run)
