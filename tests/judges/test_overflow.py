"""Prompts longer than the judge's model, on backends that count words."""

import json
import logging
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.config.judges import RubricJudge
from evenhand.errors import JudgeError
from evenhand.generate.backend import prompt_tokens
from evenhand.judges.judge import JudgeInput
from evenhand.judges.overflow import shortened, was_cut
from evenhand.judges.rubric import open_rubric
from evenhand.judges.shared import SharedModels

SOURCE = "one two three four five six\nseven eight nine ten"


def test_the_longest_passage_gives_way_word_by_word():
    # passages of 6 and 4 words: 6 -> 4, then the last of equals, in turn
    assert shortened(SOURCE, 2) == "one two three four\nseven eight nine ten"
    assert shortened(SOURCE, 3) == "one two three four\nseven eight nine"
    assert shortened(SOURCE, 4) == "one two three\nseven eight nine"


def test_passages_without_a_word_left_go_with_their_lines():
    assert shortened("a b\nc", 2) == "a"
    assert shortened("a b\nc", 3) == shortened("a b\nc", 99) == ""


@given(st.lists(st.text("ab  ", max_size=12), max_size=5), st.integers(0, 30))
def test_exactly_as_many_words_go_and_the_others_keep_their_order(lines, n):
    text = "\n".join(lines)
    left = shortened(text, n)
    assert len(left.split()) == max(len(text.split()) - n, 0)
    rest = iter(text.split())
    assert all(word in rest for word in left.split())


@given(st.lists(st.integers(0, 5), max_size=6), st.integers(0, 20))
def test_each_word_goes_from_the_line_that_is_then_the_longest(lengths, n):
    lines = [[f"w{i}.{j}" for j in range(length)] for i, length in enumerate(lengths)]
    text = "\n".join(" ".join(line) for line in lines)
    for _ in range(min(n, sum(lengths))):
        max(enumerate(lines), key=lambda each: (len(each[1]), each[0]))[1].pop()
    assert shortened(text, n).split() == [word for line in lines for word in line]


def test_long_sources_are_shortened_in_moments():
    text = "\n".join(["w " * 30] * 2000)
    start = time.process_time()
    # half of the words go, one at a time
    assert shortened(text, 30_000) == "\n".join([("w " * 15).strip()] * 2000)
    # looking through all lines for each word took half a minute
    assert time.process_time() - start < 3


@pytest.mark.parametrize(
    ("raw", "cut"),
    [
        (None, False),
        ("4", False),
        ('{"1":0.5,"2":0.5}', False),
        ('{"cut_words":3,"reply":"4"}', True),
        ('{"best":[0.5],"cut":3}', True),
        ('{"best":[0.5]}', False),
        ('{"consistency":[4,null],"cut_words":2,"faithfulness":[4,null],"relevance":[4,null],"words":9}', True),
        ('{"consistency":[4,null],"faithfulness":[4,null],"relevance":[4,null],"words":9}', False),
        ('{"failed":true,"replies":"hm"}', False),
        ('{"cut":1,"due":{"left":0.5},"found":{"left":1.0}}', True),
        # what a model may reply
        ('{"cut": 3}', False),
        ('{"cut_words": 3, "reply": 4}', False),
        ("[" * 100_000, False),
        ("9" * 5000, False),
        ('{"x":NaN}', False),
    ],
)
def test_flag_is_seen_in_every_judges_shape_and_in_no_reply(raw, cut):
    assert was_cut(raw) is cut


def judge(overflow, most_words, scoring="expected"):
    """A judge on the scripted backend, which counts a word as a token."""
    section = {
        "kind": "rubric", "rubric": "coverage", "model": {"name": "m"}, "scoring": scoring, "overflow": overflow,
        "backend": {"backend": "scripted", "max_model_len": most_words},
    }  # fmt: skip
    return open_rubric("judge", RubricJudge.model_validate(section), SharedModels())


def make_input(source, text="A ferry.", number=0):
    return JudgeInput(f"c{number}", "r", text, True, source)


def room_for(n_words, n_answer=1):
    """A length that leaves room for a source of so many words."""
    frame = judge("skip", 9999).prompt(make_input("x", "A ferry."))[0].content
    return len(frame.split()) - 1 + n_words + n_answer


def test_skip_leaves_the_candidate_unscored_with_its_own_reason():
    fits, long = make_input("word " * 10), make_input("word " * 11)
    found = judge("skip", room_for(10)).score([long, fits])
    assert [(v.score is None, v.unscored) for v in found] == [(True, "prompt too long"), (False, None)]


def test_error_names_all_candidates_and_the_remedies():
    inputs = [make_input(f"word{i} " * (8 + i), number=i) for i in range(5)]
    with pytest.raises(JudgeError, match=r"2 of 5 prompts.*c3 \(prompt of.*c4 \(.*overflow: truncate"):
        judge("error", room_for(10)).score(inputs)


def test_truncate_cuts_the_source_to_fit_and_flags_it(caplog):
    fits, long = make_input("word " * 10), make_input("\n".join(["word " * 30, "other " * 3]))
    with caplog.at_level(logging.WARNING):
        cut, whole = judge("truncate", room_for(10)).score([long, fits])
    # 33 words and room for 10
    assert json.loads(cut.raw)["cut_words"] == 23
    assert was_cut(cut.raw)
    assert "candidate c0: the source was cut by 23 words" in caplog.text
    assert cut.score is not None
    # the scripted backend's reply depends on the prompt alone: what was judged is what had been cut by hand
    by_hand = judge("truncate", room_for(10)).score([make_input(shortened(long.reference, 23))])[0]
    assert (cut.score, json.loads(cut.raw)["reply"]) == (by_hand.score, by_hand.raw)
    assert "cut_words" not in whole.raw
    assert not was_cut(whole.raw)


def test_truncate_works_on_replies_too():
    room = room_for(10, n_answer=64)
    found = judge("truncate", room, scoring="greedy").score([make_input("word " * 30)])[0]
    # the scripted backend writes sentences and no grade; what matters is that it was asked
    assert found.unscored != "prompt too long"


def test_source_that_cannot_be_cut_enough_is_unscored_and_stops_nobody():
    fits, long = make_input("word " * 10), make_input("word", text="summary " * 40)
    found = judge("truncate", room_for(10)).score([long, fits])
    assert [(v.score is None, v.unscored) for v in found] == [(True, "prompt too long"), (False, None)]


def test_cutting_fits_a_real_tokenizer_closely(tiny_model):
    transformers = pytest.importorskip("transformers")
    section = {
        "kind": "rubric", "rubric": "coverage", "model": {"name": str(tiny_model)}, "overflow": "truncate",
        "backend": {"backend": "scripted", "max_model_len": 1400, "engine": {"tokenize": True}},
    }  # fmt: skip
    made = open_rubric("judge", RubricJudge.model_validate(section), SharedModels())
    source = "\n".join(f"The ferry to island {i} is cheap and nurses need it at night." for i in range(120))
    found = made.score([make_input(source)])[0]
    judged = made.prompt(make_input(shortened(source, json.loads(found.raw)["cut_words"])))
    n_tokens = len(prompt_tokens(transformers.AutoTokenizer.from_pretrained(tiny_model), judged))
    # one token is the answer's; the rest is used but for a few words
    assert 1350 < n_tokens <= 1399
    assert found.score is not None
