"""Recipes that are broken in one way which used to show after the first stage only: each is refused at once, by its key.

The base recipe is sound, so every refusal is due to the one change. What a training would refuse is asked of `rehearse`, which
`preflight` runs in a process of its own; one recipe goes that whole way.
"""

import copy
import json
import os
import shutil
import stat
import sys

import pytest
import yaml
from commands import started

from evenhand.config import Recipe
from evenhand.errors import EvenhandError
from evenhand.generate.stage import phase_requests
from evenhand.preflight import check_names, preflight
from evenhand.preflight.held_out import eval_checks
from evenhand.preflight.named import engine_checks
from evenhand.preflight.room import prompt_checks, refuse_unfit_pairs
from evenhand.runfolder.phases import open_phase
from evenhand.train.dialogues import _beginning
from evenhand.train.rehearse import rehearse

SIDES = {
    "left": "The ferry is cheap and nurses need it at night.",
    "right": "The ferry is dear and a bridge pays for itself.",
}


def document_set(name, split, sides=("left", "right"), repeat=1, **more):
    documents = [
        {"id": f"{name}/{side}", "text": f"{name}: " + " ".join([SIDES[side]] * repeat), "attributes": {"stance": side}}
        for side in sides
    ]
    return {"id": name, "topic": name, "documents": documents, "split": split, **more}


def write_corpus(path, **options):
    sets = [document_set(f"ferry-{i}", "train" if i < 3 else "test", **options) for i in range(6)]
    path.write_text("".join(json.dumps(each) + "\n" for each in sets))
    return str(path)


@pytest.fixture
def values(tmp_path, tiny_model):
    """A sound recipe that generates and judges with the tiny model and trains nothing."""
    return {
        "name": "sound",
        "output": str(tmp_path / "run"),
        "model": {"name": str(tiny_model), "dtype": "float32"},
        "corpus": {"path": write_corpus(tmp_path / "corpus.jsonl")},
        "generate": {
            "backend": "transformers",
            "plans": {"nucleus": {"top_p": 0.9, "max_tokens": 32}},
            "max_model_len": 512,
        },
        "judges": {"fit": {"kind": "rouge"}},
        "reward": {"judges": ["fit"]},
        "evaluation": {"judges": ["fit"]},
        "rounds": 0,
    }


@pytest.fixture
def trained(values):
    """A sound recipe that trains."""
    return values | {
        "rounds": 1,
        "train": {"accelerate_config": "cpu"},
        "lora": {"r": 4, "lora_alpha": 8},
        "trainer": {},
    }


def refusal(values):
    with pytest.raises(EvenhandError) as caught:
        preflight(Recipe.model_validate(values))
    assert caught.value.exit_code == 2
    return str(caught.value)


def told_by(checks, values):
    """What these checks alone say, without a rehearsal of the training, which takes seconds."""
    found = []
    for check in checks(Recipe.model_validate(values)):
        try:
            check.run()
        except EvenhandError as error:
            found.append(str(error))
    return found


def train_prompt_checks(recipe):
    phase = open_phase(recipe, "round-00")
    return prompt_checks(phase, phase_requests(phase))


def judged(values, **options):
    """The recipe with a second judge in the report."""
    changed = copy.deepcopy(values)
    changed["judges"]["mine"] = options
    changed["evaluation"]["judges"] = ["fit", "mine"]
    return changed


def asking(values, tiny_model, backend=None, **options):
    """The recipe with a rubric on the tiny model."""
    section = {"backend": "transformers", "max_model_len": 1024} | (backend or {})
    return judged(
        values,
        **{
            "kind": "rubric",
            "rubric": "coverage",
            "scoring": "greedy",
            "model": {"name": str(tiny_model)},
            "backend": section,
        }
        | options,
    )


def of_all(values, tmp_path, sides=("left", "right"), **options):
    """A recipe of summaries of all sides with one more judge."""
    changed = judged(values, **options)
    changed["task"] = {"scope": "all"}
    changed["corpus"] = {"path": write_corpus(tmp_path / "all.jsonl", sides=sides)}
    return changed


@pytest.mark.usefixtures("fresh_accelerate")
def test_the_base_recipes_are_sound(values, trained, tiny_model, tmp_path):
    preflight(Recipe.model_validate(values))
    preflight(Recipe.model_validate(asking(values, tiny_model)))
    preflight(Recipe.model_validate(of_all(values, tmp_path, kind="value-shares", matcher={"kind": "words"})))
    assert rehearse(Recipe.model_validate(trained)) == []


def test_key_points_that_the_corpus_lacks(values):
    found = refusal(judged(values, kind="rouge", against="key_points"))
    assert "key 'judges.mine': 6 of 6 test requests cannot be scored: no key points listed (6)" in found


def test_one_candidate_has_no_others_to_be_compared_with(values):
    two = {"hot": {"candidates": 2, "max_tokens": 16}}
    one = {"hot": {"candidates": 1, "max_tokens": 16}}
    plans = {
        name: values | {"generate": {**values["generate"], "plans": each}} for name, each in (("1", one), ("2", two))
    }
    found = refusal(judged(plans["1"], kind="consensus"))
    assert "key 'judges.mine': 6 of 6 test requests cannot be scored: no other candidate (6)" in found
    assert "ask for two candidates or more under generate.plans" in found
    preflight(Recipe.model_validate(judged(plans["2"], kind="consensus")))


