"""Studies from Python: an audit in memory, runs and comparisons as the command line makes them."""

import inspect
import json
import re

import pytest
from quick_recipe import RECIPE

import evenhand
from evenhand.errors import DataError, RecipeError
from evenhand.evaluation.audit.run import OPTIONS

pytestmark = pytest.mark.usefixtures("quick_commands")

FAST = {"measures": "value-shares", "matcher": "words", "least_group": 1, "resamples": 200}


@pytest.fixture
def documents(rows):
    return evenhand.load_documents(rows, "side")


def test_an_audit_of_dicts_and_of_steps(documents, tmp_path):
    made = evenhand.generate(documents, "none", backend="scripted", n=3, task={"scope": "all"})
    best = evenhand.rerank(evenhand.judge(made, {"words": {"kind": "length"}}))
    texts = {each.id: each.documents[0].text for each in documents}
    systems = {"best": best, "first": made, "one-sided": texts, "in order": list(texts.values())}
    found = evenhand.audit(documents, systems, out=tmp_path / "audit", **FAST)
    assert [each.label for each in found.found.systems] == list(systems)
    shares = {(row["system"], row["measure"]): row["value"] for row in found.rows() if row["side"] is None}
    assert {row["system"] for row in found.rows()} == {*systems}
    measure = next(name for _, name in shares if name.startswith("BUR"))
    # each of these summaries is the words of one side
    assert shares["one-sided", measure] == shares["in order", measure] == 1
    assert json.loads((tmp_path / "audit" / "audit.json").read_text())["documents"] == "documents"
    assert "<table" in found._repr_html_()


def test_rows_of_an_audit_have_what_is_expected_and_what_is_concluded(documents):
    texts = {each.id: each.documents[0].text for each in documents}
    found = evenhand.audit(documents, {"one-sided": texts}, **FAST)
    (row,) = (r for r in found.rows() if (r["measure"], r["side"]) == ("share in summaries (words)", "ban"))
    (number,) = (n for n in found if (n.measure, n.side) == ("share in summaries (words)", "ban"))
    gap = number.gap
    assert (row["value"], row["n_sets"]) == (number.value, number.n_sets)
    assert (row["expected"], row["gap"], row["verdict"]) == (gap.expected, gap.value, gap.verdict)
    assert (row["gap_low"], row["gap_high"], row["adjusted"]) == (gap.low, gap.high, gap.adjusted)
    # nothing is expected of what the documents have
    assert next(r for r in found.rows() if r["measure"] == "share in sources (words)")["expected"] is None


def test_an_audit_says_that_it_warns(documents):
    found = evenhand.audit(documents, {"one": ["x y."] * 3}, **FAST)
    assert repr(found).endswith(f"; {len(found.found.warnings)} warnings in .found.warnings>")


def test_mistakes_of_an_audit_are_listed_together(documents, tmp_path):
    with pytest.raises(DataError) as caught:
        evenhand.audit(documents, {"a": {"nowhere": "x"}, "b": tmp_path / "absent.jsonl"}, **FAST)
    said = str(caught.value)
    assert "summaries 'a'" in said and "'nowhere'" in said and "summaries 'b'" in said
    with pytest.raises(DataError, match="least_groop"):
        evenhand.audit(documents, {"a": ["x"] * 3}, measures="coverage", least_groop=3)


def test_models_are_asked_once_and_audited_beside_files(documents, tmp_path):
    recipe = tmp_path / "mine.yaml"
    recipe.write_text(
        "name: mine\noutput: runs/mine\nmodel: {name: none}\n"
        "generate: {backend: scripted, plans: {drawn: {candidates: 4, max_tokens: 77}}}\n"
        "judges: {contract: {kind: contract}}\nreward: {judges: [contract]}\nevaluation: {judges: [contract]}\nrounds: 0\n"
    )
    lines, out = [], tmp_path / "audit"
    alone = evenhand.audit(documents, models=str(recipe), out=out, say=lines.append, **FAST)
    assert [system.label for system in alone.found.systems] == ["mine"]
    assert lines[0].startswith("mine is asked for 3 candidates of at most 231 tokens")
    candidates = out / "models" / "mine" / "evaluation" / "base" / "candidates.jsonl"
    date = candidates.stat().st_mtime_ns
    texts = {each.id: each.documents[0].text for each in documents}
    rows = [{"town": name, "words": text} for name, text in texts.items()]
    columns = {"id": "town", "text": "words"}
    both = evenhand.audit(
        documents, {"one-sided": rows}, models=[str(recipe)], out=out, summary_columns=columns, **FAST
    )
    assert [(system.label, system.n_summaries) for system in both.found.systems] == [("one-sided", 3), ("mine", 3)]
    assert candidates.stat().st_mtime_ns == date


