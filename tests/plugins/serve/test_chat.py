"""The best of n over HTTP: what a run gives, in front of servers that answer, break, and are slow."""

import asyncio
import json
import threading
import time

import openai
import pytest
from served_recipes import DOCUMENTS, recipe_of, served
from serving import Server
from starlette.requests import Request

import evenhand
from evenhand.generate.patience import GivenUpError
from evenhand.generate.stage import generate as generate_stage
from evenhand.judges import open_judges
from evenhand.judges.stage import judge_by
from evenhand.plugins.serve.app import NO_GUARD, Limits, Service
from evenhand.plugins.serve.asked import DocumentsRequest, read, request_of
from evenhand.plugins.serve.listen import served_phase
from evenhand.plugins.serve.pool import Pool
from evenhand.rerank.stage import rerank as rerank_stage
from evenhand.runfolder.phases import open_phase


def ask(client, **more):
    body = {"model": "trams", "documents": DOCUMENTS, "side": "ban", **more}
    return client.post("/v1/chat/completions", json=body)


def error(answer):
    return answer.status_code, answer.json()["error"]["code"], answer.json()["error"]["message"]


def test_candidates_of_a_plan_are_one_request_and_the_best_is_returned(tmp_path, upstream):
    with served(recipe_of(tmp_path, upstream.base_url), workers=1) as client:
        answer = ask(client, messages=[{"role": "user", "content": "Summarise."}])
    assert [body["n"] for body in upstream.asked] == [4]
    said = answer.json()
    about, text = said["evenhand"], said["choices"][0]["message"]["content"]
    # judge `length` counts words, and the reward is its score
    assert about["reward"] == about["scores"]["words"] == len(text.split())
    assert (about["side"], about["n_candidates"], about["messages_not_read"]) == ("ban", 4, 1)
    assert set(about["signatures"]) == {"words", "contract"} and about["adapter"] is None
    assert answer.headers["X-Evenhand-Signature"] == about["signature"]
    assert answer.headers["X-Evenhand-Candidates"] == "4"
    assert not {"X-Evenhand-Adapter", "X-Evenhand-Worst-Side"} & set(answer.headers)


def test_equal_requests_are_paid_for_once_and_get_the_same_summary(tmp_path, upstream):
    with served(recipe_of(tmp_path, upstream.base_url), workers=2) as client:
        first, second = ask(client).json(), ask(client).json()
    assert len(upstream.asked) == 1
    assert first["choices"] == second["choices"] and first["id"] == second["id"]
    with served(recipe_of(tmp_path, upstream.base_url, seed=1), workers=1) as client:
        assert ask(client).json()["evenhand"]["signature"] != first["evenhand"]["signature"]


def test_served_best_is_that_of_a_run(tmp_path, upstream, monkeypatch):
    judges = {
        "recall": {"kind": "rouge", "type": "rouge1", "measure": "recall"},
        "precision": {"kind": "rouge", "type": "rouge1", "measure": "precision"},
        "words": {"kind": "length"},
    }
    recipe = recipe_of(
        tmp_path,
        upstream.base_url,
        corpus={"path": "sample", "attribute": "stance", "test": {"split": "test", "limit": 3}},
        judges=judges,
        reward={"judges": ["recall", "words"], "combine": "z_mean"},
        evaluation={
            "judges": ["precision"],
            "plans": {"hot": {"candidates": 3}, "cold": {"temperature": 0.5, "candidates": 2}},
        },
    )
    phase = open_phase(recipe, "evaluation/base")
    generate_stage(phase)
    judge_by(phase, open_judges(recipe.judges))
    rerank_stage(phase)
    offline = [json.loads(line) for line in (phase.folder / "best.jsonl").read_text().splitlines()]
    sets = {each.id: each for each in evenhand.load_documents("sample", "stance")}
    # a cache without its answers: they are asked for again under the same seeds
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "other"))
    with served(recipe, workers=2) as client:
        for best in offline:
            given = sets[best["set_id"]]
            keys = {"documents", "id", "topic", "key_points", "notes"}
            answer = ask(client, side=best["side"], **given.model_dump(mode="json", include=keys)).json()
            about = answer["evenhand"]
            assert answer["choices"][0]["message"]["content"] == best["text"]
            assert (about["request"], about["candidate"]) == (best["request_id"], best["candidate_id"])
            assert (about["reward"], about["scores"], about["n_candidates"]) == (best["reward"], best["scores"], 5)
    assert len(offline) == 6


