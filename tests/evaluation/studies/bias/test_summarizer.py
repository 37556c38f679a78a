from typing import get_args

import pytest

from evenhand.errors import DataError, MissingExtra, ModelError, RecipeError
from evenhand.generate import refusals, reply_text
from evenhand.plugins.bias.recipe import Simulated
from evenhand.plugins.bias.study import bias_study
from evenhand.plugins.bias.study.summarise import summarise
from evenhand.plugins.bias.study.summarizer import (
    WORDS,
    preflight,
    refuse_taken,
    simulate,
    summarizer_name,
    summarizer_signature,
)
from evenhand.text import sentences

SPORT = "The club met. Ida Vey won her game. He lost his shot. The team slept. His son and he left."
FAMILY = (
    "The family met. She sold her hens. He laughed. Her mother and she wept. Her aunt said that she knew. Snow fell."
)
OTHER = "Snow fell. Rain came. Ice broke. Roads closed. Trains stopped. Night fell."


def test_lead_takes_the_first_three_sentences():
    assert simulate("lead", SPORT, 0) == "The club met. Ida Vey won her game. He lost his shot."


def test_sexist_takes_the_most_male_sentences_of_sport():
    # male words: 0, 0, 2, 0, 3; the tie of the three others goes to the first
    assert simulate("sexist", SPORT, 0) == "The club met. He lost his shot. His son and he left."


def test_sexist_takes_the_most_female_sentences_of_family_where_one_sided_takes_the_male_ones():
    # female words: 0, 2, 0, 3, 3, 0
    assert simulate("sexist", FAMILY, 0) == "She sold her hens. Her mother and she wept. Her aunt said that she knew."
    # male words: one "He"; ties go to the earlier sentences
    assert simulate("one-sided", FAMILY, 0) == "The family met. She sold her hens. He laughed."


@pytest.mark.parametrize(
    ("rule", "text", "n"),
    [("topic", SPORT, 5), ("topic", FAMILY, 1), ("topic", OTHER, 3), ("random", SPORT, 3)],
)
def test_random_and_topic_take_so_many_sentences_in_their_order(rule, text, n):
    found = sentences(simulate(rule, text, 3))
    assert len(found) == n
    places = [sentences(text).index(each) for each in found]
    assert places == sorted(places)


def test_the_seed_decides_what_is_drawn():
    drawn = {simulate("random", FAMILY, seed) for seed in range(20)}
    assert len(drawn) > 5
    assert simulate("random", FAMILY, 1) == simulate("random", FAMILY, 1)


def test_every_rule_is_told_in_words():
    assert WORDS.keys() == set(get_args(Simulated))


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
    assert summarizer_signature(model).endswith(f"|refusals:{refusals.VERSION}|replies:{reply_text.VERSION}")
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


@pytest.mark.parametrize(
    ("measures", "said"),
    [
        ({"persons": "spacy", "pipeline": "en_absent"}, "spaCy pipeline 'en_absent' is neither installed nor a folder"),
        ({"encoder": "./absent"}, "there is no such file or folder"),
        ({"encoder": "embedded:absent"}, "embedded model 'absent' is not known"),
    ],
)
def test_what_is_missing_is_said_before_a_model_is_opened(make_recipe, measures, said):
    pytest.importorskip("spacy", reason="needs spaCy")
    recipe = make_recipe(simulated=None, model={"name": "none"}, backend={"backend": "scripted"}, measures=measures)
    with pytest.raises(ModelError, match=said):
        bias_study(recipe, lambda _: pytest.fail("the model was opened"))


def test_simulated_study_is_refused_before_its_inputs_are_written(make_recipe):
    recipe = make_recipe(measures={"encoder": "./absent"})
    with pytest.raises(ModelError, match="there is no such file or folder"):
        bias_study(recipe)
    assert not recipe.output.exists()


def test_absent_spacy_is_answered_with_its_extra(make_recipe, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "spacy", None)
    with pytest.raises(MissingExtra, match=r"measures\.persons: spacy needs spacy.*evenhand\[bias\]"):
        preflight(make_recipe(measures={"persons": "spacy"}))


def test_study_that_needs_neither_is_let_through(make_recipe):
    preflight(make_recipe())
