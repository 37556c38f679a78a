"""Damaged folders of models and adapters: each is one message that names it, and the exit code of what must be mended."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import started
from damage import (
    LFS,
    Damage,
    append,
    config,
    cut,
    filled,
    remove,
    renamed,
    settings,
    sharded,
    template,
    tensors,
    write,
)
from logs import warned

from evenhand.config import ModelSection
from evenhand.errors import EvenhandError, UnfitModelError
from evenhand.generate.causal_lm import check_causal_lm, end_ids, open_causal_lm
from evenhand.models import check
from evenhand.models.adapters import open_adapter
from evenhand.models.opening import open_model

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
peft = pytest.importorskip("peft")
safetensors = pytest.importorskip("safetensors.torch")

MOST_CHARACTERS = 900

WEIGHTS = "model.safetensors"
# what an engine that opens the weights by itself must find: numbers are not read, and it may know types that others do not
UNSEEN = {"nan", "infinity", "config-unknown-type"}
# where so much memory is asked for before shapes are compared that the words differ
TOLD_OTHERWISE = {"config-size-huge"}
NORM = "model.layers.1.input_layernorm.weight"
HEAD, WORDS = "lm_head.weight", "model.embed_tokens.weight"
SOME_SHARD = {"metadata": {}, "weight_map": {"model.norm.weight": "model-00002-of-00002.safetensors"}}
DEEP = "[" * 100_000

# name -> what is done, and a part of the message
DAMAGED: dict[str, tuple[Damage, str]] = {
    "weights-empty": (write(WEIGHTS, b""), "is empty"),
    "weights-lfs-pointer": (write(WEIGHTS, LFS), "git lfs pull"),
    "weights-half": (cut(WEIGHTS, 0.5), "not a whole file of weights"),
    "weights-cut-in-header": (cut(WEIGHTS, 0.001), "not a whole file of weights"),
    "weights-last-byte": (cut(WEIGHTS, 0.999999), "not a whole file of weights"),
    "weights-with-more": (append(WEIGHTS, b"more"), "not a whole file of weights"),
    "weights-html": (write(WEIGHTS, "<!doctype html><title>404</title>"), "not a whole file of weights"),
    "weights-header-huge": (write(WEIGHTS, b"\xff" * 64), "not a whole file of weights"),
    "weights-no-tensors": (lambda folder: safetensors.save_file({}, folder / WEIGHTS), "holds no weights"),
    "weights-absent": (remove(WEIGHTS), "holds no weights"),
    "index-of-absent-shard": (sharded(SOME_SHARD), "names model-00002-of-00002.safetensors, which is not there"),
    "index-torn": (sharded('{"weight_map": {'), "is not JSON"),
    "index-list": (sharded([]), "holds []"),
    "index-without-map": (sharded({}), "does not say which file"),
    "index-elsewhere": (sharded({"weight_map": {"a": "../a.safetensors"}}), "not a file of its folder"),
    "layer-missing": (config(num_hidden_layers=4), "has no weights for model.layers.2.input_layernorm.weight"),
    "layer-left-out": (config(num_hidden_layers=1), "leaves out: model.layers.1.input_layernorm.weight"),
    "one-weight-missing": (tensors(lambda found: found.pop(NORM)), f"has no weights for {NORM}"),
    "one-weight-renamed": (tensors(renamed(NORM, "model.layers.1.norm_in.weight")), f"has no weights for {NORM}"),
    "bias-left-out": (
        tensors(lambda found: found.update({"model.layers.0.self_attn.q_proj.bias": torch.ones(128)})),
        "leaves out: model.layers.0.self_attn.q_proj.bias",
    ),
    "another-head": (
        tensors(lambda found: found.update({HEAD: found[WORDS] + 0.5})),
        f"has other numbers in {HEAD} than in {WORDS}, which its config.json says are the same",
    ),
    "shape-of-one": (tensors(lambda found: found.update({NORM: torch.ones(7)})), f"{NORM} (7 in the files, 128 by"),
    "shape-of-all": (config(hidden_size=64), "has weights of other shapes: model.embed_tokens.weight"),
    "vocabulary-of-config": (config(vocab_size=2000), "has weights of other shapes"),
    "nan": (tensors(filled(NORM, float("nan"))), f"holds NaN or infinite numbers in {NORM}"),
    "infinity": (tensors(filled(NORM, float("-inf"))), f"holds NaN or infinite numbers in {NORM}"),
    "config-empty": (write("config.json", ""), "is not JSON"),
    "config-torn": (cut("config.json", 0.5), "is not JSON"),
    "config-list": (write("config.json", "[]"), "holds []"),
    "config-null": (write("config.json", "null"), "holds None"),
    "config-bare": (write("config.json", "{}"), ""),
    "config-latin-1": (write("config.json", '{"note": "caf\xe9"}'.encode("latin-1")), "is not UTF-8"),
    "config-deep": (write("config.json", DEEP), "nested too deeply"),
    "config-digits": (write("config.json", '{"hidden_size": ' + "9" * 5000 + "}"), "more digits"),
    "config-lfs-pointer": (write("config.json", LFS), "is not JSON"),
    "config-unknown-type": (config(model_type="lama"), "cannot open"),
    "config-type-number": (config(model_type=7), ""),
    "config-size-text": (config(hidden_size="wide"), "cannot open"),
    "config-size-null": (config(hidden_size=None), "cannot open"),
    "config-size-zero": (config(hidden_size=0), "has weights of other shapes"),
    "config-size-huge": (config(hidden_size=10**15), ""),
    "config-vocabulary-negative": (config(vocab_size=-5), "cannot open"),
    "config-layers-text": (config(num_hidden_layers="two"), "cannot open"),
    "config-layers-list": (config(num_hidden_layers=[2]), "cannot open"),
    "config-layers-huge": (config(num_hidden_layers=10**9), "num_hidden_layers 1000000000, more than any model has"),
    "config-no-heads": (config(num_attention_heads=0), "cannot open"),
    "config-activation": (config(hidden_act="silo"), "cannot open"),
    "config-rope": (config(rope_parameters={"rope_type": "spiral"}), "cannot open"),
    "config-rope-list": (config(rope_parameters=[1]), "cannot open"),
    "config-tied-text": (config(tie_word_embeddings="perhaps"), "cannot open"),
    "generation-list": (write("generation_config.json", "[]"), "generation_config.json: holds []"),
    "generation-torn": (write("generation_config.json", "{"), "is not JSON"),
    "tokenizer-absent": (remove("tokenizer.json"), "cannot open the tokenizer"),
    "tokenizer-empty": (write("tokenizer.json", ""), "tokenizer.json is empty"),
    "tokenizer-lfs-pointer": (write("tokenizer.json", LFS), "git lfs pull"),
    "tokenizer-torn": (cut("tokenizer.json", 0.5), "cannot open the tokenizer"),
    "tokenizer-list": (write("tokenizer.json", "[]"), "cannot open the tokenizer"),
    "tokenizer-kind": (settings("tokenizer.json", model={"type": "none"}), "cannot open the tokenizer"),
    "tokenizer-config-list": (write("tokenizer_config.json", "[1]"), "tokenizer_config.json: holds [1]"),
    "tokenizer-config-torn": (cut("tokenizer_config.json", 0.5), "is not JSON"),
    "tokenizer-class-number": (settings("tokenizer_config.json", tokenizer_class=5), "cannot open the tokenizer"),
    "tokenizer-of-another": (
        lambda folder: [config(vocab_size=500)(folder), tensors(
            lambda found: found.update({"model.embed_tokens.weight": found["model.embed_tokens.weight"][:500].clone()})
        )(folder)],
        "so it is another model's",
    ),
    "template-syntax": (template("{% for m in messages %}{{ m['content'] }"), "cannot use the chat template"),
    "template-raises": (template("{{ raise_exception('no') }}"), "cannot use the chat template"),
    "template-undefined": (template("{{ messages[0].nothing.at_all }}"), "cannot use the chat template"),
    "template-number": (template(7), "cannot use the chat template"),
}  # fmt: skip


def refusal(call: Callable[[], object], folder: Path, said: str) -> str:
    """The one message that the call ends with."""
    with pytest.raises(EvenhandError) as caught:
        call()
    text = str(caught.value)
    assert isinstance(caught.value, UnfitModelError), text
    assert caught.value.exit_code == 2
    assert said in text
    assert folder.name in text
    assert len(text) < MOST_CHARACTERS
    return text


@pytest.fixture
def folder(tiny_model: Path, tmp_path: Path) -> Path:
    """A model's folder that may be damaged."""
    return Path(shutil.copytree(tiny_model, tmp_path / "damaged-model"))


