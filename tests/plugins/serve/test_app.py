"""Addresses, keys, limits and errors, in OpenAI's form."""

import json
import logging
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from served_recipes import DOCUMENTS, recipe_of, served
from serving import Server

from evenhand.config.recipe_file import load_recipe
from evenhand.errors import DataError, EvenhandError, RecipeError
from evenhand.plugins.serve.listen import keys_from, open_socket, served_phase


def ask(client, **more):
    body = {"model": "trams", "messages": [], "documents": DOCUMENTS, "side": "ban", **more}
    # with half characters as JSON writes them
    return client.post("/v1/chat/completions", content=json.dumps(body))


def error(answer):
    return answer.status_code, answer.json()["error"]["code"], answer.json()["error"]["message"]


def test_health_and_models(client):
    assert client.get("/health").json() == {"status": "ok", "under_way": 0, "waiting": 0}
    assert [each["id"] for each in client.get("/v1/models").json()["data"]] == ["trams"]
    assert error(client.get("/v2"))[:2] == (404, "unknown_address")


def test_keys_are_asked_for_everywhere_but_for_health(tmp_path):
    with served(recipe_of(tmp_path), workers=1, keys=("one", "two")) as client:
        assert client.get("/health").status_code == 200
        assert error(client.get("/v1/models"))[:2] == (401, "invalid_api_key")
        assert client.get("/v1/models", headers={"Authorization": "Bearer no"}).status_code == 401
        assert client.get("/v1/models", headers={"Authorization": "Bearer two"}).status_code == 200


