"""Recipes: every mistake is told together, with its key, in words that help."""

import dataclasses
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from evenhand.config import Recipe
from evenhand.config.judges import RuleJudge
from evenhand.config.recipe_file import dump_recipe, load_judges, load_recipe
from evenhand.config.train import DEPENDENT_KEYS, KEYS_OF_LOSSES, PAIRWISE_KEYS
from evenhand.config.trainer_keys import (
    BOUND_KEYS,
    EFFECTIVE_KEYS,
    IDLE_KEYS,
    OWNED_TRAINER_KEYS,
    RENAMED_TRAINER_KEYS,
    TRAINER_KEYS,
)
from evenhand.errors import RecipeError

# idle key -> TRL's default
IDLE = {key: value for keys in IDLE_KEYS.values() for key, value in keys.items()}
RECIPES = Path(__file__).parents[2] / "recipes"

GOOD = """
name: study
output: runs/study
model: {name: m}
generate:
  plans:
    plain: {candidates: 2}
judges:
  overlap: {kind: rouge}
  coverage: {kind: rubric, rubric: coverage, model: {name: judge}}
reward: {judges: [overlap]}
evaluation: {judges: [coverage]}
"""


@pytest.fixture
def recipe(tmp_path):
    path = tmp_path / "recipe.yaml"
    path.write_text(GOOD)
    return path


def refusal(path, *overrides):
    with pytest.raises(RecipeError) as caught:
        load_recipe(path, overrides)
    return str(caught.value)


def test_a_recipe_is_read_and_checked(recipe):
    found = load_recipe(recipe)
    assert found.name == "study"
    assert found.judges["coverage"].rubric == "coverage"


def test_overrides_reach_any_key_and_make_missing_sections(recipe):
    found = load_recipe(recipe, ["generate.plans.plain.top_p=0.9", "wandb.project=mine", "corpus.sides=[left, right]"])
    assert found.generate.plans["plain"].top_p == 0.9
    assert found.wandb.project == "mine"
    assert found.corpus.sides == ("left", "right")


def test_an_override_fills_a_section_left_empty_in_the_file(recipe):
    recipe.write_text(GOOD + "trainer:\n")
    assert load_recipe(recipe, ["trainer.beta=0.2"]).trainer == {"beta": 0.2}


@pytest.mark.parametrize("written", ["5e-6", "5.0e-6", "0.000005", "+5E-06"])
def test_a_number_with_an_exponent_is_a_number_with_or_without_a_point(recipe, written):
    # YAML 1.1 reads 5e-6 as a text, and the trainer would stop an hour later
    recipe.write_text(GOOD + f"trainer: {{learning_rate: {written}}}\n")
    assert load_recipe(recipe).trainer["learning_rate"] == 5e-6
    assert load_recipe(recipe, [f"trainer.learning_rate={written}"]).trainer["learning_rate"] == 5e-6


def test_merge_keys_of_yaml_work(recipe):
    recipe.write_text(
        GOOD.replace("plain: {candidates: 2}", "plain: &plain {top_p: 0.9}\n    hot: {<<: *plain, temperature: 1.2}")
    )
    plans = load_recipe(recipe).generate.plans
    assert (plans["hot"].top_p, plans["hot"].temperature) == (0.9, 1.2)


