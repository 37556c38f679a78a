"""Reading a grade from a reply."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.judges.verdict_text import parse_judge


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        # a first line that is only a number, by figures or word, with its scale or without
        ("4", 4), ("4.", 4), (" 4/5 ", 4), ("5 out of 5.", 5), ("Three", 3), ("four out of five", 4), ("4.5", 4.5),
        ("4\nIt misses 1 of 3 points.", 4), ("**4**", 4), ("`2`", 2), ("# 3", 3),
        # a value after its name
        ("Score: 4", 4), ("The rating is 2", 2), ("score = 3", 3), ('{"grade": "5"}', 5), ("Answer:\n2", 2),
        ("Final score: 4/5. It covers 2 of 3 points.", 4), ("Coverage: 4, so the score is 4", 4),
        # in other languages
        ("Bewertung: 4", 4), ("Punktzahl: 4,0", 4), ("4,5", 4.5), ("Score: 4,5", 4.5), ("Puntuaci\u00f3n: 2/5", 2),
        ("\u041e\u0446\u0435\u043d\u043a\u0430: 3", 3), ("\u8bc4\u5206\uff1a4", 4), 
        ("\u5f97\u5206\uff1a4\u5206", 4), ("4 \u5206", 4), ("Puntuacio\u0301n: 4", 4), ("Puntuacion: 4", 4),
        ("Note: 4", 4), ("Note : 4/5", 4), ("Nota final: 4", 4), ("La note est de 4.", 4),
        ("**Note :** 4\n\nIl manque 2 points.", 4),
        ("Gesamtnote: 4,5", 4.5), ("Voto: 4 su 5", 4), ("Cijfer: 4", 4), ("Оценка — 4", 4), ("Puan: 4", 4),
        ("\u063a\u064a\u0631 \u0643\u0627\u0645\u0644.\n\u0627\u0644\u062a\u0642\u064a\u064a\u0645: \u0664", 4), ("分数是4", 4),
        ("評価は4です。", 4), ("평점: 4점", 4), ("4 von 5", 4), ("4 sur 5.", 4),
        # behind a dash stands why, and another number denies nothing
        ("Score: 4 - 2 details are missing", 4), ("Score: 3, not 4", 3), ("<score>4</score>", 4), ("Score => 4", 4),
        ("Score: 4 of 5", 4), ("Score: 3 (out of 5)", 3), ("It does not invent facts, so I give it a 4", 4),
        ("There is no error. I rate it 5.", 5), ("A rating of 4 is fair", 4), ("Coverage 4", 4),
        # echoes of the scale
        ("Score (1-5): 3", 3), ("On a scale of 1 to 5: 2", 2), ("Out of a scale of 5, I say 4", 4), ("(1 \u2013 5 only) 4", 4),
        ("From 1 through 5 it is a 3", 3),
        # fractions, lists, lone numbers
        ("A solid 4/5 summary.", 4), ("4/5 rating", 4), ("4/5 with minor omissions", 4),
        ("I would say 4/5 here", 4), ("That is 3 out of 5 for me", 3),
        ("I give it 3 out of 5 points", 3), ("4/5 stars", 4), ("4/5 covers all voices", 4), ("4/5 - covers all sides", 4),
        ("It does not mention prices - I give it 3", 3), ("It does not cover the price.\n3", 3), ("Score: <4>", 4),
        ("Since it does not mention the price I give it a 3", 3), ("<4>", 4), ("It isn't whole which is why I give it a 2", 2),
        ("4 out of 5, with all sides", 4), ("4/5: misses details", 4), ("1. 3", 3), ("2) I think 4", 4), ("4. High", 4),
        ("I give it a 4", 4), ("4 and again 4", 4),
        # a number word in a short reply
        ("I say four", 4), ("Four stars", 4),
        # thoughts are no verdict
        ("<think>1 or 2? score: 2</think> 4", 4), ("<THINK>\n3\n</THINK>\n5", 5), ("maybe 2 or 3 </think>4", 4),
    ],
)  # fmt: skip
def test_grade_is_read(reply, grade):
    assert parse_judge(reply, 1, 5) == grade


@pytest.mark.parametrize(
    "reply",
    [
        "", "   \n", "nan", "inf", "n/a", "***", "I cannot say.", "None of the arguments",
        # two readings
        "3 or 4", "3-4", "Score: 3, rating: 4", "1. 3\n2. 4", "2/5 or 3/5", "one or two",
        # off the scale, or another scale; never clamped or rescaled
        "0", "6", "-2", "\u22122", "8/10", "4/10", "80 out of 100", "Score: 4/10", "score: 80%", "9" * 400,
        # not numbers
        "1e3", "version 4.5.6", "covid19", "4th",
        # a word in a long reply is a count of something
        "The summary includes four of the main arguments",
        # how many points of the text are taken up
        "It covers 4 out of 5 key points.", "The summary includes 2 out of 5 facts", "4/5 of the points are covered.",
        "It covers 4 out of 5 perspectives.", "Coverage: 3/5 of voices", "Coverage: 3 people",
        "1,000 words", "\u7f3a\u5c114\u70b9\u5185\u5bb9",
        "Coverage: 4 of 5 key points", "Faithfulness is 2 of 3 claims", "Coverage of 4 sides is good", "Answer: 4 documents",
        "Note: 4 documents disagree", "Note: 4, 5 and 2 are missing", "Nota: 3 y 4", "Fehlende Punkte: 4", "Key points: 4",
        "The summary is a 5-sentence text",
        # a range, one of two, reckoned, a bound, a percentage
        "Score: 3-4", "Score: 3 to 4", "Score: 3 ~ 4", "Answer: 3 or 4", "Score: 3, 4", "Score: 5-1=4", "Score: 2 + 2",
        "Score: <4",
        "Score: > 3", "Score: \u2265 3", "Score: 4%",
        # of another scale, in other words
        "Score: 4 (out of 10)", "Score: 4, out of 10", "Score: 4 on a scale from 0 to 10", "Coverage: 4 of 9",
        "Bewertung: 4 von 10", "Note : 4 sur 20", "Calificaci\u00f3n: 4 de 10", "Оценка: 4 из 10",
        "\u8bc4\u5206\uff1a4\uff08\u6ee1\u520610\u5206\uff09", "4 von 10",
        # denied
        "I cannot give it a 5.", "I would not give it a 4", "It doesn\u2019t deserve a 4", "I can't rate this. 5",
        # only the scale is echoed
        "1-5", "a scale of 5", "Score: (1 to 5)",
        # cut off while thinking
        "<think>score: 4",
    ],
)  # fmt: skip
def test_reply_that_gives_no_single_grade_on_the_scale_is_none(reply):
    assert parse_judge(reply, 1, 5) is None


def test_echo_of_another_scale_is_no_echo():
    # 1 and 7 are two numbers when the scale ends at 5, and the scale itself when it ends at 7
    assert parse_judge("on 1-7 I say 7", 1, 5) is None
    assert parse_judge("on 1-7 I say 7", 1, 7) == 7


def test_fraction_is_refused_where_whole_grades_are_wanted():
    assert parse_judge("4.5", 1, 5, integer_only=True) is None
    assert parse_judge("4.0", 1, 5, integer_only=True) == 4


@given(st.text())
def test_any_text_gives_a_grade_on_the_scale_or_none(reply):
    grade = parse_judge(reply, 1, 5)
    assert grade is None or 1 <= grade <= 5


@given(
    st.integers(1, 5),
    st.sampled_from(
        ["{}", "Score: {}", "{}/5", "**{}**", "Grade: {} out of 5.", "The coverage is {}", "<think>9</think>{}"]
    ),
    st.sampled_from(["", "\n", "  "]),
)
def test_usual_ways_to_give_a_grade_are_read(grade, form, space):
    assert parse_judge(space + form.format(grade) + space, 1, 5) == grade


@given(st.integers(1, 5), st.integers(1, 5))
def test_two_labelled_grades_are_read_only_when_they_agree(first, second):
    expected = first if first == second else None
    assert parse_judge(f"Coverage: {first}\nFaithfulness: {second}", 1, 5) == expected


@pytest.mark.parametrize(
    "thought",
    [
        "<thinking>score: 2</thinking>", "[THINK]2[/THINK]", "<reasoning>\n2\n</reasoning>\n", "<seed:think>2</seed:think>",
        "<|channel|>analysis<|message|>score: 2<|end|><|start|>assistant<|channel|>final<|message|>",
        "analysisIt is 2.assistantfinal",
        "```thinking\nscore: 2\n```\n", "Thinking Process:\n\n1. score: 2\n\nFinal answer: ",
        "Thinking Process:\n2 or 3\n\nScore: ",
    ],
)  # fmt: skip
def test_thoughts_in_any_marks_are_no_verdict(thought):
    assert parse_judge(f"{thought}4", 1, 5) == 4
    assert parse_judge(f"{thought}Score: 4", 1, 5) == 4


@pytest.mark.parametrize(
    "thought", ["[THINK]score: 4", "<thinking>4", "<|channel|>analysis<|message|>score: 4", "Thinking Process:\n\n4"]
)
def test_a_verdict_inside_a_thought_that_was_cut_off_is_none(thought):
    assert parse_judge(thought, 1, 5) is None


@pytest.mark.parametrize("run", [" ", "\n", "n't give 4. ", "not ", "note ", "score of ", "1. "])
def test_a_long_reply_takes_no_square_of_its_length(run):
    # 60,000 blanks took more than a minute
    start = process_time()
    parse_judge(f"Score:{run * 20_000}4", 1, 5)
    assert process_time() - start < 3