def test_thought_that_leaves_no_room_for_a_source(values, tiny_model):
    thinking = {"scoring": "thought", "thought_tokens": 900}
    found = refusal(asking(values, tiny_model, **thinking))
    assert "key 'judges.mine.backend.max_model_len': 1024 tokens have no room for a source" in found
    preflight(Recipe.model_validate(asking(values, tiny_model, {"max_model_len": 2048}, **thinking)))


def test_key_points_of_a_few_sets_are_too_few(values, tmp_path):
    lines = [
        document_set(f"s{i}", "test", key_points={"left": ["cheap"], "right": ["dear"]} if i else {}) for i in range(6)
    ]
    (tmp_path / "some.jsonl").write_text("".join(json.dumps(each) + "\n" for each in lines))
    values["corpus"]["path"] = str(tmp_path / "some.jsonl")
    assert "2 of 12 test requests cannot be scored" in refusal(judged(values, kind="rouge", against="key_points"))
    # and as many as the recipe allows are none too many
    preflight(Recipe.model_validate(judged(values, kind="rouge", against="key_points") | {"limits": {"unscored": 0.2}}))


def test_training_on_scripted_candidates_that_have_no_tokens(values):
    scripted = {**values["generate"], "backend": "scripted"}
    recipe = Recipe.model_validate(values | {"rounds": 1, "generate": scripted})
    with pytest.raises(EvenhandError, match=r"generate\.backend.*engine: \{tokenize: true\}"):
        preflight(recipe, elsewhere=True)
    # a stage alone trains nothing
    check_names(recipe)


def test_no_documents_of_other_sides(values, tmp_path):
    values["corpus"] = {"path": write_corpus(tmp_path / "one.jsonl", sides=("left",)), "sides": ["left"]}
    assert "no documents of other sides" in refusal(judged(values, kind="rouge", against="opposing"))


@pytest.mark.parametrize(
    "options",
    [{"kind": "value-shares", "matcher": {"kind": "words"}}, {"kind": "equal-coverage", "entailer": {"kind": "words"}}],
)
def test_fairness_of_sets_with_one_value(values, tmp_path, caplog, options):
    found = refusal(of_all(values, tmp_path, sides=("left",), **options))
    assert "key 'judges.mine': no test request can be scored" in found
    assert "every set has a single document" in found and "name another corpus.attribute than 'stance'" in found
    # and where no judge compares values it is no mistake, but said
    preflight(Recipe.model_validate(of_all(values, tmp_path, sides=("left",), kind="length")))
    assert "key 'corpus.attribute': every set has a single document" in caplog.text


def test_a_target_without_a_weight_for_a_value(values, tmp_path):
    options = {"kind": "value-shares", "matcher": {"kind": "words"}, "target": {"left": 1, "centre": 1}}
    assert "no weight in target for 'right' (3)" in refusal(of_all(values, tmp_path, **options))


def test_an_attribute_that_no_document_has(values):
    values["corpus"]["attribute"] = "party"
    assert "party" in refusal(values)


def test_a_test_split_without_sets(values):
    values["corpus"]["test"] = {"split": "validation"}
    assert "corpus" in refusal(values)
    assert "validation" in refusal(values)


def test_a_source_that_the_judge_cannot_read_whole(values, tiny_model, tmp_path):
    values["corpus"]["path"] = write_corpus(tmp_path / "long.jsonl", repeat=12)
    values["generate"]["max_model_len"] = 2048
    found = refusal(asking(values, tiny_model, {"max_model_len": 640}))
    assert "key 'judges.mine': more than 0 of 6 test sources for 'mine' are too long" in found
    assert "max_model_len 640 leaves" in found


@pytest.mark.parametrize(
    "options",
    [
        {"kind": "rubric", "rubric": "coverage", "scoring": "greedy", "overflow": "truncate"},
        pytest.param({"kind": "finesure", "most_reply_tokens": 32}, marks=pytest.mark.needs("plugins/released")),
        pytest.param(
            {"kind": "extract", "extractors": ["lead"], "scoring": "greedy"}, marks=pytest.mark.needs("plugins/extract")
        ),
    ],
    ids=lambda options: options["kind"],
)
def test_a_judge_whose_own_prompt_fills_its_model(values, tiny_model, options):
    more = {"model": {"name": str(tiny_model)}, "backend": {"backend": "transformers", "max_model_len": 128}}
    found = refusal(judged(values, **options, **more))
    assert "key 'judges.mine.backend.max_model_len': 128 tokens have no room for a source" in found


@pytest.mark.needs("plugins/released")
def test_a_source_too_long_for_finesure(values, tiny_model, tmp_path):
    values["corpus"]["path"] = write_corpus(tmp_path / "long.jsonl", repeat=12)
    values["generate"]["max_model_len"] = 2048
    options = {
        "kind": "finesure", "model": {"name": str(tiny_model)}, "most_reply_tokens": 32,
        "backend": {"backend": "transformers", "max_model_len": 600},
    }  # fmt: skip
    assert "sources for 'mine' are too long" in refusal(judged(values, **options))


def test_prompts_longer_than_the_model_takes(values, tmp_path):
    values["corpus"]["path"] = write_corpus(tmp_path / "long.jsonl", repeat=40)
    assert "key 'generate.max_model_len': more than 0 of 6 test prompts are too long" in refusal(values)


