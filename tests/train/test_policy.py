import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest
from made_adapters import adapted

from evenhand.config import ModelSection
from evenhand.errors import ModelError, RecipeError
from evenhand.runfolder.phases import Phase
from evenhand.train.policy import fill_adapter, load_base, load_tokenizer, open_policy, quantisation, sharding

torch = pytest.importorskip("torch")
peft = pytest.importorskip("peft")
transformers = pytest.importorskip("transformers")

OpenRound = Callable[..., Phase]


def saved_adapter(tiny_model: Path, folder: Path, **config: Any) -> Path:
    """An adapter as a round leaves it, with weights that are not zero."""
    options = {"lora_alpha": 8, "target_modules": ["q_proj", "k_proj", "v_proj", "o_proj"]} | config
    base = load_base(ModelSection(name=str(tiny_model), dtype="float32"))
    adapted(base, folder, std=0.1, seed=2, task_type="CAUSAL_LM", **options)
    return folder


@pytest.fixture
def round_1(open_round: OpenRound, tiny_model: Path) -> Callable[..., Phase]:
    """Makes a round 1 that starts from an adapter."""

    def make(**sections: Any) -> Phase:
        phase = open_round(number=1, **sections)
        saved_adapter(tiny_model, phase.recipe.output / "round-00" / "adapter")
        return phase

    return make


@pytest.mark.parametrize("reference", ["initial", "previous"])
def test_first_round_is_held_to_the_base(open_round: OpenRound, reference: str) -> None:
    policy = open_policy(open_round(train={"reference": reference}), zero3=False)
    assert policy.line == "policy = base + A(new, trainable); reference = base"
    assert policy.starts_at_reference
    assert (policy.peft_config.r, policy.peft_config.lora_alpha) == (4, 8)
    assert policy.start is None


def test_previous_gives_trl_the_adapter_to_copy(round_1: Callable[..., Phase]) -> None:
    phase = round_1(train={"reference": "previous"})
    policy = open_policy(phase, zero3=False)
    assert policy.line == (
        "policy = base + A(continued from round-00/adapter, trainable); reference = base + A(frozen copy)"
    )
    assert policy.starts_at_reference
    assert policy.peft_config is None
    assert list(policy.model.peft_config) == ["default"]
    assert all(w.requires_grad == ("lora_" in name) for name, w in policy.model.named_parameters())


def test_initial_lets_trl_make_the_adapter_that_is_filled_afterwards(round_1: Callable[..., Phase]) -> None:
    phase = round_1(train={"reference": "initial"})
    policy = open_policy(phase, zero3=False)
    assert policy.line == "policy = base + A(continued from round-00/adapter, trainable); reference = base"
    assert not policy.starts_at_reference
    assert policy.start == phase.adapter
    made = peft.get_peft_model(policy.model, policy.peft_config)
    fill_adapter(made, policy.start)
    continued = open_policy(round_1(train={"reference": "previous"}), zero3=False).model
    mine, wanted = dict(made.named_parameters()), dict(continued.named_parameters())
    assert mine.keys() == wanted.keys()
    assert all(torch.equal(mine[name], wanted[name]) for name in wanted)


def test_another_shape_than_the_adapters_is_refused_value_by_value(round_1: Callable[..., Phase]) -> None:
    phase = round_1(lora={"r": 16, "target_modules": ["q_proj"]})
    with pytest.raises(RecipeError, match=r"lora\.r is 16, the adapter has 4; lora\.target_modules is \['q_proj'\]"):
        open_policy(phase, zero3=False)


def test_adapter_that_is_no_lora_is_refused(round_1: Callable[..., Phase]) -> None:
    phase = round_1()
    path = phase.recipe.output / "round-00" / "adapter" / "adapter_config.json"
    path.write_text(json.dumps({"peft_type": "IA3", "task_type": "CAUSAL_LM"}))
    with pytest.raises(ModelError, match="only LoRA adapters are opened"):
        open_policy(phase, zero3=False)


def test_pickle_in_place_of_safetensors_is_not_continued(round_1: Callable[..., Phase]) -> None:
    phase = round_1()
    weights = phase.recipe.output / "round-00" / "adapter" / "adapter_model.safetensors"
    weights.rename(weights.with_name("adapter_model.bin"))
    with pytest.raises(ModelError, match=r"holds no adapter_model\.safetensors"):
        open_policy(phase, zero3=False)


