"""The recipe's judges as a reward server: evenhand's own form, OpenRLHF's, and the functions of verl and TRL."""

import json
import re
import runpy
import ssl
import sys
import threading
import time
import urllib.error
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from urllib.request import urlopen

import pytest
from served_recipes import DOCUMENTS, listening, recipe_of, served
from serving import Server

from evenhand.plugins.serve import rewards

ASKED = {"documents": DOCUMENTS, "side": "ban"}
# judge `length` counts words: 3 and 5
THREE, FIVE = "Trams are loud.", "The Ban says trams wake."


def post(client, body, path="/v1/score", **more):
    return client.post(path, json=body, **more)


def test_rewards_are_those_of_the_recipe(client):
    answer = post(client, {"items": [{**ASKED, "summary": THREE}, {**ASKED, "side": "allow", "summary": FIVE}]})
    assert answer.status_code == 200
    said = answer.json()
    assert said["rewards"] == [3, 5]
    assert said["results"][1] == {"reward": 5, "scores": {"words": 5}, "unscored": {}}
    assert set(said["signatures"]) == {"words"}


def test_openrlhf_gets_the_answer_behind_the_prompt_judged(client):
    chat = "<|im_start|>user\nSummarise.<|im_end|>\n<|im_start|>assistant\n"
    body = {
        "query": [f"{chat}{THREE}<|im_end|>\n", f"{chat}{FIVE}<|im_end|><|endoftext|>"],
        "prompts": [chat, chat],
        "labels": [json.dumps(ASKED), ASKED],
    }
    said = post(client, body).json()
    assert said == {"rewards": [3, 5], "scores": [3, 5], "extra_logs": {"words": [3, 5]}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"labels": []}, "1 queries, 1 prompts and 0 labels"),
        ({"prompts": ["other"]}, "query 0 does not begin with its prompt"),
        ({"labels": ["no json"]}, "label 0 is not JSON"),
        ({"labels": ["{}"]}, "label 0: 'documents': is missing"),
        ({"labels": [DOCUMENTS]}, "label 0 is not an object"),
    ],
)
def test_queries_that_cannot_be_read_are_refused_with_the_place(client, change, said):
    answer = post(client, {"query": ["p s"], "prompts": ["p"], "labels": [ASKED], **change})
    assert answer.status_code == 422
    assert said in answer.json()["error"]["message"]


def test_unscored_is_none_and_openrlhf_must_say_what_stands_for_it(tmp_path):
    key_points = {"kind": "rouge", "type": "rouge1", "measure": "recall", "against": "key_points"}
    recipe = recipe_of(
        tmp_path, judges={"points": key_points}, reward={"judges": ["points"]}, evaluation={"judges": ["points"]}
    )
    with served(recipe, workers=1) as client:
        said = post(client, {"items": [{**ASKED, "summary": THREE}]}).json()
        assert said["rewards"] == [None]
        assert said["results"][0]["unscored"] == {"points": "no key points listed"}
        body = {"query": [f"p {THREE}"], "prompts": ["p"], "labels": [ASKED]}
        refused = post(client, body)
        assert refused.status_code == 422 and "have no reward, the first at 0" in refused.json()["error"]["message"]
        assert post(client, body, "/v1/score?unscored=-1").json()["rewards"] == [-1]
        assert [post(client, body, f"/v1/score?unscored={each}").status_code for each in ("low", "nan")] == [422, 422]


def test_rewards_that_compare_candidates_are_refused(tmp_path):
    with served(recipe_of(tmp_path, reward={"judges": ["words"], "combine": "z_mean"}), workers=1) as client:
        answer = post(client, {"items": [{**ASKED, "summary": THREE}]})
    assert answer.status_code == 422 and "z_mean compares the candidates" in answer.json()["error"]["message"]


def test_summaries_of_one_call_are_company_for_judges_that_compare(tmp_path):
    consensus = {"kind": "consensus"}
    recipe = recipe_of(tmp_path, judges={"c": consensus}, reward={"judges": ["c"]}, evaluation={"judges": ["c"]})
    with served(recipe, workers=1) as client:
        alone = post(client, {"items": [{**ASKED, "summary": THREE}]}).json()
        two = post(client, {"items": [{**ASKED, "summary": THREE}, {**ASKED, "summary": THREE + " Very."}]}).json()
    assert alone["results"][0]["unscored"] == {"c": "no other candidate"}
    assert None not in two["rewards"]


