"""vLLM's own server, on the CPU with a tiny model: its answers are those of the engine in the process."""

import json
import os
import socket
import subprocess
import sys
import time
from contextlib import closing

import httpx
import pytest
from breaking import FAULTS, Proxy

from evenhand.config import BackendSection, ModelSection
from evenhand.generate.backend import Ask
from evenhand.generate.backends import open_backend
from evenhand.plugins.server.kept import ANSWERS
from evenhand.plugins.server.reachability import refuse_unreachable
from evenhand.records import Message, Sampling

pytest.importorskip("vllm")
pytest.importorskip("openai")
pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("own_cache")]

GRADES = ("1", "2", "3", "4", "5")
TEXTS = ("The ferry is cheap.", "The bridge costs too much, and nobody asked the island.", "ferry " * 40)
IN_PROCESS = """
import json, sys
from evenhand.config import BackendSection, ModelSection
from evenhand.generate.backend import Ask
from evenhand.generate.backends import open_backend
from evenhand.records import Message, Sampling

def main(model, texts, grades):
    backend = open_backend(BackendSection(max_model_len=256), ModelSection(name=model, dtype="float32"))
    prompts = [(Message(role="user", content=text),) for text in texts]
    greedy = backend.complete([Ask(p, Sampling(temperature=0, max_tokens=24), 1) for p in prompts])
    graded = backend.complete([Ask(p, Sampling(temperature=0, max_tokens=1), 1, tuple(grades)) for p in prompts])
    backend.close()
    keys = ("text", "finish_reason", "n_prompt_tokens", "prompt_digest", "token_ids", "logps")
    print("RESULT" + json.dumps([[{k: getattr(r, k) for k in keys} for r in greedy], [r.choice_probabilities for r in graded]]))

if __name__ == "__main__":
    main(sys.argv[1], *json.loads(sys.argv[2]))
"""
SECONDS = 240