@pytest.mark.needs("plugins/hierarchical")
def test_sets_longer_than_the_model_takes_are_summarised_in_parts(values, tmp_path):
    values["corpus"]["path"] = write_corpus(tmp_path / "long.jsonl", repeat=10)
    values["task"] = {"scope": "all"}
    own = values["generate"] | {"max_model_len": 460}
    values["generate"] = own
    assert "test prompts are too long" in refusal(values)
    values["generate"] = own | {"method": "hierarchical", "hierarchical": {"part_tokens": 32}}
    preflight(Recipe.model_validate(values))
    # summaries of that length would not stand beside each other
    values["generate"] = own | {"method": "hierarchical", "hierarchical": {"part_tokens": 180}}
    assert "test prompts with all summaries of parts are too long" in refusal(values)


def test_a_plan_that_leaves_no_room_for_a_prompt(values):
    values["generate"]["plans"]["nucleus"]["max_tokens"] = 512
    assert "leave no room for a prompt in max_model_len 512" in refusal(values)


def test_an_engine_argument_that_vllm_does_not_have(values, tiny_model):
    pytest.importorskip("vllm")
    backend = {"backend": "vllm", "max_model_len": 256, "engine": {"gpu_memory_utilisation": 0.5}}
    found = refusal(asking(values, tiny_model, backend))
    assert "'gpu_memory_utilisation' is not an argument of vllm.LLM; did you mean 'gpu_memory_utilization'?" in found


def test_more_replicas_than_gpus(values, tiny_model, tmp_path, monkeypatch):
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'GPU 0: NVIDIA H100 80GB HBM3 (UUID: GPU-0)'\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    values["generate"]["replicas"] = 2
    found = refusal(asking(values, tiny_model, {"backend": "transformers", "replicas": 3}))
    assert "key 'generate.replicas': 2 replicas of 1 GPU each need 2, and 1 is visible here" in found
    assert "key 'judges.mine.backend.replicas': 3 replicas of 1 GPU each need 3, and 1 is visible here" in found
    wide = {"backend": "vllm", "max_model_len": 256, "engine": {"tensor_parallel_size": 4}, "replicas": "auto"}
    found = refusal(asking(values, tiny_model, wide))
    assert "key 'judges.mine.backend.engine': an engine of 4 GPUs needs them on one machine, and 1 is visible" in found


def test_more_tokens_than_the_model_has_positions(values, tiny_model):
    found = refusal(asking(values, tiny_model, {"backend": "vllm", "max_model_len": 100_000}))
    assert "key 'judges.mine.backend.max_model_len': 100000 tokens are more than the" in found


def test_a_model_of_a_judge_that_is_not_there(values):
    found = refusal(judged(values, kind="alignment", aligner="nli", model="./absent"))
    assert "key 'judges.mine.model': model './absent': there is no such file or folder" in found


@pytest.fixture(scope="module")
def classifiers(tmp_path_factory, tiny_model):
    """Folder of two tiny BERTs: one of three classes of inference, and one of two classes without names."""
    transformers = pytest.importorskip("transformers")
    folder = tmp_path_factory.mktemp("classifiers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model)
    size = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    names = {"inference": {0: "entailment", 1: "neutral", 2: "contradiction"}, "other": {0: "LABEL_0", 1: "LABEL_1"}}
    for name, labels in names.items():
        config = transformers.BertConfig(
            vocab_size=len(tokenizer), id2label=labels, label2id={label: i for i, label in labels.items()}, **size
        )
        transformers.BertForSequenceClassification(config).save_pretrained(folder / name)
        tokenizer.save_pretrained(folder / name)
    return folder


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"kind": "alignment", "aligner": "nli"}, "needs exactly one class named 'entailment' or 'supports'"),
        pytest.param(
            {"kind": "summac"},
            "needs exactly one class named 'entailment' or 'supports'",
            marks=pytest.mark.needs("plugins/released"),
        ),
        pytest.param({"kind": "bleurt"}, "is a bert with 2 outputs", marks=pytest.mark.needs("plugins/released")),
        pytest.param({"kind": "unieval"}, "cannot open model", marks=pytest.mark.needs("plugins/released")),
        pytest.param({"kind": "minicheck"}, "cannot open model", marks=pytest.mark.needs("plugins/released")),
        ({"kind": "alignment", "aligner": "alignscore"}, "holds a bert model; AlignScore is a RoBERTa"),
    ],
    ids=lambda each: each["kind"] if isinstance(each, dict) else "",
)
def test_a_model_of_another_kind_than_its_judge_reads(values, classifiers, options, said):
    found = refusal(judged(values, **options, model=str(classifiers / "other")))
    assert found.startswith("key 'judges.mine.model': ")
    assert said in found


@pytest.mark.needs("plugins/released")
def test_a_class_that_the_model_does_not_have(values, classifiers):
    model = str(classifiers / "inference")
    preflight(Recipe.model_validate(judged(values, kind="summac", model=model)))
    preflight(Recipe.model_validate(judged(values, kind="alignment", aligner="nli", model=model)))
    assert "needs exactly one class named 'entails'" in refusal(
        judged(values, kind="summac", model=model, label="entails")
    )


def test_parts_of_fairness_judges_with_models_of_another_kind(values, classifiers, tmp_path):
    other = str(classifiers / "other")
    matcher = {"kind": "bertscore", "model": other, "layer": 9, "baseline": 0, "tokens": "words"}
    found = refusal(of_all(values, tmp_path, kind="value-shares", matcher=matcher))
    assert "key 'judges.mine.matcher.model': matcher 'bertscore': layer 9 is not there" in found
    found = refusal(of_all(values, tmp_path, kind="equal-coverage", entailer={"kind": "nli", "model": other}))
    assert "key 'judges.mine.entailer.model': entailer 'nli'" in found
    assert "needs the three classes contradiction, neutral and entailment" in found


