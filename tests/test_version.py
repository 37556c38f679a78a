"""The version stands in pyproject.toml, and everything else asks for it."""

import re
import subprocess
import sys
from importlib.metadata import version

import pytest
from commands import started
from sources import ROOT, package

import evenhand


def test_the_version_is_that_of_the_installed_distribution():
    assert evenhand.__version__ == version("evenhand")
    done = started("--version")
    assert (done.returncode, done.stdout) == (0, f"evenhand {version('evenhand')}\n")


def test_the_version_is_written_once():
    written = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)[1]
    elsewhere = [
        f"{path}: {line}"
        for path in package()
        for line in path.read_text("utf-8").splitlines()
        # a package that carries a part of a model may have the same number
        if f'"{written}"' in line and not re.search(r"\b_?[Pp]arts?\(", line)
    ]
    assert not elsewhere


def test_other_names_are_not_there():
    with pytest.raises(AttributeError, match="'nothing'"):
        evenhand.nothing  # noqa: B018


def test_importing_the_package_imports_nothing_else():
    code = "import sys; before = set(sys.modules); import evenhand; print(sorted(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    # two empty folders, whose names functions have: see __init__
    assert done.stdout == "['evenhand', 'evenhand.generate', 'evenhand.rerank']\n"