def test_weights_of_another_adapter_are_not_filled_in(tiny_model: Path, tmp_path: Path) -> None:
    other = saved_adapter(tiny_model, tmp_path / "other", target_modules=["q_proj"])
    base = load_base(ModelSection(name=str(tiny_model), dtype="float32"))
    model = peft.get_peft_model(base, peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM"))
    with pytest.raises(ModelError, match=r"not those that are trained, beginning with '.*v_proj"):
        fill_adapter(model, other)


def test_model_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    section = ModelSection(name=str(tmp_path))
    with pytest.raises(ModelError, match=r"training cannot open model .* holds no weights"):
        load_base(section)
    with pytest.raises(ModelError, match="training cannot open model"):
        load_tokenizer(section)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_base_has_the_recipes_dtype(tiny_model: Path, dtype: str) -> None:
    assert load_base(ModelSection(name=str(tiny_model), dtype=dtype)).dtype == getattr(torch, dtype)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "kind"),
    [
        ({"quant_method": "gptq", "bits": 4}, "gptq"),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "bitsandbytes"),
        # bitsandbytes' own default, which is not what the recipe asks for
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "fp4"}, "bitsandbytes"),
        ({"load_in_4bit": True}, "in some way"),
    ],
)
@pytest.mark.parametrize("quantise", [None, "nf4"])
def test_weights_that_are_quantised_in_their_files_are_refused_before_they_are_read(
    settings: dict[str, Any], kind: str, quantise: Literal["nf4"] | None, tiny_model: Path, tmp_path: Path
) -> None:
    config = json.loads((tiny_model / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(config | {"quantization_config": settings}))
    with pytest.raises(
        RecipeError, match=rf"^key 'model.name': the weights of .* are quantised \({kind}\), .* model.quantise: nf4"
    ):
        load_base(ModelSection(name=str(tmp_path), quantise=quantise))


def test_nf4_base_holds_four_bits_a_weight(tiny_model: Path) -> None:
    bitsandbytes = pytest.importorskip("bitsandbytes")
    model = load_base(ModelSection(name=str(tiny_model), quantise="nf4"))
    layer = model.model.layers[0].mlp.up_proj
    assert isinstance(layer, bitsandbytes.nn.Linear4bit)
    assert layer.weight.quant_type == "nf4"
    assert layer.weight.quant_state.nested
    assert layer.weight.numel() == layer.in_features * layer.out_features // 2  # two weights a byte


def test_nf4_base_of_fsdp_holds_codes_in_the_form_of_numbers(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bitsandbytes")
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", "bf16")
    layer = load_base(ModelSection(name=str(tiny_model), quantise="nf4")).model.layers[0].mlp.up_proj
    assert layer.weight.dtype == torch.bfloat16
    assert layer.weight.numel() == layer.in_features * layer.out_features // 4  # four weights in two bytes


def test_weights_that_fsdp_will_send_take_no_memory_before(tiny_model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # as a process is that is not the first one of its machine
    monkeypatch.setattr("transformers.modeling_utils.is_fsdp_enabled", lambda: True)
    monkeypatch.setattr("transformers.modeling_utils.is_local_dist_rank_0", lambda: False)
    monkeypatch.setenv("ACCELERATE_USE_FSDP", "true")
    base = load_base(ModelSection(name=str(tiny_model), dtype="float32"))
    # one zero in all places of each; transformers reads them, and some versions make a whole model of zeros
    assert all(weight.untyped_storage().size() == 4 and not weight.any() for weight in base.parameters())
    assert base.lm_head.weight is base.model.embed_tokens.weight
    whole = transformers.AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.float32).state_dict()
    assert {name: (weight.shape, weight.dtype) for name, weight in base.state_dict().items()} == {
        name: (weight.shape, weight.dtype) for name, weight in whole.items()
    }
    # what no process sends is there
    assert base.model.rotary_emb.inv_freq[0] == 1


@pytest.mark.parametrize(
    ("sharded", "dtype", "computed", "stored"),
    [
        ("false", "bfloat16", "bf16", torch.uint8),
        # FSDP spreads weights with a fraction only, and would turn others into what it computes with
        ("true", "bfloat16", "bf16", torch.bfloat16),
        ("true", "float32", "no", torch.float32),
        ("true", "float32", "bf16", torch.bfloat16),
    ],
)
def test_four_bit_weights_are_kept_as_fsdp_can_spread_them(
    sharded: str, dtype: Any, computed: str, stored: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("bitsandbytes")
    monkeypatch.setenv("ACCELERATE_USE_FSDP", sharded)
    monkeypatch.setenv("ACCELERATE_MIXED_PRECISION", computed)
    config = quantisation(ModelSection(name="any", dtype=dtype, quantise="nf4"))
    assert config.bnb_4bit_quant_storage == stored
    assert config.bnb_4bit_compute_dtype == getattr(torch, dtype)
    assert quantisation(ModelSection(name="any")) is None


@pytest.mark.parametrize(
    ("variables", "kind"),
    [
        ({}, "plain"),
        ({"ACCELERATE_USE_DEEPSPEED": "true", "ACCELERATE_DEEPSPEED_ZERO_STAGE": "2"}, "zero2"),
        ({"ACCELERATE_USE_DEEPSPEED": "true", "ACCELERATE_DEEPSPEED_ZERO_STAGE": "3"}, "zero3"),
        ({"ACCELERATE_USE_FSDP": "true"}, "fsdp"),
    ],
)
def test_kind_of_checkpoints_is_that_of_the_launch(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], kind: str
) -> None:
    for name in ("ACCELERATE_USE_DEEPSPEED", "ACCELERATE_USE_FSDP"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert sharding() == kind
