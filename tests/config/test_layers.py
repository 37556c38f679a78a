"""Recipes that extend others: what is merged, what is replaced, and where a wrong key stands."""

import re

import pytest

from evenhand.config.layers import read_layers
from evenhand.config.recipe_file import corpus_of, has_section, load_judges, load_recipe
from evenhand.errors import RecipeError

BASE = """
name: base
output: runs/base
model: {name: m, dtype: bfloat16}
corpus: {sides: [left, right]}
generate:
  plans:
    plain: {candidates: 2}
judges:
  overlap: {kind: rouge, type: rouge2}
  words: {kind: length}
reward: {judges: [overlap]}
evaluation: {judges: [words], plans: {few: {}}}
"""


@pytest.fixture
def written(tmp_path):
    """Write files and give the path of the last."""

    def write(**files):
        for name, text in files.items():
            path = tmp_path / f"{name}.yaml"
            path.write_text(text)
        return path

    return write


def refusal(path, *overrides):
    with pytest.raises(RecipeError) as caught:
        load_recipe(path, overrides)
    return str(caught.value)


def test_mappings_are_merged_and_lists_and_plans_replaced(written):
    path = written(
        base=BASE,
        top="extends: base.yaml\nrounds: 0\noutput: runs/top\nmodel: {name: n}\ncorpus: {sides: [right]}\n"
        "generate: {plans: {greedy: {temperature: 0, candidates: 1}}}\njudges: {more: {kind: contract}}\n"
        "evaluation: {plans: {more: {}}}\n",
    )
    recipe = load_recipe(path)
    assert (recipe.name, str(recipe.output)) == ("base", "runs/top")
    assert (recipe.model.name, recipe.model.dtype) == ("n", "bfloat16")
    assert recipe.corpus.sides == ("right",)
    assert (list(recipe.generate.plans), list(recipe.evaluation.plans)) == (["greedy"], ["more"])
    assert list(recipe.judges) == ["overlap", "words", "more"]


def test_a_section_of_another_kind_replaces_the_first_and_null_takes_it_out(written):
    path = written(
        base=BASE + "wandb: {project: p}\n",
        top="extends: base.yaml\njudges: {overlap: {kind: length}, words: {kind: length}}\nwandb: null\n",
    )
    recipe = load_recipe(path)
    # length has no key `type`
    assert recipe.judges["overlap"].kind == "length"
    assert recipe.wandb is None
    path = written(third="extends: top.yaml\njudges: {words: null}\nevaluation: {judges: [overlap]}\n")
    assert list(load_recipe(path).judges) == ["overlap"]


PLANS = "    plain: {candidates: 2}\n    greedy: {temperature: 0, candidates: 1}\n    hot: {temperature: 1.2}\n"


@pytest.mark.parametrize(
    ("plans", "left"),
    [
        ("hot: null", ["plain", "greedy"]),
        ("greedy: null, hot: null", ["plain"]),
        # with a plan of its own, the others go in any case
        ("hot: null, warm: {candidates: 3}", ["warm"]),
    ],
)
def test_plans_that_are_null_are_taken_out_of_the_others(written, plans, left):
    base = BASE.replace("    plain: {candidates: 2}\n", PLANS)
    path = written(base=base, top=f"extends: base.yaml\ngenerate: {{plans: {{{plans}}}}}\n")
    assert list(load_recipe(path).generate.plans) == left


def test_null_plan_that_the_other_recipe_does_not_have_is_refused(written):
    with pytest.raises(RecipeError, match=r"generate\.plans\.none"):
        load_recipe(written(base=BASE, top="extends: base.yaml\ngenerate: {plans: {none: null}}\n"))


def test_null_in_place_of_a_value_is_a_value(written):
    path = written(base=BASE + "task: {opening: 'The {side}'}\n", top="extends: base.yaml\ntask: {opening: null}\n")
    assert load_recipe(path).task.opening is None


def test_paths_count_from_the_file_that_names_them(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    (tmp_path / "base.yaml").write_text(BASE)
    (tmp_path / "middle.yaml").write_text("extends: base.yaml\nseed: 1\n")
    (tmp_path / "deep" / "top.yaml").write_text("extends: ../middle.yaml\nrounds: 0\n")
    monkeypatch.chdir(tmp_path / "deep")
    recipe = load_recipe(tmp_path / "deep" / "top.yaml")
    assert (recipe.name, recipe.seed, recipe.rounds) == ("base", 1, 0)


def test_a_shipped_recipe_can_be_extended_by_its_name(written):
    path = written(top="extends: quickstart\nrounds: 3\n")
    assert load_recipe(path).rounds == 3


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({"a": "extends: a.yaml"}, ["a", "a"]),
        ({"a": "extends: b.yaml", "b": "extends: a.yaml"}, ["b", "a", "b"]),
        ({"a": "extends: b.yaml", "b": "extends: b.yaml", "c": "extends: a.yaml"}, ["b", "b"]),
    ],
)
def test_a_circle_is_refused_with_its_chain(written, files, names):
    text = refusal(written(**files))
    assert re.findall(r"(\w)\.yaml(?= ->|$)", text) == names


