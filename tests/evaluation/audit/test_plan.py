import sys

import pytest

from evenhand.errors import DataError, RecipeError
from evenhand.evaluation.audit.families import MEASURES
from evenhand.evaluation.audit.options import read_measures, read_sections, usual_measures
from evenhand.evaluation.audit.plan import read_target, usual_entailer
from evenhand.evaluation.audit.run import ask


def test_measures_stand_in_their_own_order():
    assert read_measures("coverage, value-shares") == ("value-shares", "coverage")


@pytest.mark.needs("plugins/opinions")
def test_usual_measures_leave_out_and_name_what_cannot_run(monkeypatch):
    assert usual_measures() == (("value-shares", "coverage", "order", "opinions"), ())
    # a library that is set to None cannot be imported
    monkeypatch.setitem(sys.modules, "networkx", None)
    measures, (note,) = usual_measures()
    assert measures == ("value-shares", "coverage", "order")
    assert "evenhand[fairness]" in note


@pytest.mark.parametrize("text", ["", "value-share", "coverage,colour"])
def test_unknown_measures_are_refused(text):
    with pytest.raises(DataError, match="Measures are value-shares, coverage"):
        read_measures(text)


@pytest.mark.parametrize(("text", "family"), [("bur", "value-shares"), ("Coverage Parity", "coverage")])
def test_a_measure_named_alone_is_answered_with_its_family(text, family):
    with pytest.raises(DataError, match=f"is one of '{family}'"):
        read_measures(text)


def test_weights_stand_in_the_order_of_the_values():
    assert read_target("neg=1,pos=3", ("pos", "neg")) == (3.0, 1.0)
    assert read_target("equal", ("pos",)) == "equal"


def test_values_may_hold_an_equals_sign():
    assert read_target("a=b=1,c=2", ("a=b", "c")) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("pso=1,neg=1", "did you mean 'pos'"),
        ("pos=-1,neg=x", "'pos=-1' is not VALUE=WEIGHT.*'neg=x' is not VALUE=WEIGHT"),
        ("pos=1", "no weight for neg"),
        ("pos=1,pos=1,neg=1", "named twice"),
        # of a value that is due nothing even 0 is not more than its due, so that every summary would be unfair
        ("pos=1,neg=0", "'neg=0' is not VALUE=WEIGHT with a weight above 0"),
        ("pos=nan,neg=1", "is not VALUE=WEIGHT"),
        ("rato", "or write ratio or equal"),
    ],
)
def test_wrong_targets_are_refused(text, said):
    with pytest.raises(DataError, match=said):
        read_target(text, ("pos", "neg"))


def test_units_of_a_language_model_are_named_in_a_file(tmp_path):
    path = tmp_path / "published.yaml"
    path.write_text(
        "kind: nli\nunits: llm\ndomain: reviews\nsplitter: {model: {name: org/m}, backend: {backend: transformers}}\n"
    )
    matcher, entailer = read_sections(MEASURES, None, str(path), [])
    assert matcher is None
    assert (entailer.kind, entailer.units, entailer.splitter.model.name) == ("nli", "llm", "org/m")


def test_mistakes_of_a_file_are_listed_as_those_of_a_recipe(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("kind: bertscore\nlaier: 3\nbaseline: 2\n")
    with pytest.raises(RecipeError, match=r"(?s)laier.*did you mean 'layer'.*baseline"):
        read_sections(MEASURES, str(path), None, [])


def test_another_model_of_bertscore_is_told_where_its_options_go(tmp_path):
    with pytest.raises(DataError, match=r"write baseline and layer for model 'org/m'.*--matcher FILE\.yaml"):
        read_sections(MEASURES, "bertscore", None, ["matcher=org/m"])
    path = tmp_path / "mine.yaml"
    path.write_text("kind: bertscore\nmodel: org/m\nlayer: 3\nbaseline: 0\n")
    assert read_sections(MEASURES, str(path), None, [])[0].layer == 3
    # the same weights under their other name
    assert read_sections(MEASURES, "bertscore", None, ["roberta-large"])[0].layer == 17


def test_a_model_goes_to_the_one_that_has_models():
    matcher, entailer = read_sections(MEASURES, "words", "encoder", ["org/m"])
    assert (matcher.model, entailer.model) == (None, "org/m")
    matcher, entailer = read_sections(MEASURES, "bartscore", "nli", ["matcher=a", "entailer=b"])
    assert (matcher.model, entailer.model) == ("a", "b")
    with pytest.raises(DataError, match="write --model matcher=NAME"):
        read_sections(MEASURES, "bartscore", "nli", ["org/m"])
    assert read_sections(MEASURES, None, None, []) == (None, None)


def test_unknown_names_are_refused():
    with pytest.raises(DataError, match=r"did you mean 'words'.*a \.yaml file"):
        read_sections(MEASURES, "wrds", None, [])
    with pytest.raises(DataError, match="no effect without measure 'coverage'"):
        read_sections(("opinions",), None, "words", [])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty, but section 'matcher' is a mapping; write its keys at the top of the file"),
        ("- kind: words\n", "holds a list, but section 'matcher' is a mapping"),
        ("kind: words\nkidn: 3\n", "did you mean 'kind'? Keys of section 'matcher' are kind, model,"),
        (None, "cannot be read: No such file or directory; name a file with the keys of a recipe's section 'matcher'"),
    ],
)
def test_mistakes_of_a_file_speak_of_its_section(tmp_path, text, said):
    path = tmp_path / "mine.yaml"
    if text is not None:
        path.write_text(text)
    with pytest.raises(RecipeError) as caught:
        read_sections(MEASURES, str(path), None, [])
    assert said in str(caught.value)
    assert "recipes" not in str(caught.value)
    assert "Keys of the recipe" not in str(caught.value)
    with pytest.raises(RecipeError, match="section 'entailer'"):
        read_sections(MEASURES, None, str(path), [])


@pytest.mark.parametrize(
    ("text", "why"),
    [("word " * 20_001, "20,001 words"), ("\u0414\u043e\u0440\u043e\u0433\u043e. Go.", "script"), ("Go.", "")],
)
def test_the_usual_entailer_is_the_encoder_where_documents_are_for_it(text, why):
    pytest.importorskip("sentence_transformers")
    section, said = usual_entailer([text])
    assert section.kind == ("words" if why else "encoder")
    assert bool(said) == bool(why)
    assert not said or (why in said and "--entailer" in said) or "script" in said


def test_the_usual_entailer_is_words_where_the_encoder_is_not_installed_and_nothing_is_fetched(monkeypatch):
    pytest.importorskip("sentence_transformers")
    monkeypatch.setattr("evenhand.evaluation.audit.plan.ENTAILER_MODELS", {"encoder": "embedded:all-mpnet-base-v2"})
    monkeypatch.setattr("evenhand.models.assemble.assembled", lambda model: pytest.fail("assembles"))
    monkeypatch.setattr("evenhand.models.places.at_hand", lambda model: None)
    section, why = usual_entailer(["Go."])
    assert section.kind == "words"
    assert "evenhand models says how to get it" in why


@pytest.mark.needs("plugins/bias")
def test_words_of_groups_are_measured_only_where_they_are_asked_for(tmp_path):
    lists = tmp_path / "lists.yaml"
    lists.write_text("name: words of town and country\ngroups: {town: [tram], country: [field]}\n")
    assert "word-lists" not in ask({}).measures
    assert ask({"word_lists": lists}).measures[-1] == "word-lists"
    with pytest.raises(DataError, match="--word-lists has no effect"):
        ask({"word_lists": lists, "measures": "coverage"})