def test_all_that_an_audit_refuses_is_refused_before_a_model_is_asked(documents, tmp_path):
    (tmp_path / "mine").mkdir()
    for options, message in (
        ({"target": "ban=1"}, "no weight for allow"),
        ({"summaries": {"a": ["x"]}}, "summaries 'a'"),
        ({"summaries": {"mine": ["x"] * 3}}, "two systems are called 'mine'"),
        ({}, "^models "),
    ):
        with pytest.raises(DataError, match=message):
            evenhand.audit(documents, models=str(tmp_path / "mine"), out=tmp_path / "audit", **{**FAST, **options})
    assert not (tmp_path / "audit" / "models" / "mine").exists()


@pytest.mark.parametrize("summaries", ["praising", ["x"] * 3, 3, None, {}, {3: ["x"] * 3}])
def test_summaries_that_are_no_dict_of_labels_are_refused(documents, summaries):
    with pytest.raises(DataError, match=r"summaries (are .*give a dict of labels|need labels)"):
        evenhand.audit(documents, summaries, **FAST)


@pytest.mark.parametrize("system", [3, None, b"x", [1, 2, 3], {"town a": 3}])
def test_summaries_of_a_system_that_are_none_are_refused_with_its_label(documents, system):
    with pytest.raises(DataError, match="summaries 'mine'"):
        evenhand.audit(documents, {"mine": system}, **FAST)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"measures": ["coverage"]}, "measures is .*write it as text"),
        ({"target": {"ban": 1}}, "target is .*write it as text"),
        ({"level": "high"}, "level"),
        ({"least_group": None, "tau": []}, "tau"),
        pytest.param(
            {"bounds": True},
            "^bounds has no effect without measure 'coverage'; add it to measures$",
            marks=pytest.mark.needs("plugins/published"),
        ),
        ({"allow_mising": True}, "'allow_mising' is not known; did you mean 'allow_missing'"),
        pytest.param(
            {"word_lists": "lists.yaml"}, "^word_lists has no effect", marks=pytest.mark.needs("plugins/bias")
        ),
        ({"models": "matcher=x"}, "^models 'matcher=x': write models matcher=NAME with matcher bertscore"),
        ({"models": "x"}, "^models 'x': what a model writes is kept in a folder; name one, out=FOLDER"),
        ({"models": 3}, "^models are int 3; give a text, or a list of texts"),
        pytest.param({"tone": "encoder"}, "^tone has no effect", marks=pytest.mark.needs("plugins/tone")),
        ({"out": __file__}, "^out .*: is not a folder"),
    ],
)
def test_options_of_the_wrong_kind_are_refused(documents, options, match):
    with pytest.raises(DataError, match=match):
        evenhand.audit(documents, {"a": ["x"] * 3}, **FAST | options)


@pytest.mark.needs("plugins/tone")
def test_an_audit_takes_the_usual_tone_written_out_and_lists_all_its_options(documents):
    assert evenhand.audit(documents, {"a": ["Trams."] * 3}, tone="vader", **FAST).found.measures
    written = evenhand.audit.__doc__.partition("Args:")[2].partition("Raises")[0]
    assert {*OPTIONS} <= {*re.findall(r"\w+", written)}


def test_an_editor_completes_the_options_of_the_core():
    audit, generate, pairs = (
        inspect.signature(step).parameters for step in (evenhand.audit, evenhand.generate, evenhand.pairs)
    )
    assert {*OPTIONS} <= audit.keys()
    assert {"seed", "method", "backend", "plans"} <= generate.keys() and {"mode", "k", "least_margin"} <= pairs.keys()
    assert all(
        parameter.annotation != inspect.Parameter.empty
        for step in (audit, generate, pairs)
        for parameter in step.values()
    )


def test_an_audit_that_is_replaced_is_told(documents, tmp_path):
    said = []
    for label in ("one", "other"):
        evenhand.audit(documents, {label: ["Trams."] * 3}, out=tmp_path / "audit", say=said.append, **FAST)
    (line,) = said
    assert line.endswith("holds the audit of one on documents, by side; it will be replaced.")


