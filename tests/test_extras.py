"""Optional libraries are named with the extra that brings them."""

import sys
import tomllib
from pathlib import Path

import pytest

from evenhand.errors import MissingExtra
from evenhand.extras import EXTRAS, installed_versions, need

PROJECT = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]


def test_an_installed_library_is_handed_over():
    assert need("json.decoder", "a test").JSONDecoder is sys.modules["json"].JSONDecoder


def test_an_absent_library_of_an_extra_names_feature_library_and_command(monkeypatch):
    # None in sys.modules is Python's own way to make an import fail
    monkeypatch.setitem(sys.modules, "rouge_score", None)
    with pytest.raises(MissingExtra) as caught:
        need("rouge_score", "judge 'rouge'")
    assert str(caught.value) == (
        "judge 'rouge' needs rouge_score, which is not installed: pip install 'evenhand[judges]'"
    )


def test_an_absent_library_of_no_extra_is_installed_by_its_name():
    with pytest.raises(
        MissingExtra, match="needs no_such_library, which is not installed: pip install no_such_library"
    ):
        need("no_such_library", "a test")


def test_a_library_that_misses_another_one_keeps_its_own_error(tmp_path, monkeypatch):
    (tmp_path / "broken_library.py").write_text("import no_such_library\n")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_library") as caught:
        need("broken_library", "a test")
    assert not isinstance(caught.value, MissingExtra)


def test_every_extra_exists_and_brings_its_library():
    extras = PROJECT["optional-dependencies"]
    for library, extra in EXTRAS.items():
        assert any(line.startswith(library.replace("_", "-")) for line in extras[extra]), (library, extra)


def test_versions_of_absent_distributions_are_left_out():
    found = installed_versions(("pytest", "no-such-distribution"))
    assert found == {"pytest": pytest.__version__}
