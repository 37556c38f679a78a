"""The section of fair extraction: what contradicts itself is refused, and plans follow from it."""

import pytest
from pydantic import ValidationError

from evenhand.config import GenerateSection, Recipe

EXTRACTIVE = {
    "name": "t", "output": "out", "task": {"scope": "all"}, "rounds": 0,
    "judges": {"overlap": {"kind": "rouge"}, "length": {"kind": "length"}},
    "reward": {"judges": ["overlap"]}, "evaluation": {"judges": ["length"]},
}  # fmt: skip


def test_extraction_needs_no_model_and_no_plans():
    recipe = Recipe.model_validate(EXTRACTIVE | {"generate": {"method": "fair-extractive"}})
    assert not recipe.generate.has_model
    assert recipe.generate.fair_extractive.length == 5
    assert list(recipe.generate.plans) == ["proportional"]
    assert Recipe.model_validate(recipe.model_dump(mode="json")) == recipe


def test_batch_of_mixes_has_a_plan_for_each():
    options = {
        "length": 6,
        "notion": "biased",
        "mix": {"first": "pro", "second": "con", "step": 2, "fixed": {"none": 1}},
    }
    generate = GenerateSection.model_validate({"method": "fair-extractive", "fair_extractive": options})
    # five units are free: 0, 2 and 4 of them are pro
    assert list(generate.plans) == ["pro 0", "pro 2", "pro 4"]
    assert generate.n_candidates == 3


def test_resolved_extraction_can_be_varied():
    mix = {"notion": "biased", "mix": {"first": "left", "second": "right"}}
    recipe = Recipe.model_validate(EXTRACTIVE | {"generate": {"method": "fair-extractive", "fair_extractive": mix}})
    varied = recipe.model_dump(mode="json")
    varied["generate"]["fair_extractive"]["length"] = 2
    assert list(Recipe.model_validate(varied).generate.plans) == ["left 0", "left 1", "left 2"]


@pytest.mark.parametrize(
    ("generate", "text"),
    [
        ({"plans": {"a": {}}}, "plans have no effect with method: fair-extractive"),
        ({"plans": 3}, "plans have no effect with method: fair-extractive"),
        ({"plans": {"proportional": {"temperature": 0, "candidates": 1, "max_tokens": 9}}}, "plans have no effect"),
        ({"fair_extractive": {"notion": "custom"}}, "notion custom needs quotas"),
        ({"fair_extractive": {"quotas": {"left": 5}}}, "quotas has no effect with notion: proportional"),
        ({"fair_extractive": {"notion": "custom", "quotas": {"left": 4}}}, "quotas sum to 4, but length is 5"),
        ({"fair_extractive": {"notion": "biased"}}, "notion biased needs mix"),
        (
            {"fair_extractive": {"notion": "biased", "mix": {"first": "left", "second": "left"}}},
            "each group is named once, got left, left",
        ),
        (
            {"fair_extractive": {"notion": "biased", "mix": {"first": "l", "second": "r", "fixed": {"n": 6}}}},
            "mix.fixed sums to more than length 5",
        ),
        (
            {"fair_extractive": {"notion": "biased", "mix": {"first": "l", "second": "r", "step": 6}}},
            "mix.step is 6, but only 5 units are left to mix",
        ),
    ],
)
def test_extraction_that_contradicts_itself_is_refused(generate, text):
    with pytest.raises(ValidationError, match=text):
        Recipe.model_validate(EXTRACTIVE | {"generate": {"method": "fair-extractive"} | generate})


def test_extraction_for_a_side_is_refused():
    with pytest.raises(ValidationError, match=r"write task\.scope: all"):
        Recipe.model_validate(EXTRACTIVE | {"task": {}, "generate": {"method": "fair-extractive"}})
