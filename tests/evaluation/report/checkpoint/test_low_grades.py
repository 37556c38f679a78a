"""Equal means hide one disaster in ten: the share of bad grades stands beside the mean, and is tested."""

from typing import Any

import numpy as np
import pytest

from evenhand.config.judges import RubricJudge
from evenhand.evaluation.pages import markdown
from evenhand.evaluation.report.checkpoint.build import build_report
from evenhand.evaluation.report.checkpoint.page import page
from evenhand.evaluation.report.comparison.build import build_comparison
from evenhand.evaluation.report.comparison.entries import NamedRecipe, read_entries
from evenhand.evaluation.report.comparison.page import page as comparison_page

GRADED = {"kind": "rubric", "rubric": "coverage", "model": {"name": "judge-7b"}}


@pytest.fixture
def run(make_run: Any) -> Any:
    """Of 24 sets the untrained model always gets 4; the trained one 1 in every fourth, and else 5."""
    run = make_run(judges={"fit": {"kind": "alignment"}, "grade": GRADED}, evaluation={"judges": ["grade"]}, rounds=1)
    generator = np.random.default_rng(0)
    for phase, grades in (("evaluation/base", lambda k: 4.0), ("evaluation/round-00", lambda k: 5.0 if k % 4 else 1.0)):
        rows = {f"s{k:02d}/{side}": [(x, grades(k)) for x in generator.normal(size=3).tolist()]
                for k in range(24) for side in ("left", "right")}  # fmt: skip
        run.write(phase, rows, candidate=lambda request, index, phase=phase: {"id": f"{phase} {request} {index}"})
    return run


@pytest.mark.parametrize(("mode", "low"), [("standard", 2), ("simple", 2), ("ternary", 1), ("binary", None)])
def test_which_grades_are_bad(mode: str, low: int | None):
    assert RubricJudge.model_validate(GRADED | {"mode": mode}).low_grade == low


def test_equal_means_do_not_hide_disasters(run: Any):
    found = build_report(run.recipe, None)
    (mean,) = [d for d in found.differences if (d.measure, d.pair, d.side) == ("grade", "DPO - zero-shot", None)]
    assert (mean.value, mean.verdict) == (0.0, "no clear difference")
    (low,) = [d for d in found.low_grades if d.pair == "DPO - zero-shot"]
    assert (low.measure.startswith("grade: "), low.value) == (True, 0.25)
    # 6 of 24 sets, all one way: 2 / 2**6
    assert low.p_value == pytest.approx(2 / 64, abs=0.003)
    (said,) = [each.text for each in found.findings if each.heading == "Worst grades"]
    assert f"{low.measure}: 0.0 % of" in said and ", 25.0 %" in said
    shown = markdown.render(page(found))
    assert low.measure.removeprefix("grade: ") in shown and "25.0 %" in shown
    shares = {(e.measure, e.pair): e.value for e in found.traits if e.side is None}
    assert shares[low.measure, "DPO"] == 0.25


def test_a_comparison_tests_them_too(run: Any):
    found = build_comparison(read_entries([NamedRecipe("dpo", run.recipe)]))
    report = build_report(run.recipe, None)
    numbers = {each.pair: each for each in report.low_grades}
    (test,) = [each for each in found.low_grades if each.k == each.reference_k == 1]
    assert (test.value, test.p_value) == (numbers["DPO - zero-shot"].value, numbers["DPO - zero-shot"].p_value)
    assert test.measure.removeprefix("grade: ") in markdown.render(comparison_page(found))
