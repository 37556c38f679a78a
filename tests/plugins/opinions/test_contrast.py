"""Contrast between sides as a judge."""

import json

import pytest
from labelled_sets import BALANCED, FERRY, ONE_SIDED, judge_input

from evenhand.config import Recipe
from evenhand.config.judges import AlignmentJudge
from evenhand.judges import open_judge, open_judges
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


def test_documents_in_the_order_of_a_sample_are_no_option_of_it():
    with pytest.raises(ValueError, match="order of the documents"):
        ContrastJudge.model_validate({"kind": "contrast", "entailer": {"dedupe": "sample"}})


def recipe(reward):
    judges = {"fit": {"kind": "rouge"}, "own": {"kind": "contrast"}}
    return Recipe.model_validate({
        "name": "study", "output": "runs/study", "model": {"name": "m"}, "generate": {"plans": {"plain": {}}},
        "evaluation": {"judges": ["fit"]}, "judges": judges, "reward": reward, "task": {"scope": "side"},
    })  # fmt: skip


def test_it_is_a_reward_and_a_weight_below_0_is_refused_since_higher_is_fairer():
    assert recipe({"judges": ["fit", "own"]}).reward.combine == "mean"
    reward = {"judges": ["fit", "own"], "combine": "weighted", "weights": {"fit": 1, "own": -1}}
    with pytest.raises(ValueError, match=r"own: -1, where higher is fairer.*write a weight above 0"):
        recipe(reward)


def test_it_shares_the_encoder_of_other_judges():
    sections = {"contrast": ContrastJudge(kind="contrast"), "fit": AlignmentJudge(kind="alignment")}
    assert len({judge.loads for judge in open_judges(sections)}) == 1