@pytest.mark.parametrize("case", DAMAGED)
def test_damaged_model_is_one_message_and_the_same_before_an_engine_starts(folder: Path, case: str) -> None:
    damage, said = DAMAGED[case]
    damage(folder)
    section = ModelSection(name=str(folder))
    told = refusal(lambda: open_causal_lm(section, "the trial"), folder, said)
    if case not in UNSEEN:
        before = refusal(lambda: check_causal_lm(section, None, "the trial"), folder, said)
        assert before == told or case in TOLD_OTHERWISE


def test_damaged_files_are_found_by_the_check_before_any_work(folder: Path) -> None:
    check(str(folder))
    for case in ("weights-lfs-pointer", "config-list"):
        DAMAGED[case][0](folder)
    text = refusal(lambda: check(str(folder)), folder, "git lfs pull")
    assert "holds []" in text, "both are told"


def test_end_tokens_that_are_no_token_ids_are_refused(folder: Path) -> None:
    settings("generation_config.json", eos_token_id="<|im_end|>")(folder)
    tokenizer, model = open_causal_lm(ModelSection(name=str(folder)), "the trial")
    refusal(lambda: end_ids(model, tokenizer), folder, "mend eos_token_id")


# --- adapters ---

LORA = "adapter_model.safetensors"
PREFIX = "base_model.model.model.layers.1.self_attn.q_proj"