def test_functions_of_verl_and_trl_give_the_servers_rewards(address, monkeypatch):
    monkeypatch.setenv("EVENHAND_SERVE_URL", address)
    with pytest.raises(ValueError, match="401"):
        rewards.compute_score("any", THREE, ASKED)
    monkeypatch.setenv("EVENHAND_SERVE_KEY", "secret")
    assert rewards.compute_score("any", THREE, json.dumps(ASKED), extra_info={}) == 3
    # tables fill with None what another row has
    documents = [{**each, "id": None, "attributes": {**each["attributes"], "other": None}} for each in DOCUMENTS]
    completions = [[{"role": "assistant", "content": THREE}], FIVE]
    found = rewards.evenhand_reward(
        prompts=["p", "p"],
        completions=completions,
        documents=[documents] * 2,
        side=["ban", "allow"],
        trainer_state=None,
    )
    assert found == [3, 5]
    with pytest.raises(ValueError, match="side: 'left' is not one of them"):
        rewards.compute_score("any", THREE, {**ASKED, "side": "left"})


@pytest.mark.parametrize("address", ["localhost:8080", "http:///v1", "http://127.0.0.1:80x/v1", "http://exa mple/v1"])
def test_what_is_no_address_is_not_asked_again(address, monkeypatch):
    monkeypatch.setenv("EVENHAND_SERVE_URL", address)
    monkeypatch.setattr(rewards.time, "sleep", lambda _: pytest.fail("it is asked again"))
    with pytest.raises(ValueError, match="not a server's address"):
        rewards.compute_score("any", THREE, ASKED)


def test_a_certificate_that_is_not_trusted_is_not_asked_again(monkeypatch):
    def refuse(*_, **__):
        raise urllib.error.URLError(ssl.SSLCertVerificationError("self-signed certificate"))

    monkeypatch.setattr(rewards.urllib.request, "urlopen", refuse)
    monkeypatch.setattr(rewards.time, "sleep", lambda _: pytest.fail("it is asked again"))
    monkeypatch.setenv("EVENHAND_SERVE_URL", "https://localhost:1/v1")
    with pytest.raises(OSError, match="self-signed"):
        rewards.compute_score("any", THREE, ASKED)


