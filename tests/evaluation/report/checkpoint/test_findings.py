import re
from typing import Any

import pytest

from evenhand.evaluation.pages.words import UNSURE
from evenhand.evaluation.report.checkpoint.findings import (
    RERANKING,
    TRAINING,
    Evidence,
    findings,
    length_warnings,
    title,
)
from evenhand.evaluation.report.systems.contents import Difference, JudgeNote, SideGap
from evenhand.number import Number
from evenhand.resampling import Bootstrap

NUMBERS = {"n": 24, "n_sets": 12}
BOUNDS = {"higher": (0.01, 0.05), "lower": (-0.05, -0.01), "no clear difference": (-0.01, 0.03)}


def judge(name: str, role: str = "report", better: str | None = "higher") -> JudgeNote:
    return JudgeNote.model_validate({"name": name, "signature": "s", "role": role, "better": better})


def difference(comparison: str, measure: str, side: str | None, verdict: str) -> Difference:
    low, high = BOUNDS[verdict]
    return Difference.model_validate(
        dict(zip(("system", "reference"), comparison.split(" - "), strict=False))
        | {"measure": measure, "side": side, "value": (low + high) / 2, "low": low, "high": high}
        | {"verdict": verdict, "p_value": 0.01, "adjusted": 0.02}
        | NUMBERS
    )


def gap(whose: str, measure: str, worst: str, best: str, verdict: str) -> SideGap:
    return SideGap(worst=worst, best=best, **dict(difference(whose, measure, None, verdict)))


def evidence(judges: list[JudgeNote], verdicts: dict[str, str], **changes: Any) -> Evidence:
    """Evidence in which each judge says the same of every side and comparison."""
    values = {
        "judges": judges,
        "differences": [
            difference(comparison, name, side, said)
            for comparison in (TRAINING, RERANKING)
            for name, said in verdicts.items()
            for side in ("left", "right", None)
        ],
        "score_gaps": [],
        "gain_gaps": [],
        "sides": ("left", "right"),
        "candidates": 9,
        "is_trained": True,
        "bootstrap": Bootstrap(resamples=10_000, seed=42),
    }
    return Evidence(**(values | changes))


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ({"a": "higher"}, r"The trained model is better than the untrained model"),
        ({"a": "lower"}, r"The trained .* worse than the untrained model"),
        ({"a": "no clear difference"}, r"No clear difference between the trained .* untrained model"),
        ({"a": "higher", "b": "higher"}, r".* better .* both report judges"),
        ({"a": "higher", "b": "no clear difference", "c": "no clear difference"}, r".* better .* 1 of 3 .* other 2"),
        ({"a": "higher", "b": "lower", "c": "no clear difference"}, r".* better .* 1 and worse by 1 of 3 .*"),
    ],
)
def test_title_says_what_the_report_judges_say(verdicts, expected):
    assert re.fullmatch(expected, title(evidence([judge(name) for name in verdicts], verdicts)))


def test_lower_scores_are_better_where_the_judge_says_so():
    made = evidence([judge("opposing", better="lower")], {"opposing": "lower"})
    assert "better" in title(made) and "worse" not in title(made)


def test_reward_judges_do_not_decide():
    made = evidence([judge("a"), judge("fit", role="reward")], {"a": "no clear difference", "fit": "higher"})
    assert title(made).startswith("No clear difference")


def test_without_an_independent_judge_the_title_says_so():
    made = evidence([judge("fit", role="both")], {"fit": "higher"})
    assert title(made).endswith(" its own reward")


def test_a_judge_without_direction_decides_nothing():
    made = evidence([judge("length", better=None)], {"length": "higher"})
    assert title(made).startswith("No judge")
    assert [f.heading for f in findings(made)][-1] == "How sure"


def test_run_without_training_is_about_reranking():
    made = evidence([judge("a")], {"a": "higher"}, is_trained=False)
    assert title(made).startswith("The best of 9")
    assert (findings(made)[0].heading, findings(made)[0].comparison) == ("Training", None)


def test_findings_name_judges_and_differences():
    made = evidence([judge("a"), judge("b")], {"a": "higher", "b": "no clear difference"})
    (training,) = [f for f in findings(made) if f.comparison == TRAINING]
    assert training.text.endswith(" difference by b.") and "better by a" in training.text


def test_for_whom_tells_each_side():
    made = evidence(
        [judge("a")],
        {},
        differences=[
            difference(TRAINING, "a", "left", "higher"),
            difference(TRAINING, "a", "right", "no clear difference"),
            difference(TRAINING, "a", None, "higher"),
        ],
        gain_gaps=[gap(TRAINING, "a", "right", "left", "higher")],
        score_gaps=[gap("DPO+RR", "a", "right", "left", "no clear difference")],
    )
    (text,) = [f.text for f in findings(made) if f.heading == "For whom"]
    assert "(DPO+RR) no side" in text
    # a side may be called "for"
    assert '"left" better' in text and '"right" no clear' in text and '"left" gains more' in text


def test_how_sure_counts_what_is_clear_and_says_what_the_correction_promises():
    # two judges, two comparisons, three rows each: 12 differences, 6 of judge a are clear
    made = evidence([judge("a"), judge("b")], {"a": "higher", "b": "no clear difference"})
    text = findings(made)[-1].text
    assert re.search(
        r"^24 .* 12 .* 9 candidates .* 12 differences .* 6 are clear\. .* 5 %",
        text,
    )


def test_many_judges_are_counted_not_listed():
    names = ["a", "b", "c", "d"]
    judges = [judge(n) for n in names]
    made = [evidence(judges, dict.fromkeys(names, said)) for said in ("no clear difference", "higher")]
    assert findings(made[0])[0].text.endswith(f"{UNSURE} by any of 4 judges.")
    assert findings(made[1])[0].text.endswith(" all 4 judges.")
    some = evidence([*judges, judge("e")], {**dict.fromkeys(names, "no clear difference"), "e": "higher"})
    assert findings(some)[0].text.endswith(" and 2 others.")


def test_what_goes_with_length_is_said_and_warned_of():
    parts = {
        "at_equal_length": Number(value=0.01, low=-0.01, high=0.03),
        "by_length": Number(value=0.02, low=0.01, high=0.03),
    }
    found = evidence(
        [judge("a")],
        {"a": "higher"},
        traits={
            ("words", name): n for name, n in (("zero-shot", 33.0), ("DPO", 25.0), ("rerank", 30.0), ("DPO+RR", 30.0))
        },
    )
    found.differences[:] = [d.model_copy(update=parts if d.pair == TRAINING else {}) for d in found.differences]
    (said,) = [each.text for each in findings(found) if each.heading == "At equal length"]
    assert "33.0 to 25.0" in said and "+0.010 (\u22120.010 to +0.030)" in said
    (warning,) = length_warnings(found)
    assert " 67 % of" in warning and "shorter summaries" in warning
    assert list(length_warnings(evidence([judge("a")], {"a": "higher"}))) == []
    unsure = evidence([judge("a")], {"a": UNSURE}, traits=found.traits)
    unsure.differences[:] = [d.model_copy(update=parts) for d in unsure.differences]
    assert "At equal length" not in {each.heading for each in findings(unsure)}


def test_a_judge_of_which_less_is_better_is_told_with_its_direction():
    said = findings(evidence([judge("good"), judge("bad", better="lower")], {"good": "higher", "bad": "higher"}))[
        0
    ].text
    assert "good (+0.030); worse" in said and "bad (+0.030, lower" in said