def two_of_eight(found: dict[str, Any]) -> None:
    for key in sorted(found)[2:]:
        del found[key]


def lora(change: Callable[[dict[str, Any]], object]) -> Damage:
    return tensors(change, LORA)


def adapter(**changes: Any) -> Damage:
    return settings("adapter_config.json", **changes)


PART = "fits its model only in part"
DAMAGED_ADAPTERS: dict[str, tuple[Damage, str]] = {
    "two-of-eight": (lora(two_of_eight), f"{PART}: it has no weights for"),
    "layer-renamed": (
        lora(renamed(f"{PREFIX}.lora_A.weight", f"{PREFIX.replace('1', '7')}.lora_A.weight")),
        "which the model lacks",
    ),
    "module-renamed": (lora(renamed(f"{PREFIX}.lora_A.weight", f"{PREFIX}x.lora_A.weight")), PART),
    "prefix-lost": (
        lora(lambda found: [found.update({key.removeprefix("base_model."): found.pop(key)}) for key in list(found)]),
        PART,
    ),
    "weights-empty": (write(LORA, b""), "is empty"),
    "weights-lfs-pointer": (write(LORA, LFS), "git lfs pull"),
    "weights-half": (cut(LORA, 0.5), "not a whole file of weights"),
    "weights-no-tensors": (lambda folder: safetensors.save_file({}, folder / LORA), "holds no weights"),
    "weights-absent": (remove(LORA), f"holds no {LORA}"),
    "weights-nan": (
        lora(filled(f"{PREFIX}.lora_A.weight", float("nan"))),
        f"NaN or infinite numbers in {PREFIX}.lora_A",
    ),
    "rank-of-config": (adapter(r=8), "does not fit its model"),
    "rank-of-one-weight": (
        lora(lambda found: found.update({f"{PREFIX}.lora_A.weight": torch.ones(5, 128)})),
        "does not fit its model",
    ),
    "more-modules-in-config": (
        adapter(target_modules=["q_proj", "v_proj", "k_proj"]),
        f"{PART}: it has no weights for",
    ),
    "other-modules-in-config": (adapter(target_modules=["q_proj", "k_proj"]), "which the model lacks"),
    "no-such-modules": (adapter(target_modules=["c_attn"]), "does not fit its model"),
    "ia3": (adapter(peft_type="IA3"), "says peft_type 'IA3'"),
    "unknown-type": (adapter(peft_type="LORENZO"), "says peft_type 'LORENZO'"),
    "type-null": (adapter(peft_type=None), "says peft_type None"),
    "type-list": (adapter(peft_type=["LORA"]), "says peft_type ['LORA']"),
    "config-list": (write("adapter_config.json", "[]"), "holds []"),
    "config-null": (write("adapter_config.json", "null"), "holds None"),
    "config-bare": (write("adapter_config.json", "{}"), "says peft_type None"),
    "config-torn": (cut("adapter_config.json", 0.5), "is not JSON"),
    "config-absent": (remove("adapter_config.json"), "has no adapter_config.json"),
    "rank-text": (adapter(r="four"), "adapter"),
    "rank-zero": (adapter(r=0), "says rank 0"),
    "rank-nan": (adapter(r=float("nan")), "says rank nan"),
    "rank-true": (adapter(r=True), "says rank True"),
    "rank-null": (adapter(r=None), "says rank None"),
    "rank-half": (adapter(r=4.5), "says rank 4.5"),
    "rank-huge": (adapter(r=10**9), "says rank 1000000000"),
    "rank-of-pattern": (adapter(rank_pattern={"q_proj": float("inf")}), "says rank inf"),
    "pattern-list": (adapter(rank_pattern=[4]), "says rank [4]"),
    "alpha-null": (adapter(lora_alpha=None), "says lora_alpha None"),
    "alpha-nan": (adapter(lora_alpha=float("nan")), "says lora_alpha nan"),
    "targets-number": (adapter(target_modules=5), "adapter"),
    "targets-pattern": (adapter(target_modules="(q_proj"), "adapter"),
    "dropout-text": (adapter(lora_dropout="much"), "adapter"),
}


