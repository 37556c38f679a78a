"""A controlled test set's recipe where one of a loop is asked for."""

from pathlib import Path

import pytest

from evenhand.cli.inputs import open_recipe
from evenhand.errors import RecipeError


def test_the_verb_that_reads_it_is_named():
    with pytest.raises(RecipeError, match="is a recipe of `evenhand judges controlled`"):
        open_recipe(Path("controlled/sample"), None)
