"""Grades after a thought: budget, draws, cut replies; expected values by hand."""

import json

import pytest
from answering import AnsweringBackend, GivenModels

from evenhand.config.judges import RubricJudge
from evenhand.generate.backend import TOO_LONG, Reply
from evenhand.judges.judge import JudgeInput
from evenhand.judges.overflow import was_cut
from evenhand.judges.rubric import GRADES, open_rubric, prompt_needs, rubric_template, was_greedy
from evenhand.judges.shared import SharedModels
from evenhand.judges.thought import grade_behind_thought


def section(**changes):
    values = {
        "kind": "rubric",
        "rubric": "coverage",
        "scoring": "thought",
        "thought_tokens": 100,
        "model": {"name": "org/model"},
        "backend": {"backend": "scripted"},
    }
    return RubricJudge.model_validate(values | changes)


def make_input(text="The ferry is cheap.", reference="The ferry is cheap. Nurses need it."):
    return JudgeInput(candidate_id="c", request_id="ferry/left", text=text, contract_ok=True, reference=reference)


def stopped(text):
    return Reply(text=text, finish_reason="stop")


def cut(text):
    return Reply(text=text, finish_reason="length")


def judged(*replies, **changes):
    """The verdict on one summary by a judge whose draws are these replies, and what it was asked."""
    answers = iter(replies)
    backend = AnsweringBackend(lambda ask: next(answers))
    judge = open_rubric("judge", section(draws=len(replies), **changes), GivenModels(backend))
    (verdict,) = judge.score([make_input()])
    return verdict, backend.batches[0]


def test_score_is_the_mean_of_the_draws_grades_and_raw_keeps_each():
    replies = [
        stopped("<think>Perhaps 2? No.</think>Coverage grade: 4"),
        stopped("<think>All but one.</think>\n\n3"),
        stopped("It has both points.\n**Coverage grade: 5**"),
    ]
    verdict, asks = judged(*replies)
    # (4 + 3 + 5) / 3
    assert (verdict.score, verdict.unscored, verdict.attempts) == (4.0, None, 3)
    raw = json.loads(verdict.raw)
    assert raw == {"grades": [4.0, 3.0, 5.0], "replies": [reply.text for reply in replies]}
    assert not was_cut(verdict.raw)
    assert not was_greedy(verdict.raw)
    # the thought's budget and 64 tokens for the answer; each draw with a seed of its own
    drawn_alike = {(ask.sampling.temperature, ask.sampling.top_p, ask.sampling.max_tokens, ask.choices) for ask in asks}
    assert drawn_alike == {(0.6, 0.95, 164, ())}
    assert len({ask.seed for ask in asks}) == 3


def test_draws_without_a_grade_are_left_out_of_the_mean():
    verdict, _ = judged(stopped("<think>Hm.</think>2"), cut("<think>Hm. Grade: 5"), stopped("No grade."))
    assert verdict.score == 2.0
    assert json.loads(verdict.raw)["grades"] == [2.0, None, None]


@pytest.mark.parametrize(
    ("replies", "reason"),
    [
        ([cut("<think>Grade: 5, or")], "reply cut off"),
        ([cut("<think>Both.</think>Coverage grade: 4")], "reply cut off"),
        ([stopped("I cannot say."), cut("<think>")], "reply cut off"),
        ([stopped("<think>Grade: 5")], "unreadable reply"),
        ([stopped("")], "unreadable reply"),
        ([stopped("3 or 4")], "unreadable reply"),
        ([stopped("<think>4</think>6")], "unreadable reply"),
        ([stopped("<think>4</think>3.5")], "unreadable reply"),
        ([Reply(text="", finish_reason="failed", reason=TOO_LONG, error="9000 tokens")], "prompt too long"),
        ([Reply(text="", finish_reason="failed", reason="busy", error="busy")], "no reply from the model"),
    ],
)
def test_without_any_grade_there_is_no_score(replies, reason):
    verdict, _ = judged(*replies)
    assert (verdict.score, verdict.unscored) == (None, reason)


def test_a_failed_draw_leaves_the_others_grades():
    verdict, _ = judged(Reply(text="", finish_reason="failed", reason="busy", error="busy"), stopped("4"))
    assert (verdict.score, verdict.attempts) == (4.0, 2)
    assert json.loads(verdict.raw) == {"grades": [None, 4.0], "replies": [None, "4"]}


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        # the line that closes the reply, whatever stood before it
        ("Grade: 3 was my first idea.\nGrade: 4", 4),
        ("Coverage grade: [4]", 4),
        ("The faithfulness grade is 4/5.", 4),
        ("It has most points.\n\n$\\boxed{4}$", 4),
        ('<think>2?</think>{"grade": 4}', 4),
        # colon and figure of full width
        ("Coverage grade\uff1a\uff14", 4),
        # another scale, half a grade, none of the scale, a number that counts something
        ("Grade: 4/10", None),
        ("Grade: 3.5", None),
        ("Grade: 6", None),
        ("Points that are missing: 3", None),
        # a thought without marks that speaks of a grade
        ("Okay, the user wants a grade. I might give a grade: 3. Let me see what is missing first.", None),
        ("My grade is 3 at first, but the summary misses the nurses.", None),
        ("3\n\nWait, the nurses are missing.", None),
        ("The summary has 3 of 5 points.\n\nCoverage grade: 3", 3),
        ("[THINK]2[/THINK]Coverage grade: 4", 4),
        ("analysisIt is 2 perhaps.assistantfinalCoverage grade: 4", 4),
        # a template opened the thought in the prompt
        ("1. The source\n2. The summary</think>\n\n4", 4),
        ("<think>All but one.</think>\n4\n\nThe summary keeps nearly all.", 4),
        ("<think>All.</think>\nGrade: 5\n\nNo, one is missing.\nGrade: 4", 4),
        ("<think>\u4e24\u4e2a\u89c2\u70b9\uff0c\u4e00\u4e2a\u7f3a\u5931\u3002</think>\n4", 4),
        ("\u6458\u8981\u63d0\u5230\u4e86\u6e21\u8f6e\u7684 3 \u4e2a\u8bba\u70b9\u3002\nCoverage grade: 4", 4),
        ("\u6458\u8981\u63d0\u5230\u4e86\u6e21\u8f6e\u7684 3 \u4e2a\u8bba\u70b9\u3002", None),
        ("It misses\n3 arguments of the source.", None),
        ("1. The source argues", None),
        ("<think>5</think>", None),
    ],
)
def test_the_grade_is_read_behind_the_thought(reply, grade):
    assert grade_behind_thought(stopped(reply), GRADES) == grade