@pytest.mark.parametrize("recipe", [3, None, b"quickstart", ["quickstart"]])
def test_what_is_no_recipe_is_refused(recipe, tmp_path):
    with pytest.raises(RecipeError, match="a recipe is "):
        evenhand.load_recipe(recipe)
    with pytest.raises(RecipeError, match="a recipe is "):
        evenhand.compare([recipe], tmp_path)
    with pytest.raises(RecipeError, match=r"changes is .*give a dict"):
        evenhand.run("quickstart", "rounds=0")


def test_recipes_and_budgets_of_the_wrong_kind_are_refused(tmp_path):
    with pytest.raises(RecipeError, match="recipes are str 'quickstart'; give a dict"):
        evenhand.compare("quickstart", tmp_path)
    with pytest.raises(RecipeError, match="budgets are whole numbers of at least 1, got '1'"):
        evenhand.compare([RECIPE], tmp_path, budgets="1,3")
    with pytest.raises(DataError, match=r"^out .*: is not a folder"):
        evenhand.compare([RECIPE | {"output": "unused"}], __file__, budgets=[1])


def test_summaries_of_sides_cannot_be_audited(documents):
    made = evenhand.generate(documents, "none", backend="scripted", n=1)
    with pytest.raises(DataError, match=r'one side each \(allow, ban\).*"scope": "all"'):
        evenhand.audit(documents, {"made": made}, **FAST)


def test_a_recipe_of_a_dict_runs_and_reports(tmp_path):
    lines = []
    found = evenhand.run(RECIPE | {"output": str(tmp_path / "run")}, {"evaluation.resamples": 200}, say=lines.append)
    assert [line.partition(":")[0] for line in lines] == [
        *(f"evaluation/base {verb}" for verb in ("generate", "judge", "rerank")),
        "report",
    ]
    assert {row["system"] for row in found.rows()} == {"zero-shot", "rerank"} and found.folder.is_dir()


def test_recipes_are_compared_by_their_labels(tmp_path):
    other = RECIPE | {"reward": {"judges": ["words"], "combine": "z_mean", "weights": {"words": -1.0}}}
    # whose runs lie in the folder of the comparison, whatever they say of it
    made = {"long": RECIPE, "short": other | {"output": "unused"}}
    found = evenhand.compare(made, tmp_path / "out", budgets=[2])
    assert {row["system"] for row in found.rows()} == {"long", "short"}
    assert (tmp_path / "out" / "index.html").is_file() and not (tmp_path / "unused").exists()


def test_a_recipe_is_loaded_by_name_with_changes():
    recipe = evenhand.load_recipe("quickstart", {"generate.backend": "scripted", "rounds": 2})
    assert (recipe.generate.backend, recipe.rounds) == ("scripted", 2)
    assert evenhand.load_recipe(recipe) == recipe
    with pytest.raises(RecipeError, match="the recipe: key 'rounds'"):
        evenhand.load_recipe(RECIPE | {"output": "x", "rounds": -1})


def test_changes_of_a_recipe_may_be_paths(tmp_path):
    assert evenhand.load_recipe(RECIPE | {"output": "runs/a"}, {"output": tmp_path / "b"}).output == tmp_path / "b"


def test_recipes_without_a_name_are_told_what_they_lack(tmp_path):
    with pytest.raises(RecipeError, match="name"):
        evenhand.compare([{key: value for key, value in RECIPE.items() if key != "name"}], tmp_path)


def test_leftovers_and_columns_of_an_audit(documents):
    rows = [{"name": each.id, "summary": "A reference of it.", "prediction": "[removed]"} for each in documents]
    with pytest.raises(DataError, match=r"summaries 'mine': summaries: has several texts"):
        evenhand.audit(documents, {"mine": rows}, **FAST)
    columns = {"text": "prediction", "id": "name"}
    found = evenhand.audit(documents, {"mine": rows[::-1]}, summary_columns=columns, **FAST)
    (said,) = (each for each in found.found.warnings if "may be what a spreadsheet" in each)
    assert said.startswith(
        "mine: 3 summaries may be what a spreadsheet or a platform left in place of a text: '[removed]' 3."
    )
    with pytest.raises(DataError, match="summary_column' is not known; did you mean 'summary_columns'"):
        evenhand.audit(documents, {"mine": rows}, summary_column=columns, **FAST)
