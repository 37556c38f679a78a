import pytest

from evenhand.errors import MissingExtra, ModelError
from evenhand.evaluation.bias import bias_study
from evenhand.evaluation.bias.preflight import preflight


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