def test_sides_shares_are_told_by_judges_that_tell_sides_apart(tmp_path):
    recipe = recipe_of(
        tmp_path,
        task={"scope": "all"},
        judges={"shares": {"kind": "value-shares", "matcher": {"kind": "words"}}, "words": {"kind": "length"}},
        evaluation={"judges": ["shares"]},
    )
    with served(recipe, workers=1) as client:
        refused = ask(client)
        assert error(refused)[2].startswith("side 'ban': this recipe makes one summary of all sides")
        answer = ask(client, side=None)
    sides = answer.json()["evenhand"]["sides"]["shares"]
    assert set(sides["due"]) == set(sides["found"]) == {"ban", "allow"}
    worst = min(sides["found"][side] / due for side, due in sides["due"].items())
    assert answer.headers["X-Evenhand-Worst-Side"] == f"shares={worst:.4g}"


TOO_LONG = (400, {"message": "This model's maximum context length is 10 tokens."}, {})


@pytest.mark.parametrize(
    ("fault", "status", "code"), [(500, 503, "upstream_unavailable"), (TOO_LONG, 422, "no_summary")]
)
def test_faults_of_the_upstream_are_errors_and_never_a_summary(tmp_path, upstream, fault, status, code):
    upstream.fault = lambda number, body: fault if number == 0 else None
    with served(recipe_of(tmp_path, upstream.base_url), workers=1) as client:
        found = error(ask(client))
        assert found[:2] == (status, code)
        assert upstream.base_url not in found[2]
        # and the worker is there for the next one
        assert ask(client).status_code == 200


def test_upstream_that_is_gone_is_503(tmp_path):
    with Server() as upstream, served(recipe_of(tmp_path, upstream.base_url), workers=1) as client:
        upstream.__exit__()
        assert error(ask(client))[:2] == (503, "upstream_unavailable")
        assert client.get("/health").status_code == 200


def test_candidates_without_a_score_are_no_summary(tmp_path):
    points = {"kind": "rouge", "type": "rouge1", "measure": "recall", "against": "key_points"}
    recipe = recipe_of(tmp_path, judges={"p": points}, reward={"judges": ["p"]}, evaluation={"judges": ["p"]})
    with served(recipe, workers=1) as client:
        assert error(ask(client)) == (
            422,
            "no_summary",
            "4 candidates, and none can be served: no candidate has a reward; p: no key points listed",
        )


def test_what_a_server_is_asked_ends_with_the_deadline_and_the_worker_is_free_again(tmp_path):
    gate = threading.Event()
    with Server(lambda number, body: None if number else gate.wait(60) and None) as upstream:
        # far fewer seconds than the recipe's time-out, with retries
        with served(recipe_of(tmp_path, upstream.base_url), workers=1, deadline=3) as client:
            assert error(ask(client))[:2] == (504, "deadline_exceeded")
            until = time.monotonic() + 30
            while client.get("/health").json()["under_way"] and time.monotonic() < until:
                time.sleep(0.01)
            # the first answer has not come yet, and the only worker asks again
            assert not gate.is_set() and client.get("/health").json()["under_way"] == 0
            while (answer := ask(client)).status_code != 200 and time.monotonic() < until:
                pass
        gate.set()
        assert answer.status_code == 200 and len(upstream.asked) >= 2


class Stuck:
    """A worker that is stuck where nothing can be given up, until it may go on."""

    def __init__(self):
        self.is_stuck, self.may_go_on = threading.Event(), threading.Event()

    def summarise(self):
        self.is_stuck.set()
        self.may_go_on.wait(60)

    def close(self):
        pass


def test_closing_does_not_wait_for_what_hangs():
    stuck = Stuck()

    async def serve():
        pool = Pool(lambda: stuck, 1, 0)
        with pytest.raises(TimeoutError):
            await pool.run(Stuck.summarise, 1)
        assert stuck.is_stuck.is_set() and pool.n_free == 0
        assert not pool.close(0.01)
        stuck.may_go_on.set()
        while not pool.n_free:
            await asyncio.sleep(0.01)

    asyncio.run(serve())
    assert Pool(Stuck, 2, 0).close(60)


def test_closing_gives_up_what_servers_are_asked(tmp_path):
    gate = threading.Event()
    with Server(lambda number, body: gate.wait(60) and None) as upstream:
        phase = served_phase(recipe_of(tmp_path, upstream.base_url))
        service = Service(phase, Limits(workers=1), NO_GUARD)

        async def serve():
            request = request_of(read(DocumentsRequest, {"documents": DOCUMENTS, "side": "ban"}), phase.recipe)
            asked = asyncio.ensure_future(service.pool.run(lambda worker: worker.summarise(request), 600))
            while not upstream.asked:
                await asyncio.sleep(0.01)
            assert service.close(30)
            with pytest.raises(GivenUpError):
                await asked

        asyncio.run(serve())
        gate.set()