@pytest.mark.parametrize(
    ("override", "part"),
    [
        ("pairs.least_magrin=1", "'pairs.least_magrin' is not known; did you mean 'least_margin'? Keys of 'pairs' are mode, k,"),
        ("seeds=1", "'seeds' is not known; did you mean 'seed'? Keys of the recipe are name, seed,"),
        ("judges.overlap.tpye=rouge2", "did you mean 'type'? Keys of 'judges.overlap' are against, kind, type, measure."),
        ("judges.overlap.aligner=nli", "'judges.overlap.aligner' is not known. Keys of 'judges.overlap' are"),
        ("judges.coverage.scorin=greedy", "did you mean 'scoring'? Keys of 'judges.coverage' are model, backend, against, kind,"),
        ("judges.coverage.model.nme=x", "did you mean 'name'? Keys of 'judges.coverage.model' are name, revision,"),
        ("generate.plans.plain.temprature=1", "did you mean 'temperature'? Keys of 'generate.plans.plain' are temperature,"),
        ("corpus.train.splt=x", "did you mean 'split'? Keys of 'corpus.train' are split, limit, sample."),
        ("wandb.mod=online", "'wandb.mod' is not known; did you mean 'mode'?"),
        ("judges.overlap.kind=rogue", "has the unknown kind 'rogue'; did you mean 'rouge'? Kinds are rubric,"),
        ("judges.overlap={}", "'judges.overlap' needs a 'kind': one of rubric,"),
        ("judges.overlap=rouge", "'judges.overlap' is a section and needs keys of its own below it, got 'rouge'"),
        ("model=llama", "'model' is a section and needs keys of its own below it, got 'llama'"),
        ("pairs=", "'pairs' is empty; write its keys below it, or take it out"),
        ("generate.replicas=0", "'generate.replicas' should be 'auto', got 0; or should be greater than or equal to 1, got 0"),
        ("rounds=two", "'rounds' needs a whole number, got 'two'"),
        ("rounds=-1", "'rounds' should be greater than or equal to 0, got -1"),
        ("corpus.test_share=many", "'corpus.test_share' needs a number, got 'many'"),
        ("corpus.sides=left", "'corpus.sides' needs a list such as [left], got 'left'"),
        ("lora.target_modules=q_proj", "needs a list such as [q_proj], got 'q_proj'; or should be 'all-linear'"),
        ("name=3", "'name' needs a text, got 3; put a text that looks like a number in quotes"),
        ("name=no", "'name' needs a text, got False; bare yes, no, on and off are read as true and false: put a text in quotes"),
        ("output=", "'output' needs a path, got None"),
        ("generate.plans={}", "'generate.plans' needs at least one entry"),
        ("pairs.mode=every", "'pairs.mode' should be 'all', 'best_k'"),
        ("pairs.least_margin=.nan", "'pairs.least_margin' needs a finite number"),
        ("trainer.max_grad_norm=.inf", "'trainer' is wrong: max_grad_norm is inf, which JSON cannot hold"),
        ("generate.engine.api_key=x", "'generate.engine' is wrong: 'api_key' is the name of a secret"),
        ("generate.engine.a={b: [{Password: x}]}", "'Password' is the name of a secret, and a recipe is written into the run"),
        ("reward.judges=[cover]", "reward.judges names 'cover', which 'judges' does not have; did you mean 'coverage'?"),
        (f"task.template={'x' * 300}", "key 'task' is wrong: template is longer than a file's name or path can be"),
        ("output=s3://bucket/run", "output begins with s3://, and files are read and written on disks alone: mount what it"),
        ("model.adapter=gs://bucket/adapter", "key 'model' is wrong: adapter begins with gs://"),
        (f"output={'x/' * 3000}", "output is longer than a file's name or path can be (255 and 4,095 bytes)"),
        ("trainer=fast", "'trainer' is a section and needs keys of its own below it"),
    ],
)  # fmt: skip
def test_a_wrong_key_or_value_is_explained(recipe, override, part):
    text = refusal(recipe, override)
    assert part in text
    assert len(text.splitlines()) == 1
    for jargon in ("pydantic", "Section", "tuple", "dict", "discriminator", "<class"):
        assert jargon not in text.replace(str(recipe), "")


def test_a_plan_named_like_a_kind_of_judge_has_a_plans_keys(recipe):
    text = refusal(recipe, "generate.plans.length.temprature=1")
    assert "Keys of 'generate.plans.length' are temperature," in text


def test_all_mistakes_are_listed_together_each_with_its_place(recipe):
    recipe.write_text(GOOD.replace("{candidates: 2}", "{candidates: none}") + "pears: {}\n")
    lines = refusal(
        recipe, "rounds=-1", "trainer.warmup_ratio=0.1", "trainer.output_dir=x", "trainer.lerning_rate=1", "nonsense"
    ).splitlines()
    assert sorted(lines) == sorted(
        [
            "--set 'nonsense': write KEY=VALUE, for example generate.max_model_len=2048",
            f"{recipe}:7: key 'generate.plans.plain.candidates' needs a whole number, got 'none'",
            "--set 'rounds=-1': key 'rounds' should be greater than or equal to 0, got -1",
            next(
                line
                for line in lines
                if line.startswith(f"{recipe}:13: key 'pears' is not known; did you mean 'pairs'?")
            ),
            "--set 'trainer.warmup_ratio': key 'trainer.warmup_ratio' no longer exists in TRL: "
            "write warmup_steps; a number below 1 is a ratio",
            "--set 'trainer.output_dir=x': key 'trainer.output_dir' is set by evenhand: the run folder is the recipe's 'output'",
            "--set 'trainer.lerning_rate=1': key 'trainer.lerning_rate' is not a key of trl.DPOConfig; "
            "did you mean 'learning_rate'?",
        ]
    )


