"""Clients that mean harm, leave, or say nothing: what they send is bounded, and the others are answered."""

import http.client
import json
import socket
import threading
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from logs import warned
from served_recipes import DOCUMENTS, listening, recipe_of, served
from serving import Server

from evenhand.benchmarks.hostile import bodies
from evenhand.plugins.serve.app import Limits
from evenhand.plugins.serve.asked import body_of
from evenhand.plugins.serve.decoded import answer_in
from evenhand.plugins.serve.listen import open_socket, protocol, served_phase, server_of, warn_of_strangers
from evenhand.text.json_text import NotJsonError, parse_json
from evenhand.text.secrets import holds, without

CHAT = {"model": "trams", "documents": DOCUMENTS, "side": "ban"}


@pytest.mark.parametrize("name", bodies())
def test_bodies_that_hurt_are_answered_at_once(client, name):
    begun = time.monotonic()
    answer = client.post(
        "/v1/score" if "answer" in name or "prompt" in name else "/v1/chat/completions", content=bodies()[name]
    )
    # seconds on a machine with other work; without bounds they were minutes, or the process ended
    assert time.monotonic() - begun < 10
    assert answer.status_code in {413, 422} and len(answer.content) < 8000
    assert client.post("/v1/chat/completions", json=CHAT).status_code == 200


