"""The door of verbs: commands of evenhand's plug-ins and of other packages, and what becomes of those that cannot be had."""

import os
import sys
import tomllib
from functools import partial
from pathlib import Path

import pytest
from commands import started
from made_packages import install
from rich.text import Text
from typer.testing import CliRunner

from evenhand.cli.app import AT_END, CORE, VERBS
from evenhand.cli.door import (
    HERE,
    PANELS,
    STARTS_OVER,
    SUMMARIES,
    RefusedVerb,
    Verb,
    add_verbs,
    in_order,
    read_verbs,
    refusal,
)
from evenhand.cli.verbs import Verbs
from evenhand.errors import PluginError

ROOT = Path(__file__).parents[2]
GREET = """\
from typing import Annotated

import typer

from evenhand.cli.door import HERE, Verb
from evenhand.cli.terminal import say


def greet(name: Annotated[str, typer.Argument()], loud: Annotated[bool, typer.Option("--loud")] = False) -> None:
    \"\"\"Greet somebody.\"\"\"
    say(f"hello, {name}{'!' if loud else ''}")


GREET = Verb(greet, HERE, "Example: evenhand greet Ann")
"""


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Install a package with a module of this text that brings verbs: name -> "module:thing"."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(package, text, **points):
        monkeypatch.delitem(sys.modules, package, raising=False)
        lines = ["[evenhand.verbs]", *(f"{name} = {value}" for name, value in points.items())]
        entries = {f"{package}-1.0.dist-info/entry_points.txt": "\n".join(lines).encode()}
        install(tmp_path, package, "1.0", {**entries, f"{package}/__init__.py": text.encode()})
        return tmp_path

    return make


def do_nothing() -> None:
    """Nothing."""


def run(core, *arguments):
    """What a command line of these verbs, and of all that packages bring, says."""
    app = Verbs()
    app.callback()(lambda: None)
    verbs = in_order(read_verbs(core), core)
    add_verbs(app, {name: verb for name, verb in verbs.items() if name in core or verb not in VERBS.values()})
    done = CliRunner().invoke(app, arguments)
    if isinstance(done.exception, PluginError):
        return str(done.exception)
    return done.output


def test_a_verb_of_another_package_is_a_command_with_help_and_refusals(bring):
    site = bring("greetings", GREET, greet="greetings:GREET")
    evenhand = partial(started, PYTHONPATH=f"{site}:{os.environ.get('PYTHONPATH', '')}")

    assert evenhand("greet", "Ann", "--loud", "-q").stdout == "hello, Ann!\n"
    said = evenhand("--help").stdout
    assert said.index(HERE) < said.index("│ greet") and "Greet somebody." in said
    done = evenhand("great")
    assert done.returncode == 2 and "'greet'" in done.stderr
    assert "Example: evenhand greet Ann" in run({"rest": Verb(do_nothing)}, "greet", "--help")
    assert "No such option: --laud" in run({"rest": Verb(do_nothing)}, "greet", "Ann", "--laud")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nowhere\n", "cannot be imported from wrong:GREET: ModuleNotFoundError"),
        ("GREET = 7\n", "is int and no verb"),
        ("def GREET(): pass\n", "is function and no verb"),
        ("", "AttributeError"),
        ("raise OSError('[/disk] is full')", "OSError: [/disk] is full"),
    ],
)
def test_a_verb_that_cannot_be_had_says_so_and_others_run(bring, text, said):
    bring("wrong", text, greet="wrong:GREET")
    core = {"rest": Verb(do_nothing)}
    assert run(core, "rest") == ""
    for line in (["greet"], ["greet", "Ann", "--loud"], ["greet", "-x", "--set", "a=b"]):
        assert "verb 'greet' of package wrong 1.0" in run(core, *line) and said in run(core, *line)
    assert "Cannot be run: verb 'greet' of package wrong" in " ".join(run(core, "--help").split())


def test_a_name_that_is_taken_belongs_to_nobody(bring):
    bring("greetings", GREET, audit="greetings:GREET")
    assert "verb 'audit' is brought by evenhand and by greetings 1.0" in run({"audit": Verb(do_nothing)}, "audit")


def test_a_dot_puts_a_verb_below_its_group(bring):
    bring("greetings", GREET, **{"club.greet": "greetings:GREET"})
    group = Verbs()

    @group.command()
    def page() -> None:
        """A page."""

    assert run({"club": Verb(group)}, "club", "greet", "Ann") == "hello, Ann\n"


def test_a_verb_without_its_group_or_whose_place_is_taken_says_so(bring):
    bring("greetings", GREET, **{"crowd.greet": "greetings:GREET", "club.page-of-one": "greetings:GREET"})
    group = Verbs()

    @group.command()
    def page_of_one() -> None:
        """A page."""

    core = {"club": Verb(group), "rest": Verb(do_nothing)}
    assert "there is no group 'crowd'" in run(core, "crowd.greet")
    assert "'club' has a verb 'page-of-one' of its own" in run(core, "club", "page-of-one")


def test_verbs_stand_by_panels_and_those_of_the_core_come_first():
    panels = [PANELS.index(verb.panel) for name, verb in VERBS.items() if "." not in name]
    assert panels == sorted(panels)
    core = {"z": Verb(do_nothing, HERE), "a": Verb(do_nothing, HERE)}
    others = {"b": Verb(do_nothing, HERE), "y": Verb(do_nothing, SUMMARIES), "x": Verb(do_nothing, "Mine")}
    assert list(in_order({**core, **others}, core)) == ["y", "z", "a", "b", "x"]


def test_the_core_names_no_verb_of_a_plug_in():
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["entry-points"]
    values = groups["evenhand.verbs"] | {
        f"import.{name}": value for name, value in groups["evenhand.importers"].items()
    }
    # one whose folder is deleted is not there
    brought = {name for name, value in values.items() if (ROOT / "plugins" / value.split(".")[2]).is_dir()}
    assert brought == VERBS.keys() - CORE.keys()
    assert not any(isinstance(verb, RefusedVerb) for verb in VERBS.values())
    assert {"audit", "run export", "import"} <= {*AT_END}


def test_the_help_of_a_refusal_says_what_the_error_says():
    said = "verb 'greet' of package wrong 1.0 cannot be imported from wrong:X: OSError: [/disk] is :full:"
    assert Text.from_markup(refusal(PluginError(said)).run.__doc__).plain == f"Cannot be run: {said}"


def test_a_verb_that_writes_at_its_end_says_so_in_its_help():
    core = {"first": Verb(do_nothing, at_end=True), "second": Verb(do_nothing)}
    assert STARTS_OVER in " ".join(run(core, "first", "--help").split())
    assert STARTS_OVER not in " ".join(run(core, "second", "--help").split())


def test_a_family_without_verbs_is_not_shown():
    assert "empty" not in run({"empty": Verb(Verbs()), "rest": Verb(do_nothing)}, "--help")


def test_a_verb_of_that_name_comes_before_a_former_spelling():
    group = Verbs()
    core = {"club": Verb(group), "club.greet": Verb(do_nothing, former="greet"), "rest": Verb(do_nothing)}
    assert "is now `evenhand club greet`" in run(core, "greet")
    assert "is now" not in run({**core, "greet": Verb(do_nothing)}, "greet")