def test_a_judge_that_asks_a_model_without_language(values, classifiers):
    found = refusal(asking(values, classifiers / "inference"))
    assert "key 'judges.mine.model.name': judge 'mine': model" in found
    assert "which would be drawn at random" in found


def test_an_attention_that_a_judges_model_does_not_have(values, tiny_model):
    found = refusal(asking(values, tiny_model, model={"name": str(tiny_model), "attn_implementation": "spda"}))
    assert "key 'judges.mine.model.name'" in found
    assert "cannot open model" in found
    assert '"spda"' in found


@pytest.mark.needs("plugins/released")
def test_a_read_out_that_is_not_there(values, tiny_model, tmp_path):
    options = {"kind": "summac", "variant": "conv", "model": str(tiny_model), "weights": str(tmp_path / "absent")}
    assert "key 'judges.mine.weights'" in refusal(judged(values, **options))


def test_a_template_without_the_source(values, tiny_model, tmp_path):
    (tmp_path / "rubric.txt").write_text("Grade {summary} from 1 to 5.")
    found = refusal(asking(values, tiny_model, template=str(tmp_path / "rubric.txt")))
    assert "has the fields ['summary'], but a rubric needs {source} and {summary}" in found


def test_nltks_data_that_is_not_there(values, tmp_path, monkeypatch):
    pytest.importorskip("nltk")
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path / "absent"))
    found = refusal(of_all(values, tmp_path, kind="value-shares", matcher={"kind": "ngram"}))
    assert "key 'judges.mine.matcher'" in found
    assert str(tmp_path / "absent") in found


@pytest.mark.needs("plugins/released")
def test_a_splitter_without_its_data(values, tiny_model, tmp_path, monkeypatch):
    pytest.importorskip("nltk")
    monkeypatch.setenv("EVENHAND_NLTK", str(tmp_path / "absent"))
    found = refusal(judged(values, kind="summac", model=str(tiny_model), splitter="nltk"))
    assert "key 'judges.mine.splitter'" in found


@pytest.fixture
def bare_python(tmp_path):
    """An interpreter that has none of the libraries."""
    path = tmp_path / "bare"
    path.write_text(f'#!/bin/sh\nunset PYTHONPATH\nexec {sys.base_prefix}/bin/python3 -I -S "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


def test_a_generating_interpreter_without_the_backend(values, bare_python):
    values["generate"]["python"] = bare_python
    assert f"key 'generate.backend': {bare_python} needs evenhand, which is not installed" in refusal(values)


def test_a_training_interpreter_without_the_libraries(trained, bare_python):
    trained["train"]["python"] = bare_python
    assert f"key 'train': the training cannot be started by {bare_python}" in refusal(trained)


def test_a_run_folder_below_a_file(values, tmp_path):
    (tmp_path / "file").write_text("")
    values["output"] = str(tmp_path / "file" / "run")
    assert f"key 'output': {tmp_path}/file/run: cannot be made, because {tmp_path}/file is a file" in refusal(values)


@pytest.mark.parametrize("name", ["report", "logs", "evaluation/base"])
def test_a_file_in_the_place_of_a_later_stages_folder(values, tmp_path, name):
    (tmp_path / "run" / name).parent.mkdir(parents=True)
    (tmp_path / "run" / name).write_text("")
    assert f"key 'output': {tmp_path}/run/{name}: cannot be made" in refusal(values)


@pytest.mark.usefixtures("quick_python")
def test_caches_that_are_none(values, trained, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path))
    for name in ("judgements", "embeddings", "reference_logps", "answers"):
        (tmp_path / f"{name}.sqlite").write_text("not a database" * 100)
    # no server is asked, and nothing is trained or precomputed
    values["trainer"] = {"precompute_ref_log_probs": True}
    assert "answers" not in refusal(values) and "reference_logps" not in refusal(values)
    assert "reference_logps" not in refusal(trained)
    said = refusal(trained | {"trainer": trained.get("trainer", {}) | {"precompute_ref_log_probs": True}})
    assert (
        f"key 'EVENHAND_CACHE': {tmp_path}/reference_logps.sqlite: reference log-probabilities cannot be kept" in said
    )
    assert f"key 'EVENHAND_CACHE': {tmp_path}/judgements.sqlite: cached judgements cannot be kept" in said
    assert f"key 'EVENHAND_CACHE': {tmp_path}/embeddings.sqlite: embeddings cannot be kept" in said


def test_a_cache_that_cannot_be_made(values, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "file" / "cache"))
    assert "key 'EVENHAND_CACHE'" in refusal(values)


def test_more_candidates_than_the_disk_holds(values):
    values["generate"]["plans"]["nucleus"]["candidates"] = 10**9
    found = refusal(values)
    assert "the run would make 6,000,000,000 candidates" in found
    assert "are free at" in found


def test_one_candidate_gives_no_pair(trained):
    trained["generate"]["plans"]["nucleus"]["candidates"] = 1
    with pytest.raises(ValueError, match="one candidate of a request gives no pair"):
        Recipe.model_validate(trained)


def test_a_base_whose_weights_are_quantised_in_its_files(trained, tiny_model, tmp_path):
    shutil.copytree(tiny_model, tmp_path / "quantised")
    config = json.loads((tiny_model / "config.json").read_text()) | {"quantization_config": {"quant_method": "fp8"}}
    (tmp_path / "quantised" / "config.json").write_text(json.dumps(config))
    trained["model"] |= {"name": str(tmp_path / "quantised")}
    (said,) = rehearse(Recipe.model_validate(trained))
    assert said.endswith(
        "are quantised (fp8), and adapters are trained on whole ones; name the model that it was made from, and "
        "write model.quantise: nf4 for four bits"
    )