@pytest.mark.parametrize(
    ("text", "grade"),
    [
        ("The ferry is there, the nurses are not.\nCoverage grade: 3", None),
        ("The ferry is there.\nGrade: 5? No.</think>\n\nCoverage grade: 3", 3),
        ("<think>Both.</think>3", 3),
    ],
)
def test_what_a_template_opened_and_nobody_closed_is_all_thought(text, grade):
    reply = Reply(text=text, finish_reason="stop", begins_in_thought=True)
    assert grade_behind_thought(reply, GRADES) == grade


def test_each_input_gets_its_own_draws():
    backend = AnsweringBackend(lambda ask: stopped("5" if "Good." in ask.prompt[0].content else "2"))
    judge = open_rubric("judge", section(draws=2), GivenModels(backend))
    assert [v.score for v in judge.score([make_input("Good."), make_input("Bad.")])] == [5.0, 2.0]
    assert [len(batch) for batch in backend.batches] == [4]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"thought_tokens": None}, r"scoring: thought needs thought_tokens"),
        ({"thought_tokens": 0}, "greater than or equal to 16"),
        ({"draws": 0}, "greater than or equal to 1"),
        ({"thought_tokens": 4096}, r"thought_tokens 4096 leave no room for a prompt in backend\.max_model_len 4096"),
        ({"scoring": "expected"}, "no effect of thought_tokens except with scoring: thought"),
        ({"scoring": "greedy", "thought_tokens": None, "draws": 5}, "no effect of draws except with scoring: thought"),
        ({"max_attempts": 2}, "no effect of max_attempts except with scoring: greedy"),
    ],
)
def test_a_budget_is_needed_and_is_of_thoughts_alone(change, says):
    with pytest.raises(ValueError, match=says):
        section(**change)


@pytest.mark.parametrize("mode", ["standard", "simple", "binary", "ternary", "released_rubric"])
@pytest.mark.parametrize("rubric", ["coverage", "faithfulness"])
def test_shipped_prompts_let_the_model_think_and_are_otherwise_the_same(rubric, mode):
    if (rubric, mode) == ("coverage", "released_rubric"):
        return
    plain = rubric_template("judge", section(rubric=rubric, mode=mode, scoring="greedy", thought_tokens=None))
    thinking = rubric_template("judge", section(rubric=rubric, mode=mode))
    before, _, last = plain.text.rpartition("\n\n")
    assert thinking.text.startswith(before)
    grades = last.split(" only, ")[1].removesuffix(".")
    assert thinking.text[len(before) :] == (
        "\n\nYou may think before you grade. Then end with one line that has the grade only, "
        f"{grades}:\n{rubric.capitalize()} grade: [number]"
    )
    assert thinking.fields == {"source", "summary"}
    assert thinking.signature.startswith(f"{plain.name}-thought:")


def test_own_template_is_asked_as_it_stands(tmp_path):
    path = tmp_path / "own.txt"
    path.write_text("{source} | {summary}\n\nThink, then grade.", encoding="utf-8")
    _, asks = judged(stopped("4"), template=str(path))
    assert asks[0].prompt[0].content.endswith("Think, then grade.")


def test_signature_names_what_the_scores_depend_on_and_preflight_the_room():
    plain = open_rubric("judge", section(), SharedModels()).signature
    assert plain.endswith("|scale:1-5|scoring:thought|thought:100|draws:3|v:1")
    for change in ({"thought_tokens": 200}, {"draws": 4}):
        assert open_rubric("judge", section(**change), SharedModels()).signature != plain
    assert prompt_needs("judge", section()).reply_tokens == 164
    assert prompt_needs("judge", section()).grades == []


def test_too_long_sources_are_cut_for_every_draw():
    def answer(ask):
        n = len(ask.prompt[0].content.split())
        if n > 300:
            return Reply(text="", finish_reason="failed", reason=TOO_LONG, error="long", n_prompt_tokens=n)
        return stopped("4")

    options = section(overflow="truncate", backend={"backend": "scripted", "max_model_len": 464}, draws=2)
    judge = open_rubric("judge", options, GivenModels(AnsweringBackend(answer)))
    (verdict,) = judge.score([make_input(reference="word " * 400)])
    assert verdict.score == 4.0
    assert was_cut(verdict.raw)


@pytest.mark.slow
def test_thought_runs_on_a_real_model_and_repeats_itself(tiny_model):
    pytest.importorskip("torch")
    backend = {"backend": "transformers", "max_model_len": 2048}
    options = section(model={"name": str(tiny_model), "dtype": "float32"}, backend=backend, thought_tokens=16, draws=2)
    judge = open_rubric("judge", options, SharedModels())
    first = judge.score([make_input(), make_input("A. " * 3000)])
    judge.close()
    assert judge.score([make_input(), make_input("A. " * 3000)]) == first
    judge.close()
    assert first[0].attempts == 2
    assert first[1].unscored == "prompt too long"