def test_missing_sections_are_all_named(recipe):
    recipe.write_text("name: study\n")
    assert [line.partition(": ")[2] for line in refusal(recipe).splitlines()] == [
        f"key '{key}' is missing" for key in ("output", "model", "generate", "judges", "reward", "evaluation")
    ]


@pytest.mark.parametrize(
    "override",
    [
        "generate.engine={hf_token: hunter2}",
        "generate.engine={hf_token: hunter2, other: .nan}",
        "generate.engine={a: .nan, 'api-key': hunter2}",
        "generate.engine=[{password: hunter2}]",
        "generate.engine={secret: hunter2",
        "generate.hf_token=hunter2",
        "hf_token=hunter2",
        "name={token: hunter2}",
        "rounds={token: hunter2}",
        "name.password=hunter2",
        "extends={token: hunter2}",
        "corpus.sides={token: hunter2}",
        "trainer.hub_token=hunter2",
        # not KEY=VALUE
        "train.api_key: hunter2",
        "hf_token:hunter2",
        "--hf-token hunter2",
        "hf_token\thunter2",
        "{hf_token: hunter2}",
        # where "=" ends the secret
        "hf_token: hunter2==",
        "--hf-token hunter2=",
    ],
)
def test_no_mistake_shows_the_value_of_a_secret(recipe, override):
    assert "hunter2" not in refusal(recipe, override)


def test_what_is_no_override_is_shown_up_to_its_key(recipe):
    assert "--set 'train.api_key...': write KEY=VALUE" in refusal(recipe, "train.api_key: hunter2")
    assert "--set 'train.beta: 0.1': write KEY=VALUE" in refusal(recipe, "train.beta: 0.1")


def test_what_a_recipe_extends_is_not_shown_where_it_holds_a_secret(recipe):
    recipe.write_text(f"extends: {{token: hunter2}}\n{GOOD}")
    said = refusal(recipe)
    assert "key 'extends' needs the path or the name of a recipe" in said
    assert "hunter2" not in said


@pytest.mark.parametrize("key", sorted(RENAMED_TRAINER_KEYS))
def test_a_key_of_older_recipes_is_answered_with_its_replacement(recipe, key):
    assert RENAMED_TRAINER_KEYS[key] in refusal(recipe, f"trainer.{key}=1")


@pytest.mark.parametrize("key", sorted(OWNED_TRAINER_KEYS))
def test_a_key_that_evenhand_sets_is_answered_with_where_it_is_said(recipe, key):
    assert OWNED_TRAINER_KEYS[key] in refusal(recipe, f"trainer.{key}=1")


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", ": is empty, but a recipe is a mapping of sections"),
        ("# only a comment\n", ": is empty, but"),
        ("- name: study\n", ": holds a list, but a recipe is a mapping of sections"),
        ("study\n", ": holds a single value, but"),
        (GOOD + "name: other\n", ":13: cannot be read as YAML: key 'name' is written twice; take one out"),
        ("a:\n  b: 1\n  c: 2\n  b: 3\n", ":4: cannot be read as YAML: key 'b' is written twice"),
        ("a: [1,\n", ":2: cannot be read as YAML: expected the node content"),
        ("\tname: study\n", r":1: cannot be read as YAML: found character '\t'"),
        ("? [a, b]\n: 1\n", ":1: cannot be read as YAML: a key must be a plain name"),
        ("b: 1\na: \x00\n", ":2: cannot be read as YAML: unacceptable character #x0000"),
        ("a: !!python/object/apply:os.getcwd []\n", ":1: cannot be read as YAML: could not determine a constructor"),
        ("a: 1\n---\na: 2\n", ":2: cannot be read as YAML: but found another document"),
    ],
)
def test_a_file_that_is_no_mapping_is_refused_with_its_line(recipe, text, part):
    recipe.write_text(text)
    assert f"{recipe}{part}" in refusal(recipe)


