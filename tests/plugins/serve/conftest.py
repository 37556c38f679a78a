"""A cache for each test, and what is served."""

import pytest
from served_recipes import listening, recipe_of, served
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
    with listening(recipe_of(tmp_path), workers=1, keys=("secret",)) as found:
        yield found
