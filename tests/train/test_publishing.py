"""`trainer.push_to_hub`: an adapter on a hub of this machine, and what is refused before anything is made."""

import base64
import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from evenhand.config.recipe_file import load_recipe
from evenhand.errors import RecipeError
from evenhand.preflight import check_names
from evenhand.runfolder.phases import Phase, phases
from evenhand.runfolder.stages import Stage
from evenhand.train.publishing import publish
from evenhand.train.training import run_training

hub = pytest.importorskip("huggingface_hub")
pytest.importorskip("huggingface_hub.hf_api")
NAME = "me/ferry"
ASKED = {"push_to_hub": True, "hub_model_id": NAME, "hub_private_repo": True}


@dataclass
class Hub:
    """What a hub was asked; it takes every file within the commit."""

    address: str
    token: str = "secret-of-mine"  # noqa: S105 - of this hub alone
    refuses: str | None = None
    made: list[dict[str, Any]] = field(default_factory=list)
    commits: list[tuple[str, str, dict[str, bytes]]] = field(default_factory=list)

    def answer(self, path: str, token: str | None, body: bytes) -> tuple[int, dict[str, Any]]:  # noqa: PLR0911 - one for each path
        """Status and JSON of one request."""
        if token != f"Bearer {self.token}":
            return 401, {"error": "Invalid credentials"}
        if path == "/api/whoami-v2":
            return 200, {"name": "me", "type": "user", "auth": {"accessToken": {"role": "write"}}}
        if self.refuses and self.refuses in path:
            return 403, {"error": "quota exceeded"}
        if path == "/api/repos/create":
            self.made.append(json.loads(body))
            return 200, {"url": f"{self.address}/{NAME}"}
        if "/branch/" in path or path == "/api/validate-yaml":
            return 200, {}
        if "/preupload/" in path:
            files = json.loads(body)["files"]
            return 200, {
                "files": [{"path": each["path"], "uploadMode": "regular", "shouldIgnore": False} for each in files]
            }
        if "/commit/" in path:
            lines = [json.loads(line) for line in body.splitlines()]
            files = {
                each["value"]["path"]: base64.b64decode(each["value"]["content"])
                for each in lines
                if each["key"] == "file"
            }
            self.commits.append((path.rpartition("/")[2], lines[0]["value"]["summary"], files))
            return 200, {"commitUrl": f"{self.address}/{NAME}/commit/1", "commitOid": "1" * 40, "success": True}
        return 404, {"error": f"nothing is at {path}"}


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    """A hub of this machine, at which one is logged in."""

    class Handler(BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, answer = made.answer(self.path.partition("?")[0], self.headers.get("Authorization"), body)
            sent = json.dumps(answer).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            self.end_headers()
            self.wfile.write(sent)

        do_GET = do_POST = _answer  # noqa: N815 - the library's names

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made = Hub(f"http://127.0.0.1:{server.server_port}")
    Thread(target=server.serve_forever, daemon=True).start()
    for module in (hub.constants, hub.hf_api):
        monkeypatch.setattr(module, "ENDPOINT", made.address, raising=False)
    monkeypatch.setattr(hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setenv("HF_TOKEN", made.token)
    monkeypatch.setattr(hub.hf_api.HfApi, "__init__", at(made, hub.hf_api.HfApi.__init__))
    yield made
    server.shutdown()
    server.server_close()


def at(made: Hub, begin: Any) -> Any:
    """The beginning of an API that asks this hub."""

    def begun(self: Any, **options: Any) -> None:
        begin(self, **options | {"endpoint": made.address})

    return begun


def a_round(folder: Path, **trainer: Any) -> Phase:
    (phase,) = [
        each for each in phases(load_recipe(Path("quickstart"), [f"output={folder / 'run'}"])) if each.round is not None
    ]
    phase = replace(phase, recipe=phase.recipe.model_copy(update={"trainer": phase.recipe.trainer | trainer}))
    adapter = phase.folder / "adapter"
    adapter.mkdir(parents=True)
    (adapter / "README.md").write_text("---\nbase_model: HuggingFaceTB/SmolLM2-135M-Instruct\n---\n# quickstart\n")
    (adapter / "adapter_config.json").write_text("{}")
    return phase


def test_the_adapter_of_a_round_is_one_commit(served: Hub, tmp_path: Path) -> None:
    phase = a_round(tmp_path, **ASKED)
    publish(phase)
    assert [(each["name"], each["visibility"]) for each in served.made] == [("ferry", "private")]
    ((revision, title, files),) = served.commits
    assert (revision, title) == ("main", "quickstart round-00")
    assert files == {path.name: path.read_bytes() for path in (phase.folder / "adapter").iterdir()}


def test_a_round_that_does_not_ask_publishes_nothing(served: Hub, tmp_path: Path) -> None:
    publish(a_round(tmp_path))
    publish(a_round(tmp_path / "other", push_to_hub=False))
    assert not served.made and not served.commits


@pytest.mark.parametrize("refused", ["/create", "/commit"])
def test_what_the_hub_refuses_is_said_with_the_command_that_does_it_by_hand(
    served: Hub, tmp_path: Path, caplog: pytest.LogCaptureFixture, refused: str
) -> None:
    served.refuses, phase = refused, a_round(tmp_path, **ASKED, hub_revision="dpo")
    with caplog.at_level(logging.WARNING):
        publish(phase)
    (said,) = [record.getMessage() for record in caplog.records if record.name.startswith("evenhand")]
    assert re.match(r"round-00: is not on the Hub: .*403", said)
    assert said.endswith(f"By hand: hf upload {NAME} {phase.folder / 'adapter'} . --revision dpo")
    assert served.token not in caplog.text


def test_a_hub_out_of_reach_is_told_before_the_run_and_ends_no_training(
    served: Hub, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    served.address = "http://127.0.0.1:9"
    with caplog.at_level(logging.WARNING):
        publish(a_round(tmp_path, **ASKED))
    assert "round-00: is not on the Hub: " in caplog.text and "By hand: hf upload" in caplog.text
    keys = [f"output={tmp_path / 'other'}", "trainer.push_to_hub=true", f"trainer.hub_model_id={NAME}"]
    with pytest.raises(RecipeError, match="the Hub knows nobody here"):
        check_names(load_recipe(Path("quickstart"), keys))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["trainer.push_to_hub=true"], "key 'trainer.hub_model_id': push_to_hub needs a name"),
        (["trainer.push_to_hub=true", "trainer.hub_model_id=a/b/c"], "'a/b/c' is no name on the Hub"),
        (
            ["trainer.push_to_hub=true", f"trainer.hub_model_id={NAME}", "model.name={folder}"],
            "key 'model.name': .* is no name on the Hub",
        ),
        (["trainer.hub_model_id=me/ferry"], "trainer.hub_model_id has no effect with push_to_hub False"),
    ],
)
def test_what_cannot_be_published_is_refused_before_the_run(
    served: Hub, tmp_path: Path, tiny_model: Path, options: list[str], message: str
) -> None:
    sets = [option.format(folder=tiny_model) for option in options]
    with pytest.raises(RecipeError, match=message):
        check_names(load_recipe(Path("quickstart"), [f"output={tmp_path / 'run'}", *sets]))


def test_a_training_by_hand_is_refused_before_it_begins(served: Hub, tmp_path: Path) -> None:
    phase = a_round(tmp_path, push_to_hub=True)
    with pytest.raises(RecipeError, match="push_to_hub needs a name"):
        run_training(phase, Stage("train", phase.folder, {}, ()))


def test_somebody_who_is_not_logged_in_is_told_before_the_run(
    served: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = load_recipe(
        Path("quickstart"),
        [f"output={tmp_path}", "trainer.push_to_hub=true", f"trainer.hub_model_id={NAME}"],
    )
    check_names(recipe)
    monkeypatch.setenv("HF_TOKEN", "of-somebody-else")
    with pytest.raises(RecipeError, match=r"the Hub knows nobody here .*`hf auth login`"):
        check_names(recipe)
    monkeypatch.delenv("HF_TOKEN")
    monkeypatch.setattr(hub.constants, "HF_TOKEN_PATH", str(tmp_path / "none"))
    with pytest.raises(RecipeError, match="the Hub knows nobody here"):
        check_names(recipe)
