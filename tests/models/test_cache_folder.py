"""Where caches lie, and what is said where a user has no home folder, as in a container."""

import pwd
from pathlib import Path

import pytest

from evenhand.errors import StorageError
from evenhand.extras import give_home
from evenhand.models import cache_folder


@pytest.fixture(autouse=True)
def _homeless(monkeypatch):
    def nobody(_):
        raise KeyError

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("EVENHAND_CACHE", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)


def test_without_a_home_folder_the_message_says_what_to_set():
    give_home()
    with pytest.raises(StorageError, match=r"no home folder.*export EVENHAND_CACHE=FOLDER, or HOME"):
        cache_folder()


def test_libraries_of_a_user_without_a_home_folder_take_the_cache_for_one(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", "to be restored")
    monkeypatch.delenv("HOME")
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    give_home()
    assert Path.home() == tmp_path


def test_a_home_folder_is_left_as_it_is(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "own"))
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    give_home()
    assert Path.home() == tmp_path / "own"
