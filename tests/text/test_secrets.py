"""Keys in what a library's error quotes leave in no traceback and no line of a log; what only looks like a key stays."""

import logging
import sys

import pytest

from evenhand.extras import _ToStderr, show_fault
from evenhand.text.secrets import redacted

# what has the form of a key by itself
SHAPED = [
    "sk-proj-Ab3dEf6hIj9lMn2p",
    "sk-ant-api03-Ab3dEf6h_Ij9lMn2p-xY",
    "sk-1234567890abcdef",
    "sk-abcdefghijklmnopqrstuvwxyz",
    "hf_AbCdEfGhIjKlMnOpQrSt",
    "ghp_0123456789abcdefghij",
    "gsk_0123456789abcdefghij",
    "AIzaSyA0123456789_abcdefg",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
]
# what is a key where it stands
WORD = "Zebra-42-Zebra"
PLACES = [
    "Authorization: Bearer {}",
    "authorization: bearer {}",
    "{{'Authorization': 'Bearer {}'}}",
    '{{"authorization": "Basic {}"}}',
    "x-api-key: {}",
    "api-key={}",
    "api_key='{}'",
    '{{"api_key": "{}"}}',
    "Client(base_url='http://h', api_key='{}', timeout=3)",
    "GET http://h/v1/models?key={}&alt=json",
    "GET http://h/v1/models?alt=json&token={}",
    "http://h/v1?api_key={} is not there",
    "cannot connect to http://user:{}@proxy:3128",
    "password={}",
    '{{\\"api_key\\": \\"{}\\"}}',
]
# messages of evenhand and names of files that hold nothing to hide
HARMLESS = [
    "key 'generate.server.api_key': secrets do not belong in a recipe; put the key into a variable of the environment",
    "key 'judges.a.backend.server.api_key': missing; api_key: is unknown, password: missing",
    "api_key_env: OPENAI_API_KEY is not set",
    "corpora/sk-wikipedia-2020.jsonl:3: is no document",
    "runs/sk-experiment-2025/round-00: cannot be written",
    "task-1234567890abcdef",
    "the bearer of news was the first to say it",
    "http://127.0.0.1:8000/v1/models: 404",
    "http://h/v1?alt=json&page=2",
    "signature coverage|judge:rubric|model:x|template:3f9c1a|scale:1-5|v:4",
    "12 candidates, 2,040 prompt tokens; password protected files are not read",
    "set:a, token: ids differ",
]


def leaves(text, key):
    """Whether a traceback, or a line of a log, has the key."""
    line = _ToStderr().format(logging.LogRecord("a", logging.WARNING, "", 0, "%s", (text,), None))
    return key in line or key in redacted(text)


@pytest.mark.parametrize("key", SHAPED)
@pytest.mark.parametrize("text", ["{}", "Incorrect API key provided: {}.", "'{}'", "tried {}, then gave up", "({})"])
def test_what_has_the_form_of_a_key_is_taken_out(text, key):
    assert not leaves(text.format(key), key)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("key", [WORD, *SHAPED])
def test_what_stands_in_a_keys_place_is_taken_out_and_the_place_stays(place, key):
    assert not leaves(place.format(key), key)
    assert redacted(place.format(key)).split("***")[0] == place.replace("{{", "{").split("{}")[0]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_is_no_key_stays(text):
    assert redacted(text) == text


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "HF_TOKEN", "MY_SECRET", "db_password"])
def test_keys_of_the_environment_are_taken_out_in_any_writing(monkeypatch, name):
    monkeypatch.setenv(name, 'wör/t"mit-allem')
    for writing in ('wör/t"mit-allem', 'w\\u00f6r/t\\"mit-allem', "w%C3%B6r%2Ft%22mit-allem", "wör/t&quot;mit-allem"):
        assert redacted(f"<{writing}>") == "<***>"
    monkeypatch.setenv(name, "short")
    assert redacted("short") == "short"


def test_a_traceback_has_no_key_in_any_of_its_errors(capsys):
    try:
        try:
            raise ValueError(f"http://h/v1?key={WORD}")
        except ValueError as error:
            error.add_note(f"Bearer {WORD}")
            raise ExceptionGroup("all", [RuntimeError(f"sk-{WORD}-{WORD}"), KeyError(f"api_key={WORD}")]) from error
    except ExceptionGroup:
        show_fault(*sys.exc_info())
    said = capsys.readouterr().err
    assert WORD not in said
    assert [name in said for name in ("ValueError", "RuntimeError", "KeyError", "http://h/v1?key=***")] == [True] * 4


def test_long_texts_take_no_time():
    for part in ("sk-", "a-", "api_key=", "Bearer ", "://a:", "?key=", "eyJ.", "sk-a/", "authorization:"):
        redacted(part * (100_000 // len(part)))
