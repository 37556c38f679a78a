import pytest

from evenhand.errors import DataError, RecipeError
from evenhand.evaluation.bias.summarise import summarise
from evenhand.evaluation.bias.summarizer import refuse_taken, summarizer_name, summarizer_signature
from evenhand.generate.refusals import VERSION


def test_absent_file_of_summaries_is_a_mistake_of_the_recipe(make_recipe, tmp_path):
    recipe = make_recipe(simulated=None, summaries=tmp_path / "absent.jsonl")
    with pytest.raises(DataError, match=r"key 'summaries': .*absent\.jsonl: cannot be read") as caught:
        summarizer_signature(recipe)
    assert caught.value.exit_code == 2


def test_changed_file_is_the_same_summarizer_with_another_signature(make_recipe, tmp_path):
    recipe = make_recipe(simulated=None, summaries=tmp_path / "given.jsonl")
    signatures = set()
    for text in ("a", "b"):
        recipe.summaries.write_text(text)
        assert summarizer_name(recipe) == "file:given.jsonl"
        signatures.add(summarizer_signature(recipe))
    assert len(signatures) == 2


def test_rule_for_refusals_is_part_of_what_a_models_summaries_depend_on(make_recipe):
    model = make_recipe(simulated=None, model={"name": "base"}, backend={"backend": "scripted"})
    assert summarizer_signature(model).endswith(f"|refusals:{VERSION}")
    assert "refusals" not in summarizer_signature(make_recipe())


def test_adapter_makes_another_summarizer_whose_folder_is_its_own(make_recipe):
    def with_model(**model):
        return make_recipe(simulated=None, model={"name": "base", **model})

    assert summarizer_name(with_model()) == "model:base"
    assert summarizer_name(with_model(adapter="runs/a")) == "model:base+runs/a"
    simulated = make_recipe()
    refuse_taken(simulated)
    summarise(simulated, [])
    refuse_taken(simulated)
    with pytest.raises(RecipeError, match="holds the study of 'simulated:lead', and this one is of 'model:base'"):
        refuse_taken(with_model())