@pytest.mark.parametrize(
    ("override", "part"),
    [
        ("rounds", "write KEY=VALUE"),
        ("=3", "write KEY=VALUE"),
        ("model..name=3", "write KEY=VALUE"),
        ("name.first=3", "'name' is a value, not a section"),
        ("seed=[1", "the value cannot be read as YAML: expected ',' or ']'"),
        ("model={name: a, name: b}", "the value cannot be read as YAML: key 'name' is written twice"),
    ],
)
def test_an_override_that_cannot_be_understood_is_quoted(recipe, override, part):
    text = refusal(recipe, override)
    assert text.startswith(f"--set {override!r}: ")
    assert part in text


@pytest.mark.parametrize(
    ("overrides", "blamed"),
    [
        (["genrate.x=1"], "genrate.x"),
        (["genrate.x.y=1", "seed=3"], "genrate.x.y"),
        pytest.param(
            ["generate.debate.agents=2", "generate.debate.rounds=x"],
            "generate.debate.rounds=x",
            marks=pytest.mark.needs("plugins/debate"),
        ),
    ],
)
def test_a_mistake_that_an_override_made_is_blamed_on_it(recipe, overrides, blamed):
    assert refusal(recipe, *overrides).startswith(f"--set {blamed!r}: key ")


def test_a_mistake_of_the_file_is_not_blamed_on_an_override(recipe):
    recipe.write_text(GOOD + "genrate: {y: 1}\n")
    assert refusal(recipe, "genrate.x=1").startswith(f"{recipe}:")


def test_an_absent_recipe_is_named(tmp_path):
    with pytest.raises(RecipeError, match=r"absent\.yaml: cannot be read: No such file.*`evenhand recipes` lists"):
        load_recipe(tmp_path / "absent.yaml")


def test_a_resolved_recipe_can_be_written_and_read_again(recipe, tmp_path):
    # a text that looks like a number must stay a text
    found = load_recipe(recipe, ["trainer.learning_rate=5e-6", "name='1e3'", "model.revision='70e3821'"])
    resolved = tmp_path / "resolved.yaml"
    resolved.write_text(dump_recipe(found))
    assert load_recipe(resolved) == found
    # a step knows the loop's recipe by this text
    assert dump_recipe(load_recipe(resolved)) == dump_recipe(found)


def test_every_key_of_the_installed_trl_stands_in_one_table():
    trl = pytest.importorskip("trl", reason="compares with the installed TRL")
    effective = [key for keys in EFFECTIVE_KEYS.values() for key in keys.split()]
    listed = Counter([*effective, *IDLE, *BOUND_KEYS, *OWNED_TRAINER_KEYS])
    installed = {field.name for field in dataclasses.fields(trl.DPOConfig) if field.init}
    assert listed == Counter(installed | {"activation_checkpointing", "activation_checkpointing_kwargs"})
    assert listed.keys() == TRAINER_KEYS
    assert not TRAINER_KEYS & RENAMED_TRAINER_KEYS.keys()
    assert PAIRWISE_KEYS.keys() | DEPENDENT_KEYS.keys() | KEYS_OF_LOSSES.keys() <= set(effective)


def test_idle_keys_have_the_defaults_of_the_installed_trl(monkeypatch):
    trl = pytest.importorskip("trl", reason="compares with the installed TRL")
    monkeypatch.setenv("ACCELERATE_USE_CPU", "true")
    fields = {field.name: field for field in dataclasses.fields(trl.DPOConfig)}
    for key, value in IDLE.items():
        field = fields[key]
        assert (field.default if field.default_factory is dataclasses.MISSING else field.default_factory()) == value


def other_than(value):
    """A value of a trainer key that is not this one."""
    return not value if isinstance(value, bool) else value + 1 if isinstance(value, int | float) else "other"


@pytest.mark.parametrize("key", sorted(IDLE))
def test_an_idle_key_is_refused_with_the_reason_and_taken_as_trl_has_it(recipe, key):
    why = next(why for why, keys in IDLE_KEYS.items() if key in keys)
    wanted = Recipe.model_validate(load_recipe(recipe).model_dump() | {"trainer": {key: IDLE[key]}})
    assert wanted.trainer == {key: IDLE[key]}
    said = refusal(recipe, f"trainer.{key}={other_than(IDLE[key])}")
    assert f"trainer.{key} has no effect, because {why}: leave it out" in said


