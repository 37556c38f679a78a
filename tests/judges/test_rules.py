"""Judges that count."""

import math

from evenhand.config.judges import RuleJudge
from evenhand.judges.judge import JudgeInput
from evenhand.judges.rules import open_contract, open_length
from evenhand.judges.shared import SharedModels


def scores(opener, kind, *inputs):
    judge = opener("judge", RuleJudge(kind=kind), SharedModels())
    return [v.score for v in judge.score([JudgeInput("c", "r", text, ok, "") for text, ok in inputs])]


def test_length_counts_words_between_white_space():
    assert scores(open_length, "length", ("The ferry's well-kept  deck.", True), ("", False), ("\n", False)) == [
        4,
        0,
        0,
    ]


def test_words_without_spaces_are_counted_by_letters():
    # twelve letters, five for three words, and a word of Latin letters; the full stops are none
    text = "\u6e21\u8f6e\u4fbf\u5b9c\u3002\u6e2f\u53e3\u5f88\u5435\u3002 AI \u7a0e\u592a\u9ad8\u4e86"
    assert scores(open_length, "length", (text, True)) == [8]


def test_contract_is_one_or_zero():
    assert scores(open_contract, "contract", ("The Left agrees.", True), ("Agreed.", False)) == [1, 0]


def test_rules_look_at_the_summary_alone():
    judge = open_length("judge", RuleJudge(kind="length"), SharedModels())
    assert (judge.against, judge.loads, judge.high) == (None, "", math.inf)
    assert judge.signature == "words|judge:length|v:3"
