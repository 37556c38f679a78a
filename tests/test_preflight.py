"""Checks before any work: what judges name must be there."""

import pytest

from evenhand.config import Recipe
from evenhand.errors import RecipeError
from evenhand.preflight import preflight

LANGUAGE_MODEL = {"model": {"name": "./absent-llm"}}


def recipe(tmp_path, judges):
    return Recipe.model_validate({
        "name": "t", "output": tmp_path / "run", "model": {"name": "none"}, "rounds": 0, "judges": judges,
        "generate": {"backend": "scripted", "plans": {"plain": {}}}, "reward": {"judges": list(judges)},
        "evaluation": {"judges": list(judges)},
    })  # fmt: skip


@pytest.mark.parametrize("kind", ["bertscore", "summac", "unieval", "minicheck", "bleurt", "alignment"])
def test_a_metrics_model_that_is_not_there_is_named(tmp_path, kind):
    with pytest.raises(RecipeError, match=r"key 'judges\.mine\.model': model '\./absent': there is no such file"):
        preflight(recipe(tmp_path, {"mine": {"kind": kind, "model": "./absent"}}))


def test_all_that_is_missing_is_listed_together(tmp_path):
    judges = {
        "conv": {"kind": "summac", "model": "org/model", "variant": "conv", "weights": tmp_path / "absent.safetensors"},
        "facts": {"kind": "finesure", **LANGUAGE_MODEL},
        "long": {"kind": "extract", **LANGUAGE_MODEL, "encoder": "./absent-encoder", "nli": "./absent-nli"},
    }
    with pytest.raises(RecipeError) as caught:
        preflight(recipe(tmp_path, judges))
    keys = [line.split("'")[1] for line in str(caught.value).splitlines()]
    assert keys == [
        "judges.conv.weights", "judges.facts.model.name", "judges.long.model.name", "judges.long.encoder", "judges.long.nli",
    ]  # fmt: skip
