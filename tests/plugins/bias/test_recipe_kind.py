"""A bias study's recipe where one of a loop is asked for: the verb that reads it is named."""

from pathlib import Path

import pytest

from evenhand.cli.inputs import open_recipe
from evenhand.errors import RecipeError

NAMED = r"is a recipe of `evenhand bias-study`.* check it with: evenhand bias-study \S+ --dry-run$"


@pytest.mark.parametrize("name", ["bias/sample", "recipes/bias/simulated.yaml"])
def test_the_verb_that_reads_it_is_named(name):
    with pytest.raises(RecipeError, match=f"^{name}: {NAMED}"):
        open_recipe(Path(name), None)


def test_so_is_that_of_a_file_of_ones_own(tmp_path):
    path = tmp_path / "own.yaml"
    path.write_text("name: study\noutput: runs/study\nsimulated: lead\ninputs: {assignments: 2}\n")
    with pytest.raises(RecipeError, match=NAMED):
        open_recipe(path, ["seed=1"])


@pytest.mark.parametrize("line", ["simulate: lead", "generate: {}", "measures: {}\nrounds: 0"])
def test_a_file_with_keys_of_neither_is_a_recipe_with_mistakes(tmp_path, line):
    path = tmp_path / "own.yaml"
    path.write_text(f"name: study\noutput: runs/study\n{line}\n")
    with pytest.raises(RecipeError, match="key 'judges' is missing"):
        open_recipe(path, None)