def test_an_adapter_of_a_rank_that_the_engine_does_not_serve(trained):
    trained["lora"] = {"r": 513}
    trained["generate"] |= {"backend": "vllm"}
    with pytest.raises(ValueError, match=r"lora\.r 513 is more than the 512 that vLLM serves"):
        Recipe.model_validate(trained)
    trained["generate"] |= {"adapter": "merge"}
    Recipe.model_validate(trained)


@pytest.mark.parametrize("reward", [{"combine": "mean"}, {"combine": "weighted", "weights": {"fit": -2.0}}])
def test_a_margin_that_no_two_rewards_have(trained, reward):
    # ROUGE is from 0 to 1, so that two rewards differ by 1 at most, under these weights too
    trained |= {"pairs": {"least_margin": 1.5}, "reward": {"judges": ["fit"]} | reward}
    with pytest.raises(EvenhandError, match=r"1\.5 is more than the widest gap between two rewards, 1,"):
        check_names(Recipe.model_validate(trained))


def test_a_model_to_train_that_does_not_generate_and_is_nowhere(trained, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    trained["model"]["name"] = "org/absent"
    trained["generate"] |= {"backend": "scripted"}
    assert ["evenhand cannot open model 'org/absent'" in each for each in told_by(engine_checks, trained)] == [True]


def test_a_name_that_a_server_has_and_no_hub_can_have(trained):
    trained["model"]["name"] = "qwen2.5:1.5b"
    trained["generate"] |= {"backend": "scripted"}
    (mistake,) = told_by(engine_checks, trained)
    assert "cannot open model 'qwen2.5:1.5b'" in mistake and "a server's model needs its address" in mistake


def test_passes_that_prompts_fill(trained):
    trained["train"]["max_tokens_per_pass"] = 16
    assert "max_tokens_per_pass 16 leaves 15" in told_by(train_prompt_checks, trained)[0]


def train_eval_checks(recipe):
    phase = open_phase(recipe, "round-00")
    return eval_checks(phase, list(phase_requests(phase)))


def test_evaluated_pairs_of_sets_that_are_trained_on(trained, tmp_path):
    trained["trainer"] = {"eval_strategy": "epoch"}
    line = {"request_id": "q", "side": "left", "chosen_id": "a", "rejected_id": "b", "prompt_digest": ""}
    line |= {"chosen_reward": 1.0, "rejected_reward": 0.0, "margin": 1.0}
    for key, role, text in (("prompt", "user", "q"), ("chosen", "assistant", "yes"), ("rejected", "assistant", "no")):
        line[key] = [{"role": role, "content": text}]
    path = tmp_path / "evaluated.jsonl"
    trained["train"] |= {"eval_pairs": str(path)}
    for name, said in (("ferry-1", "that the round makes pairs of and trains on (ferry-1)"), ("ferry-4", None)):
        path.write_text(json.dumps(line | {"set_id": name}) + "\n")
        told = told_by(train_eval_checks, trained)
        assert [said in mistake for mistake in told] == ([True] if said else [])


def test_a_share_of_one_set(trained):
    trained["train"] |= {"eval_pairs": 0.1}
    trained["trainer"] = {"eval_strategy": "epoch"}
    assert not told_by(train_eval_checks, trained)
    trained["corpus"] |= {"train": {"split": "train", "sample": 1}}
    (said,) = told_by(train_eval_checks, trained)
    assert said.startswith("a share of one document set leaves none to train on")


def test_a_limit_of_training_that_prompts_exceed(trained):
    trained["trainer"] = {"max_length": 16}
    assert "max_length 16 leaves 16" in told_by(train_prompt_checks, trained)[0]


def test_pairs_that_are_too_long_or_none_before_any_library_is_loaded(trained, tmp_path):
    path = tmp_path / "pairs.jsonl"

    def refuse(*rows, **train):
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        trained["train"] = {"accelerate_config": "cpu", "pairs": str(path), **train}
        refuse_unfit_pairs(open_phase(Recipe.model_validate(trained), "round-00"))

    def pair(n_words):
        # a word and its space are one token of the tiny model
        return {"prompt": "the" + " the" * (n_words - 1), "chosen": "Yes.", "rejected": "No."}

    trained["trainer"] = {"max_length": 30}
    refuse(pair(20), pair(25))
    message = (
        r"more than {} of 2 prompts with answers in .*: 'line 2' has 4\d tokens, and trainer\.max_length 30 leaves 30; "
        r"raise it, shorten the texts, or {}"
    )
    with pytest.raises(EvenhandError, match=message.format(0, r"write train\.excess_length_strategy: drop")):
        refuse(pair(20), pair(40))
    refuse(pair(20), pair(40), excess_length_strategy="drop")
    with pytest.raises(EvenhandError, match=message.format(1, "make other pairs")):
        refuse(pair(35), pair(40), excess_length_strategy="drop")
    ranked = {
        "prompt": "the" + " the" * 19,
        "completions": [{"rank": n, "completion": f"{n}" * 9 * n} for n in (1, 2, 3)],
    }
    with pytest.raises(EvenhandError, match=r"more than 0 of 1 prompts with answers in .* 'line 1' has"):
        refuse(ranked)
    with pytest.raises(
        EvenhandError, match=r"pairs\.jsonl:2: has the keys 'chosen', 'prompt', 'worse', which make no pair"
    ):
        refuse(pair(20), {"prompt": "a", "chosen": "b", "worse": "c"})
    # the value is the engine's where training has none of its own
    trained["trainer"] = {}
    trained["generate"] |= {"max_model_len": 30}
    with pytest.raises(EvenhandError, match=r"tokens, and generate\.max_model_len 30 leaves 30"):
        refuse(pair(40))
    path.write_text("\n\n")
    with pytest.raises(EvenhandError, match=r"pairs\.jsonl: has no pairs, so there is nothing to train on$"):
        refuse_unfit_pairs(open_phase(Recipe.model_validate(trained), "round-00"))


def test_of_pairs_with_one_prompt_the_longest_is_too_long_or_the_shortest_is_trained_on(trained, tmp_path):
    path = tmp_path / "pairs.jsonl"
    rows = [{"prompt": "the" + " the" * 19, "chosen": " the" * n, "rejected": "No."} for n in (5, 20, 5)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def refuse(length, **train):
        trained["trainer"] = {"max_length": length}
        trained["train"] = {"accelerate_config": "cpu", "pairs": str(path), **train}
        refuse_unfit_pairs(open_phase(Recipe.model_validate(trained), "round-00"))

    _beginning.cache_clear()
    refuse(45)
    # its whole text is searched for a dialogue once
    assert _beginning.cache_info().misses == 1
    with pytest.raises(EvenhandError, match=r"more than 0 of 1 prompts .* 'line 2' has 41 tokens"):
        refuse(30)
    refuse(30, excess_length_strategy="drop")
    with pytest.raises(EvenhandError, match=r"more than 0 of 1 prompts .* 'line 1' has 26 tokens, .* make other pairs"):
        refuse(23, excess_length_strategy="drop")


@pytest.fixture
def passing(trained, tmp_path):
    """A sound recipe on two processes of the CPU that would lose the gradients of all passes but one."""
    two = {"distributed_type": "MULTI_GPU", "num_processes": 2, "use_cpu": True}
    (tmp_path / "two.yaml").write_text(yaml.safe_dump(two))
    trained["train"] = {"accelerate_config": str(tmp_path / "two.yaml")}
    trained["trainer"] = {
        "per_device_train_batch_size": 2,
        "gradient_accumulation_steps": 1,
        "gradient_checkpointing": True,
        "gradient_checkpointing_kwargs": {"use_reentrant": True},
    }
    return trained


def test_prompts_whose_micro_batch_would_lose_passes(passing, caplog):
    def told(most, **trainer):
        caplog.clear()
        passing["train"]["max_tokens_per_pass"] = most
        return told_by(train_prompt_checks, passing | {"trainer": passing["trainer"] | trainer})

    # the longest prompts have 165 tokens, three candidates at most 32 each
    (said,) = told(250)
    assert f"a micro-batch of {2 * (165 + 3 * 32)} tokens needs several passes of 250" in said
    assert "write gradient_checkpointing_kwargs: {use_reentrant: false}" in said
    # an epoch without a whole step may have smaller micro-batches; one whole prompt still fits
    assert told(250, gradient_accumulation_steps=4) == []
    assert "One of more than 250 would lose the gradients of all passes but one" in caplog.text
    assert told(4096) == told(250, gradient_checkpointing_kwargs={"use_reentrant": False}) == []
    assert caplog.text == ""


def test_zero3_on_gpus_would_lose_passes(passing):
    passing["train"] = {"accelerate_config": "zero3", "num_processes": 2, "max_tokens_per_pass": 250}
    for name in ("gradient_checkpointing", "gradient_checkpointing_kwargs"):
        del passing["trainer"][name]
    (said,) = told_by(train_prompt_checks, passing)
    assert "needs several passes of 250" in said and "or use zero2 or fsdp2" in said
    passing["trainer"]["gradient_checkpointing"] = False
    assert told_by(train_prompt_checks, passing) == []
    del passing["trainer"]["gradient_checkpointing"]
    passing["train"]["accelerate_config"] = "zero2"
    assert told_by(train_prompt_checks, passing) == []


def test_own_pairs_whose_micro_batch_would_lose_passes(passing, tmp_path):
    line = {"prompt": "What of the ferry? " * 9, "chosen": "It is cheap.", "rejected": "It is dear."}
    lines = (json.dumps(line | {"prompt": f"{number} {line['prompt']}"}) for number in range(4))
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines))
    passing["train"] |= {"pairs": str(tmp_path / "pairs.jsonl"), "max_tokens_per_pass": 100}
    assert "needs several passes of 100" in broken(passing)
    passing["train"]["max_tokens_per_pass"] = 400
    assert rehearse(Recipe.model_validate(passing)) == []


