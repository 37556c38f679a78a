"""Grades of chats are read from the token that is the grade; whether a server read the whole prompt is told by its own count."""

import json
import math
from contextlib import closing
from dataclasses import replace

import pytest

pytest.importorskip("openai")
pytest.importorskip("aiolimiter")

from serving import Server

from evenhand.config import BackendSection, ModelSection
from evenhand.generate.answers import written_choice
from evenhand.generate.backend import Ask, Usage
from evenhand.generate.backends import open_backend
from evenhand.judges.rubric import _expected_verdict
from evenhand.judges.thought import mean_verdict
from evenhand.plugins.server.bounds import least_tokens
from evenhand.plugins.server.exchange import Exchange
from evenhand.plugins.server.kept import KeptAnswers
from evenhand.plugins.server.requests import Messages
from evenhand.records import Message, Sampling

GRADES = tuple("12345")


@pytest.fixture
def exchange(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    section = BackendSection(backend="openai", server={"base_url": "http://h/v1"})
    with closing(KeptAnswers()) as kept:
        yield Exchange(section, "tiny", Messages(), kept)


def position(token, shares):
    """A token and its alternatives; what is left of the probability is on twenty tokens that are no grade."""
    others = {f"zz{i}": max(1e-9, (1 - sum(shares.values())) / 20) for i in range(20)}
    top = [{"token": each, "logprob": math.log(share)} for each, share in {**shares, **others}.items()]
    return {"token": token, "logprob": math.log(shares.get(token, 1e-9)), "top_logprobs": top}


def verdict(exchange, text, positions, grades=GRADES):
    asked = Ask((Message(role="user", content="grade"),), Sampling(temperature=0.0, max_tokens=1), 1, grades)
    choice = {
        "index": 0, "finish_reason": "length", "message": {"content": text},
        "logprobs": {"content": [position(*each) for each in positions]} if positions else None,
    }  # fmt: skip
    content = {"choices": [choice], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
    response = exchange.read(json.dumps(content).encode())
    reply = exchange.taken(["k"], [asked], exchange.body([asked]), response)["k"].reply
    return _expected_verdict(reply, grades)


# grade -> its share, as of a model that is sure of the one it writes, and hardly of the others
def sure(grade, grades=GRADES):
    return {each: 0.9 if each == grade else 0.02 for each in grades}


@pytest.mark.parametrize(
    ("text", "first", "rest"),
    [
        ("1. The summary", "1", [". The"]), ("3 key points are", "3", [" key"]), ("5 texts say", "5", [" texts"]),
        ("10", "1", ["0"]), ("1-5 scale:", "1", ["-5", " scale"]), ("4.5", "4", [".5"]), ("4th", "4", ["th"]),
        ("2 of 3", "2", [" of"]), ("3/10", "3", ["/10"]), ("4%", "4", ["%"]), ("1.\nThe summary", "1", [".\n"]),
        ("5 - 3", "5", [" -"]),        ("2, 3", "2", [","]), ("4 or 5", "4", [" or"]),
        ("1) It", "1", [")"]), ("2\u00d7", "2", ["\u00d7"]),
    ],
)  # fmt: skip
def test_number_that_is_not_the_grade_gives_none(exchange, text, first, rest):
    found = verdict(exchange, text, [(first, sure(first)), *((each, {each: 1.0}) for each in rest)])
    assert (found.score, found.unscored, found.raw) == (None, "reply is no grade", text)


@pytest.mark.parametrize("text", ["0.8", "0.", "0.5 or so", "1.0", "10", "0-1"])
def test_fraction_is_no_binary_grade(exchange, text):
    grades = ("0", "1")
    found = verdict(exchange, text, [(text[0], sure(text[0], grades)), (text[1:], {text[1:]: 1.0})], grades)
    assert (found.score is None) == (text != "0.")


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_grade_behind_a_thought_that_a_server_keeps_apart(exchange, key):
    messages = [
        ({"content": "Coverage grade: 4", key: "Perhaps 2."}, "stop"),
        ({"content": "<think>Perhaps 2.</think>Coverage grade: 5"}, "stop"),
        # all of it a thought; cut within the thought, and behind it
        ({"content": None, key: "Coverage grade: 1"}, "stop"),
        ({"content": "", key: "Coverage grade: 1"}, "length"),
        ({"content": "Coverage grade: 1", key: "Hm."}, "length"),
    ]
    asked = Ask((Message(role="user", content="grade"),), Sampling(max_tokens=100), 1)
    found = []
    for message, reason in messages:
        content = {"choices": [{"finish_reason": reason, "message": message}], "usage": None}
        response = exchange.read(json.dumps(content).encode())
        found.append(exchange.taken(["k"], [asked], exchange.body([asked]), response)["k"].reply)
    assert json.loads(mean_verdict(found, GRADES).raw)["grades"] == [4.0, 5.0, None, None, None]
    # (4 + 5) / 2
    assert mean_verdict(found, GRADES).score == 4.5


FORMS = [
    ("4", ["4"]), (" 4", [" 4"]), ("4.", ["4", "."]), ("**4**", ["**", "4", "**"]), ("4\n", ["4", "\n"]),
    ('"4"', ['"', "4", '"']),    ("Score: 4", ["Score", ":", " ", "4"]), ("Grade: 4", ["Grade", ":", " 4"]),
    ("The rating is 4", ["The rating", " is", " 4"]),
    ("4/5", ["4", "/5"]), ("4 out of 5", ["4", " out of", " 5"]), ("**Score:** 4", ["**Score", ":**", " 4"]),
    ("(4)", ["(", "4", ")"]),    ("4\n\nIt", ["4", "\n\n", "It"]), ("\u25814", ["\u25814"]), ("[4]", ["[", "4", "]"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "tokens"), FORMS)
def test_grade_is_read_where_it_stands(exchange, text, tokens):
    # 4: .9, and .02 each of 1, 2, 3, 5: (.9 x 4 + .02 x 11) / .98
    decoy = {"1": 0.12, **dict.fromkeys("2345", 0.01)}
    positions = [(each, sure("4") if each.strip(" \u2581") == "4" else {each: 0.84, **decoy}) for each in tokens]
    found = verdict(exchange, text, positions)
    assert found.score == pytest.approx((0.9 * 4 + 0.02 * 11) / 0.98, abs=1e-4)
    # without probabilities it is the written one
    assert verdict(exchange, text, []).score == 4.0


def broken(logprob):
    at = position("4", sure("4"))
    at["top_logprobs"] = [*at["top_logprobs"], {"token": "9", "logprob": logprob}]
    return at


@pytest.mark.parametrize("logprob", [None, "-3", True, [], {}, float("nan"), float("-inf"), -9999, 10**400])
def test_alternative_without_a_number_does_not_hide_the_grade(exchange, logprob):
    content = {
        "choices": [{"finish_reason": "stop", "message": {"content": "4"}, "logprobs": {"content": [broken(logprob)]}}]
    }
    asked = Ask((Message(role="user", content="grade"),), Sampling(temperature=0.0, max_tokens=1), 1, GRADES)
    response = exchange.read(json.dumps(content).encode())
    reply = exchange.taken(["k"], [asked], exchange.body([asked]), response)["k"].reply
    assert _expected_verdict(reply, GRADES).score == pytest.approx(4, abs=0.3)


@pytest.mark.parametrize(
    "logprobs",
    [
        [], [{"token": "4"}], {}, {"content": None}, {"content": []}, {"content": "4"}, {"content": [{"token": "4"}]}, "4", 4,
        {"content": [{"token": "4", "top_logprobs": []}]}, {"content": [{"token": "4", "top_logprobs": None}]},
        {"content": [{"token": 4, "top_logprobs": [{"token": "4", "logprob": -1}]}]}, {"tokens": ["4"], "token_logprobs": [-0.1]},
        # all are certain: they sum to 5
        {"content": [{"token": "4", "top_logprobs": [{"token": each, "logprob": 0.0} for each in GRADES]}]},
        # of another token than the written one
        {"content": [position("4", sure("1"))]},
    ],
    ids=str,
)  # fmt: skip
def test_probabilities_that_are_none_leave_the_written_grade(exchange, logprobs):
    content = {"choices": [{"finish_reason": "stop", "message": {"content": "4"}, "logprobs": logprobs}]}
    asked = Ask((Message(role="user", content="grade"),), Sampling(temperature=0.0, max_tokens=1), 1, GRADES)
    response = exchange.read(json.dumps(content).encode())
    found = _expected_verdict(exchange.taken(["k"], [asked], exchange.body([asked]), response)["k"].reply, GRADES)
    assert (found.score, found.raw) == (4.0, '{"greedy":"4"}')


def test_something_else_is_written_where_most_of_the_probability_is_on_grades(exchange):
    spread = {"1": 0.05, "2": 0.1, "3": 0.1, "4": 0.3, "5": 0.15, "The": 0.3}
    expected = (0.05 + 0.2 + 0.3 + 1.2 + 0.75) / 0.7
    assert verdict(exchange, "The summary", [("The", spread)]).score == pytest.approx(expected, abs=1e-4)
    assert (
        verdict(exchange, "The summary", [("The", {"The": 0.6, "4": 0.3, **dict.fromkeys("1235", 0.02)})]).score is None
    )


@pytest.mark.parametrize(
    ("text", "choices", "found"),
    [("Yes.", ("no", "yes"), "yes"), ("yes, it is", ("no", "yes"), None), ("10", tuple(map(str, range(1, 11))), "10"),
     ("", GRADES, None), ("\n", GRADES, None), ("(" * 50_000, GRADES, None), ("-1", GRADES, None)],
)  # fmt: skip
def test_choice_that_is_written(text, choices, found):
    assert written_choice(text, choices) == found


# words of texts in several scripts, and how many tokens a vocabulary of today makes of a thousand of them, at least
ENGLISH = "Some praise the ferry as cheap and fast, others call it dear and loud, and nurses need it at night. "
CHINESE = "有人称赞轮渡便宜又快也有人说它太贵太吵"
THAI = "บางคนชมว่าเรือข้ามฟาก"
HINDI = "कुछ लोग नाव की तारीफ करते हैं। "


@pytest.mark.parametrize(
    ("text", "tokens_each"),
    # characters of a token, about, of o200k: English 4.6, Chinese 1.4, Thai 2.5, Hindi 3
    [(ENGLISH, 4.6), (CHINESE, 1.4), (THAI, 2.5), (HINDI, 3.0), ("Donaudampfschifffahrtsgesellschaft " * 2, 5.0)],
    ids=["English", "Chinese", "Thai", "Hindi", "compounds"],
)
def test_text_of_any_script_is_not_accused_and_a_twentieth_of_it_is(text, tokens_each):
    whole = text * (40_000 // len(text))
    n_tokens = len(whole) / tokens_each
    assert least_tokens(whole) <= 0.8 * n_tokens
    if text is not THAI:
        assert least_tokens(whole) > n_tokens / 20


@pytest.mark.parametrize(
    "text",
    ["a" * 40_000, "=" * 40_000, " " * 40_000, "\n" * 40_000, "ha" * 20_000, "-=" * 20_000, "\u54c8" * 40_000, "0" * 40_000,
     "A short text.", "", "x" * 40_000 + " end", "\U0001f600" * 10_000],
)  # fmt: skip
def test_repeated_and_short_texts_are_never_accused(text):
    # vocabularies have up to 128 of the same letter as one token
    assert least_tokens(text) <= len(text) / 128


def test_server_that_reads_a_part_is_named_once_and_its_prompts_are_counted(exchange, caplog):
    asked = Ask((Message(role="user", content=ENGLISH * 400),), Sampling(temperature=0.0, max_tokens=8), 1)
    for n_tokens, is_partial in ((2050, True), (2050, True), (9000, False)):
        content = {
            "choices": [{"message": {"content": "x"}}],
            "usage": {"prompt_tokens": n_tokens, "completion_tokens": 1},
        }
        response = exchange.read(json.dumps(content).encode())
        exchange.taken(["k"], [asked], exchange.body([asked]), response)
        assert exchange.is_partial(asked, n_tokens) == is_partial
    assert caplog.text.count("counts 2050 tokens for a prompt of") == 1
    assert "OLLAMA_CONTEXT_LENGTH" in caplog.text
    # a server that does not tell is not accused
    assert not exchange.is_partial(asked, 0)


def test_answers_that_rest_on_a_part_of_their_prompt_are_counted_also_when_they_are_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    usage = {"prompt_tokens": 2050, "completion_tokens": 1}
    content = json.dumps({"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": usage})
    asks = [
        Ask((Message(role="user", content=text),), Sampling(temperature=0.0), 1) for text in (ENGLISH * 400, "short")
    ]
    with Server(lambda number, body: (200, content.encode(), {})) as server:
        section = BackendSection(backend="openai", server={"base_url": server.base_url, "retries": 0})
        for _ in range(2):
            with closing(open_backend(section, ModelSection(name="tiny"))) as backend:
                before = replace(backend.usage)
                backend.complete(asks)
                assert backend.usage.since(before) == Usage(4100, backend.usage.prefilled_tokens, 1)
        assert len(server.asked) == 2
