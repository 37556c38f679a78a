"""Whatever a server answers is read as its form, or is one kind of broken answer: values of every type in every field."""

import asyncio
import copy
import json
import math
from contextlib import closing, suppress
from itertools import product

import pytest

pytest.importorskip("openai")
pytest.importorskip("aiolimiter")

from hypothesis import given
from hypothesis import strategies as st
from serving import Server, opened

from evenhand.config import BackendSection
from evenhand.errors import ModelError, StorageError, UnfitModelError, WaitingError
from evenhand.generate.backend import Ask
from evenhand.plugins.server.account import Spending
from evenhand.plugins.server.answer_forms import ChatResponse, TextResponse, TokenUsage
from evenhand.plugins.server.batch_files import _read_lines, look
from evenhand.plugins.server.exchange import UNREADABLE, Exchange
from evenhand.plugins.server.faults import BrokenAnswerError, RejectedError
from evenhand.plugins.server.kept import CachedAnswer, KeptAnswers
from evenhand.plugins.server.reachability import refuse_unreachable
from evenhand.plugins.server.requests import Messages
from evenhand.plugins.server.responses import BatchLine, BatchList, BatchStatus, Identified, ModelList, read
from evenhand.records import Message, Sampling
from evenhand.runfolder.spending import PROMISED, spending

# a value of each type that JSON has, and some that no field takes
VALUES = [
    None, True, False, 0, -1, 7, 10**30, 1.5, -0.5, 1e300, float("inf"), float("nan"), "", "7", "stop", "\ud83d", [], [None], [1],
    ["text"], [[]], [{}], {}, {"a": 1}, {"text": None}, {"type": "text"}, [{"type": "text", "text": 3}], "x" * 2000,
]  # fmt: skip
GRADE = {
    "token": "4",
    "logprob": -0.1,
    "top_logprobs": [{"token": "4", "logprob": -0.1}, {"token": "5", "logprob": -2.4}],
}
CHAT = {
    "id": "x",
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "4", "reasoning_content": None, "refusal": None},
            "finish_reason": "stop",
            "logprobs": {"content": [GRADE]},
        }
    ],
    "usage": {"prompt_tokens": 12, "completion_tokens": 4, "prompt_tokens_details": {"cached_tokens": 3}},
}
TEXT = {
    "choices": [
        {
            "index": 0,
            "text": "4",
            "finish_reason": "stop",
            "token_ids": [3, 4],
            "logprobs": {"token_logprobs": [-0.1, None], "top_logprobs": [{"token_id:3": -0.1}, None]},
        }
    ],
    "usage": {"prompt_tokens": 12, "completion_tokens": 4},
}
BATCH = {
    "id": "b",
    "status": "completed",
    "output_file_id": "f",
    "error_file_id": None,
    "request_counts": {"completed": 1, "failed": 0, "total": 1},
    "metadata": {"evenhand": "m"},
    "errors": {"data": [{"message": "said"}]},
}
FORMS = [
    (CHAT, ChatResponse),
    (TEXT, TextResponse),
    (BATCH, BatchStatus),
    ({"data": [BATCH]}, BatchList),
    ({"data": [{"id": "tiny", "owned_by": "vllm"}]}, ModelList),
    ({"custom_id": "k", "response": {"status_code": 200, "body": CHAT}}, BatchLine),
    ({"id": "f"}, Identified),
]


def places(value, place=()):
    """Every place in a value, the whole first."""
    yield place
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in inner:
        yield from places(part, (*place, key))


def put(whole, place, value):
    """The whole with a value at a place."""
    if not place:
        return value
    changed = copy.deepcopy(whole)
    part = changed
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return changed


def faults(whole):
    return [put(whole, place, value) for place, value in product(places(whole), VALUES)]


