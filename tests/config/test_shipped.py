"""The recipes that come with evenhand: found by name, and each with a head that says what it needs."""

import re
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from evenhand.cli.app import VERBS
from evenhand.config import Recipe
from evenhand.config.lacking import usable_names
from evenhand.config.recipe_file import differing_keys, load_as, load_recipe
from evenhand.config.shipped import BASE, PACKAGE, RECIPES, find_recipe, read_head, recipe_names
from evenhand.errors import RecipeError
from evenhand.preflight import preflight


def verb_of(name):
    """The command of its head."""
    _, verb, below, *_ = read_head(RECIPES / f"{name}.yaml").command.split()
    return f"{verb}.{below}" if f"{verb}.{below}" in VERBS else verb


def test_bases_are_not_listed():
    listed = {RECIPES / f"{name}.yaml" for name in recipe_names()}
    assert set(RECIPES.rglob("*.yaml")) - listed == set((RECIPES / BASE).glob("*.yaml"))


# of a loop, whose verbs have no recipe of another kind
LOOPS = [name for name in usable_names() if verb_of(name) not in VERBS or VERBS[verb_of(name)].recipe is None]


@pytest.mark.parametrize("name", usable_names())
def test_every_recipe_is_whole_and_opens_with_its_head(name):
    path = RECIPES / f"{name}.yaml"
    assert load_as(Recipe if name in LOOPS else VERBS[verb_of(name)].recipe, path).name
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
        ("name: x\n", "task, data, needs, time, expected"),
        ("# evenhand loop x\n#\n# task: t\n# data: d\n# time: 1 s\n# expected: .5\nname: x\n", "needs"),
    ],
)
def test_a_head_that_lacks_something_is_refused(tmp_path, text, missing):
    (tmp_path / "x.yaml").write_text(text)
    with pytest.raises(RecipeError, match=f"its head lacks {missing}"):
        read_head(tmp_path / "x.yaml")


def test_a_field_may_take_several_lines(tmp_path):
    (tmp_path / "x.yaml").write_text(
        "# evenhand loop x\n#\n# task: one\n#   two\n# data: d\n# needs: n\n# time: 1 s\n# expected: .5\n"
        "#\n# data: not the head's\n"
    )
    head = read_head(tmp_path / "x.yaml")
    assert (head.task, head.data, head.expected) == ("one two", "d", ".5")


def test_table_of_both_recipes_of_dpo_has_every_key_in_which_they_differ():
    published, ours = (load_recipe(Path(f"polisum/llama-3.1-8b/{name}")) for name in ("dpo-as-published", "dpo"))
    differing = set(differing_keys(published, ours)) - {"name", "output"}
    page = (PACKAGE / "docs" / "papers.md").read_text("utf-8")
    table = page.partition('<a id="ri-recipes"></a>')[2].partition('<a id="ri-values"></a>')[0]
    named = [
        key for row in table.splitlines() if row.startswith("| `") for key in re.findall("`(.+?)`", row.split("|")[1])
    ]
    assert len(named) == len(set(named)) == 17
    assert not [key for key in differing if not any(fnmatchcase(key, each) for each in named)]
    assert not [each for each in named if not any(fnmatchcase(key, each) for key in differing)]


def test_published_settings_of_dpo():
    # the released configuration, Llama's generation defaults and those of transformers for what it leaves out
    recipe = load_recipe(Path("polisum/llama-3.1-8b/dpo-as-published"))
    assert (recipe.rounds, recipe.corpus.train.sample, recipe.train.reference) == (10, 500, "initial")
    trainer = recipe.trainer
    assert (trainer["learning_rate"], trainer["beta"], trainer["num_train_epochs"]) == (1e-6, 0.1, 1)
    assert (recipe.train.trainer, recipe.train.global_batch_size) == ("pairwise", 4)
    assert (recipe.lora.r, recipe.lora.lora_alpha, recipe.lora.target_modules) == (8, 16, ("q_proj", "v_proj"))
    assert (recipe.generate.n_candidates, sum(plan.candidates for plan in recipe.evaluation.plans.values())) == (9, 18)
    hybrid = recipe.evaluation.plans["hybrid"]
    assert (hybrid.temperature, hybrid.repetition_penalty, hybrid.no_repeat_ngram_size) == (1.2, 1.2, 3)
    assert hybrid.include_prompt
    assert {recipe.judges[name].scoring for name in ("coverage", "faithfulness", "report_coverage")} == {"greedy"}
    assert recipe.judges["alignscore"].purpose == "faithfulness"
    assert {"report_coverage", "alignscore"} <= set(recipe.evaluation.judges)


@pytest.mark.parametrize("name", LOOPS)
def test_every_recipe_is_sound_wherever_its_models_and_documents_are(name):
    # films are a package's, which may not be there
    path, attribute = (
        ("sample", "stance") if load_recipe(Path(name)).corpus.attribute == "stance" else ("reviews", "sentiment")
    )
    overrides = [f"corpus.path={path}", f"corpus.attribute={attribute}"]
    if load_recipe(Path(name)).task.template == "released":
        # bundled disputes have no prompts of their own
        overrides.append("task.template=perspective")
    preflight(load_recipe(Path(name), overrides), elsewhere=True)