def broken(trained, **sections):
    """What a rehearsal says of the recipe with these sections changed."""
    changed = copy.deepcopy(trained)
    for section, keys in sections.items():
        changed[section] |= keys
    found = rehearse(Recipe.model_validate(changed))
    assert len(found) == 1, found
    return found[0]


def test_an_optimiser_whose_library_is_missing_is_refused(trained):
    assert broken(trained, trainer={"optim": "galore_adamw"}).startswith(
        "key 'trainer.optim': galore_adamw cannot be had here: You need to install `galore_torch`"
    )


def test_a_loss_that_nobody_has(trained):
    trained["trainer"] = {"loss_type": "sigmoidal"}
    with pytest.raises(ValueError, match=r"TRL has no loss 'sigmoidal'; did you mean 'sigmoid'\?"):
        Recipe.model_validate(trained)


EVALUATED = {"eval_strategy": "epoch", "save_strategy": "epoch", "load_best_model_at_end": True}


@pytest.mark.usefixtures("fresh_accelerate")
@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"lr_scheduler_kwargs": {"foo": 1}}, "unexpected keyword argument 'foo'"),
        ({**EVALUATED, "metric_for_best_model": "eval_los"}, "eval_los"),
    ],
)
def test_what_only_the_first_step_of_a_training_would_show(trained, keys, said):
    trained["train"] |= {"eval_pairs": 0.5} if "eval_strategy" in keys else {}
    found = broken(trained, trainer=keys)
    assert found.startswith("section 'trainer': a training of one step with it ends so: ")
    assert said in found