@pytest.fixture(scope="module")
def address(tiny_model, tmp_path_factory):
    """The server's address; its port is free when it is chosen."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    arguments = ["--model", str(tiny_model), "--dtype", "float32", "--max-model-len", "256", "--enforce-eager"]
    arguments += ["--host", "127.0.0.1", "--port", str(port), "--served-model-name", "tiny", "--block-size", "32"]
    log = tmp_path_factory.mktemp("server") / "log"
    environment = {**os.environ, "VLLM_NO_USAGE_STATS": "1"}
    with log.open("wb") as output:
        command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", *arguments]
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
    try:
        url = f"http://127.0.0.1:{port}"
        deadline = time.monotonic() + SECONDS
        while not _answers(f"{url}/health"):
            assert process.poll() is None, log.read_text()[-3000:]
            assert time.monotonic() < deadline, "the server does not start"
            time.sleep(0.5)
        yield f"{url}/v1"
    finally:
        process.terminate()
        process.wait(30)


def _answers(url):
    try:
        return httpx.get(url, timeout=2).status_code == 200
    except httpx.HTTPError:
        return False


@pytest.fixture(scope="module")
def in_process(tiny_model, engine_server, tmp_path_factory):
    script = tmp_path_factory.mktemp("engine") / "ask.py"
    script.write_text(IN_PROCESS)
    given = json.dumps([TEXTS, GRADES])
    done = subprocess.run(
        [str(engine_server.client), str(script), str(tiny_model), given],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    (line,) = [line for line in done.stdout.splitlines() if line.startswith("RESULT")] or [done.stderr[-3000:]]
    return json.loads(line.removeprefix("RESULT"))


def opened(address, model, **server):
    section = BackendSection(
        backend="openai", max_model_len=256, server={"base_url": address, "model": "tiny", **server}
    )
    return closing(open_backend(section, ModelSection(name=str(model), dtype="float32")))


def chats():
    return [(Message(role="user", content=text),) for text in TEXTS]


def test_tokens_give_what_the_engine_in_the_process_gives(address, tiny_model, in_process):
    with opened(address, tiny_model, prompts="tokens") as backend:
        found = backend.complete([Ask(chat, Sampling(temperature=0, max_tokens=24), 1) for chat in chats()])
        graded = backend.complete([Ask(chat, Sampling(temperature=0, max_tokens=1), 1, GRADES) for chat in chats()])
    greedy, shares = in_process
    for reply, expected in zip(found, greedy, strict=True):
        assert list(reply.token_ids) == expected["token_ids"]
        assert reply.logps == pytest.approx(expected["logps"], abs=1e-3)
        for key in ("text", "finish_reason", "n_prompt_tokens", "prompt_digest"):
            assert getattr(reply, key) == expected[key]
    for reply, expected in zip(graded, shares, strict=True):
        assert reply.choice_probabilities == pytest.approx(expected, abs=1e-3)


def test_messages_give_the_same_texts(address, tiny_model, in_process):
    with opened(address, tiny_model) as backend:
        found = backend.complete([Ask(chat, Sampling(temperature=0, max_tokens=24), 1) for chat in chats()])
    assert [reply.text for reply in found] == [expected["text"] for expected in in_process[0]]
    assert [reply.n_prompt_tokens for reply in found] == [expected["n_prompt_tokens"] for expected in in_process[0]]


def test_messages_give_the_same_grades_since_the_server_holds_answers_to_them(address, tiny_model, in_process):
    with opened(address, tiny_model) as backend:
        graded = backend.complete([Ask(chat, Sampling(temperature=0, max_tokens=1), 1, GRADES) for chat in chats()])
    assert all(reply.is_guided for reply in graded)
    for reply, expected in zip(graded, in_process[1], strict=True):
        assert reply.choice_probabilities == pytest.approx(expected, abs=1e-3)
        assert reply.text == max(expected, key=expected.get)


@pytest.mark.parametrize("prompts", ["messages", "tokens"])
def test_behind_a_proxy_that_breaks_a_fifth_of_the_answers_none_is_lost_and_all_are_the_same(
    address, tiny_model, prompts, monkeypatch
):
    monkeypatch.setattr("openai._base_client.INITIAL_RETRY_DELAY", 0.01)
    texts = [[Message(role="user", content=f"{text} {n}.")] for n in range(14) for text in TEXTS[:2]]
    asks = [Ask(tuple(text), Sampling(temperature=0, max_tokens=8), 1) for text in texts]
    asks += [Ask(ask.prompt, Sampling(temperature=0, max_tokens=1), 1, GRADES) for ask in asks]
    with opened(address, tiny_model, prompts=prompts) as backend:
        expected = backend.complete(asks)
    ANSWERS.forget()
    with Proxy(address.removesuffix("/v1"), every=5, late=4.0) as proxy:
        # what is late is asked for again; the server itself answers much sooner
        with opened(proxy.base_url, tiny_model, prompts=prompts, timeout=3.0, retries=8) as backend:
            found = backend.complete(asks)
        assert ANSWERS.count() == len(asks)
    assert proxy.broken.keys() == set(FAULTS)
    for reply, right in zip(found, expected, strict=True):
        assert (reply.text, reply.token_ids, reply.finish_reason) == (right.text, right.token_ids, right.finish_reason)
        assert reply.choice_probabilities == pytest.approx(right.choice_probabilities, abs=1e-3)


def test_several_answers_of_one_request_differ_and_come_again(address, tiny_model):
    asks = [Ask(chats()[0], Sampling(temperature=1, max_tokens=24, top_k=50, min_p=0.001), seed) for seed in range(4)]
    with opened(address, tiny_model, prompts="tokens") as backend:
        first = [reply.token_ids for reply in backend.complete(asks)]
        ANSWERS.forget()
        again = [reply.token_ids for reply in backend.complete(asks)]
    assert len(set(first)) == 4
    assert first == again


def test_long_prompt_and_unknown_model_are_told(address, tiny_model):
    long = Ask((Message(role="user", content="ferry " * 400),), Sampling(temperature=0, max_tokens=24), 1)
    for prompts in ("tokens", "messages"):
        with opened(address, tiny_model, prompts=prompts) as backend:
            (reply,) = backend.complete([long])
        assert (reply.finish_reason, reply.reason) == ("failed", "prompt too long")
    section = BackendSection(backend="openai", server={"base_url": address}).server
    with pytest.raises(Exception, match="has no model 'huge'; it has 'tiny'"):
        refuse_unreachable(section, "huge")


@pytest.mark.usefixtures("quick_engines")
def test_the_benchmark_has_the_engine_and_both_ways_to_the_server_write_as_much(address, tiny_model, tmp_path):
    output = tmp_path / "found.json"
    command = [
        "--quick",
        "--model",
        str(tiny_model),
        "--dtype",
        "float32",
        "--address",
        address,
        "--output",
        str(output),
    ]
    done = subprocess.run(
        [sys.executable, "-m", "evenhand.benchmarks.servers", *command],
        capture_output=True, text=True, timeout=SECONDS, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    (table,) = json.loads(output.read_text())["tables"]
    assert [row["name"] for row in table["rows"]] == ["engine", "tokens", "messages"]
    # two prompts, two candidates, none of which ends before its length
    assert [row["counts"] for row in table["rows"]] == [{"answers": 4, "cut": 4}] * 3