@pytest.mark.parametrize(
    ("top", "place"),
    [
        ("extends: base.yaml\nmodel: {nme: x}\n", "top.yaml:2: key 'model.nme' is not known; did you mean 'name'?"),
        ("extends: base.yaml\nrounds: 0\njudges:\n  words:\n    tpye: x\n", "top.yaml:5: key 'judges.words.tpye'"),
        ("extends: wrong.yaml\nrounds: 0\n", "wrong.yaml:2: key 'seed' needs a whole number, got 'x'"),
        ("extends: wrong.yaml\nseed: y\n", "top.yaml:2: key 'seed' needs a whole number, got 'y'"),
        ("extends: wrong.yaml\nseed: 1\nextend: wrong.yaml\n", "top.yaml:3: key 'extend' is not known; did you mean 'extends'?"),
        ("extends: 3\n", "top.yaml:1: key 'extends' needs the path or the name of a recipe, got 3"),
        ("seed: 1\nextends: absent.yaml\n", "top.yaml:2: key 'extends': "),
        ("extends: quikstart\n", "; did you mean 'quickstart'? A path counts from this file's folder"),
        ("extends: bse.yaml\n", "; did you mean 'base.yaml'? A path counts from this file's folder"),
        ("extends: list.yaml\n", "list.yaml: holds a list, but a recipe is a mapping"),
        ("extends: " + "x" * 300 + "\n", "top.yaml:1: key 'extends': "),
    ],
)  # fmt: skip
def test_a_mistake_is_named_once_with_the_line_of_the_layer_where_it_stands(written, tmp_path, top, place):
    text = refusal(written(base=BASE, wrong="extends: base.yaml\nseed: x\n", list="[1]", top=top))
    assert text.startswith(str(tmp_path))
    assert place in text
    assert len(text.splitlines()) == 1


@pytest.mark.needs("plugins/released")
def test_a_missing_key_stands_where_its_section_is_written(written):
    path = written(base=BASE, top="extends: base.yaml\nrounds: 0\njudges:\n  overlap: {kind: bleurt}\n")
    assert "top.yaml:4: key 'judges.overlap.model' is missing" in refusal(path)


def test_an_override_is_laid_over_all_files(written):
    path = written(base=BASE, top="extends: base.yaml\nseed: 1\n")
    assert load_recipe(path, ["seed=2", "model.dtype=float32"]).seed == 2
    assert "--set 'seed=x': key 'seed'" in refusal(path, "seed=x")
    assert "--set 'extends=base.yaml'" in refusal(path, "extends=base.yaml")


def test_an_override_of_what_an_alias_brought_changes_that_place_alone(written):
    text = BASE.replace("model: {name: m,", "model: &m {name: m,") + ("trainer: {beta: 0.1}\nwandb: {project: p}\n")
    path = written(one=text.replace("words: {kind: length}", "words: {kind: rubric, rubric: coverage, model: *m}"))
    recipe = load_recipe(path, ["model.name=other"])
    assert (recipe.model.name, recipe.judges["words"].model.name) == ("other", "m")


def test_judges_and_sections_are_found_in_what_is_extended(written):
    path = written(base=BASE, top="extends: base.yaml\n")
    assert list(load_judges(path)) == ["overlap", "words"]
    assert has_section(path, "generate.plans.plain.top_p")


def test_the_values_are_whole(written):
    layers = read_layers(written(base=BASE, top="extends: base.yaml\n"))
    assert "extends" not in layers.values
    assert layers.extends is not None


def test_a_folder_is_told_from_a_recipe_and_the_run_near_it_is_named(tmp_path):
    run = tmp_path / "runs" / "mine"
    (run / "report" / "tables").mkdir(parents=True)
    with pytest.raises(RecipeError, match=r"name a file.*mine has none"):
        read_layers(run)
    (run / "recipe.yaml").write_text(BASE)
    for folder in (run, run / "report" / "tables", run.parent):
        with pytest.raises(RecipeError, match=f"did you mean {re.escape(str(run / 'recipe.yaml'))}"):
            read_layers(folder)


def test_the_corpus_of_a_recipe_is_read_without_its_other_sections(tmp_path):
    judges = "judges: {fit: {kind: rouge}}\n"
    (tmp_path / "judges.yaml").write_text(judges)
    assert corpus_of(tmp_path / "judges.yaml") is None
    (tmp_path / "recipe.yaml").write_text(
        judges + "corpus: {path: docs.jsonl, attribute: party}\ntrainer: {no_such: 1}\n"
    )
    assert corpus_of(tmp_path / "recipe.yaml").attribute == "party"
    (tmp_path / "recipe.yaml").write_text(judges + "corpus: {pth: docs.jsonl}\n")
    with pytest.raises(RecipeError, match=r"recipe\.yaml.*pth"):
        corpus_of(tmp_path / "recipe.yaml")