@pytest.mark.usefixtures("fresh_accelerate")
@pytest.mark.parametrize(
    "sections",
    [
        {
            "trainer": {
                "dataloader_num_workers": 2,
                "dataloader_prefetch_factor": 2,
                "max_length": 300,
                "logging_steps": 50,
            }
        },
        {"trainer": {"loss_type": ["sigmoid", "sft"], "loss_weights": [1.0, 1.0], "precompute_ref_log_probs": True}},
        {
            "train": {"trainer": "pairwise"},
            "trainer": {"dataloader_drop_last": True, "per_device_train_batch_size": 32},
        },
        {
            "train": {"trainer": "pairwise"},
            "trainer": {"neftune_noise_alpha": 5.0, "train_sampling_strategy": "group_by_length"},
        },
        {"train": {"eval_pairs": 0.2}, "trainer": EVALUATED},
        {
            "train": {"eval_pairs": 0.2, "trainer": "pairwise"},
            "trainer": {"eval_strategy": "steps", "lr_scheduler_type": "reduce_lr_on_plateau", "eval_delay": 20},
        },
        {"lora": {"target_modules": "all-linear", "lora_dropout": 0.1}, "trainer": {"disable_dropout": False}},
        pytest.param(
            {
                "task": {"scope": "all"},
                "generate": {"method": "thinned"},
                "pairs": {"mode": "fairpo", "judge": "even"},
                "train": {"fairness": {}},
            },
            marks=pytest.mark.needs("plugins/fairpo"),
        ),
        {"model": {"dtype": "bfloat16"}, "trainer": {"num_train_epochs": 3, "lr_scheduler_type": "cosine"}},
    ],
)
def test_sound_trainings_are_not_refused_by_their_first_step(trained, sections):
    trained["judges"]["even"] = {"kind": "equal-coverage", "entailer": {"kind": "words"}}
    for section, keys in sections.items():
        trained[section] = trained.get(section, {}) | keys
    assert rehearse(Recipe.model_validate(trained)) == []


def test_layers_that_the_model_does_not_have(trained):
    found = broken(trained, lora={"target_modules": ["query_projection"]})
    assert "section 'lora': PEFT refuses it" in found
    assert "query_projection" in found
    assert found.endswith("name layers that it has, or write lora.target_modules: all-linear")


def test_what_a_check_has_said_is_not_said_by_the_training_again(trained, tiny_model):
    trained["model"] |= {"adapter": str(tiny_model)}
    assert refusal(trained).count("has no adapter_config.json") == 1


def test_a_head_that_would_be_adapted(trained):
    said = "key 'lora.target_modules': names the model's head, whose adapter TRL would not train"
    assert broken(trained, lora={"target_modules": ["q_proj", "lm_head"]}).startswith(said)


def test_a_model_whose_attention_cannot_share_a_prompt(trained, tmp_path):
    transformers = pytest.importorskip("transformers")
    tokenizer = transformers.AutoTokenizer.from_pretrained(trained["model"]["name"])
    config = transformers.FalconConfig(
        num_hidden_layers=1, num_attention_heads=2, hidden_size=8, vocab_size=len(tokenizer)
    )
    for part in (transformers.FalconForCausalLM(config), tokenizer):
        part.save_pretrained(tmp_path / "falcon")
    found = broken(trained, model={"name": str(tmp_path / "falcon")})
    assert "'falcon' models cannot train with a shared prefix: its attention does not go through" in found


@pytest.mark.parametrize(
    ("kernel", "trainer"),
    [("flex_attention", "shared-prefix"), ("flex_attention", "pairwise"), ("torch_varlen", "shared-prefix")],
)
def test_a_kernel_that_cannot_train_on_the_cpu(trained, kernel, trainer):
    model = {"attn_implementation": kernel, "dtype": "bfloat16"}
    found = broken(trained, model=model, train={"trainer": trainer})
    assert found.startswith(
        f"key 'model.attn_implementation': {kernel} has no backward pass on the CPU; write sdpa, or"
    )


def test_a_kernel_that_cannot_train_on_the_cpu_where_the_model_is_not_made_yet(trained, tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "empty"))
    model = {"name": "embedded:smollm2-135m-instruct", "attn_implementation": "torch_varlen", "dtype": "bfloat16"}
    assert "torch_varlen has no backward pass on the CPU; write sdpa, or" in broken(trained, model=model)


def test_gpus_that_are_not_there(trained):
    found = broken(trained, train={"accelerate_config": "multi_gpu", "num_processes": 64})
    assert "'multi_gpu' starts 64 processes with a GPU each, and" in found


