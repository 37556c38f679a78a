"""Judges that ask the model that writes."""

import pytest
from quick_recipe import RECIPE

from evenhand.config import Recipe
from evenhand.judges.independence import writer_warning


def recipe(writer, *judges, backend="transformers"):
    rubric = {"kind": "rubric", "rubric": "coverage", "backend": {"backend": "transformers"}}
    values = {
        **RECIPE,
        "output": "run",
        "model": {"name": writer},
        "generate": {**RECIPE["generate"], "backend": backend},
        "judges": RECIPE["judges"] | {name.split("/")[-1]: {**rubric, "model": {"name": name}} for name in judges},
    }
    return Recipe.model_validate(values)


@pytest.mark.parametrize(
    ("writer", "judge"),
    [
        ("Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B-Instruct"),
        # the same in another package
        ("Qwen/Qwen2.5-7B-Instruct", "Qwen/Qwen2.5-7B-Instruct-AWQ"),
        ("meta-llama/Llama-3.1-8B-Instruct", "unsloth/Meta-Llama-3.1-8B-Instruct-bnb-4bit"),
    ],
)
def test_a_judge_that_asks_the_writer_is_told(writer, judge):
    name = judge.split("/")[-1]
    assert writer_warning(recipe(writer, judge)).startswith(
        f"Judge '{name}' asks the model that writes the summaries, {writer}: language models favour what they wrote"
    )


def test_several_judges_are_one_message():
    found = writer_warning(recipe("a/one", "a/one", "b/One-GGUF", "c/two"))
    assert found.startswith("Judges 'one' and 'One-GGUF' ask the model")


@pytest.mark.parametrize(
    ("writer", "judge"),
    [
        # architectures and labs in common are no model in common
        ("HuggingFaceTB/SmolLM2-360M-Instruct", "meta-llama/Llama-3.2-1B-Instruct"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "meta-llama/Llama-3.1-8B-Instruct"),
        ("google/gemma-2-9b-it", "google/flan-t5-xl"),
    ],
)
def test_other_models_are_not_told(writer, judge):
    assert writer_warning(recipe(writer, judge)) == ""


def test_without_a_model_that_writes_nothing_is_told():
    assert writer_warning(recipe("none", "none", backend="scripted")) == ""