NOT_NULL = {key for key, value in IDLE.items() if value is not None} | BOUND_KEYS.keys() | KEYS_OF_LOSSES.keys()


@pytest.mark.parametrize(
    "key", sorted(NOT_NULL | OWNED_TRAINER_KEYS.keys() - {"hub_token"} | RENAMED_TRAINER_KEYS.keys())
)
def test_null_takes_a_refused_key_out_of_a_recipe_that_is_extended(tmp_path, recipe, key):
    value = {"ignore_data_skip": True, "save_strategy": "best", "f_divergence_type": "js_divergence"}.get(key, 7)
    above = tmp_path / "above.yaml"
    above.write_text(f"extends: {recipe.name}\n")
    own = load_recipe(recipe).trainer
    recipe.write_text(f"{GOOD}trainer: {{{key}: {json.dumps(value)}}}\n")
    if key not in KEYS_OF_LOSSES:
        assert "taken out by null: --set trainer.KEY=null" in refusal(above)
    assert load_recipe(above, [f"trainer.{key}=null"]).trainer == own
    above.write_text(f"extends: {recipe.name}\ntrainer: {{{key}: null}}\n")
    assert load_recipe(above).trainer == own


def test_null_on_the_command_line_takes_a_section_out_as_it_does_in_a_file(recipe):
    recipe.write_text(GOOD.replace("judges:\n", "judges:\n  spare: {kind: contract}\n", 1))
    assert [*load_recipe(recipe, ["judges.spare=null"]).judges] == ["overlap", "coverage"]
    assert refusal(recipe, "judges.spar=null").endswith("judges has no 'spar' to take out; did you mean 'spare'?")
    recipe.write_text(GOOD.replace("plain: {candidates: 2}", "plain: {candidates: 2}\n    hot: {candidates: 3}"))
    assert [*load_recipe(recipe, ["generate.plans.hot=null"]).generate.plans] == ["plain"]


def test_null_of_a_key_that_nobody_knows_is_refused(recipe):
    assert "is not a key of trl.DPOConfig" in refusal(recipe, "trainer.lerning_rate=null")


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["ignore_data_skip=true"], "trainer.ignore_data_skip True would continue an interrupted training"),
        (["save_strategy=best"], "trainer.save_strategy 'best' would save the best step alone"),
        (["torch_compile=true"], "Dynamo gives up after eight of them: leave it out, or write train.trainer: pairwise"),
        (["torch_compile_mode=default"], "trainer.torch_compile_mode has no effect"),
        (["neftune_noise_alpha=5"], "trainer.neftune_noise_alpha scales its noise by the length of a row"),
        (["router_aux_loss_coef=0.01"], "the auxiliary loss of experts would be made of other tokens"),
        (["dataloader_prefetch_factor=2"], "no effect with dataloader_num_workers 0: leave it out, or"),
        (["gradient_checkpointing=false", "gradient_checkpointing_kwargs={use_reentrant: true}"], "gradient_checkpointing: auto"),
        (["liger_kernel_config={rope: true}"], "no effect with use_liger_kernel False"),
        (["logging_strategy=epoch", "logging_steps=5"], "logging_steps has no effect with logging_strategy epoch"),
        (["save_strategy=epoch", "save_steps=5"], "save_steps has no effect with save_strategy epoch"),
        (["save_strategy='no'", "save_total_limit=1"], "save_total_limit has no effect with save_strategy no"),
        (["eval_steps=5"], "eval_steps has no effect with eval_strategy no: leave it out, or write eval_strategy: steps"),
        (["metric_for_best_model=loss"], "metric_for_best_model has no effect with load_best_model_at_end False"),
        (["lr_scheduler_type=constant", "warmup_steps=5"], "or write lr_scheduler_type: constant_with_warmup"),
    ],
)  # fmt: skip
def test_a_key_without_its_effect_or_with_harm_is_refused(recipe, overrides, said):
    assert said in refusal(recipe, *(f"trainer.{override}" for override in overrides))


