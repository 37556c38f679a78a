"""Checks before any work: what judges name must be there."""

import re
from pathlib import Path

import numpy as np
import pytest
from conformance import of_plugins

from evenhand.config import Recipe
from evenhand.config.recipe_file import dump_recipe, load_recipe
from evenhand.errors import RecipeError
from evenhand.preflight import named, preflight, training

LANGUAGE_MODEL = {"model": {"name": "./absent-llm"}}


def recipe(tmp_path, judges):
    return Recipe.model_validate({
        "name": "t", "output": tmp_path / "run", "model": {"name": "none"}, "rounds": 0, "judges": judges,
        "generate": {"backend": "scripted", "plans": {"plain": {}}}, "reward": {"judges": list(judges)},
        "evaluation": {"judges": list(judges)},
    })  # fmt: skip


def is_metric(options):
    """Whether all that a judge rests on is a model of the key `model`."""
    return isinstance(getattr(options, "model", None), str)


def keys_of(error):
    """The keys of each mistake."""
    return [re.match(r"key ('[^:]+'): ", line)[1].replace("'", "") for line in str(error).splitlines()]


@pytest.mark.parametrize(
    "kind", ["alignment", *(name for name, options in of_plugins("JUDGES").items() if is_metric(options))]
)
def test_a_metrics_model_that_is_not_there_is_named(tmp_path, kind):
    with pytest.raises(RecipeError, match=r"key 'judges\.mine\.model': model '\./absent': there is no such file"):
        preflight(recipe(tmp_path, {"mine": {"kind": kind, "model": "./absent"}}))


def test_a_step_of_a_loop_knows_that_its_training_was_found_sound(tmp_path):
    given = load_recipe(Path("quickstart"), ["lora.r=2"])
    (tmp_path / "recipe.yaml").write_text(dump_recipe(given))
    assert training._everything(load_recipe(tmp_path / "recipe.yaml"), "python") == training._everything(
        given, "python"
    )


@pytest.mark.needs("plugins/released")
def test_all_that_is_missing_is_listed_together_and_once(tmp_path):
    judges = {
        "conv": {"kind": "summac", "model": "org/model", "variant": "conv", "weights": tmp_path / "absent.safetensors"},
        "facts": {"kind": "finesure", **LANGUAGE_MODEL},
        "long": {"kind": "extract", **LANGUAGE_MODEL, "encoder": "./absent-encoder", "nli": "./absent-nli"},
    }
    with pytest.raises(RecipeError) as caught:
        preflight(recipe(tmp_path, judges))
    assert keys_of(caught.value) == [
        "judges.conv.weights", "judges.facts.model.name, judges.long.model.name", "judges.long.encoder", "judges.long.nli",
        # which no hub gives
        "judges.conv.model",
    ]  # fmt: skip


def test_room_is_estimated_for_the_candidates_of_each_phase(tmp_path):
    judges = {"mine": {"kind": "length"}}
    plain = recipe(tmp_path, judges).model_dump(mode="json")
    changed = plain | {"evaluation": plain["evaluation"] | {"plans": {"more": {"candidates": 8, "max_tokens": 100}}}}
    # 12 test sets of two sides; 3 candidates of at most 128 tokens, or 8 of 100
    found = [preflight(Recipe.model_validate(values)) for values in (plain, changed)]
    assert [(each.candidates, each.most_tokens) for each in found] == [(72, 72 * 128), (192, 192 * 100)]
    assert found[0].bytes < found[1].bytes


def test_template_that_is_not_there_or_asks_for_what_is_unknown_is_named_with_its_key(tmp_path):
    sound = recipe(tmp_path, {"mine": {"kind": "length"}})
    (tmp_path / "own.txt").write_text("{documents} {side} {leangth}")
    for template, said in (("perspectiv", "is neither shipped"), (str(tmp_path / "own.txt"), "asks for {leangth}")):
        task = sound.task.model_copy(update={"template": template})
        with pytest.raises(RecipeError) as caught:
            preflight(sound.model_copy(update={"task": task}))
        assert str(caught.value).startswith("key 'task.template': prompt template ")
        assert said in str(caught.value)


def test_judges_that_nothing_uses_are_told(tmp_path, caplog):
    values = recipe(tmp_path, {"mine": {"kind": "length"}, "idle": {"kind": "contract"}}).model_dump(mode="json")
    used = values | {"reward": {"judges": ["mine"]}, "evaluation": {"judges": ["mine"]}}
    preflight(Recipe.model_validate(used))
    assert "judges.idle: scores nothing" in caplog.text
    assert "judges.mine" not in caplog.text


def test_versions_are_looked_at_of_libraries_that_a_recipe_uses(tmp_path, caplog, monkeypatch):
    plain = recipe(tmp_path, {"mine": {"kind": "length"}})
    assert named.used_libraries(plain) == set()
    assert {"trl", "peft", "transformers"} < named.used_libraries(load_recipe(Path("quickstart")))
    monkeypatch.setattr("evenhand.preflight.used_libraries", lambda _: {"transformers"})
    monkeypatch.setattr("importlib.metadata.requires", lambda name: ["transformers<4; extra == 'train'"])
    preflight(plain)
    assert caplog.text.count("was not tried with this evenhand: if something fails, pip install 'transformers<4'") == 1


