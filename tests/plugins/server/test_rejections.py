"""What servers say in place of an answer, in every form in which they write it: which texts are left out, what stops, and how."""

import json
from contextlib import closing

import pytest

pytest.importorskip("openai")
pytest.importorskip("aiolimiter")

from serving import Server, opened

from evenhand.config import BackendSection, ModelSection
from evenhand.errors import ModelError, UnfitModelError
from evenhand.generate.backend import TOO_LONG, Ask
from evenhand.generate.backends import open_backend
from evenhand.plugins.server.kept import ANSWERS
from evenhand.plugins.server.rejections import rejection
from evenhand.records import Message, Sampling

REFUSED = "refused by the server"
pytestmark = pytest.mark.usefixtures("quick_tries")


def object_of(text, code, kind, param):
    return {"message": text, "type": kind, "param": param, "code": code}


# how servers write an error: OpenAI, TGI, FastAPI (a text, a list), Mistral, older vLLM, plain text, Gemini, gateways
FORMS = {
    "openai": lambda *parts: {"error": object_of(*parts)},
    "text under error": lambda text, code, kind, param: {"error": text, "error_type": code or kind},
    "detail": lambda text, code, kind, param: {"detail": text, "code": code},
    "list of details": lambda text, code, kind, param: {
        "detail": [{"loc": ["body", param or "messages"], "msg": text, "type": code or kind, "input": "policy, too long"}]
    },
    "object under message": lambda text, code, kind, param: {
        "object": "error", "message": {"detail": [{"msg": text, "type": code or kind, "loc": ["body", param or "messages"]}]},
        "type": "invalid_request_error",
    },
    "message": lambda text, code, kind, param: {"object": "error", "message": text, "type": kind, "param": param, "code": code},
    "plain text": lambda text, code, kind, param: text,
    "list": lambda text, code, kind, param: [{"error": {"code": 400, "message": text, "status": code or kind}}],
    "JSON in a text": lambda *parts: {"error": {"message": json.dumps({"error": object_of(*parts)}), "code": 400}},
    "metadata": lambda text, code, kind, param: {
        "error": {"message": "Provider returned error", "code": 400, "metadata": {"raw": text, "reasons": [code]}}
    },
}  # fmt: skip
LENGTHS = [
    ("This model's maximum context length is 8 tokens. However, you requested 9 tokens.", "context_length_exceeded"),
    ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5040 `inputs` tokens and 200 `max_new_tokens`", None),
    ("Input validation error: `inputs` must have less than 4096 tokens. Given: 5040", None),
    ("the request exceeds the available context size. try increasing the context size", "exceed_context_size_error"),
    ("prompt is too long: 210000 tokens > 200000 maximum", None),
    ("Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length", None),
    ("The input token count (40000) exceeds the maximum number of tokens allowed (32768).", None),
    ("Range of input length should be [1, 30720]", "InvalidParameter"),
    ("'max_tokens' is too large: 1000. This model's maximum context length is 4096 tokens, and you sent 3500 input tokens", None),
    ("The prompt is too long for the model", None),
    ("Your input exceeds the context window of this model. Please adjust your input and try again.", None),
    ("prompt tokens 5041 > 4096", None),
    ("5041 input tokens >= 4096", None),
    ("The prompt contains 5041 tokens, max is 4096", None),
    ("sequence of 5041 tokens does not fit in 4096", None),
    ("Token count 5041 exceeds 4096", None),
    ("number of tokens (5041) is larger than n_ctx (4096)", None),
    ("Prompt \u8d85\u957f", "1261"),
    ("\u8f93\u5165\u957f\u5ea6\u8d85\u8fc7\u6a21\u578b\u6700\u5927\u957f\u5ea6", None),
]  # fmt: skip
CONTENTS = [
    ("Content Exists Risk", "invalid_request_error"),
    ("Invalid prompt: your prompt was flagged as potentially violating our usage policy.", "invalid_prompt"),
    ("The request was rejected because it was considered high risk", "content_filter"),
    (
        "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
        "content_filter",
    ),
    ("Input data may contain inappropriate content.", "data_inspection_failed"),
    ("Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE", None),
    ("\u7cfb\u7edf\u68c0\u6d4b\u5230\u8f93\u5165\u5185\u5bb9\u53ef\u80fd\u5305\u542b\u654f\u611f\u5185\u5bb9", "1301"),
    ("The prompt was blocked: PROHIBITED_CONTENT", None),
    ("Blocked: PROHIBITED_CONTENT", None),
    ("Content violates usage guidelines. Team: t, API key ID: k, Model: m, Failed check: SAFETY_CHECK_TYPE_BIO", None),
    ("input new_sensitive (1026)", None),
    ("the content is illegal", "336104"),
    ("Guardrail was enforced", None),
    ("Finish reason: RECITATION", None),
    ("Response blocked due to copyright", None),
    ("The generated answer was withheld", None),
    ("Prompt attack detected", None),
    ("\u8f93\u5165\u5185\u5bb9\u5305\u542b\u8fdd\u6cd5\u4fe1\u606f", None),
    ("\u8f93\u5165\u5185\u5bb9\u6d89\u53ca\u653f\u6cbb", None),
    ("the prompt contains prohibited words", "336003"),
    ("prompt was refused by policy", "forbidden_content"),
]
PARAMETERS = [
    ("Extra inputs are not permitted", "extra_forbidden"),
    ("Unsupported parameter: '{}' is not supported with this model.", "unsupported_parameter"),
    ("`{}` is not supported with this model", None),
    ("{} is not supported", None),
    ("Unrecognized request argument supplied: {}", None),
    ('json: unknown field "{}"', None),
    ("property '{}' is unsupported", None),
    ("Unknown parameter: {}", "unknown_parameter"),
]
BODY = {
    "model": "m",
    "messages": [],
    "temperature": 0,
    "seed": 1,
    "max_tokens": 8,
    "logprobs": True,
    "top_logprobs": 20,
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("text", "code"), LENGTHS)
def test_text_that_is_too_long_is_told_in_every_form(form, text, code):
    for status in (400, 413, 422):
        said = rejection(status, json.loads(json.dumps(FORMS[form](text, code, "invalid_request_error", None))))
        assert said.is_of_length
        assert text in said.words
        assert not (said.is_of_key or said.is_of_credit or said.is_of_model)


