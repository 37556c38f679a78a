"""Contrast between sides as a judge."""

import json

import pytest
from labelled_sets import BALANCED, FERRY, ONE_SIDED, judge_input

from evenhand.judges import open_judge
from evenhand.plugins.opinions.sections import ContrastJudge


def judged(*inputs, kind="words"):
    section = ContrastJudge.model_validate({"kind": "contrast", "entailer": {"kind": kind}})
    return open_judge("contrast", section).score(inputs)


def test_score_is_support_by_the_own_side_less_support_by_the_others():
    (found,) = judged(judge_input(ONE_SIDED, side="left"))
    # each unit stands whole in a document of the left; the right has "ferry" of two words and of four: (1/2 + 0 + 1/4 + 0)/4
    assert json.loads(found.raw) == {"own": 1.0, "others": 0.1875, "units": 4}
    assert found.score == 0.8125


def test_sides_swapped_change_the_sign():
    left, right = judged(judge_input(ONE_SIDED, side="left"), judge_input(ONE_SIDED, side="right"))
    assert left.score == -right.score


def test_own_side_scores_above_a_mixture_and_that_above_the_other_side():
    other = "The ferry wastes taxes. A bridge pays for itself. Drivers want the bridge."
    own, mixed, wrong = judged(*(judge_input(summary, side="left") for summary in (ONE_SIDED, BALANCED, other)))
    assert own.score > mixed.score + 0.3 > wrong.score + 0.6


@pytest.mark.parametrize(
    ("each", "reason"),
    [
        (judge_input(ONE_SIDED), "the request asks for all sides"),
        (judge_input(ONE_SIDED, FERRY[:2], side="left"), "no documents of other sides"),
        (judge_input(ONE_SIDED, FERRY[:2], side="right"), "no documents of the side"),
        (judge_input(" ", side="left"), "empty summary"),
    ],
)
def test_what_has_no_other_side_is_unscored_and_stops_nobody(each, reason):
    found, other = judged(each, judge_input(ONE_SIDED, side="left"))
    assert (found.score, found.unscored) == (None, reason)
    assert other.score == 0.8125