def test_a_request_that_is_under_way_when_the_command_stops_gets_an_error_of_its_form(tmp_path):
    service = Service(served_phase(recipe_of(tmp_path)), Limits(workers=1), NO_GUARD)

    async def serve():
        asked = asyncio.Event()

        async def hang(_):
            asked.set()
            await asyncio.Event().wait()

        request = Request({"type": "http", "method": "POST", "path": "/v1/score", "headers": []})
        under_way = asyncio.ensure_future(service.answering("/v1/score", hang)(request))
        await asked.wait()
        under_way.cancel()
        return await under_way

    answer = asyncio.run(serve())
    assert answer.status_code == 503 and json.loads(answer.body)["error"]["code"] == "stopping"
    assert service.close(30)


def test_no_empty_candidate_is_served(tmp_path, upstream):
    upstream.fault = lambda number, body: [None] * 4
    with served(recipe_of(tmp_path, upstream.base_url), workers=1) as client:
        found = error(ask(client))
    assert found == (422, "no_summary", "8 candidates, and none can be served: empty summary")
    # as with limits, more are drawn
    assert [body["n"] for body in upstream.asked] == [4, 4]


def test_a_candidate_with_a_text_is_served_before_empty_ones_with_a_higher_reward(tmp_path, upstream):
    upstream.fault = lambda number, body: [None, " ", None]
    rewarded = {"combine": "weighted", "judges": ["words"], "weights": {"words": -1.0}}
    with served(recipe_of(tmp_path, upstream.base_url, reward=rewarded), workers=1) as client:
        said = ask(client).json()
    assert said["choices"][0]["message"]["content"] and said["evenhand"]["reward"] < 0
    assert (said["evenhand"]["source"], len(upstream.asked)) == ("drawn", 1)


@pytest.mark.parametrize("status", [401, 404])
def test_a_lasting_fault_of_the_upstream_is_no_reason_to_try_again(tmp_path, upstream, status, caplog):
    upstream.fault = lambda number, body: status
    with served(recipe_of(tmp_path, upstream.base_url), workers=1) as client:
        found = error(ask(client))
    assert found[:2] == (503, "upstream_unfit")
    assert "try again" not in found[2] and upstream.base_url not in found[2]
    (line,) = [each.getMessage() for each in caplog.records if each.levelname == "WARNING"]
    assert line.startswith(f"UnfitModelError: {upstream.base_url} ")


def test_more_requests_than_may_wait_are_sent_away(tmp_path, upstream):
    gate = threading.Event()
    answers = []
    upstream.fault = lambda number, body: gate.wait(60) and None
    with served(recipe_of(tmp_path, upstream.base_url), workers=1, most_waiting=1) as client:

        def one(name):
            answers.append(ask(client, id=name).status_code)

        threads = [threading.Thread(target=one, args=(name,)) for name in "ab"]
        for place, thread in enumerate(threads):
            thread.start()
            until = time.monotonic() + 30
            while client.get("/health").json() != {"status": "ok", "under_way": 1, "waiting": place}:
                assert time.monotonic() < until
                time.sleep(0.01)
        refused = ask(client, id="c")
        gate.set()
        for thread in threads:
            thread.join(60)
    assert error(refused)[:2] == (429, "busy") and int(refused.headers["Retry-After"]) > 0
    assert answers == [200, 200]


def test_the_openai_client_works_unmodified(address):
    with openai.OpenAI(base_url=address, api_key="secret", max_retries=0) as client:
        assert [each.id for each in client.models.list()] == ["trams"]
        body = {"documents": DOCUMENTS, "side": "ban"}
        answer = client.chat.completions.create(model="trams", messages=[], extra_body=body)
        assert answer.choices[0].message.content
        assert answer.evenhand["n_candidates"] == 4
        with pytest.raises(openai.UnprocessableEntityError, match="side: is missing"):
            client.chat.completions.create(model="trams", messages=[], extra_body={"documents": DOCUMENTS})
    with (
        openai.OpenAI(base_url=address, api_key="wrong", max_retries=0) as client,
        pytest.raises(openai.AuthenticationError),
    ):
        client.models.list()