@pytest.fixture
def exchange(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    section = BackendSection(backend="openai", server={"base_url": "http://h/v1", "price": {"input": 1, "output": 2}})
    with closing(KeptAnswers()) as kept:
        yield Exchange(section, "tiny", Messages(), kept)


def ask(text="a ferry", choices=(), seed=1):
    return Ask((Message(role="user", content=text),), Sampling(temperature=1.0, max_tokens=8), seed, choices)


@pytest.mark.parametrize(("whole", "form"), FORMS, ids=lambda each: getattr(each, "__name__", ""))
def test_value_of_any_type_in_any_field_is_of_the_form_or_a_broken_answer(whole, form):
    n_read = 0
    for fault in faults(whole):
        try:
            read(json.dumps(fault).encode(), form)
            n_read += 1
        except BrokenAnswerError as error:
            assert str(error)
    assert isinstance(read(json.dumps(whole).encode(), form), form)
    assert n_read


def test_any_chat_is_an_answer_or_is_left_out_or_broken_and_what_is_kept_can_be_read(exchange):
    number = 0
    for place, fault in enumerate(faults(CHAT)):
        asked = ask(choices=tuple("12345") if place % 3 else ())
        try:
            response = exchange.read(json.dumps(fault).encode())
        except (BrokenAnswerError, RejectedError):
            continue
        number += 1
        with spending(None, 1e6):
            (answer,) = exchange.taken([str(number)], [asked], exchange.body([asked]), response).values()
        assert answer.reply.finish_reason in {"stop", "length", "failed"}
        assert (answer.reply.finish_reason == "failed") == bool(answer.reply.reason)
        assert exchange.kept.find([str(number)]).get(str(number), answer) == answer
        assert answer.reply.choice_probabilities == {} or math.isclose(
            sum(answer.reply.choice_probabilities.values()), 1
        )
    assert number > 100


@given(st.binary(max_size=60))
def test_any_bytes_are_a_response_or_a_broken_answer(content):
    with suppress(BrokenAnswerError):
        read(content, ChatResponse)


@pytest.mark.parametrize("end", ["\\ud83d", "\\uDC00", "\\ud83d\\ud83d", "\\ud83d\\u0041", "\\\\ud83d"])
def test_half_a_character_becomes_the_mark_of_one_and_whole_ones_stay(end):
    content = json.dumps(CHAT).replace('"content": "4"', f'"content": "fine \\ud83d\\ude00 {end}"')
    text = read(content.encode(), ChatResponse).choices[0].text
    assert text.startswith("fine \U0001f600 ")
    text.encode()
    assert text.endswith("ud83d" if end.startswith("\\\\") else ("A" if "0041" in end else "\ufffd"))


USAGES = [
    {}, [], "many", 3, None, {"prompt_tokens": 0, "completion_tokens": 1}, {"prompt_tokens": -1, "completion_tokens": 1},
    {"prompt_tokens": True, "completion_tokens": 1}, {"prompt_tokens": 1.0, "completion_tokens": 1},
    {"prompt_tokens": 3, "completion_tokens": -1}, {"prompt_tokens": 3, "completion_tokens": False},
    {"prompt_tokens": "3", "completion_tokens": 1}, {"prompt_tokens": 3}, {"prompt_tokens": 3, "completion_tokens": 99},
    {"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}},
    {"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": -1}},
    {"prompt_tokens": 3, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 1.0}},
]  # fmt: skip


@pytest.mark.parametrize("usage", USAGES, ids=str)
def test_usage_that_cannot_be_is_none_and_the_answer_stays(usage):
    response = read(json.dumps(CHAT | {"usage": usage}).encode(), ChatResponse)
    assert response.usage_within(3, 8) is None
    assert response.choices[0].text == "4"


@pytest.mark.parametrize("cached", [None, 0, 3])
def test_usage_that_can_be_is_read(cached):
    details = {"prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0}}
    usage = {"prompt_tokens": 3, "completion_tokens": 8, "total_tokens": 11, **details}
    response = read(json.dumps(CHAT | {"usage": usage}).encode(), ChatResponse)
    assert response.usage_within(3, 8) == TokenUsage.model_validate(usage)
    assert response.usage_within(3, 8).cached == (cached or 0)


def replies(exchange, asked=None, **choice):
    whole = CHAT | {"choices": [CHAT["choices"][0] | {"logprobs": None} | choice]}
    asked = asked or ask()
    response = exchange.read(json.dumps(whole).encode())
    return exchange.taken(["k"], [asked], exchange.body([asked]), response)["k"].reply


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("STOP", "stop"), ("Stop", "stop"), ("FINISH_REASON_STOP", "stop"), ("FinishReason.STOP", "stop"), ("LENGTH", "length"),
        ("MAX_TOKENS", "length"), ("eos", "stop"), (" stop ", "stop"), ("", "stop"), (None, "stop"),
        ("content_filter", "failed"), ("SAFETY", "failed"), ("error", "failed"), ("tool_calls", "failed"), (["stop"], "failed"),
        (7, "failed"), ("RECITATION", "failed"), ("COMPLETE", "stop"), ("FINISHED", "stop"), ("endoftext", "stop"),
        ("max_output_tokens", "length"), ("token_limit", "length"), ("model_context_window_exceeded", "length"),
    ],
)  # fmt: skip
def test_reason_of_an_end_is_read_in_any_letters(exchange, reason, finish):
    assert replies(exchange, finish_reason=reason).finish_reason == finish