@pytest.mark.parametrize(
    "separator", [" ", "\n", "\u2028", "<|im_end|>", "</s>\n", "<\uff5cend\u2581of\u2581sentence\uff5c>"]
)
def test_ends_of_long_answers_are_taken_off_in_linear_time(client, separator):
    answer = "Trams are loud." + separator * (60_000 // len(separator))
    begun = time.monotonic()
    body = {
        "query": ["p " + answer, "p Trams."],
        "prompts": ["p "] * 2,
        "labels": [{"documents": DOCUMENTS, "side": "ban"}] * 2,
    }
    assert client.post("/v1/score", json=body).json()["rewards"] == [3, 1]
    assert time.monotonic() - begun < 10


@pytest.mark.parametrize(
    "end", ["", "<\uff5cend\u2581of\u2581sentence\uff5c>", "<|im_end|>\n", "</s>", "<end_of_turn>"]
)
def test_an_empty_answer_is_empty_whatever_ends_it(client, end):
    body = {"query": ["p " + end], "prompts": ["p "], "labels": [{"documents": DOCUMENTS, "side": "ban"}]}
    assert client.post("/v1/score", json=body).json()["rewards"] == [0]


def deep(n):
    return json.loads("[" * n + "]" * n)


@pytest.mark.parametrize(
    ("key", "of"), [("notes", lambda n: {"a": deep(n)}), ("topic", deep), ("key_points", lambda n: {"a": deep(n)})]
)
@pytest.mark.parametrize("n", [101, 900])
def test_what_is_nested_too_deeply_is_a_mistake_of_the_client(client, key, of, n):
    answer = client.post("/v1/chat/completions", json={**CHAT, key: of(n)})
    assert answer.status_code == 422 and "nested" in answer.text


def test_what_is_usual_passes_the_bounds():
    documents = [
        {
            "text": f"Number {n}: trams carry more people than any bus line, and nobody asked the island about its ferries, "
            "which sail once an hour at most and are said to be late.",
            "attributes": {"side": "ban"},
        }
        for n in range(9000)
    ]
    body = json.dumps({"documents": documents, "notes": {"a": deep(90)}}).encode()
    assert len(body_of(body, 2_000_000)["documents"]) == 9000
    with pytest.raises(NotJsonError, match="is not UTF-8"):
        body_of(b'{"a": "\xff"}', 2_000_000)


def test_after_a_large_body_that_is_refused_others_go_first(client, monkeypatch):
    # times as long as the body took; seconds at most
    monkeypatch.setattr("evenhand.plugins.serve.app.REST", 1e6)
    with ThreadPoolExecutor(1) as threads:
        refused = threads.submit(client.post, "/v1/chat/completions", content=bodies()["wrong documents"])
        assert client.post("/v1/chat/completions", json=CHAT).status_code == 200
        assert not refused.done()
        assert refused.result().status_code == 422


def test_large_requests_that_can_be_answered_do_not_wait(client, monkeypatch):
    monkeypatch.setattr("evenhand.plugins.serve.app.REST", 1e6)
    monkeypatch.setattr("evenhand.plugins.serve.app.MOST_REST", 1e6)
    item = {"documents": DOCUMENTS, "side": "ban"}
    notes = {"a": "Trams are loud. " * 20_000}
    assert client.post("/v1/chat/completions", json={**CHAT, "notes": notes}).status_code == 200
    step = {"query": ["p " + "Trams. " * 90] * 512, "prompts": ["p "] * 512, "labels": [json.dumps(item)] * 512}
    assert len(client.post("/v1/score", json=step).json()["rewards"]) == 512


def test_bodies_that_do_not_end_hold_no_more_than_a_bound(tmp_path, monkeypatch):
    monkeypatch.setattr("evenhand.plugins.serve.app.MOST_BODIES", 1)
    large = json.dumps({**CHAT, "notes": {"a": "b" * 150_000}}).encode()
    head = b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1950000\r\n\r\n"
    with listening(recipe_of(tmp_path), workers=1) as url, ExitStack() as silent:
        port = int(url.split(":")[2].split("/")[0])

        def beside_one_more():
            silent.enter_context(socket.create_connection(("127.0.0.1", port), 20)).sendall(head + b" " * 1_900_000)
            time.sleep(0.2)
            return status(port, large)

        assert comes(beside_one_more, 429)
        assert status(port, json.dumps(CHAT).encode()) == 200
        # said by its header alone, and told although it is still being sent
        assert status(port, b" " * 9_000_000) == 413
        silent.close()
        assert comes(lambda: status(port, large), 200)


def comes(look, wanted):
    until = time.monotonic() + 20
    while (last := look()) != wanted and time.monotonic() < until:
        time.sleep(0.05)
    return last == wanted


def status(port, body):
    asked = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    asked.request("POST", "/v1/chat/completions", body)
    return asked.getresponse().status


TEXTS = st.text(st.sampled_from('[]{},"\\:a1 \n\u00e9'), max_size=8)
VALUES = st.recursive(
    st.none() | st.integers(0, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=30,
)


def n_values(value):
    """The first value of each array or object, and one behind each comma."""
    if not isinstance(value, list | dict):
        return 0
    inner = value.values() if isinstance(value, dict) else value
    return max(1, len(value)) + sum(map(n_values, inner))


@given(VALUES)
@settings(max_examples=200, deadline=None)
def test_values_are_counted_whatever_their_texts_hold(value):
    text = json.dumps(value)
    assert parse_json(text, most_values=n_values(value) + 1) == value
    if n := n_values(value):
        with pytest.raises(NotJsonError, match=f"more than {n} values"):
            parse_json(text, most_values=n)


@contextmanager
def quick(recipe, most=1000, **limits):
    """The port of a server whose connections have little time."""
    with open_socket("127.0.0.1", 0) as found:
        server = server_of(served_phase(recipe), Limits(**limits))
        server.config.http = protocol(most, 0.5, 0.5)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [found]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        try:
            yield found.getsockname()[1]
        finally:
            server.should_exit = True
            thread.join(60)


HEAD = b"POST /v1/score HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n"


@pytest.mark.parametrize("sent", [b"", b"GET /hea", HEAD, HEAD + b"\r\n", HEAD + b'\r\n{"items'])
def test_a_request_that_does_not_go_on_is_closed_and_said(tmp_path, sent, caplog):
    with quick(recipe_of(tmp_path), workers=1) as port, socket.create_connection(("127.0.0.1", port), 20) as silent:
        silent.sendall(sent)
        with pytest.raises(ConnectionError) if sent else pytest.raises(OSError):
            if not silent.recv(100):
                raise ConnectionError
    assert "a connection was closed: no whole" in caplog.text


def test_a_request_that_arrives_in_parts_is_answered(tmp_path):
    with quick(recipe_of(tmp_path), workers=1) as port, socket.create_connection(("127.0.0.1", port), 20) as slow:
        body = json.dumps(CHAT).encode()
        head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        for part in (head[:20], head[20:], body[:50], body[50:]):
            slow.sendall(part)
            time.sleep(0.15)
        assert slow.recv(100).startswith(b"HTTP/1.1 200")


def test_silent_connections_make_place_for_others(tmp_path):
    with quick(recipe_of(tmp_path), most=10, workers=1) as port:
        silent = [socket.create_connection(("127.0.0.1", port), 20) for _ in range(60)]
        asked = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        asked.request("GET", "/health")
        assert asked.getresponse().status == 200
        for each in silent:
            each.close()


def test_who_leaves_frees_the_place_and_what_is_asked_is_given_up(tmp_path):
    gate = threading.Event()
    with Server(lambda number, body: gate.wait(60) and None) as upstream:
        recipe = recipe_of(tmp_path, upstream.base_url)
        with listening(recipe, workers=1, most_waiting=2, deadline=50) as url:
            port = int(url.split(":")[2].split("/")[0])
            leavers = []
            for number in range(3):
                body = json.dumps({**CHAT, "id": str(number)}).encode()
                leavers.append(socket.create_connection(("127.0.0.1", port)))
                leavers[-1].sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\n"
                                    b"Content-Length: %d\r\n\r\n" % len(body) + body)  # fmt: skip
            assert health_is(port, under_way=1, waiting=2)
            for each in leavers:
                each.close()
            assert health_is(port, under_way=0, waiting=0)
        gate.set()
    # those who waited asked for nothing
    assert len(upstream.asked) <= 2


def health_is(port, **numbers):
    def health():
        asked = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        asked.request("GET", "/health")
        return json.loads(asked.getresponse().read())

    return comes(health, {"status": "ok", **numbers})


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "rebound.example"}, 403),
        ({"host": "rebound.example:8080"}, 403),
        ({"host": "localhost.example"}, 403),
        ({"origin": "https://page.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://localhost:9"}, 403),
        ({"host": "127.0.0.1:8080"}, 200),
        ({"host": "[::1]:8080"}, 200),
        ({"host": "LOCALHOST"}, 200),
        ({"host": "10.0.0.7"}, 200),
        ({"host": "serve.lan"}, 200),
        ({"host": "localhost:8080", "origin": "http://localhost:8080"}, 200),
    ],
)
def test_pages_of_browsers_may_not_ask_a_server_without_a_key(tmp_path, headers, status):
    with served(recipe_of(tmp_path), workers=1, hosts=("serve.lan",)) as client:
        assert client.post("/v1/chat/completions", json=CHAT, headers=headers).status_code == status
    with served(recipe_of(tmp_path), workers=1, keys=("one",)) as client:
        assert client.get("/v1/models", headers={**headers, "Authorization": "bearer one"}).status_code == 200


