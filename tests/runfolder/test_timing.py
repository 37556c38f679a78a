"""Accounts of seconds."""

import time

import pytest

from evenhand.runfolder.timing import account, booked


def test_seconds_are_booked_by_part():
    with account() as seconds:
        with booked("models"):
            time.sleep(0.02)
        with booked("loading"):
            time.sleep(0.01)
        with booked("models"):
            time.sleep(0.02)
    assert 0.04 <= seconds["models"] < 1
    assert 0.01 <= seconds["loading"] < 1


def test_nothing_booked_leaves_an_empty_account():
    with account() as seconds:
        pass
    assert seconds == {}


def test_outside_of_an_account_nothing_is_booked():
    with account() as seconds:
        pass
    with booked("models"):
        pass
    assert seconds == {}


def test_what_fails_is_booked_too():
    with account() as seconds, pytest.raises(KeyboardInterrupt), booked("models"):
        raise KeyboardInterrupt
    assert "models" in seconds