def test_words_of_minimax_are_read():
    body = {"choices": None, "base_resp": {"status_code": 1026, "status_msg": "input new_sensitive"}}
    with refusing(200, body) as server, opened(server) as backend:
        replies = backend.complete([ask("bad"), ask("good")])
    assert [reply.finish_reason for reply in replies] == ["failed", "stop"]
    assert replies[0].reason == REFUSED and "input new_sensitive" in replies[0].error


@pytest.mark.parametrize(
    "words",
    [
        "Forbidden content type", "forbidden_content_encoding", "Connection to upstream refused by policy",
        "Forbidden topic: this key may not publish", "llama_decode failed: n_ctx = 4096, n_batch = 512",
        "unknown parameter n_ctx",
    ],
)  # fmt: skip
def test_words_of_a_servers_own_faults_are_not_of_a_text(words):
    said = rejection(403, {"error": {"message": words}})
    assert not said.is_of_content and not said.is_of_length


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("text", "code"), CONTENTS)
def test_text_that_is_not_answered_is_told_in_every_form(form, text, code):
    for status in (400, 403, 422):
        said = rejection(status, FORMS[form](text, code, "invalid_request_error", None))
        assert said.is_of_content and not said.is_of_length
        assert text in said.words


@pytest.mark.parametrize(
    "code", ["context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "prompt_too_long"]
)
def test_code_says_what_words_do_not(code):
    words = "Please shorten what you send, or choose another model."
    assert rejection(400, {"error": {"message": words, "code": code}}).is_of_length
    assert rejection(400, {"error": {"message": words, "type": code}}).is_of_length
    assert rejection(400, {"error": {"message": words, "type": "content_filter"}}).is_of_content


# forms that have a place for the parameter's name beside the words
PLACED = FORMS.keys() - {"text under error", "detail", "plain text", "list", "metadata"}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["seed", "logprobs", "top_logprobs", "max_tokens"])
def test_parameter_is_told_in_every_form(form, name):
    for text, code in PARAMETERS:
        if "{}" not in text and form not in PLACED:
            continue
        said = rejection(422, FORMS[form](text.format(name), code, "invalid_request_error", name))
        assert said.named(BODY.keys() - {"messages", "model", "temperature"}) == {name}
        assert not said.is_of_length and not said.is_of_content


