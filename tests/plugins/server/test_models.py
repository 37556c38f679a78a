"""A server that answers with another model than was asked for is named, counted, and never refused."""

import json
from functools import partial

import pytest

pytest.importorskip("openai")
pytest.importorskip("aiolimiter")

import serving
from serving import Server, respond

from evenhand.generate.backend import Ask, Usage
from evenhand.plugins.server.model_names import is_same_model
from evenhand.records import Message, Sampling

pytestmark = pytest.mark.usefixtures("own_cache")

opened = partial(serving.opened, retries=0)

PROVIDERS = ("", "openai/", "models/", "org/team/", "/srv/models/")
SNAPSHOTS = ("", "-0613", "-2411", "-20241022", "-2024-08-06", "@20240620", "-002", "-08-2024", "-preview-05-20")
ALIASES = ("", "-latest", ":latest", ":free", "-preview", ".gguf")
NAMES = (
    "gpt-4o",
    "gpt-3.5-turbo",
    "gemini-1.5-pro",
    "llama-3.1-8b-instruct",
    "Qwen2.5-7B",
    "llama3.1:8b",
    "phi-3",
    "tiny",
)


@pytest.mark.parametrize("name", NAMES)
def test_provider_alias_and_snapshot_make_no_other_model(name):
    for provider in PROVIDERS:
        for behind in (*SNAPSHOTS, *ALIASES):
            spelling = f"{provider}{name}{behind}"
            assert is_same_model(name, spelling) and is_same_model(spelling, name), spelling
            assert is_same_model(f"{name}-latest", spelling) and is_same_model(name.upper(), spelling), spelling


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("anthropic.claude-3-5-sonnet-20240620-v1:0", "claude-3-5-sonnet-20240620"),
        ("us.anthropic.claude-3-5-sonnet-20240620-v1:0", "claude-3-5-sonnet"),
        ("claude-3-5-sonnet-latest", "claude-3-5-sonnet-20241022"),
        ("out/run/model/", "out/run/model"),
    ],
)
def test_other_usual_spellings_make_no_other_model(asked, answered):
    assert is_same_model(asked, answered) and is_same_model(answered, asked)


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("gpt-4o", "gpt-4o-mini"), ("gpt-4o", "gpt-4o-mini-2024-07-18"), ("gpt-4", "gpt-3.5-turbo"), ("gpt-4", "gpt-4.1"),
        ("llama3.1:8b", "llama3.1:70b"), ("qwen2.5:7b", "qwen2.5:0.5b"), ("Llama-3.1-8B", "Llama-3.1-8B-Instruct"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-08-06"), ("gemini-1.5-pro-001", "gemini-1.5-pro-002"), ("qwen3-8b", "qwen3-8b-fp8"),
        ("claude-3-5-sonnet", "claude-3-7-sonnet-20250219"), ("phi-3", "phi-4"), ("tiny", "huge"), ("gpt-5", "gpt-5-nano"),
    ],
)  # fmt: skip
def test_another_model_is_one(asked, answered):
    assert not is_same_model(asked, answered) and not is_same_model(answered, asked)


def asks(n):
    sampling = Sampling(temperature=0.0, max_tokens=8)
    return [Ask((Message(role="user", content=f"text {each}"),), sampling, 1) for each in range(n)]


def answering_as(*names):
    """A server whose answers name their model so, in turn."""

    def fault(number, body):
        answer = respond(server, body) | {"model": names[number % len(names)]}
        return 200, json.dumps(answer).encode(), {}

    server = Server(fault)
    return server


def warnings(caplog):
    return [each.getMessage() for each in caplog.records if each.name.startswith("evenhand") and each.levelno >= 30]


def test_another_model_is_named_once_and_counted_also_when_its_answers_are_kept(caplog):
    for n_asked in (6, 0):
        with answering_as("huge", "tiny", "org/tiny-20240101") as server, opened(server, concurrency=1) as backend:
            before = Usage()
            assert {reply.finish_reason for reply in backend.complete(asks(6))} == {"stop"}
            assert len(server.asked) == n_asked
            assert backend.usage.since(before).other_models == {"huge": 2}
    (said,) = warnings(caplog)
    assert "answers as the model 'huge', and 'tiny' is asked for" in said


@pytest.mark.parametrize("name", [None, "", 7, ["tiny"], "tiny", "TINY"])
def test_a_server_that_names_no_model_or_the_same_is_not_named(name, caplog):
    with answering_as(name) as server, opened(server) as backend:
        assert {reply.finish_reason for reply in backend.complete(asks(3))} == {"stop"}
        assert backend.usage.other_models == {}
    assert warnings(caplog) == []


def test_key_that_a_server_repeats_as_its_model_is_not_shown(caplog, monkeypatch, tmp_path):
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    with answering_as("model of sk-very-secret") as server, opened(server, api_key_env="MY_KEY") as backend:
        backend.complete(asks(1))
        assert list(backend.usage.other_models) == ["model of ***"]
    assert "very-secret" not in str(warnings(caplog))
    assert not any(b"very-secret" in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