@pytest.fixture
def lora_folder(tiny_model: Path, tmp_path: Path) -> Path:
    """An adapter of rank 4 on the tiny model's queries and values: 8 weights, none of them zero."""
    torch.manual_seed(1)
    base = transformers.AutoModelForCausalLM.from_pretrained(tiny_model)
    made = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM", init_lora_weights=False)
    place = tmp_path / "damaged-adapter"
    peft.get_peft_model(base, made).save_pretrained(place)
    return place


@pytest.mark.parametrize("case", DAMAGED_ADAPTERS)
def test_damaged_adapter_is_one_message_and_the_same_before_an_engine_starts(
    tiny_model: Path, lora_folder: Path, case: str
) -> None:
    damage, said = DAMAGED_ADAPTERS[case]
    damage(lora_folder)
    section = ModelSection(name=str(tiny_model))
    model = open_model("AutoModelForCausalLM", section.name, "the trial")
    told = refusal(lambda: open_adapter(model, lora_folder), lora_folder, said)
    assert refusal(lambda: check_causal_lm(section, lora_folder, "the trial"), lora_folder, said) == told


def test_adapter_of_a_larger_model_is_refused(tiny_model: Path, lora_folder: Path, tmp_path: Path) -> None:
    changes = {"hidden_size": 64, "head_dim": 16}
    other = transformers.AutoConfig.from_pretrained(tiny_model, **changes)
    transformers.AutoModelForCausalLM.from_config(other).save_pretrained(tmp_path / "other")
    model = open_model("AutoModelForCausalLM", str(tmp_path / "other"), "the trial")
    refusal(lambda: open_adapter(model, lora_folder), lora_folder, "name the model that it was trained on")


def test_sound_adapter_is_served_as_peft_serves_it(tiny_model: Path, lora_folder: Path) -> None:
    tokens = torch.tensor([[5, 17, 300, 42]])
    base = open_model("AutoModelForCausalLM", str(tiny_model), "the trial", dtype=torch.float32)
    wanted = peft.PeftModel.from_pretrained(
        transformers.AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32), lora_folder
    )
    with torch.no_grad():
        assert torch.equal(open_adapter(base, lora_folder)(tokens).logits, wanted(tokens).logits)


@pytest.mark.parametrize("options", [{}, {"use_dora": True}, {"modules_to_save": ["lm_head"]}, {"bias": "lora_only"}])
def test_every_kind_of_lora_that_peft_saves_is_opened(
    tiny_model: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    torch.manual_seed(1)
    base = transformers.AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32)
    targets = ["q_proj", "embed_tokens"] if not options else ["q_proj"]
    made = peft.LoraConfig(r=4, target_modules=targets, task_type="CAUSAL_LM", init_lora_weights=False, **options)
    peft.get_peft_model(base, made).save_pretrained(tmp_path / "adapter")
    open_adapter(open_model("AutoModelForCausalLM", str(tiny_model), "the trial"), tmp_path / "adapter")
    check_causal_lm(ModelSection(name=str(tiny_model)), tmp_path / "adapter", "the trial")


