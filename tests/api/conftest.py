"""Documents that a person can score by eye, and a cache of verdicts that no other test shares."""

from typing import Any

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Verdicts of these tests alone."""
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def rows() -> list[dict[str, Any]]:
    """Three sets of two documents of each side."""
    texts = {
        "ban": ("Trams wake the whole street before dawn.", "Rails are dangerous for every cyclist here."),
        "allow": ("Trams carry more people than any bus line.", "Quiet electric rails keep the city air clean."),
    }
    return [
        {"set": f"town {town}", "side": side, "text": f"In town {town}: {text}"}
        for town in "abc"
        for side, mine in texts.items()
        for text in mine
    ]