@pytest.mark.parametrize(
    "overrides",
    [
        ["ignore_data_skip=false"],
        ["save_strategy=epoch", "save_total_limit=1"],
        ["torch_compile=false"],
        ["neftune_noise_alpha=0"],
        ["dataloader_num_workers=2", "dataloader_prefetch_factor=2", "dataloader_persistent_workers=true"],
        ["gradient_checkpointing_kwargs={use_reentrant: false}"],
        ["use_liger_kernel=true", "liger_kernel_config={rope: true}"],
        ["logging_strategy=steps", "logging_steps=5", "save_steps=0.2"],
        ["lr_scheduler_type=constant", "warmup_steps=0"],
        ["lr_scheduler_type=constant_with_warmup", "warmup_steps=0.1"],
    ],
)
def test_a_key_with_effect_is_taken(recipe, overrides):
    load_recipe(recipe, [f"trainer.{override}" for override in overrides])


@pytest.mark.parametrize("override", ["torch_compile=true", "neftune_noise_alpha=1", "router_aux_loss_coef=1"])
def test_stock_trl_has_what_packed_sequences_cannot_have(recipe, override):
    load_recipe(recipe, [f"trainer.{override}", "train.trainer=pairwise"])


def test_wrong_values_of_the_trainer_are_told_together_with_their_places(recipe):
    recipe.write_text(
        recipe.read_text() + "trainer:\n  beta: -1\n  save_strategy: no\n  max_steps: null\n  optim: adam\n"
    )
    said = refusal(recipe, "trainer.learning_rate=fast")
    assert "recipe.yaml:" in said and "key 'trainer.beta' is wrong: needs a number above 0, got -1" in said
    assert "--set 'trainer.learning_rate=fast': key 'trainer.learning_rate' is wrong: needs a number" in said
    assert "key 'trainer.optim' is wrong: 'adam' is none of adamw_torch," in said
    assert len(said.splitlines()) == 3
    assert load_recipe(recipe, ["trainer.beta=1", "trainer.optim=sgd"]).trainer == {
        "beta": 1, "save_strategy": "no", "optim": "sgd",
    }  # fmt: skip


def test_checking_a_recipe_loads_no_model_library(recipe):
    code = (
        "import sys; from pathlib import Path; from evenhand.config.recipe_file import load_recipe; "
        "load_recipe(Path(sys.argv[1])); "
        "print(sorted({'torch', 'transformers', 'vllm', 'trl', 'numpy'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", code, str(recipe)], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_recipe_must_name_seven_things_and_no_more():
    required = [name for name, field in Recipe.model_fields.items() if field.is_required()]
    assert required == ["name", "output", "model", "generate", "judges", "reward", "evaluation"]


def test_judges_of_a_recipe_or_of_a_file_of_their_own_can_be_read(tmp_path):
    path = tmp_path / "judges.yaml"
    path.write_text("other: {anything: 1}\njudges:\n  words: {kind: length}\n")
    assert load_judges(path) == {"words": RuleJudge(kind="length")}
    quickstart = RECIPES / "quickstart.yaml"
    assert load_judges(quickstart) == load_recipe(quickstart).judges


def test_all_mistakes_in_judges_are_listed(tmp_path):
    path = tmp_path / "judges.yaml"
    path.write_text("judges:\n  a: {kind: lenth}\n  b: {kind: rouge, typ: rouge1}\n")
    with pytest.raises(RecipeError) as caught:
        load_judges(path)
    first, second = str(caught.value).splitlines()
    assert "did you mean 'length'?" in first
    assert "'judges.b.typ' is not known; did you mean 'type'?" in second


def test_a_file_without_judges_is_refused(tmp_path):
    path = tmp_path / "judges.yaml"
    path.write_text("name: x\n")
    with pytest.raises(RecipeError, match=r"judges\.yaml: key 'judges' is empty"):
        load_judges(path)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("wandb", "write the section wandb"),
        ("all", "write the names"),
        ("tensorbord", "did you mean 'tensorboard'?"),
        ("[tensorboard, 3]", "trainer.report_to 3 is no tracker"),
        ("true", "trainer.report_to True is no tracker"),
    ],
)
def test_trackers_that_cannot_be_told_are_refused(recipe: Path, value: str, said: str) -> None:
    assert said in refusal(recipe, f"trainer.report_to={value}")