@pytest.mark.parametrize(
    ("change", "status", "said"),
    [
        ({"model": "gpt"}, 404, "there is no model 'gpt' here"),
        ({"stream": True}, 400, "stream"),
        ({"n": 2}, 422, "'n': should be less"),
        ({"temperature": 0.1}, 400, "temperature: is set by the recipe"),
        ({"tools": [], "seed": 1}, 400, "tools: has no meaning here"),
        ({"temprature": 0.1}, 422, "'temprature': is not a key"),
        ({"side": None}, 422, "side: is missing; this recipe summarises one side at a time: ban, allow"),
        ({"side": "left"}, 422, "side: 'left' is not one of them"),
        ({"documents": []}, 422, "'documents': "),
        ({"documents": [{"text": " "}]}, 422, "'documents.0.text': is empty"),
        ({"documents": [{"text": "Trams."}]}, 422, "side"),
        ({"documents": [{"text": "\ud800 hello"}]}, 422, "'documents.0.text': holds half a character, '\\ud800'"),
        ({"notes": {"a": ["\udfff"]}}, 422, "'notes.a.0': holds half a character"),
        ({"key_points": {"\ud800": []}}, 422, "holds half a character"),
        ({"documents": [{"id": "a", "text": "Trams.", "attributes": {"side": "ban"}}] * 2}, 422, "more than once"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_its_key(client, change, status, said):
    found = error(ask(client, **change))
    assert found[0] == status and said in found[2]


def test_bodies_that_are_too_long_or_no_json_are_refused(tmp_path):
    with served(recipe_of(tmp_path), workers=1, most_bytes=1000) as client:
        long = [{"text": "x" * 1000, "attributes": {"side": "ban"}}]
        assert error(ask(client, documents=long))[:2] == (413, "too_large")
        for body in ("{", "[]", "[" * 900):
            answer = client.post("/v1/chat/completions", content=body)
            assert error(answer)[:2] == (400, "invalid_json")


def test_nothing_of_a_request_is_logged(client, caplog):
    with caplog.at_level(logging.INFO):
        assert ask(client).status_code == 200
        assert ask(client, side="elsewhere").status_code == 422
    lines = [each.getMessage() for each in caplog.records if each.name.startswith("evenhand")]
    assert lines[0].startswith("POST /v1/chat/completions 200 ")
    assert not any(word in line for line in lines for word in ("Trams", "elsewhere", "ban"))


def test_recipes_that_are_not_fit_are_refused_before_anything_listens(tmp_path):
    engine = {"backend": "vllm", "plans": {"hot": {"candidates": 1}}}
    with pytest.raises(RecipeError, match=r"a server of its own; start one \(python -m vllm\."):
        served_phase(recipe_of(tmp_path, generate=engine))
    # before prices are asked for, which would not help
    with pytest.raises(RecipeError, match=r"or leave limits\.cost out: `evenhand serve` takes none"):
        recipe_of(tmp_path, "http://127.0.0.1:9/v1", limits={"cost": 1})
    with pytest.raises(EvenhandError, match=r"key 'generate\.server': .*gives no whole answer"):
        served_phase(recipe_of(tmp_path, "http://127.0.0.1:9/v1"))
    with pytest.raises(RecipeError, match="has 0 rounds and the phases evaluation/base"):
        served_phase(recipe_of(tmp_path), "evaluation/round-00")


def test_judges_on_this_machine_are_loaded_before_anything_is_answered(tmp_path, tiny_model):
    pytest.importorskip("transformers")
    folder = shutil.copytree(tiny_model, tmp_path / "model")
    judge = {
        "kind": "rubric",
        "rubric": "coverage",
        "model": {"name": str(folder)},
        "backend": {"backend": "transformers"},
    }
    judges = {"words": {"kind": "length"}, "local": judge}
    with served(recipe_of(tmp_path, judges=judges, evaluation={"judges": ["local"]}), workers=1) as client:
        # whoever loads it now does not find it
        shutil.rmtree(folder)
        assert ask(client).status_code == 200


def shipped(tmp_path, upstream):
    """The recipe that is shipped, in front of a test's server."""
    # words in common in place of an encoder that takes seconds to load
    words = "{kind: rouge, type: rouge1, measure: precision, against: source}"
    at = {"generate.server.base_url": upstream.base_url, "model.name": "tiny", "output": tmp_path / "run"}
    at |= {"judges.faithfulness": words, "corpus.attribute": "side"}
    return load_recipe(Path("server/serve"), [f"{key}={value}" for key, value in at.items()])


def test_the_shipped_recipe_says_within_seconds_that_the_upstream_is_gone(tmp_path):
    with Server() as upstream, served(shipped(tmp_path, upstream), workers=1) as client:
        upstream.__exit__()
        begun = time.monotonic()
        answer = client.post("/v1/chat/completions", json={"model": "server-serve", "documents": DOCUMENTS})
        assert error(answer)[:2] == (503, "upstream_unavailable")
    # two tries more, .5 and 1 seconds apart
    assert time.monotonic() - begun < 10


def test_the_shipped_recipe_has_summaries_limits_and_rewards(tmp_path, upstream):
    recipe = shipped(tmp_path, upstream)
    both = "Rails are dangerous, and trams carry more people than any bus line."
    upstream.fault = lambda number, body: ["Rails are dangerous for every cyclist.", both] * 4
    with served(recipe, "worst_side(shares) < 0.5", "score(faithfulness) < 0.5", workers=1) as client:
        answer = client.post("/v1/chat/completions", json={"model": recipe.name, "documents": DOCUMENTS})
        items = [{"documents": DOCUMENTS, "summary": both}]
        scored = client.post("/v1/score", json={"items": items}).json()
    assert answer.status_code == 200, answer.text
    assert answer.json()["choices"][0]["message"]["content"] == both
    assert answer.json()["evenhand"]["n_candidates"] == 8 and "shares=" in answer.headers["X-Evenhand-Worst-Side"]
    assert scored["rewards"] == [pytest.approx(answer.json()["evenhand"]["reward"])]


def test_an_address_that_is_taken_and_a_key_that_is_not_set_are_named(monkeypatch):
    with open_socket("127.0.0.1", 0) as taken, pytest.raises(DataError, match="cannot be listened at"):
        open_socket(*taken.getsockname())
    with pytest.raises(DataError, match=r"^\[::1\]:70000 cannot be listened at"):
        open_socket("::1", 70000)
    monkeypatch.setenv("SERVED_KEYS", " one, two,")
    assert keys_from("SERVED_KEYS") == ("one", "two")
    monkeypatch.setenv("SERVED_KEYS", " ")
    with pytest.raises(DataError, match="SERVED_KEYS is not set"):
        keys_from("SERVED_KEYS")


# in a process of its own, since this one has imported everything
FIRST_REQUESTS = """
import sys
from pathlib import Path

sys.path.insert(0, sys.argv[1])
from served_recipes import DOCUMENTS, recipe_of, served

judges = {"words": {"kind": "length"}, "overlap": {"kind": "rouge"}, "contract": {"kind": "contract"}}
recipe = recipe_of(Path(sys.argv[2]), judges=judges, reward={"judges": ["overlap", "words"], "combine": "mean"})
with served(recipe) as client:
    assert client.get("/health").json()["status"] == "ok"
    before = set(sys.modules)
    asked = {"documents": DOCUMENTS, "side": "ban"}
    item = asked | {"summary": "Trams wake the whole street."}
    assert client.post("/v1/score", json={"items": [item]}).status_code == 200
    assert client.post("/v1/chat/completions", json=asked | {"model": "trams", "messages": []}).status_code == 200
    print(*sorted(set(sys.modules) - before))
"""


def test_no_request_waits_for_an_import(tmp_path):
    folder = str(Path(__file__).parent)
    said = subprocess.run(
        [sys.executable, "-c", FIRST_REQUESTS, folder, str(tmp_path)], capture_output=True, text=True, check=True
    )
    # the scripted model's alone
    assert {name.partition(".")[0] for name in said.stdout.split()} <= {"sentencex"}
