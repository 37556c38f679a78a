"""Judges that ask the model that writes."""

import json

import pytest
from quick_recipe import RECIPE

from evenhand.config import Recipe
from evenhand.judges.independence import writer_warning
from evenhand.models.bases import is_same_family


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
        f"Judge '{name}' asks the model that writes the summaries, {writer}: language models favour what they or their"
    )


def test_several_judges_are_one_message():
    found = writer_warning(recipe("a/one", "a/one", "b/One-GGUF", "c/two"))
    assert found.startswith("Judges 'one' and 'One-GGUF' ask the model")


@pytest.mark.parametrize(
    ("writer", "judge"),
    [
        ("Qwen/Qwen2.5-1.5B-Instruct", "Qwen/Qwen3-8B"),
        ("embedded:qwen2.5-coder-0.5b-instruct", "Qwen/Qwen2.5-7B-Instruct"),
        ("meta-llama/Llama-3.1-8B-Instruct", "unsloth/Llama-3.2-1B-Instruct-GGUF"),
        # names on servers
        ("gpt-4o-mini", "gpt-4.1"),
        ("claude-3-5-haiku-latest", "anthropic/claude-sonnet-4"),
        # tuned, and named after its base
        ("meta-llama/Llama-3.1-8B-Instruct", "NousResearch/Hermes-3-Llama-3.1-8B"),
        ("deepseek-ai/DeepSeek-R1-Distill-Qwen-7B", "Qwen/Qwen2.5-14B-Instruct"),
    ],
)
def test_a_judge_of_the_writers_family_is_told(writer, judge):
    name = judge.split("/")[-1]
    assert writer_warning(recipe(writer, judge)).startswith(
        f"Judge '{name}' asks a model of the family of {writer}, which writes the summaries: "
    )


def test_of_a_folder_its_configuration_tells_the_family(tmp_path):
    for name, kind in (("merged", "qwen2"), ("other", "llama")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text(json.dumps({"model_type": kind}))
    judges = (str(tmp_path / "merged"), str(tmp_path / "other"))
    assert writer_warning(recipe("Qwen/Qwen2.5-7B-Instruct", *judges)).startswith(
        "Judge 'merged' asks a model of the family"
    )
    # many strangers have this architecture
    assert writer_warning(recipe("meta-llama/Llama-3.1-8B-Instruct", *judges)) == ""


def test_the_writer_and_its_family_are_one_message():
    message = writer_warning(recipe("org/one-7b", "org/one-7b", "org/one-1b", "org/two"))
    assert message.startswith(
        "Judge 'one-7b' asks the model that writes the summaries, org/one-7b. Judge 'one-1b' asks a model of the family of "
        "org/one-7b, which writes the summaries: "
    )
    assert "two" not in message


@pytest.mark.parametrize(
    ("writer", "judge"),
    [
        # architectures and labs in common are no model in common
        ("HuggingFaceTB/SmolLM2-360M-Instruct", "meta-llama/Llama-3.2-1B-Instruct"),
        ("us.anthropic.claude-3-5-sonnet-20241022-v2:0", "us.meta.llama3-1-70b-instruct-v1:0"),
        ("prod-gpt4", "prod-claude"),
        ("company-summarizer-qwen", "company-judge-llama"),
        ("system1", "system2"),
        ("embedded:nobody-knows", "org/one-7b"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "meta-llama/Llama-3.1-8B-Instruct"),
        ("google/gemma-2-9b-it", "google/flan-t5-xl"),
        ("mistralai/Mistral-7B-Instruct-v0.3", "mistralai/Mixtral-8x7B-Instruct-v0.1"),
        ("Qwen/Qwen2.5-7B-Instruct", "meta-llama/Llama-3.1-8B-Instruct"),
        ("gpt-4o", "claude-3-5-sonnet-latest"),
        ("gpt-4o", "gemini-2.0-flash"),
        ("my-model", "my-other-model"),
        ("tiny-random-gemma", "tiny-llama-it"),
    ],
)
def test_other_models_are_not_told(writer, judge):
    assert writer_warning(recipe(writer, judge)) == ""


def test_without_a_model_that_writes_nothing_is_told():
    assert writer_warning(recipe("none", "none", backend="scripted")) == ""


def test_a_label_that_no_file_could_have_is_of_no_family():
    assert not is_same_family("x" * 5000, "org/one-7b")