@pytest.mark.needs("plugins/ray")
def test_engines_that_get_no_batch_are_told(tmp_path, tiny_model, caplog, monkeypatch):
    values = recipe(tmp_path, {"mine": {"kind": "length"}}).model_dump(mode="json")
    values["model"]["name"] = str(tiny_model)
    values["generate"] |= {"backend": "transformers", "replicas": 3, "max_model_len": 2048}
    preflight(Recipe.model_validate(values))
    said = "generate: 24 test requests are 1 batch of 64, and 2 of 3 engines are idle: write requests_per_batch: 8"
    assert said in caplog.text
    caplog.clear()
    preflight(Recipe.model_validate(values | {"generate": values["generate"] | {"requests_per_batch": 8}}))
    assert "idle" not in caplog.text
    # on a cluster, too, where their number is written
    monkeypatch.setattr(named, "_refuse_cluster", lambda recipe: None)
    for replicas in (3, "auto"):
        generate = values["generate"] | {"replicas": replicas}
        preflight(Recipe.model_validate(values | {"executor": "ray", "generate": generate}))
        assert (said in caplog.text) == (replicas == 3)
        caplog.clear()


@pytest.mark.needs("plugins/released")
def test_checkpoints_as_released_are_refused_with_the_command_that_converts_them(tmp_path):
    (tmp_path / "port").mkdir()
    (tmp_path / "port" / "config.json").write_text('{"model_type": "bleurt"}', encoding="utf-8")
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "config.json").write_text('{"model_type": "roberta"}', encoding="utf-8")
    tensors = {f"{head}_layer.weight": np.ones(1, dtype=np.float32) for head in ("tri", "bin", "reg")}
    pytest.importorskip("safetensors.numpy").save_file(tensors, tmp_path / "made" / "model.safetensors")
    alignscore = {"kind": "alignment", "aligner": "alignscore"}
    judges = {
        "pickle": {**alignscore, "model": str(tmp_path / "AlignScore-large.ckpt")},
        "port": {"kind": "bleurt", "model": str(tmp_path / "port")},
        "file": {**alignscore, "model": str(tmp_path / "made" / "model.safetensors")},
    }
    with pytest.raises(RecipeError) as caught:
        preflight(recipe(tmp_path, judges))
    lines = str(caught.value).splitlines()
    assert [line.split("'")[1] for line in lines] == ["judges.pickle.model", "judges.port.model"]
    assert ["evenhand judges convert alignscore" in lines[0], "evenhand judges convert bleurt" in lines[1]] == [
        True,
        True,
    ]


@pytest.mark.needs("plugins/released", "plugins/opinions")
def test_what_fairness_judges_rest_on_must_be_there(tmp_path, monkeypatch):
    pytest.importorskip("nltk")
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path / "absent"))
    judges = {
        "fit": {"kind": "rouge"},
        "words": {"kind": "value-shares", "matcher": {"kind": "words"}},
        "ngram": {"kind": "value-shares"},
        "bart": {"kind": "value-shares", "matcher": {"kind": "bartscore", "model": "./absent", "tokens": "words"}},
        "ec": {"kind": "equal-coverage", "entailer": {"kind": "nli", "model": "./absent"}},
        "own": {"kind": "contrast", "entailer": {"kind": "words", "units": "llm", "splitter": LANGUAGE_MODEL}},
        "graph": {"kind": "opinion-graph"},
        "split": {"kind": "unieval", "model": "org/model", "splitter": "nltk"},
    }
    values = recipe(tmp_path, {"fit": judges["fit"]}).model_dump(mode="json")
    values["generate"]["plans"] = {"plain": {}}
    with pytest.raises(RecipeError) as caught:
        preflight(Recipe.model_validate(values | {"judges": judges}))
    assert keys_of(caught.value) == [
        "judges.ngram.matcher", "judges.bart.matcher.model, judges.ec.entailer.model",
        "judges.own.entailer.splitter.model.name", "judges.split.splitter",
        # which no hub gives
        "judges.split.model",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("flags", "gpus", "dtype", "told"),
    [
        ("avx2", [], "bfloat16", ["model.dtype", "judges.grade.model.dtype"]),
        ("avx2 avx512f", [], "bfloat16", []),
        ("avx2", ["0"], "bfloat16", []),
        ("avx2", [], "float32", []),
    ],
)
def test_a_type_that_the_processor_converts_is_told_with_the_key_that_changes_it(
    tmp_path, monkeypatch, flags, gpus, dtype, told
):
    (tmp_path / "cpuinfo").write_text(f"flags\t\t: fpu {flags}\n")
    monkeypatch.setattr(named, "PROCESSOR", tmp_path / "cpuinfo")
    monkeypatch.setattr(named, "visible_gpus", lambda: gpus)
    model = {"name": "./model", "dtype": dtype}
    grade = {"kind": "rubric", "rubric": "coverage", "model": model, "backend": {"backend": "vllm"}}
    values = recipe(tmp_path, {"grade": grade}).model_dump(mode="json", exclude_none=True)
    made = Recipe.model_validate(values | {"model": model, "generate": {"backend": "vllm", "plans": {"plain": {}}}})
    assert named.slow_on_this_processor(made) == told


def test_cells_that_a_spreadsheet_left_among_the_documents_are_one_warning(tmp_path, caplog):
    values = recipe(tmp_path, {"mine": {"kind": "length"}}).model_dump(mode="json")
    rows = [f"t{k},{side},{'nan' if k < 3 else 'Fine.'}\n" for k in range(8) for side in ("left", "right")]
    (tmp_path / "docs.csv").write_text("set,stance,text\n" + "".join(rows))
    corpus = {"path": str(tmp_path / "docs.csv"), "attribute": "stance", "test": {"split": None}, "test_share": 0.75}
    preflight(Recipe.model_validate(values | {"corpus": corpus}))
    (said,) = (each for each in caplog.messages if "a spreadsheet or a platform left" in each)
    assert said.startswith("key 'corpus.path': ") and "'nan'" in said