def test_answer_without_a_reason_of_its_end_is_cut_where_it_has_all_tokens_and_is_said_once(exchange, caplog):
    def finish(n):
        usage = {"prompt_tokens": 3, "completion_tokens": n}
        whole = CHAT | {"choices": [CHAT["choices"][0] | {"finish_reason": None}], "usage": usage}
        response = exchange.read(json.dumps(whole).encode())
        return exchange.taken(["k"], [ask()], exchange.body([ask()]), response)["k"].reply.finish_reason

    assert [finish(7), finish(8)] == ["stop", "length"]
    assert caplog.text.count("does not say why its answers end") == 1


@pytest.mark.parametrize("error", [{"message": "upstream fell over", "code": 502}, "upstream fell over"])
def test_error_beside_a_stop_is_no_answer(exchange, error):
    reply = replies(exchange, error=error)
    assert (reply.finish_reason, reply.text) == ("failed", "")
    assert "upstream fell over" in reply.error
    with pytest.raises(BrokenAnswerError, match="upstream fell over"):
        exchange.read(json.dumps(CHAT | {"error": error}).encode())
    # no error at all
    assert replies(exchange, error=None).text == "4"
    assert exchange.read(json.dumps(CHAT | {"error": None}).encode())


def test_empty_answer_says_why_it_is_empty(exchange):
    declined = replies(exchange, message={"content": None, "refusal": "I cannot help with that."})
    assert (declined.finish_reason, declined.reason) == ("failed", "refused by the server")
    assert "the model declined: I cannot help with that." in declined.error
    for key in ("reasoning_content", "reasoning"):
        # as servers have it that leave the thought in the text
        assert replies(exchange, message={"content": None, key: "Hm."}).text == "<think>Hm.</think>"
        cut = replies(exchange, message={"content": "", key: "Hm."}, finish_reason="length")
        assert (cut.text, cut.finish_reason) == ("<think>Hm.", "length")
        assert replies(exchange, message={"content": "4", key: "Hm."}).text == "4"
    assert replies(exchange, message={"content": "4", "refusal": ""}).text == "4"
    assert replies(exchange, message=None).reason == UNREADABLE


LINE = json.dumps({"custom_id": "a", "response": {"status_code": 200, "body": CHAT}})
EXPIRED = json.dumps({"custom_id": "b", "response": None, "error": {"code": "batch_expired"}})


@pytest.mark.parametrize(
    ("content", "n_least", "names", "is_whole"),
    [
        (f"{LINE}\n{EXPIRED}\n", 1, {"a"}, True),
        (f"{LINE}\n", 1, {"a"}, True),
        ("", 0, set(), True),
        # one broken line breaks no other
        (f"[1]\n{LINE}\n", 2, {"a"}, True),
        (f"{LINE}\n{LINE[:50]}", 2, {"a"}, False),
        (f"{LINE}\n", 2, {"a"}, False),
        ("<html>a gateway's page</html>", 0, set(), False),
        ("\ufeff" + LINE, 1, {"a"}, True),
    ],
)
def test_file_of_answers_that_was_cut_is_told_from_one_that_is_whole(content, n_least, names, is_whole):
    responses, fault = _read_lines(content.encode(), n_least)
    assert set(responses) == names
    assert bool(fault) != is_whole


def test_any_line_of_a_batch_is_read_or_passed_over():
    for fault in faults(json.loads(LINE)):
        responses, _ = _read_lines(json.dumps(fault).encode() + b"\n" + LINE.encode(), 0)
        assert "a" in responses


@pytest.mark.usefixtures("quick_tries")
@pytest.mark.parametrize("content", [b"<html>", b'{"custom_id": 7}', b'{"custom_id": "a", "respon'])
def test_file_of_a_batch_that_cannot_be_read_is_looked_at_again_and_not_paid_for_again(content):
    with Server() as server:
        with opened(server, batches=True) as backend, pytest.raises(WaitingError):
            backend.complete([ask()])
        server.work_off()
        whole = server.files["out-batch-0"]
        server.files["out-batch-0"] = content.decode()
        with opened(server, batches=True) as backend, pytest.raises(ModelError, match=r"not whole.*looks again"):
            backend.complete([ask()])
        server.files["out-batch-0"] = whole
        with opened(server, batches=True) as backend:
            assert backend.complete([ask()])[0].finish_reason == "stop"
        assert len(server.batches) == 1


class Told:
    """A client of a server that says these bodies, by path, and a line of answers elsewhere."""

    def __init__(self, bodies):
        self.bodies = bodies

    async def get(self, path, cast_to):
        return self.bodies.get(path, LINE).encode()


