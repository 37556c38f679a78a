from typing import Any

import pytest

from evenhand.evaluation.pages import html, markdown
from evenhand.evaluation.pages.picture import picture_table
from evenhand.evaluation.report.checkpoint.build import build_report
from evenhand.evaluation.report.checkpoint.page import page
from evenhand.resampling import Bootstrap


def mean_of(estimates: Any, measure: str, subject: str, side: str | None) -> float:
    (found,) = [e for e in estimates if (e.measure, e.pair, e.side) == (measure, subject, side)]
    return found.value


@pytest.mark.parametrize(
    ("system", "side", "mean"),
    [
        ("zero-shot", "left", 0.4),  # (0.3 + 0.4 + 0.3 + 0.6) / 4
        ("zero-shot", "right", 0.2),  # (0.2 + 0.3 + 0.2 + 0.1) / 4
        ("zero-shot", None, 0.3),
        ("rerank", "left", 0.55),  # (0.5 + 0.4 + 0.7 + 0.6) / 4
        ("rerank", None, 0.4125),  # 3.3 / 8
        ("DPO", None, 0.4),
        ("DPO+RR", None, 0.5125),
    ],
)
def test_means_by_hand(small_run: Any, system: str, side: str | None, mean: float):
    assert mean_of(build_report(small_run.recipe, None).scores, "overlap", system, side) == pytest.approx(mean)


@pytest.mark.parametrize(
    ("comparison", "side", "mean"),
    [
        ("DPO - zero-shot", None, 0.1),
        ("DPO+RR - rerank", "right", 0.1),
        ("rerank - zero-shot", "left", 0.15),  # 0.55 - 0.4; b and d gain nothing
        ("DPO+RR - zero-shot", None, 0.2125),
    ],
)
def test_differences_by_hand(small_run: Any, comparison: str, side: str | None, mean: float):
    report = build_report(small_run.recipe, None)
    (found,) = [d for d in report.differences if (d.measure, d.pair, d.side) == ("overlap", comparison, side)]
    assert found.value == pytest.approx(mean)
    # four document sets are too few for one
    assert found.verdict == "no clear difference"


def test_curve_goes_from_one_draw_to_the_best(small_run: Any):
    report = build_report(small_run.recipe, None)
    line = [p for p in report.curve if (p.measure, p.pair) == ("overlap", "untrained")]
    assert [p.k for p in line] == [1, 2, 3]
    assert line[0].value == pytest.approx(mean_of(report.scores, "overlap", "zero-shot", None))
    assert line[-1].value == pytest.approx(mean_of(report.scores, "overlap", "rerank", None))
    # n = 2, ranks by fit: (2 best + second) / 3 of each request:
    # a .4 .233 (2*.2+.3)/3, b .4 .3, c (1.4+.1)/3 (1+.1)/3, d .6 .1
    middle = (0.4 + 0.7 / 3 + 0.4 + 0.3 + 0.5 + 1.1 / 3 + 0.6 + 0.1) / 8
    assert line[1].value == pytest.approx(middle)


def test_all_points_of_a_curve_rest_on_the_same_requests(make_run: Any):
    run = make_run(rounds=0)
    # the best candidate of a/left by reward is unscored: the request has a value for one draw, but not for three
    run.write("evaluation/base", {"a/left": [(0.1, 0.2), (0.9, None), (0.2, 0.4)], "b/left": [(0.1, 0.2)] * 3})
    points = [p for p in build_report(run.recipe, None).curve if p.measure == "overlap"]
    assert [(p.n, p.left_out) for p in points] == [(1, 1)] * 3


def test_every_estimate_can_be_traced(small_run: Any):
    report = build_report(small_run.recipe, None)
    signatures = {judge.name: judge.signature for judge in report.judges}
    assert report.bootstrap == Bootstrap(0.95, 500, 7)
    for estimate in (*report.scores, *report.differences, *report.curve):
        kind = small_run.recipe.judges[estimate.measure].kind
        assert signatures[estimate.measure] == f"{estimate.measure}|judge:{kind}|v:0.1.0"
        assert estimate.n + estimate.left_out == (8 if estimate.side is None else 4)


def test_same_run_twice_gives_the_same_report(small_run: Any):
    assert build_report(small_run.recipe, None) == build_report(small_run.recipe, None)


