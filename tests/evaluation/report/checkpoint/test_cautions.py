from typing import Any

import pytest

from evenhand.evaluation.report.checkpoint.build import build_report


def warnings_of(run: Any, probed: dict[str, Any] | None = None) -> tuple[str, ...]:
    return build_report(run.recipe, probed).warnings


def even(sets: str) -> dict[str, list[tuple[float, float]]]:
    return {f"{s}/{side}": [(0.1, 0.2), (0.2, 0.3), (0.3, 0.1)] for s in sets for side in ("left", "right")}


def test_sound_run_has_no_warnings(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", even("abcdefghij"))
    assert warnings_of(run) == ()


def test_few_sets_are_warned_of(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", even("abc"))
    (warning,) = warnings_of(run)
    assert "3 document sets" in warning


def test_a_single_set_is_said_to_have_no_intervals(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", even("a"))
    (warning,) = warnings_of(run)
    assert "no intervals" in warning


def test_no_set_is_not_called_a_single_one(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {}, without=["a/left", "a/right"])
    found = " ".join(warnings_of(run))
    assert "no document set" in found and "single" not in found


def test_one_sided_sets_are_counted(make_run: Any):
    run = make_run(rounds=0)
    scores = even("abcdefghij")
    del scores["c/right"]
    run.write("evaluation/base", scores)
    (warning,) = warnings_of(run)
    assert warning.startswith("1 of 10 ")


def test_unequal_budgets_are_told(make_run: Any):
    run = make_run(rounds=0)
    scores = even("abcdefghij")
    scores["a/left"] = scores["a/left"][:2]
    run.write("evaluation/base", scores, without=["k/left", "k/right"])
    none, fewer = warnings_of(run)
    assert none.startswith("2 of 22 ")
    assert fewer.startswith("1 of 22 ")


def test_inactive_adapter_comes_first(small_run: Any):
    assert (
        "INACTIVE"
        in warnings_of(small_run, {"active": False, "probes": [], "engine": {"served": None, "candidates": []}})[0]
    )


def test_engine_that_may_not_have_served_the_adapter_is_warned_of(small_run: Any):
    row = {"nearer": "trained"}
    unclear = {"active": True, "probes": [], "engine": {"served": "unclear", "candidates": [row, {"nearer": None}]}}
    warning = warnings_of(small_run, unclear)[0]
    assert "the engine" in warning and "1 of 2 " in warning


def test_overlap_of_report_and_reward_is_warned_of(make_run: Any):
    run = make_run(rounds=0, evaluation={"judges": ["overlap", "fit"], "resamples": 200})
    run.write("evaluation/base", {r: [(f, o) for f, o in rows] for r, rows in even("abcdefghij").items()})
    (warning,) = warnings_of(run)
    assert "'fit'" in warning and "report" in warning and "reward" in warning


@pytest.mark.needs("plugins/shuffled")
def test_other_method_is_not_taken_for_a_plain_answer(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", even("abcdefghij"))
    generate = run.recipe.generate.model_validate({"method": "shuffled", "plans": {"nucleus": {"candidates": 3}}})
    found = build_report(run.recipe.model_copy(update={"generate": generate}), None).warnings
    (warning,) = found
    assert "method shuffled" in warning