@pytest.mark.parametrize("bias", ["lora_only", "all"])
def test_adapter_whose_settings_name_biases_that_its_file_lacks_is_refused(tmp_path: Path, bias: str) -> None:
    torch.manual_seed(1)
    sizes = {"vocab_size": 50, "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1}
    base = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes, num_attention_heads=2, attention_bias=True))
    base.save_pretrained(tmp_path / "base")
    place = tmp_path / "adapter"
    made = peft.LoraConfig(r=4, target_modules=["q_proj"], task_type="CAUSAL_LM", init_lora_weights=False, bias=bias)
    peft.get_peft_model(base, made).save_pretrained(place)

    def opened(**options: Any) -> Any:
        return open_adapter(open_model("AutoModelForCausalLM", str(tmp_path / "base"), "the trial"), place, **options)

    opened()
    key = next(key for key in safetensors.load_file(place / LORA) if key.endswith("q_proj.base_layer.bias"))
    lora(lambda found: found.pop(key))(place)
    for options in ({}, {"is_trainable": True}, {"low_cpu_mem_usage": True}):
        refusal(lambda: opened(**options), place, f"{PART}: it has no weights for {key}")  # noqa: B023


@pytest.mark.parametrize(
    "name", ["model.norm.weight", "lm_head.weight", "model.layers.0.self_attn.q_proj.base_layer.weight"]
)
def test_adapter_that_would_replace_weights_of_its_model_is_refused(
    tiny_model: Path, lora_folder: Path, name: str
) -> None:
    model = open_model("AutoModelForCausalLM", str(tiny_model), "the trial")
    own = model.state_dict()[name.replace(".base_layer", "")]
    lora(lambda found: found.update({f"base_model.model.{name}": own.float()}))(lora_folder)
    open_adapter(model, lora_folder, name="first")
    lora(lambda found: found.update({f"base_model.model.{name}": own + 0.5}))(lora_folder)
    for opened in (model, open_model("AutoModelForCausalLM", str(tiny_model), "the trial")):
        refusal(lambda: open_adapter(opened, lora_folder), lora_folder, "would replace weights of its model")  # noqa: B023


def test_adapter_without_strength_is_said_to_change_nothing(
    tiny_model: Path, lora_folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    adapter(lora_alpha=0)(lora_folder)
    open_adapter(open_model("AutoModelForCausalLM", str(tiny_model), "the trial"), lora_folder)
    assert warned(caplog) == [f"adapter {lora_folder} changes nothing: its lora_alpha is 0"]


@pytest.mark.parametrize("factor", ["lora_A", "lora_B"])
def test_adapter_that_changes_nothing_is_said_to(
    tiny_model: Path, lora_folder: Path, factor: str, caplog: pytest.LogCaptureFixture
) -> None:
    def emptied(found: dict[str, Any]) -> None:
        for key, weight in found.items():
            if factor in key:
                weight.zero_()

    model = open_model("AutoModelForCausalLM", str(tiny_model), "the trial")
    model = open_adapter(model, lora_folder, name="sound")
    assert not warned(caplog)
    lora(emptied)(lora_folder)
    open_adapter(model, lora_folder, name="idle")
    assert warned(caplog) == [f"adapter {lora_folder} changes nothing: in every pair of its factors one is zero"]


# --- the verbs ---


@pytest.mark.usefixtures("quick_python")
@pytest.mark.parametrize(("verb", "case"), [("validate", "weights-lfs-pointer"), ("generate", "layer-missing")])
def test_verb_ends_with_one_message_and_the_code_of_what_must_be_mended(folder: Path, verb: str, case: str) -> None:
    damage, said = DAMAGED[case]
    damage(folder)
    recipe = Path(__file__).parents[2] / "recipes" / "quickstart.yaml"
    changes = {"model.name": folder, "output": folder.parent / "run", "generate.backend": "transformers"}
    arguments = [part for key, value in changes.items() for part in ("--set", f"{key}={value}")]
    done = started(verb, recipe, *arguments)
    assert done.returncode == 2, done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert len(told) == 1
    assert said in told[0]
    assert folder.name in told[0]
    assert "Traceback" not in done.stderr