def test_run_without_rounds_has_two_systems_and_one_comparison(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", run.UNTRAINED)
    report = build_report(run.recipe, None)
    assert report.systems == ("zero-shot", "rerank")
    assert {d.pair for d in report.differences} == {"rerank - zero-shot"}
    assert report.examples is not None
    assert report.examples.comparison == "rerank - zero-shot"


def test_missing_scores_are_left_out_and_counted(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {"a/left": [(0.1, 0.2), (0.2, None)], "b/left": [(0.3, None), (0.1, None)]})
    report = build_report(run.recipe, None)
    found = {e.pair: (e.value, e.n, e.left_out) for e in report.scores if e.measure == "overlap"}
    # zero-shot: a has one scored draw; rerank: the best of a and of b are unscored
    assert found == {"zero-shot": (pytest.approx(0.2), 1, 1), "rerank": (None, 0, 2)}
    assert any("3 of 4 " in warning and "(3 untrained)" in warning for warning in report.warnings)


def test_traits_by_hand(make_run: Any):
    run = make_run(rounds=0)
    made = [
        {"text": "I cannot summarise.", "contract_ok": False, "issues": ("missing_opener", "no_content")},
        {"text": "One two.", "finish_reason": "length"},
    ]
    run.write("evaluation/base", {"a/left": [(0.1, 0.1), (0.2, 0.2)]}, candidate=lambda r, i: dict(made[i]))
    traits = {(e.measure, e.pair): e.value for e in build_report(run.recipe, None).traits}
    assert traits == {
        ("contract kept", "zero-shot"): 0.5,
        ("contract kept", "rerank"): 1.0,
        ("refusals", "zero-shot"): 0.5,
        ("refusals", "rerank"): 0.0,
        ("says nothing", "zero-shot"): 0.5,
        ("says nothing", "rerank"): 0.0,
        ("copied", "zero-shot"): 0.0,
        ("copied", "rerank"): 0.0,
        ("cut off", "zero-shot"): 0.5,
        ("cut off", "rerank"): 1.0,
        ("words", "zero-shot"): 2.5,
        ("words", "rerank"): 2.0,
        ("issue: missing_opener", "zero-shot"): 0.5,
        ("issue: missing_opener", "rerank"): 0.0,
        ("issue: no_content", "zero-shot"): 0.5,
        ("issue: no_content", "rerank"): 0.0,
    }


def test_no_request_with_candidates_is_still_a_report(make_run: Any):
    run = make_run(rounds=0)
    run.write("evaluation/base", {}, without=["a/left", "a/right"])
    report = build_report(run.recipe, None)
    assert report.title.startswith("No clear difference")
    assert report.examples is None


@pytest.mark.needs("plugins/opinions")
def test_scores_by_plan_are_those_of_each_mix(make_run: Any):
    options = {"length": 2, "notion": "biased", "mix": {"first": "left", "second": "right"}}
    run = make_run(
        rounds=0,
        corpus={"path": "sample"},
        task={"scope": "all"},
        judges={"fit": {"kind": "rouge"}, "overlap": {"kind": "rouge", "measure": "recall"}},
        generate={"method": "fair-extractive", "fair_extractive": options},
    )
    # fit and overlap of the mixes left 0, left 1 and left 2; one of them has no score in the second set
    scores = {"a/all": [(0.1, 0.2), (0.5, 0.9), (0.3, 0.4)], "b/all": [(0.3, 0.4), (0.7, 0.7), (0.5, None)]}
    run.write("evaluation/base", scores, candidate=lambda request, index: {"plan": f"left {index}"})
    found = build_report(run.recipe, None)
    means = {(e.pair, e.measure): (e.value, e.n, e.left_out) for e in found.plan_scores}
    assert means["left 0", "overlap"] == (pytest.approx(0.3), 2, 0)
    assert means["left 1", "overlap"] == (pytest.approx(0.8), 2, 0)
    assert means["left 2", "overlap"] == (pytest.approx(0.4), 1, 1)
    assert means["left 2", "fit"] == (pytest.approx(0.4), 2, 0)
    assert "Scores by plan" in html.render(page(found))
    text = markdown.render(page(found))
    assert "Scores by plan" in text and "| left 1" in text


def test_candidates_that_were_drawn_have_no_table_by_plan(small_run: Any):
    found = build_report(small_run.recipe, None)
    assert found.plan_scores == ()
    assert "Scores by plan" not in html.render(page(found))


ONE = {"generate": {"backend": "scripted", "plans": {"greedy": {"candidates": 1, "temperature": 0}}}}


def test_one_candidate_a_request_is_one_system_which_is_compared_with_nothing(make_run: Any):
    run = make_run(rounds=0, **ONE)
    run.write("evaluation/base", {request: rows[:1] for request, rows in run.UNTRAINED.items()})
    report = build_report(run.recipe, None)
    assert report.systems == ("zero-shot",)
    assert not report.differences
    assert report.examples is not None
    shown = [example.difference for example in report.examples.examples]
    assert (report.examples.comparison, shown) == ("zero-shot", [0.0, 0.7])
    made = page(report)
    for text in (markdown.render(made), html.render(made)):
        assert "Nothing is compared:" in text
        for never in ("rerank", "best of", "Paired differences", "gains more", "under two systems"):
            assert never not in text.split("How it was made")[0], never
    first = picture_table(made.overview.picture)
    assert [column.name for column in first.columns] == ["judge", "all", "left", "right"]


def test_one_candidate_of_two_policies_is_one_comparison(make_run: Any):
    # both trained on candidates of its own, as a recipe that draws one greedy answer in tests does
    evaluation = {"judges": ["overlap"], "resamples": 500, "plans": ONE["generate"]["plans"]}
    run = make_run(evaluation=evaluation)
    for phase, scores in (("evaluation/base", run.UNTRAINED), ("evaluation/round-00", run.TRAINED)):
        run.write(phase, {request: rows[:1] for request, rows in scores.items()})
    report = build_report(run.recipe, None)
    assert report.systems == ("zero-shot", "DPO")
    assert {each.pair for each in report.differences} == {"DPO - zero-shot"}
    text = markdown.render(page(report)).split("How it was made")[0]
    assert "DPO" in text and "DPO+RR" not in text


def test_one_candidate_a_request_for_all_documents_together_has_one_column(make_run: Any):
    run = make_run(rounds=0, **ONE)
    lefts = {request: rows[:1] for request, rows in run.UNTRAINED.items() if request.endswith("left")}
    run.write("evaluation/base", lefts)
    first = picture_table(page(build_report(run.recipe, None)).overview.picture)
    assert [column.name for column in first.columns] == ["judge", "all"]
