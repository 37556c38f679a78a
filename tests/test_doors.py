"""Doors: things by name, listed without an import, of evenhand's plug-ins and of other packages alike."""

import sys
import tomllib
from pathlib import Path

import pytest
from made_packages import install

from evenhand import doors
from evenhand.doors import Door, guarded
from evenhand.errors import PluginError

ROOT = Path(__file__).parents[1]


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Install a package that brings things by a door: group, name and "module:thing", and the module's text."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(package, points, text="thing = 7\n"):
        monkeypatch.delitem(sys.modules, package, raising=False)
        lines = [f"[evenhand.{group}]\n{name} = {value}\n" for group, name, value in points]
        install(
            tmp_path,
            package,
            "1.0",
            {
                f"{package}-1.0.dist-info/entry_points.txt": "\n".join(lines).encode(),
                f"{package}/__init__.py": text.encode(),
            },
        )

    return make


def numbers(**core):
    return Door("numbers", "number", lambda thing: isinstance(thing, int), core)


def test_things_of_the_core_and_of_packages_stand_side_by_side(bring):
    bring("sevens", [("numbers", "seven", "sevens:thing"), ("letters", "g", "sevens:thing")])
    door = numbers(one=1)
    assert (list(door), len(door)) == (["one", "seven"], 2)
    assert (door["one"], door["seven"], "seven" in door, "g" in door) == (1, 7, True, False)
    with pytest.raises(KeyError):
        door["g"]


def test_names_are_listed_without_an_import(bring):
    bring("loud", [("numbers", "loud", "loud:thing")], "raise RuntimeError('imported')\n")
    assert list(numbers()) == ["loud"]
    assert "loud" not in sys.modules


def test_a_part_of_a_thing_is_wanted(bring):
    bring("sevens", [("numbers", "seven", "sevens:thing")])
    assert Door("numbers", "number", lambda thing: thing == 7, {"one": "1"}, str)["seven"] == "7"


@pytest.mark.parametrize(
    ("text", "value", "said"),
    [
        ("import nowhere\n", "wrong:thing", "ModuleNotFoundError: No module named 'nowhere'"),
        ("raise OSError('no disk')\n", "wrong:thing", "OSError: no disk"),
        ("raise SystemExit(3)\n", "wrong:thing", "SystemExit: 3"),
        ("thing = (\n", "wrong:thing", "SyntaxError"),
        ("thing = 7\n", "wrong:other", "AttributeError"),
        ("thing = 'seven'\n", "wrong:thing", "is str and no number"),
    ],
)
def test_what_cannot_be_had_is_said_with_its_package(bring, text, value, said):
    bring("wrong", [("numbers", "seven", value)], text)
    with pytest.raises(PluginError, match=r"number 'seven' of package wrong 1\.0") as caught:
        numbers()["seven"]
    assert said in str(caught.value)
    # nothing else is the worse for it
    assert numbers(one=1)["one"] == 1


CODE = """
from dataclasses import dataclass
from typing import Callable


@dataclass(frozen=True)
class Page:
    said: Callable | None = None


class Scorer:
    low = 0

    def rounds(self):
        reply = yield "a"
        raise KeyError(reply)


@dataclass(frozen=True)
class Kind:
    open: Callable[[], Scorer] = Scorer
    section: type = Scorer
    page: Page = Page(lambda: 1 / 0)
    none: Callable | None = None


thing = Kind()
"""


def test_whatever_code_of_a_package_raises_says_whose_it_is_and_where(bring):
    bring("kinds", [("kinds", "one", "kinds:thing")], CODE)
    door = Door("kinds", "kind", bool)
    kind, label = door["one"], door.label("one")
    assert label == "kind 'one' of package kinds 1.0"
    assert (kind.none, kind.section.__name__) == (None, "Scorer")
    with pytest.raises(
        PluginError, match=rf"^{label} raised ZeroDivisionError: division by zero \(.*kinds/__init__.py:2"
    ):
        kind.page.said()
    scorer = guarded(kind.open(), label)
    steps = scorer.rounds()
    assert (scorer.low, hasattr(scorer, "high"), next(steps)) == (0, False, "a")
    with pytest.raises(PluginError, match=rf"^{label} raised KeyError: 'b' "):
        steps.send("b")
    with pytest.raises(PluginError, match=r"raised TypeError: Scorer\(\) takes no arguments"):
        kind.open(wide=True)


def test_a_name_belongs_to_one_package(bring):
    bring("first", [("numbers", "one", "first:thing"), ("numbers", "two", "first:thing")])
    bring("second", [("numbers", "two", "second:thing")])
    door = numbers(one=1)
    with pytest.raises(PluginError, match=r"'one' is brought by evenhand and by first 1\.0; uninstall"):
        door["one"]
    with pytest.raises(PluginError, match=r"'two' is brought by (first|second) 1\.0 and by"):
        door["two"]


@pytest.mark.needs("plugins/released")
def test_what_is_deleted_is_not_there(monkeypatch, tmp_path):
    door = Door("judges", "judge", bool)
    assert "bleurt" in door
    (tmp_path / "released" / "__pycache__").mkdir(parents=True)
    monkeypatch.setattr(doors, "PLUGINS", tmp_path)
    assert not list(Door("judges", "judge", bool))


def test_a_command_of_a_deleted_plug_in_says_so(monkeypatch):
    monkeypatch.setattr(doors, "absent_names", lambda: {"audit-judge": "judge_studies", "import.polisum": "polisum"})
    assert doors.command("audit --out x") == "`evenhand audit --out x`"
    assert (
        doors.command("audit-judge SETS")
        == "`evenhand audit-judge SETS` (of the plug-in judge_studies, which is not here)"
    )
    assert doors.command("import polisum FILE").endswith("FILE` (of the plug-in polisum, which is not here)")
    assert (doors.command("recipes"), doors.absence("dpo")) == ("`evenhand recipes`", "")


def test_every_entry_point_of_evenhand_is_what_its_door_asks_for():
    from evenhand.judges import JUDGES

    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    assert set(groups["evenhand.judges"]) < set(JUDGES)
    assert all(JUDGES[kind].section.model_fields["kind"] for kind in JUDGES)