def test_an_address_that_others_reach_needs_a_key_or_is_warned_of(caplog):
    warn_of_strangers("127.0.0.1", Limits())
    warn_of_strangers("0.0.0.0", Limits(keys=("one",)))  # noqa: S104
    assert not warned(caplog)
    warn_of_strangers("0.0.0.0", Limits())  # noqa: S104
    assert "whoever reaches 0.0.0.0 may ask" in caplog.text


PROMPT = "<|im_start|>user\nFasse die Stra\u00dfe in Z\u00fcrich zusammen, \uff11\u20ac.\n<|im_end|>\n<|im_start|>assistant\n"


@pytest.mark.parametrize("given", ["NFC", "NFD", "NFKC", "NFKD"])
@pytest.mark.parametrize("sent", ["NFC", "NFD"])
@pytest.mark.parametrize("cut", [0, 1, 7, 30, 40])
@pytest.mark.parametrize("before", ["", "<s>", "<pad><pad>", "\ufffd", " "])
def test_the_answer_stands_behind_a_prompt_in_another_form(given, sent, cut, before):
    prompt = unicodedata.normalize(sent, PROMPT)
    text = before + unicodedata.normalize(given, PROMPT)[cut:] + "Z\u00fcrich ist teuer.<|im_end|>"
    assert answer_in(text, prompt).strip() == "Z\u00fcrich ist teuer.<|im_end|>"