@pytest.mark.parametrize(
    "text",
    [
        "Invalid 'top_logprobs': integer above maximum value. Expected a value <= 5",
        "Invalid request: top_logprobs is too large",
        "top_logprobs must be less than or equal to 5",
    ],
)
def test_alternatives_that_are_too_many_are_no_text_that_is_too_long(text):
    said = rejection(400, {"error": {"message": text}})
    assert said.named(["logprobs", "top_logprobs"]) == {"top_logprobs"}
    assert not said.is_of_length


@pytest.mark.parametrize(
    ("status", "body", "is_told"),
    [
        # what a document says is no word of the server's
        (422, {"detail": [{"msg": "Field required", "loc": ["body", "x"], "input": "content policy, too long, api key"}]}, ""),
        (400, {"error": {"message": "temperature does not support 0", "param": "temperature"}}, ""),
        (400, {"error": {"message": "Unknown parameter: 'safety_settings'", "code": "unknown_parameter"}}, ""),
        (400, {"error": {"message": "model names are case-sensitive"}}, ""),
        (400, {"error": {"message": "illegal value of temperature"}}, ""),
        (400, {"error": {"message": "max_tokens is too large: 9. This model supports at most 4 completion tokens."}}, ""),
        (400, {"error": {"message": "max_tokens 5041 > 4096"}}, ""),
        (400, {"error": {"message": "completion tokens 5041 > 4096"}}, ""),
        (400, {"error": {"message": "max_tokens: this model accepts at most 4096 tokens"}}, ""),
        (403, {"error": {"message": "Your account was suspended for violating our usage policy"}}, "key"),
        (403, {"error": {"message": "Country, region, or territory not supported"}}, "key"),
        (401, "no", "key"), (400, {"error": {"message": "API key not valid. Please pass a valid API key."}}, "key"),
        (402, {"error": {"message": "Insufficient Balance"}}, "credit"),
        (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, "credit"),
        (404, {"error": {"message": "The model `x` does not exist"}}, "model"),
        (400, {"message": "Invalid model: x", "type": "invalid_model"}, "model"),
        (400, {"error": {"message": "x is not a valid model ID"}}, "model"),
        (400, {"error": {"message": "Budget has been exceeded!", "type": "budget_exceeded"}}, "credit"),
        (429, {"error": {"message": "Rate limit reached", "code": "rate_limit_exceeded"}}, ""),
        (429, {"error": {"message": "This request would exceed your rate limit of 40,000 input tokens per minute"}}, ""),
        (429, {"error": {"message": "You have exceeded the token limit per minute"}}, ""),
        (429, [{"error": {"message": "You exceeded your current quota, see billing. Please retry in 38s.", "code": 429}}], ""),
        (400, {"error": {"message": "Your request exceeds the token limit per minute"}}, ""),
        (503, {"error": {"message": "Loading model"}}, ""), (500, "content_filter is down", ""), (502, "<html></html>", ""),
    ],
)  # fmt: skip
def test_other_refusals_are_none_of_the_text(status, body, is_told):
    said = rejection(status, body)
    assert not said.is_of_length and not said.is_of_content
    kinds = {"key": said.is_of_key, "credit": said.is_of_credit, "model": said.is_of_model}
    assert [name for name, is_it in kinds.items() if is_it] == ([is_told] if is_told else [])


