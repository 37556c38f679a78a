"""What tests need from outside: each by itself, and a reason where it cannot be had."""

import os
import subprocess
import sys
from pathlib import Path

import needs
import pytest
from needs import Need

from evenhand.errors import DataError

ROOT = Path(__file__).parents[1]


def made_up(what, error=None, by_hand=""):
    """A need that is not here until it is got, which an error may prevent."""
    here = []

    def get():
        if error:
            raise error
        here.append(what)

    return Need(what, lambda: "" if here else "nobody got it", get, by_hand=by_hand)


def test_what_cannot_be_had_keeps_nothing_else_from_being_got(monkeypatch, capsys):
    table = [
        made_up("a browser", subprocess.CalledProcessError(100, ["apt-get", "update"]), "install a browser"),
        made_up("a cluster"),
        made_up("texts", DataError("pip does not get them")),
        Need("secrets", lambda: "set A_VARIABLE", is_data=True),
        made_up("tables"),
    ]
    monkeypatch.setattr(needs, "NEEDS", {each.what: each for each in table})
    assert needs.get_all() == 1
    assert capsys.readouterr().out.splitlines() == [
        "a browser: not here, tests that need it are skipped: "
        "Command '['apt-get', 'update']' returned non-zero exit status 100; install a browser, then make setup",
        "a cluster: here",
        "texts: not here, tests that need it are skipped: pip does not get them; mend that, then make setup",
        "secrets: not here, tests that need it are skipped: set A_VARIABLE",
        "tables: here",
    ]
    # data that nobody can get are no failure
    monkeypatch.setattr(needs, "NEEDS", {each.what: each for each in (table[1], table[3])})
    assert needs.get_all() == 0


@pytest.fixture
def bare(tmp_path):
    """The environment of a machine that has none of the data."""
    names = {"EVENHAND_NLTK", needs.SETTING, "EVENHAND_CACHE", "NLTK_DATA"}
    kept = {name: value for name, value in os.environ.items() if name not in names}
    return kept | {"HOME": str(tmp_path), "EVENHAND_CACHE": str(tmp_path / "cache")}


@pytest.mark.needs("plugins/polisum")
def test_a_test_that_needs_what_is_not_here_is_skipped_with_every_reason(bare):
    name = "test_news_passages_are_split_as_by_punkt_but_for_marks_that_it_cuts_off"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        f"tests/plugins/polisum/test_importer.py::{name}",
        "-m",
        "data",
    ]
    done = subprocess.run(command, cwd=ROOT, env=bare, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (
        f"needs NLTK's data: {needs.BY_COMMAND}; needs PoliSum's development files: it is not in polisum/ of the folder that "
        "EVENHAND_TEST_DATA names"
    ) in done.stdout
    assert "1 skipped" in done.stdout


def test_test_data_are_what_the_variable_names(tmp_path, monkeypatch):
    monkeypatch.delenv("EVENHAND_NLTK", raising=False)
    monkeypatch.setenv(needs.SETTING, str(tmp_path))
    assert needs.data_folder("polisum") is None
    for name in ("polisum", "nltk"):
        (tmp_path / name).mkdir()
    assert needs.data_folder("polisum") == tmp_path / "polisum"
    assert needs.nltk_data() == tmp_path / "nltk"
    monkeypatch.delenv(needs.SETTING)
    assert needs.data_folder("polisum") is None
