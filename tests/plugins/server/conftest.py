"""What keeps tests of servers short."""

import pytest


@pytest.fixture
def quick_tries(own_cache, monkeypatch):
    """Next to no wait between tries, and no answer that another test has cached."""
    from evenhand.plugins.server import tries

    monkeypatch.setattr(tries, "FIRST_WAIT", 0.01)