def test_gateways_page_and_deep_or_endless_bodies_are_read_quickly():
    page = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>x</body></html>"
    assert rejection(502, page).words == "502 Bad Gateway"
    deep = {"error": None}
    for _ in range(500):
        deep = {"error": [deep] * 3}
    assert rejection(400, deep).words == ""
    assert len(rejection(400, {"error": [{"message": f"{n} {'x' * 9999}"} for n in range(5000)]}).words) < 500_000


def ask(text, choices=()):
    return Ask((Message(role="user", content=text),), Sampling(temperature=0.0, max_tokens=8), 1, choices)


def refusing(status, body, texts=("bad",)):
    """A server that refuses some texts."""
    content = (body if isinstance(body, str) else json.dumps(body)).encode()

    def fault(number, sent):
        is_refused = not texts or (sent and sent["messages"][0]["content"] in texts)
        return (status, content, {}) if is_refused else None

    return Server(fault)


@pytest.mark.parametrize("form", FORMS)
def test_one_refused_text_is_left_out_with_the_servers_words_and_others_go_on(form):
    for (text, code), reason in ((LENGTHS[1], TOO_LONG), (CONTENTS[0], REFUSED)):
        with refusing(422, FORMS[form](text, code, "validation", None)) as server, opened(server) as backend:
            replies = backend.complete([ask("bad"), ask("good"), ask("fine")])
            assert [reply.finish_reason for reply in replies] == ["failed", "stop", "stop"]
            assert replies[0].reason == reason
            assert text[:100] in replies[0].error
            # it is not asked again in this command
            assert len(server.asked) == 3
        ANSWERS.forget()


@pytest.mark.parametrize("status", [200, 403, 451, 500])
def test_refused_text_is_left_out_whatever_its_status(status):
    body = {
        200: {"error": {"message": "flagged by moderation", "code": "content_filter"}},
        403: {"error": {"message": "Your input was flagged for violence", "code": 403}},
        451: {"error": "inappropriate"},
        500: {"error": {"message": "the request exceeds the available context size", "type": "server_error"}},
    }[status]
    with refusing(status, body) as server, opened(server) as backend:
        assert [reply.finish_reason for reply in backend.complete([ask("bad"), ask("good")])] == ["failed", "stop"]
        assert len(server.asked) == 2


@pytest.mark.parametrize("order", [["bad", "good", "fine"], ["good", "bad"], ["worse", "bad", "good"]])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_text_that_is_refused_in_unknown_words_is_left_out_where_others_are_answered(order, concurrency):
    body = {"error": {"message": "Das kann ich nicht."}}
    with refusing(400, body, ("bad", "worse")) as server, opened(server, concurrency=concurrency) as backend:
        replies = backend.complete([ask(text) for text in order])
        assert [reply.finish_reason == "failed" for reply in replies] == [text in {"bad", "worse"} for text in order]
        assert {reply.reason for reply in replies} == {"", REFUSED}
    with refusing(400, body, ("bad", "worse")) as server, opened(server) as backend:
        # others were answered by an earlier command
        assert [reply.reason for reply in backend.complete([ask(text) for text in order])].count(REFUSED) == sum(
            text in {"bad", "worse"} for text in order
        )
        assert len(server.asked) == sum(text in {"bad", "worse"} for text in order)


