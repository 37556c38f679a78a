"""Prompts of the user's own for the steps of a method: what they must have, and what is refused."""

import pytest
from conformance import of_plugins
from method_runs import own_prompts

from evenhand.errors import RecipeError
from evenhand.generate.requests import REQUEST_FIELDS
from evenhand.generate.step_prompts import refuse_step_prompts

STEPS = of_plugins("STEPS")


def recipe(tmp_path, name, text):
    step = STEPS[name]
    return own_prompts(tmp_path, {name: text}, step.method, **step.options)


@pytest.mark.parametrize("name", STEPS)
def test_every_field_that_a_step_knows_is_taken(tmp_path, name):
    known = STEPS[name].known | REQUEST_FIELDS | {"task"}
    refuse_step_prompts(recipe(tmp_path, name, "".join(f"{{{each}}}" for each in sorted(known))))


@pytest.mark.parametrize("name", STEPS)
def test_a_whole_prompt_is_taken(tmp_path, name):
    whole = STEPS[name].whole
    refuse_step_prompts(recipe(tmp_path, name, whole))
    refuse_step_prompts(recipe(tmp_path, name, whole.replace("{task}", "{documents}")))


NEEDED = [(name, fields) for name, step in STEPS.items() for fields in (("task", "documents"), *step.needed)]


@pytest.mark.parametrize(("name", "needed"), NEEDED)
def test_a_step_without_a_field_that_it_needs_is_refused(tmp_path, name, needed):
    text = STEPS[name].whole
    for each in needed:
        text = text.replace(f"{{{each}}}", "")
    with pytest.raises(RecipeError) as caught:
        refuse_step_prompts(recipe(tmp_path, name, text))
    path = tmp_path / f"{name}.txt"
    fields = " or ".join(f"{{{each}}}" for each in needed)
    assert f"key 'generate.{STEPS[name].section}.prompts.{name}': {path}: has no field {fields}" in str(caught.value)


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("wrong", ["sumary", "docs", "critique", "released"])
def test_a_field_that_nothing_fills_is_refused_with_its_line(tmp_path, name, wrong):
    with pytest.raises(RecipeError) as caught:
        refuse_step_prompts(recipe(tmp_path, name, f"{STEPS[name].whole}\n\nand {{{wrong}}}"))
    assert f"{tmp_path / f'{name}.txt'}:3: {{{wrong}}} is not a field of the step {name!r}" in str(caught.value)
