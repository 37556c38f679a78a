"""A cache for each test, and what is served."""

import threading
import time

import pytest
from served_recipes import opened, recipe_of, served
from serving import Server


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def client(tmp_path):
    with served(recipe_of(tmp_path), workers=1) as found:
        yield found


@pytest.fixture
def upstream():
    with Server() as server:
        yield server


@pytest.fixture
def address(tmp_path):
    """A server with a socket of its own, and the key "secret"."""
    listening, server = opened(recipe_of(tmp_path), workers=1, keys=("secret",))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    until = time.monotonic() + 60
    while not server.started and time.monotonic() < until:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
    server.should_exit = True
    thread.join(60)
    listening.close()
