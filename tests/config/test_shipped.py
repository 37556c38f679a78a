"""The recipes that come with evenhand: found by name, and each with a head that says what it needs."""

from pathlib import Path

import pytest

from evenhand.config.recipe_file import load_bias, load_controlled, load_recipe
from evenhand.config.shipped import BASE, PACKAGE, RECIPES, find_recipe, read_head, recipe_names
from evenhand.errors import RecipeError
from evenhand.preflight import preflight


def test_bases_are_not_listed():
    listed = {RECIPES / f"{name}.yaml" for name in recipe_names()}
    assert set(RECIPES.rglob("*.yaml")) - listed == set((RECIPES / BASE).glob("*.yaml"))


@pytest.mark.parametrize("name", recipe_names())
def test_every_recipe_is_whole_and_opens_with_its_head(name):
    path = RECIPES / f"{name}.yaml"
    load = {"controlled": load_controlled, "bias": load_bias}.get(path.parent.name, load_recipe)
    assert load(path).name
    head = read_head(path)
    assert head.command.startswith("evenhand ")
    assert path.relative_to(PACKAGE).as_posix() in head.command


def test_every_base_is_extended():
    extended = {
        (path.parent / line.removeprefix("extends: ")).resolve()
        for path in RECIPES.rglob("*.yaml")
        for line in path.read_text().splitlines()
        if line.startswith("extends: ")
    }
    assert set((RECIPES / BASE).glob("*.yaml")) <= extended


def test_a_file_wins_over_a_name_and_a_folder_does_not(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shipped = RECIPES / "quickstart.yaml"
    given = Path("quickstart")
    assert find_recipe(given) == shipped
    assert find_recipe(Path("recipes/quickstart.yaml")) == shipped
    given.mkdir()
    assert find_recipe(given) == shipped
    given.rmdir()
    given.write_text("mine")
    assert find_recipe(given) == given


def test_a_name_that_is_nearly_one_is_answered_with_it():
    with pytest.raises(RecipeError, match="did you mean 'quickstart'"):
        load_recipe(Path("quickstat"))


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("name: x\n", "task, data, needs, time"),
        ("# evenhand loop x\n#\n# task: t\n# data: d\n# time: 1 s\nname: x\n", "needs"),
    ],
)
def test_a_head_that_lacks_something_is_refused(tmp_path, text, missing):
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(RecipeError, match=f"its head lacks {missing}"):
        read_head(tmp_path / "x.yaml")


def test_a_field_may_take_several_lines(tmp_path):
    (tmp_path / "x.yaml").write_text(
        "# evenhand loop x\n#\n# task: one\n#   two\n# data: d\n# needs: n\n# time: 1 s\n#\n# data: not the head's\n"
    )
    head = read_head(tmp_path / "x.yaml")
    assert (head.task, head.data, head.expected) == ("one two", "d", "")


@pytest.mark.parametrize("name", [name for name in recipe_names() if not name.startswith(("bias/", "controlled/"))])
def test_every_recipe_is_sound_wherever_its_models_and_documents_are(name):
    # films are a package's, which may not be there
    path, attribute = (
        ("sample", "stance") if load_recipe(Path(name)).corpus.attribute == "stance" else ("reviews", "sentiment")
    )
    preflight(load_recipe(Path(name), [f"corpus.path={path}", f"corpus.attribute={attribute}"]), elsewhere=True)