def test_server_that_refuses_all_texts_from_some_time_on_stops_the_command():
    fault = (400, b'{"error": "Das kann ich nicht."}', {})
    with Server(lambda number, body: fault if number > 3 else None) as server, opened(server, concurrency=2) as backend:
        with pytest.raises(UnfitModelError, match="refuses a request for what it is"):
            backend.complete([ask(f"text {n}") for n in range(60)])
        assert len(server.asked) < 40


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (400, {"error": {"message": "Das kann ich nicht."}}, "refuses a request for what it is: Das kann ich nicht"),
        (422, {"detail": "temperature must be 1"}, "temperature must be 1"),
        (402, {"error": {"message": "Insufficient Balance"}}, "wants to be paid first: Insufficient Balance"),
        (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, "paid first"),
        (401, {"detail": "no key"}, "refuses a request without key: no key"),
        (403, {"message": "no such permission"}, "refuses a request without key: no such permission"),
        (404, {"error": "no model here"}, "does not know model 'tiny'"),
        (400, {"message": "Invalid model: tiny", "type": "invalid_model"}, "does not know model 'tiny'"),
        (405, "no", "refuses a request for what it is: no"),
    ],
)
def test_what_a_repetition_cannot_mend_ends_with_2_and_advises_none(status, body, said):
    with refusing(status, body, ()) as server, opened(server, concurrency=1) as backend:
        with pytest.raises(UnfitModelError) as error:
            backend.complete([ask(f"text {n}") for n in range(40)])
        assert error.value.exit_code == 2
        assert said in str(error.value)
        assert "same command continues" not in str(error.value)
        assert len(server.asked) <= 4


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["seed", "max_tokens"])
def test_parameter_that_is_refused_in_any_form_is_left_out(form, name, caplog):
    body = FORMS[form](f"`{name}` is not supported", "extra_forbidden", "invalid_request_error", name)

    def fault(number, sent):
        return (422, json.dumps(body).encode(), {}) if sent and name in sent else None

    with Server(fault) as server, opened(server, concurrency=1) as backend:
        assert [reply.finish_reason for reply in backend.complete([ask("a"), ask("b")])] == ["stop", "stop"]
        assert len(server.asked) == 3
    assert f"does not take {name}" in caplog.text


def test_alternatives_that_are_refused_leave_the_written_grade():
    body = {"error": {"message": "`logprobs` is not supported with this model"}}

    def fault(number, sent):
        if sent and ("logprobs" in sent or "top_logprobs" in sent):
            return 400, json.dumps(body).encode(), {}
        return ["4."]

    with Server(fault) as server, opened(server) as backend:
        (reply,) = backend.complete([ask("grade", tuple("12345"))])
        assert (reply.text, reply.choice_probabilities) == ("4.", {})
        assert len(server.asked) == 2


@pytest.mark.parametrize("variable", ["HTTP_PROXY", "http_proxy", "ALL_PROXY"])
def test_proxy_in_the_way_of_a_local_server_is_named(variable, monkeypatch):
    with Server() as server:
        monkeypatch.setenv(variable, "http://user:secret@127.0.0.1:1")
        with opened(server, retries=0) as backend, pytest.raises(UnfitModelError) as error:
            backend.complete([ask("a")])
        said = str(error.value)
        assert f"through the proxy 127.0.0.1:1 that {variable} names" in said
        assert "export NO_PROXY=127.0.0.1" in said and "secret" not in said and "continues" not in said
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        with opened(server) as backend:
            assert backend.complete([ask("a")])[0].finish_reason == "stop"
        address = server.base_url
    # a server that is gone is no fault of a proxy that is passed by
    section = BackendSection(backend="openai", server={"base_url": address, "retries": 0})
    with closing(open_backend(section, ModelSection(name="tiny"))) as backend:
        with pytest.raises(ModelError, match="same command continues") as error:
            backend.complete([ask("b")])
        assert "proxy" not in str(error.value)


@pytest.mark.parametrize(
    ("status", "text"),
    [
        (403, "Your IP address is on a block list"),
        (403, "address in blocklist"),
        (500, "prompt 3 > 2 retries"),
        (503, "input 5 > 3 in queue"),
    ],
)
def test_what_a_network_or_a_queue_refuses_is_no_fault_of_a_text(status, text):
    said = rejection(status, json.loads(json.dumps(next(iter(FORMS.values()))(text, None, None, None))))
    assert not (said.is_of_content or said.is_of_length)