def test_any_state_of_a_batch_is_read_or_a_message():
    section = BackendSection(backend="openai", server={"base_url": "http://h/v1", "retries": 0}).server
    n_read = 0
    for fault in faults(BATCH):
        client = Told({"/batches/b": json.dumps(fault)})
        try:
            progress = asyncio.run(look(client, section, "b"))
            n_read += progress.responses.keys() == {"a"}
        except BrokenAnswerError as error:
            assert "not of its form" in str(error)
    assert n_read > 100


@pytest.mark.usefixtures("quick_tries")
@pytest.mark.parametrize(("field", "value"), [("output_file_id", 7), ("status", ["completed"]), ("id", None)])
def test_batch_whose_state_cannot_be_read_is_not_paid_for_again(field, value):
    with Server() as server:
        with opened(server, batches=True, retries=0) as backend, pytest.raises(WaitingError):
            backend.complete([ask()])
        server.work_off()
        whole = server.batches["batch-0"][field]
        server.batches["batch-0"][field] = value
        with opened(server, batches=True, retries=0) as backend, pytest.raises(ModelError, match="not of its form"):
            backend.complete([ask()])
        server.batches["batch-0"][field] = whole
        with opened(server, batches=True, retries=0) as backend:
            assert backend.complete([ask()])[0].finish_reason == "stop"
        assert len(server.batches) == 1


@pytest.mark.parametrize("way", ["text", "a number", "a list", "deep", "empty"])
def test_list_of_models_in_another_form_is_refused_clearly(way):
    with Server() as server:
        server.other_faults["models"] = [way]
        section = BackendSection(backend="openai", server={"base_url": server.base_url, "retries": 0}).server
        with pytest.raises(UnfitModelError, match="not as an OpenAI-compatible server does"):
            refuse_unreachable(section, "tiny")


REPLY = {"text": "4", "finish_reason": "stop", "n_prompt_tokens": 3, "choice_probabilities": {"4": 0.75, "5": 0.25}}
ALTERED = [
    *faults({"reply": REPLY, "prefilled": 3}),
    {"reply": REPLY | {"choice_probabilities": {"4": 0.9, "5": 0.9}}},
    {"reply": REPLY | {"choice_probabilities": {"4": 1.5, "5": -0.5}}},
    {"reply": REPLY | {"finish_reason": "failed"}},
    {"reply": REPLY | {"token_ids": [-1]}},
]


def test_row_that_is_no_answer_is_a_message_and_one_that_is_can_be_read(exchange):
    whole = CachedAnswer.model_validate({"reply": REPLY, "prefilled": 3})
    exchange.kept.keep({"whole": whole})
    assert exchange.kept.find(["whole"]) == {"whole": whole}
    database, n_read = exchange.kept._database, 0
    for row in [*map(json.dumps, ALTERED), "not JSON", b"bytes", 7]:
        database.execute("INSERT OR REPLACE INTO answers VALUES ('k', ?)", (row,))
        try:
            answer = exchange.kept.find(["k"])["k"]
            shares = answer.reply.choice_probabilities.values()
            assert not shares or math.isclose(sum(shares), 1)
            assert isinstance(answer.reply.text, str) and type(answer.reply.n_prompt_tokens) is int
            n_read += 1
        except StorageError as error:
            assert "answers.sqlite" in str(error)
    database.commit()
    assert 0 < n_read < len(ALTERED) / 3


def test_row_of_a_batch_that_is_none_is_a_message(exchange):
    place, database = exchange.server.base_url, exchange.kept._database
    for row in ["[]", "7", '{"a": "b"}', '{"a": [1]}', '{"a": []}', "not JSON", b"{}", 7, '{"a": null}']:
        database.execute("INSERT OR REPLACE INTO batches VALUES ('b', ?, ?)", (place, row))
        with pytest.raises(StorageError, match=r"answers\.sqlite"):
            exchange.kept.submitted(place)
    database.execute("INSERT OR REPLACE INTO batches VALUES ('b', ?, ?)", (place, '{"a": ["k"]}'))
    assert exchange.kept.submitted(place) == {"b": {"a": ["k"]}}
    database.commit()


@pytest.mark.parametrize("promised", [-1.0, True, "1", None, [], float("inf"), float("nan")])
def test_file_of_what_batches_can_cost_holds_numbers(promised, tmp_path):
    (tmp_path / PROMISED).write_text(json.dumps({"batches": {"b": promised}}))
    with pytest.raises(StorageError, match="does not say what batches can cost"):
        Spending(tmp_path)
    (tmp_path / PROMISED).write_text(json.dumps({"batches": {"b": 1}}))
    assert Spending(tmp_path).promised == {"b": 1.0}