def test_a_job_of_slurms_with_too_few_nodes(trained, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_NUM_NODES", "2")
    spread = {"accelerate_config": "multi_node", "launcher": "srun", "num_machines": 4}
    assert "key 'train.num_machines': training on 4 nodes, and this job of SLURM's has 2" in broken(
        trained, train=spread
    )


@pytest.mark.usefixtures("quick_python")
def test_a_slurm_that_is_not_there_and_one_that_does_not_answer(trained, tmp_path, monkeypatch):
    spread = trained | {"train": {"accelerate_config": "cpu_multi_node", "launcher": "srun"}}
    monkeypatch.setenv("PATH", str(tmp_path))
    found = refusal(spread)
    assert "key 'train.launcher': srun starts the training, and no SLURM answers here: [Errno 2]" in found
    program = tmp_path / "sinfo"
    program.write_text("#!/bin/sh\necho 'slurm_load_partitions: connect failure' >&2\nexit 1\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    found = refusal(spread)
    assert (
        "answers here: slurm_load_partitions: connect failure" in found and "write train.launcher: accelerate" in found
    )
    program.write_text("#!/bin/sh\nexit 1\n")
    assert "no SLURM answers here: sinfo ended with exit code 1\n" in refusal(spread)
    program.write_text("#!/bin/sh\n")
    assert "no SLURM answers here: 'srun' is not a program" in refusal(spread)
    shutil.copy(program, tmp_path / "srun")
    check_names(Recipe.model_validate(spread))


def test_stock_trls_reference_beforehand_where_fsdp_spreads_the_weights(trained):
    trained["trainer"] = {"precompute_ref_log_probs": True}

    def said(trainer, config):
        trained["train"] = {"trainer": trainer, "accelerate_config": config}
        return [each for each in rehearse(Recipe.model_validate(trained)) if "precompute_ref_log_probs" in each]

    (found,) = said("pairwise", "fsdp2")
    assert found.startswith("key 'trainer.precompute_ref_log_probs': with train.trainer: pairwise")
    assert said("shared-prefix", "fsdp2") == []
    assert said("pairwise", "zero2") == []


def test_an_accelerate_file_that_accelerate_refuses(trained, tmp_path):
    (tmp_path / "own.yaml").write_text(
        yaml.safe_dump({"distributed_type": "NO", "num_processes": 1, "use_cpu": True, "compute_environment": "MARS"})
    )
    found = broken(trained, train={"accelerate_config": str(tmp_path / "own.yaml")})
    assert "key 'train.accelerate_config': accelerate refuses" in found


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"mixed_precision": "bf17"}, "accelerate refuses"),
        (
            {"distributed_type": "DEEPSPEED", "deepspeed_config": {"deepspeed_config_file": "absent.json"}},
            "no such file",
        ),
    ],
)
def test_an_accelerate_file_that_its_launch_refuses(trained, tmp_path, more, said):
    if "distributed_type" in more:
        pytest.importorskip("deepspeed")
    values = {"distributed_type": "NO", "num_processes": 1, "use_cpu": True} | more
    (tmp_path / "own.yaml").write_text(yaml.safe_dump(values))
    found = broken(trained, train={"accelerate_config": str(tmp_path / "own.yaml")})
    assert found.startswith("key 'train.accelerate_config': ")
    assert said in found


def test_pairs_that_are_not_there(trained, tmp_path):
    assert f"{tmp_path}/absent.jsonl: there is no such file" in broken(
        trained, train={"pairs": str(tmp_path / "absent.jsonl")}
    )


def test_pairs_that_are_damaged(trained, tmp_path):
    (tmp_path / "pairs.jsonl").write_text('{"chosen": 1}\n')
    assert f"{tmp_path}/pairs.jsonl:1:" in broken(trained, train={"pairs": str(tmp_path / "pairs.jsonl")})


def test_half_precision_without_a_gpu(trained):
    torch = pytest.importorskip("torch")
    if torch.accelerator.is_available():
        pytest.skip("float16 can be trained here")
    assert "key 'model.dtype': float16 cannot be trained without a GPU" in broken(trained, model={"dtype": "float16"})


def test_an_adapter_of_another_shape(trained, tmp_path):
    peft, transformers = pytest.importorskip("peft"), pytest.importorskip("transformers")
    model = transformers.AutoModelForCausalLM.from_pretrained(trained["model"]["name"])
    config = peft.LoraConfig(r=16, lora_alpha=8, target_modules=["q_proj"], task_type="CAUSAL_LM")
    peft.get_peft_model(model, config).save_pretrained(tmp_path / "adapter")
    assert "cannot be continued with another shape" in broken(trained, model={"adapter": str(tmp_path / "adapter")})


@pytest.mark.usefixtures("quick_python")
def test_all_of_them_are_told_together_and_validate_ends_with_2(trained, tmp_path):
    trained["trainer"] = {"optim": "galore_adamw"}
    trained["judges"]["fit"]["against"] = "key_points"
    path = tmp_path / "recipe.yaml"
    path.write_text(yaml.safe_dump(trained))
    done = started("validate", path)
    assert done.returncode == 2, done.stderr
    assert "no key points listed" in done.stderr
    assert "galore_adamw cannot be had here" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "run").exists()


def test_a_recipe_of_another_machine_is_checked_without_it(trained):
    trained["model"]["name"] = "org/model-of-another-machine"
    trained["train"] |= {"accelerate_config": "multi_gpu", "num_processes": 64}
    preflight(Recipe.model_validate(trained), elsewhere=True)