@given(
    st.text(st.sampled_from("ab \n"), min_size=1, max_size=60),
    st.integers(0, 60),
    st.text(st.sampled_from("ab \n"), max_size=9),
)
@settings(max_examples=300, deadline=None)
def test_the_answer_stands_behind_the_longest_end_of_the_prompt(prompt, cut, answer):
    text, end = prompt[cut:] + answer, "".join(prompt.split())
    letters = "".join(text.split())
    lengths = [n for n in range(1, len(letters) + 1) if end.endswith(letters[:n]) and (n >= 16 or n == len(end))]
    if text.startswith(prompt):
        assert answer_in(text, prompt) == text[len(prompt) :]
    elif not lengths:
        assert answer_in(text, prompt) is None
    else:
        places = [place for place, letter in enumerate(text) if not letter.isspace()]
        assert answer_in(text, prompt) == text[places[max(lengths) - 1] + 1 :]


@pytest.mark.parametrize(
    ("text", "prompt"),
    [
        ("a" * 600_000, "a" * 300_000 + "b"),
        ("a" * 100_000 + "b" + "a" * 900_000, "c" + "a" * 900_000),
        (" " * 1_900_000, "a"),
        ("<s>" * 600_000, "a"),
        ("\ufffd" * 600_000, "a"),
        ("ab " * 300_000 + "c", "ab " * 300_000 + "d"),
    ],
)
def test_no_prompt_takes_long(text, prompt):
    begun = time.thread_time()
    answer_in(text, prompt)
    assert time.thread_time() - begun < 2


@pytest.mark.parametrize("text", ["", "Another prompt. An answer.", "assistant An answer.", "t"])
def test_a_text_without_its_prompt_has_no_answer_that_is_known(text):
    assert answer_in(text, PROMPT) is None


KEY = 'sk-"q\\uo te+/=<&>\u00e9-0123456789'


@pytest.mark.parametrize(
    "writing",
    [
        str,
        json.dumps,
        lambda key: json.dumps(json.dumps(key)),
        lambda key: json.dumps(key, ensure_ascii=False),
        repr,
        lambda key: __import__("html").escape(key),
        lambda key: __import__("urllib.parse").parse.quote(key, safe=""),
        lambda key: __import__("urllib.parse").parse.quote(__import__("urllib.parse").parse.quote(key, safe="")),
        *(
            lambda key, before=before: __import__("base64").b64encode(before + key.encode()).decode()
            for before in (b"", b"a", b"ab")
        ),
        lambda key: __import__("base64").urlsafe_b64encode(b"Bearer " + key.encode()).decode(),
    ],
)
def test_a_key_is_known_in_any_writing(writing):
    said = f"wrong key {writing(KEY)} was sent"
    assert holds(said, (KEY,)) and "0123456789" not in without(said, (KEY,))
    assert without("nothing of a key, sk- alone", (KEY,)) == "nothing of a key, sk- alone"


def test_the_upstreams_key_is_neither_logged_nor_kept(tmp_path, monkeypatch, caplog):
    monkeypatch.setenv("UPSTREAM_KEY", KEY.replace("\u00e9", "e"))
    monkeypatch.setenv("EVENHAND_VERBOSITY", "verbose")
    key = KEY.replace("\u00e9", "e")
    answers = [
        lambda number, body: (500, {"message": f"for {key}: {json.dumps(key)}"}, {}),
        lambda number, body: [key] * 4,
    ]
    for number, fault in enumerate(answers):
        with Server(fault) as upstream:
            section = {"base_url": upstream.base_url, "retries": 0, "api_key_env": "UPSTREAM_KEY"}
            generate = {"backend": "openai", "server": section, "plans": {"hot": {"candidates": 4}}}
            with served(recipe_of(tmp_path / str(number), generate=generate), workers=1) as client:
                answer = client.post("/v1/chat/completions", json=CHAT)
        assert answer.status_code in {422, 503}
        assert "0123456789" not in answer.text + caplog.text


def test_models_by_name_and_tokens_are_told(client):
    assert client.get("/v1/models/trams").json()["id"] == "trams"
    assert client.get("/v1/models/gpt/4").json()["error"]["code"] == "model_not_found"
    used = client.post("/v1/chat/completions", json=CHAT).json()["usage"]
    assert used["total_tokens"] == used["prompt_tokens"] + used["completion_tokens"] > 0
