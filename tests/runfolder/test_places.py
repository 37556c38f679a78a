"""Places of other packages: named by `executor`, they have machines of their own, and are refused where they are wrong."""

import os
from functools import partial

import made_packages
import pytest
from commands import started
from quick_recipe import RECIPE

from evenhand.config.model import EXECUTORS
from evenhand.config.plain_yaml import dump_yaml
from evenhand.config.recipe_file import dump_recipe, recipe_of
from evenhand.errors import PluginError, RecipeError
from evenhand.preflight import preflight
from evenhand.runfolder.engines import Engines, engines_of, machines_of, waves
from evenhand.runfolder.places import PLACES

# the worked example of a place of another package: processes of this machine, as many at once as there are
NEXT_DOOR = """
from pathlib import Path

from evenhand.errors import RecipeError
from evenhand.runfolder.places import Executor
from evenhand.runfolder.workers import LocalWorker


class Neighbour(LocalWorker):
    def begin(self, command):
        Path("next-door.txt").write_text(command.argv[1])
        super().begin(command)


NEXT_DOOR = Executor(
    where="the house next door",
    python="what is installed next door",
    machines=lambda: [0, 0],
    launches=lambda n, gpus, wanted: [Neighbour] * n,
)
"""


@pytest.fixture
def bring(tmp_path, monkeypatch):
    """Install a package that brings places."""
    return partial(made_packages.bring, tmp_path / "site", monkeypatch, (PLACES, EXECUTORS))


def values(tmp_path, executor="next-door", **generate):
    keys = RECIPE["generate"] | {"replicas": 2, "requests_per_batch": 2} | generate
    return RECIPE | {"output": str(tmp_path / "run"), "executor": executor, "generate": keys}


def test_candidates_are_made_at_a_place_of_another_package(tmp_path, bring):
    bring(NEXT_DOOR, {"next-door": "NEXT_DOOR"})
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text(dump_yaml(values(tmp_path)))
    paths = os.pathsep.join([str(tmp_path / "site"), *filter(None, [os.environ.get("PYTHONPATH")])])

    def candidates(folder, *options):
        done = started("generate", recipe, "--phase", "evaluation/base", *options, cwd=tmp_path, PYTHONPATH=paths)
        assert done.returncode == 0, done.stderr
        return (tmp_path / folder / "evaluation" / "base" / "candidates.jsonl").read_bytes()

    # two engines next door give what one gives here
    there = candidates("run")
    assert (tmp_path / "next-door.txt").read_text() == "evenhand.generate.child"
    here = ("executor=local", "generate.replicas=1", f"output={tmp_path / 'here'}")
    assert there == candidates("here", *(word for each in here for word in ("--set", each)))


def test_its_machines_and_engines_are_asked(tmp_path, bring):
    bring(NEXT_DOOR.replace("[0, 0]", "[2, 4]"), {"next-door": "NEXT_DOOR"})
    recipe = recipe_of(values(tmp_path, backend="vllm", replicas="auto"))
    assert "executor: next-door" in dump_recipe(recipe)
    assert machines_of("next-door") == [2, 4]
    assert engines_of(recipe.generate, "next-door") == Engines(6, 1)
    (((number, launches),),) = waves([Engines(6, 1)], "next-door")
    assert (number, len(launches)) == (0, 6)


@pytest.mark.parametrize(
    ("machines", "generate", "said"),
    [
        ("[2, 2]", {"engine": {"tensor_parallel_size": 4}}, "no machine of the house next door has more than 2"),
        ("[0, 0]", {"replicas": "auto"}, "no machine of the house next door has a GPU, so that replicas: auto"),
        ("[]", {}, "no machine of the house next door has room for a process"),
    ],
)
def test_a_place_that_is_too_small_is_refused_before_any_work(tmp_path, bring, machines, generate, said):
    bring(NEXT_DOOR.replace("[0, 0]", machines), {"next-door": "NEXT_DOOR"})
    with pytest.raises(RecipeError, match=f"key 'executor': .*{said}"):
        preflight(recipe_of(values(tmp_path, **({"backend": "vllm"} | generate))))


def test_a_check_of_its_own_is_told(tmp_path, bring):
    machines = "machines=lambda: (_ for _ in ()).throw(RecipeError('nobody is at home')),"
    bring(NEXT_DOOR.replace("machines=lambda: [0, 0],", machines), {"next-door": "NEXT_DOOR"})
    with pytest.raises(RecipeError, match="key 'executor': nobody is at home"):
        preflight(recipe_of(values(tmp_path)))


def test_a_place_that_is_not_there_is_refused(tmp_path, bring):
    bring(NEXT_DOOR, {"next-door": "NEXT_DOOR"})
    with pytest.raises(
        RecipeError, match=r"key 'executor' is wrong: there is no executor 'next'; did you mean 'next-door'\?"
    ):
        recipe_of(values(tmp_path, "next"))
    with pytest.raises(
        RecipeError, match="no effect with executor: next-door, whose machines run what is installed next door"
    ):
        recipe_of(values(tmp_path, python="python3"))


BROKEN = {
    "cannot be imported": (
        "raise RuntimeError('ouch')\n",
        {"next-door": "X"},
        "cannot be imported from mine:X: RuntimeError: ouch",
    ),
    "no place": ("X = 7\n", {"next-door": "X"}, "is int and no place"),
    "this machine": (NEXT_DOOR, {"local": "NEXT_DOOR"}, "place 'local' is brought by evenhand and by mine 1.0"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_a_broken_package_is_told(tmp_path, bring, case):
    text, things, said = BROKEN[case]
    bring(text, things)
    with pytest.raises(PluginError, match=said):
        recipe_of(values(tmp_path, *things))
