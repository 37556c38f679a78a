"""A served recipe, in this process, in front of a server that answers by rules."""

import threading
import time
from contextlib import contextmanager

import pytest

pytest.importorskip("starlette")
pytest.importorskip("openai")
pytest.importorskip("aiolimiter")
pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

from starlette.testclient import TestClient

import evenhand
from evenhand.plugins.serve.app import Limits, build_app
from evenhand.plugins.serve.guard import read_guard
from evenhand.plugins.serve.listen import open_socket, served_phase, server_of

DOCUMENTS = [
    {"text": "Trams wake the whole street before dawn.", "attributes": {"side": "ban"}},
    {"text": "Rails are dangerous for every cyclist here.", "attributes": {"side": "ban"}},
    {"text": "Trams carry more people than any bus line.", "attributes": {"side": "allow"}},
]


def recipe_of(place, base_url=None, **sections):
    """A recipe with a scripted backend, or one that asks a server."""
    generate = {"backend": "scripted", "plans": {"hot": {"temperature": 1.0, "candidates": 4}}}
    if base_url:
        generate |= {"backend": "openai", "server": {"base_url": base_url, "retries": 0}}
    values = {
        "name": "trams",
        "output": str(place / "run"),
        "model": {"name": "tiny"},
        "corpus": {"attribute": "side"},
        "task": {"scope": "side"},
        "generate": generate,
        "judges": {"words": {"kind": "length"}, "contract": {"kind": "contract"}},
        "reward": {"judges": ["words"], "combine": "mean"},
        "evaluation": {"judges": ["contract"]},
        "rounds": 0,
    }
    return evenhand.load_recipe(values | sections)


@contextmanager
def served(recipe, *fail_if, **limits):
    """A client of the recipe's server."""
    phase = served_phase(recipe)
    app = build_app(phase, Limits(**limits), read_guard(fail_if, phase))
    with TestClient(app, "http://localhost", raise_server_exceptions=False) as client:
        yield client


@contextmanager
def listening(recipe, **limits):
    """The address of the recipe's server on a free port."""
    with open_socket("127.0.0.1", 0) as found:
        server = server_of(served_phase(recipe), Limits(**limits))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [found]})
        thread.start()
        until = time.monotonic() + 60
        while not server.started and time.monotonic() < until:
            time.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{found.getsockname()[1]}/v1"
        finally:
            server.should_exit = True
            thread.join(60)