def test_the_file_of_reward_functions_stands_alone():
    # as verl loads it: by its path, without the package
    assert callable(runpy.run_path(rewards.__file__)["compute_score"])
    lines = Path(rewards.__file__).read_text().splitlines()
    imported = {line.split()[1].split(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert imported <= sys.stdlib_module_names


def test_a_batch_of_a_trainer_waits_in_line(tmp_path):
    # users are sent away at once where one is served and another waits
    asked = [f"{'very ' * place}loud" for place in range(40)]
    with listening(recipe_of(tmp_path), workers=1, most_waiting=0) as url, ThreadPoolExecutor(len(asked)) as threads:
        together = threading.Barrier(len(asked))

        def reward(summary):
            together.wait()
            return rewards.compute_score("any", summary, ASKED, url=url)

        assert list(threads.map(reward, asked)) == [place + 1 for place in range(40)]
        with urlopen(url.replace("/v1", "/metrics")) as answer:  # noqa: S310
            counted = answer.read().decode()
    assert 'path="/v1/score",status="200"} 40.0' in counted and 'status="429"' not in counted


def test_a_batch_that_takes_longer_than_the_deadline_goes_on_where_it_ended(tmp_path):
    # two at a time: at least 1.8 s
    with Server(lambda number, body: threading.Event().wait(0.3) and None, logprobs={"4": 0.0}) as upstream:
        asked = {"backend": "openai", "server": {"base_url": upstream.base_url, "retries": 0, "concurrency": 2}}
        rubric = {"kind": "rubric", "rubric": "coverage", "model": {"name": "tiny"}, "backend": asked}
        judges = {"rubric": rubric, "words": {"kind": "length"}}
        recipe = recipe_of(tmp_path, judges=judges, reward={"judges": ["rubric"]}, evaluation={"judges": ["words"]})
        completions = [f"{'very ' * place}loud" for place in range(12)]
        with listening(recipe, workers=1, deadline=1.2) as url:
            items = [{**ASKED, "summary": text} for text in completions]
            assert rewards.rewards(items, url=url, timeout=60) == [4] * 12
            with urlopen(url.replace("/v1", "/metrics")) as answer:  # noqa: S310
                (late,) = re.findall(r'seconds_count{path="/v1/score",status="504"} (\d+)', answer.read().decode())
    # what was under way at a deadline is asked again, and nothing else
    assert int(late) >= 1 and len(upstream.asked) <= 12 + 2 * int(late)


@contextmanager
def answering(answers):
    """The address of a server that gives these answers one by one, (status, body, headers) or None, and what it is asked."""
    left, came = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            came.append(self.rfile.read(int(self.headers["Content-Length"])))
            if (answer := left.pop(0)) is None:
                return
            status, body, headers = answer
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1", came
    finally:
        server.shutdown()
        server.server_close()


def reward_of(url, timeout=60):
    return rewards.compute_score("any", THREE, ASKED, url=url, timeout=timeout)


BUSY = (429, "busy", {})
REWARD = (200, '{"rewards": [3]}', {})


@pytest.fixture
def pauses(monkeypatch):
    """Seconds that were waited, which take none."""
    found = []
    monkeypatch.setattr(time, "sleep", found.append)
    return found


@pytest.mark.parametrize(
    "fault", [BUSY, (503, "stopping", {}), (504, "late", {}), None, (200, "cut", {"Content-Length": "9"})]
)
def test_reward_functions_ask_again_where_it_may_help(pauses, fault):
    with answering([fault, fault, REWARD]) as (url, came):
        assert reward_of(url) == 3
    assert len(came) == 3 and len(set(came)) == 1
    assert 1 <= pauses[0] <= 2 <= pauses[1] <= 4


def test_reward_functions_wait_as_long_as_the_server_says(pauses):
    with answering([(429, "busy", {"Retry-After": "7"}), REWARD]) as (url, _):
        assert reward_of(url) == 3
    assert 7 <= pauses[0] <= 14


def test_reward_functions_ask_no_longer_than_their_timeout(pauses):
    with answering([BUSY]) as (url, _), pytest.raises(ValueError, match="429: busy"):
        reward_of(url, timeout=0.5)
    with pytest.raises(OSError, match="refused"):
        reward_of(url, timeout=0.5)
    assert not pauses


@pytest.mark.parametrize("lasting", [(422, "wrong", {}), (503, "upstream_unfit", {})])
def test_reward_functions_do_not_ask_again_for_what_lasts(pauses, lasting):
    with answering([lasting]) as (url, came), pytest.raises(ValueError, match=lasting[1]):
        reward_of(url)
    assert len(came) == 1 and not pauses


@pytest.mark.parametrize("n_bodies", [1, 3])
def test_large_steps_are_sent_in_several_bodies_and_come_back_in_order(address, monkeypatch, n_bodies):
    monkeypatch.setenv("EVENHAND_SERVE_URL", address)
    monkeypatch.setenv("EVENHAND_SERVE_KEY", "secret")
    sent = []
    ask = rewards._asked
    monkeypatch.setattr(rewards, "_asked", lambda request, until: sent.append(request) or ask(request, until))
    monkeypatch.setattr(rewards, "MOST_BYTES", 1_500_000 if n_bodies == 1 else 6000)
    words = ["loud"] * 12
    completions = [" ".join(words[: number + 1]) for number in range(12)]
    # two requests by turns, whose completions stay together
    documents = [
        [{**each, "text": f"{number % 3} {each['text']} " + "x" * 300} for each in DOCUMENTS] for number in range(12)
    ]
    assert rewards.evenhand_reward(completions, documents, side=["ban"] * 12) == list(range(1, 13))
    assert len(sent) == n_bodies
    sides = [{each["documents"][0]["text"] for each in json.loads(request.data)["items"]} for request in sent]
    assert sum(map(len, sides)) == 3


def test_verls_batches_and_arrays_of_tables_are_read(address, monkeypatch):
    numpy = pytest.importorskip("numpy")
    monkeypatch.setenv("EVENHAND_SERVE_URL", address)
    monkeypatch.setenv("EVENHAND_SERVE_KEY", "secret")
    truth = {
        **ASKED,
        "documents": numpy.array([{**each, "id": None, "topic": numpy.nan} for each in DOCUMENTS], dtype=object),
    }
    truth["documents"] = numpy.array(
        [{key: value for key, value in each.items() if key != "topic"} for each in truth["documents"]]
    )
    truth["id"] = float("nan")
    assert rewards.compute_score("any", THREE, truth) == 3
    assert rewards.compute_score("any", THREE, numpy.array(json.dumps(ASKED), dtype=object)) == 3
    found = rewards.compute_score(
        data_sources=numpy.array(["a", "b"]),
        solution_strs=[THREE, FIVE],
        ground_truths=numpy.array([truth, json.dumps(ASKED)], dtype=object),
        extra_infos=numpy.array([None, None]),
    )
    assert found == [3, 5]
    assert rewards.compute_score(solution_strs=[], ground_truths=[]) == []
    with pytest.raises(ValueError, match="2 answers and 1 ground truths"):
        rewards.compute_score(solution_strs=[THREE, FIVE], ground_truths=[ASKED])
    with pytest.raises(ValueError, match="ground truth 0 is not an object"):
        rewards.compute_score("any", THREE, None)
