"""Optional libraries are named with the extra that brings them."""

import re
import sys
import tomllib
from pathlib import Path

import pytest

from evenhand.errors import MissingExtra
from evenhand.extras import EXTRAS, installed_versions, need, untried

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


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


def brought(extra):
    """The packages that an extra installs, those of the extras that it names included."""
    names = set()
    for line in PROJECT["optional-dependencies"][extra]:
        name, further = re.fullmatch(r"([\w-]+)(?:\[([\w,]+)\])?.*", line).groups()
        names |= set().union(*map(brought, further.split(","))) if name == "evenhand" else {name}
    return names


def test_an_engine_brings_no_trainer():
    assert not {"trl", "peft", "transformers"} & brought("vllm")
    assert {"choix", "sentence-transformers"} < brought("vllm")


def test_every_extra_is_on_the_page_of_installation():
    section = (ROOT / "docs" / "start.md").read_text().partition("## Install")[2].partition("\n## ")[0]
    named = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\|([^|]+)\|", section, re.MULTILINE))))
    assert named == PROJECT["optional-dependencies"].keys() - {"dev"}


def test_extras_that_pages_and_messages_name_exist():
    # of pages, messages and workflows: pip install '.[ray,vllm]', "./evenhand[fairness]"
    names = re.compile(r"(?:evenhand|'\.)\[([a-z,]+)\]['\"]")
    folders = ("api", "cli", "docs", "evaluation", "generate", "judges", "plugins", "preflight", "train")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in {".md", ".py"}]
    named = {
        name
        for path in [ROOT / "README.md", *paths]
        for found in names.findall(path.read_text())
        for name in found.split(",")
    }
    assert {"fairness", "vllm"} <= named <= PROJECT["optional-dependencies"].keys()


def test_a_library_newer_than_those_that_were_tried_is_one_sentence_with_the_remedy():
    requirements = ["pytest<2,>=1; extra == 'train'", "pluggy<99", "numpy<1", "no-such-distribution<2", "rich"]
    assert list(untried({"pytest", "pluggy", "no-such-distribution", "rich"}, requirements)) == [
        f"pytest {pytest.__version__} was not tried with this evenhand: if something fails, pip install 'pytest<2,>=1'"
    ]


def test_every_library_with_a_trainer_or_an_engine_has_a_newest_version_that_was_tried():
    extras = PROJECT["optional-dependencies"]
    for name in ("transformers", "trl", "peft", "accelerate"):
        assert any(re.fullmatch(rf"{name}>=[\d.]+,<[\d.]+", line) for line in extras["train"]), name
    assert any(re.fullmatch(r"vllm>=[\d.]+,<[\d.]+", line) for line in extras["vllm"])


def test_versions_of_absent_distributions_are_left_out():
    found = installed_versions(("pytest", "no-such-distribution"))
    assert found == {"pytest": pytest.__version__}
