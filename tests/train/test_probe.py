"""Which kinds of models train with a shared prefix: what passes is exact by another way of looking, gradients included."""

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
pytest.importorskip("trl")
from leaking_models import LEAKS, leaking  # noqa: E402
from packed_models import LAYOUT, SIZES, sequences  # noqa: E402

from evenhand.benchmarks.families import QUICK, SETTINGS, main, probes  # noqa: E402
from evenhand.errors import RecipeError  # noqa: E402
from evenhand.models.sizes import parameters  # noqa: E402
from evenhand.models.small_copy import small_copy  # noqa: E402
from evenhand.train import probe as probing  # noqa: E402
from evenhand.train.attention import use_masks, use_packed_attention  # noqa: E402
from evenhand.train.packed_attention import masked  # noqa: E402
from evenhand.train.probe import probe, refuse_stock  # noqa: E402

ALL = tuple(transformers.models.auto.modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
EXACT = (
    "apertus", "arcee", "cohere2", "ernie4_5", "exaone4", "glm4", "gpt2", "granite", "helium", "ministral3", "olmo2", "olmo3",
    "phi3", "qwen2_moe", "qwen3_moe", "seed_oss",
)  # fmt: skip
# type -> what is said of it
REFUSED = {
    "bert": "its tokens see those that come after them",
    "falcon": "does not go through transformers' AttentionInterface",
    # a sink that logits of the default configuration hardly show
    "granitemoe_swa": "GraniteMoeSWAAttention makes of a text in a packed sequence something else",
    "minimax_m3_vl_text": "one of its layers makes of a text in a packed sequence something else",
    "gpt_oss": "GptOssAttention makes of a text in a packed sequence something else",
    "lfm2": "Lfm2ShortConv makes of a text in a packed sequence something else",
    "modernbert-decoder": "TRL gets other log-probabilities from its head",
    "stablelm": "its layers do not hand on to their attention",
    "gemma3": "a part for pictures or sound",
}
PAGE = (Path(__file__).parents[2] / "docs/families.md").read_text(encoding="utf-8")
# whose copies take 5 to 20 s each: all refused but longcat_flash and hrm_text
LONG = (
    "deepseek_v32", "glm_moe_dsa", "hrm_text", "inkling_text", "jamba", "kimi_linear", "llama4", "longcat_flash", "mimo_v2_flash",
    "nemotron_h", "olmo_hybrid", "qwen3_5", "qwen3_5_moe", "qwen3_next",
)  # fmt: skip
# several times as wide as the probe's copy, in other places, with other tokens
LARGEST = 2e-4


def of_type(kind: str) -> Any:
    ((_, seen),) = probes([kind])
    return seen


def other_copy(kind: str) -> Any:
    """A model of the type that was made without what the probe makes, in float64; None where the sizes do not fit."""
    config = transformers.CONFIG_MAPPING[kind](**SETTINGS.get(kind, {}))
    settings = config.to_dict()
    changed = {config.attribute_map.get(name, name): value for name, value in SIZES.items()}
    for name in ("head_dim", "global_head_dim"):
        if settings.get(name):
            changed[name] = 16
    for name, value in settings.items():
        if isinstance(value, list) and len(value) == config.num_hidden_layers:
            changed[name] = [value[0], value[-1]]
        if "experts" in name and isinstance(value, int) and value > 4:
            changed[name] = 2 if "per_tok" in name else 4
        if name == "sliding_window" and value:
            changed[name] = 12
    for dtype in (torch.float64, torch.float32):
        try:
            small = type(config).from_dict(settings | changed)
            with torch.device("meta"):
                if parameters(transformers.AutoModelForCausalLM.from_config(small)) > 100e6:
                    return None
            torch.manual_seed(5)
            model = transformers.AutoModelForCausalLM.from_config(small, attn_implementation="eager").to(dtype).eval()
            with torch.no_grad():
                for weight in model.parameters():
                    if weight.ndim > 1:
                        weight.normal_(std=weight.shape[-1] ** -0.5)
                model(input_ids=torch.arange(8)[None])
        except Exception as error:
            print(kind, type(error).__name__, error)
        else:
            return model
    return None


def scores(model: Any, ids: Any, targets: Any, **options: Any) -> Any:
    logits = model(input_ids=ids, use_cache=False, **options).logits[0].double()
    return logits.log_softmax(-1).gather(1, targets[:, None])[:, 0]


def errors_of(model: Any) -> tuple[float, float]:
    """Largest difference of a token's log-probability, and of the gradient of their sum, relative to its norm."""
    generator = torch.Generator().manual_seed(2)
    ids, targets = (torch.randint(3, 200, (1, LAYOUT.length), generator=generator) for _ in range(2))
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    alone, total = {}, 0.0
    for part, places in sequences(ids, LAYOUT):
        positions = torch.arange(len(places))[None]
        found = scores(model, part, targets[0, places], position_ids=positions)
        alone.update(zip(places, found, strict=True))
    total = sum(alone.values())
    wanted = torch.autograd.grad(total, weights, allow_unused=True)
    use_masks(model)
    packed = scores(model, ids, targets[0], position_ids=LAYOUT.positions()[None], shared_prefix=LAYOUT)
    own = sorted(alone)
    found = torch.autograd.grad(packed[own].sum(), weights, allow_unused=True)
    stacked = torch.stack([alone[place] for place in own])
    pairs = [(a, b) for a, b in zip(found, wanted, strict=True) if b is not None]
    off = sum(float((a - b).double().square().sum()) for a, b in pairs) ** 0.5
    return float((packed[own] - stacked).detach().abs().max()), off / sum(
        float(b.double().square().sum()) for _, b in pairs
    ) ** 0.5


@pytest.mark.parametrize("kind", EXACT)
def test_types_that_hand_on_what_tokens_see_pass_and_are_exact(kind: str) -> None:
    seen = of_type(kind)
    assert (seen.refusal, bool(seen.shapes)) == (None, True)
    model = other_copy(kind)
    assert model is not None
    assert max(errors_of(model)) < LARGEST


@pytest.mark.parametrize("kind", REFUSED)
def test_types_that_mix_tokens_otherwise_are_refused_by_what_mixes_them(kind: str) -> None:
    assert REFUSED[kind] in of_type(kind).refusal


def test_the_page_names_every_type_of_its_version() -> None:
    version = PAGE.split("## All types of transformers ")[1].split()[0]
    if not transformers.__version__.startswith(f"{version}."):
        pytest.skip("later versions may have further types")
    assert not [kind for kind in ALL if f"`{kind}`" not in PAGE]


@pytest.mark.slow
@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.campaign) if kind in LONG else kind for kind in ALL]
)
def test_no_type_passes_that_is_not_exact(kind: str) -> None:
    seen = of_type(kind)
    if seen is None:
        pytest.skip("its default configuration is no model")
    if seen.refusal is None and (model := other_copy(kind)) is not None:
        assert max(errors_of(model)) < LARGEST
    exact, _, refused = PAGE.partition("| refused |")
    # later versions of transformers may have further types
    if f"`{kind}`" in PAGE:
        assert f"`{kind}`" in (refused if seen.refusal else exact)


@pytest.mark.parametrize(
    "fault",
    [
        lambda asked: asked | {"sliding_window": None},
        lambda asked: asked | {"scaling": asked["scaling"] * 1.01},
        lambda asked: asked | {"softcap": 50.0},
    ],
    ids=["window left out", "scale off by a hundredth", "bounded scores"],
)
def test_attention_that_is_a_little_wrong_is_seen(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "_SEEN", {})
    monkeypatch.setattr(probing, "masked", lambda *tensors, **asked: masked(*tensors, **fault(asked)))
    config = transformers.MistralConfig(**SIZES, sliding_window=4096)
    assert "MistralAttention makes of a text" in probe(transformers.AutoModelForCausalLM.from_config(config)).refusal


def test_what_is_tried_is_as_the_model_has_it_and_leaves_no_trace() -> None:
    config = transformers.Gemma2Config(
        **SIZES | {"num_hidden_layers": 6},
        head_dim=24,
        sliding_window=4096,
        attn_logit_softcapping=3.0,
        query_pre_attn_scalar=9,
    )
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    torch.manual_seed(7)
    before = torch.get_rng_state()
    shapes = probe(model).shapes
    assert torch.equal(torch.get_rng_state(), before)
    assert {(shape.group, shape.size, shape.scaling, shape.window, shape.softcap) for shape in shapes} == {
        (2, 24, 1 / 3, 12, 3.0),
        (2, 24, 1 / 3, None, 3.0),
    }
    assert config.sliding_window == 4096
    # chunks and windows that nothing reaches stay
    assert small_copy(model, torch.float32, reach=1024).config.sliding_window == 4096


def test_each_kind_of_model_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[Any] = []
    monkeypatch.setattr(probing, "_SEEN", {})
    monkeypatch.setattr(probing, "_probe", lambda model: tries.append(model) or probing.ProbeResult(None, (), 0.0))
    for dtype, end in (("float32", 2), ("bfloat16", 5)):
        config = transformers.LlamaConfig(**SIZES | {"eos_token_id": end}, dtype=dtype)
        probe(transformers.AutoModelForCausalLM.from_config(config))
    assert len(tries) == 1


def test_benchmark_tries_some_of_each_kind(tmp_path: Path) -> None:
    assert {"llama", "gpt_oss"} <= set(QUICK) <= set(ALL)
    main(["--quick", "--output", str(tmp_path / "families.json")])
    exact, refused, absent = (
        table["rows"] for table in json.loads((tmp_path / "families.json").read_text(encoding="utf-8"))["breakdowns"]
    )
    assert [row["type"] for row in exact] == ["llama", "smollm3", "gemma3_text", "mixtral"]
    assert {row["type"]: row["because"] for row in refused}.keys() == {"gpt_oss", "lfm2", "bert", "falcon"}
    assert absent == []


@pytest.mark.parametrize("leak", LEAKS)
def test_models_that_leak_in_a_way_of_their_own_are_refused(leak: str) -> None:
    assert probe(leaking(leak)).refusal


def test_settings_of_the_process_do_not_reach_the_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.integrations import deepspeed

    monkeypatch.setattr(probing, "_SEEN", {})
    model = transformers.AutoModelForCausalLM.from_config(transformers.Olmo2Config(**SIZES))
    # as DeepSpeed's configuration, which transformers holds weakly
    zero3 = type("ZeRO3", (), {"is_zero3": lambda _self: True, "config": {}})()
    monkeypatch.setattr(deepspeed, "_hf_deepspeed_config_weak_ref", None)
    deepspeed.set_hf_deepspeed_config(zero3)
    with torch.device("meta"), torch.autocast("cpu", dtype=torch.bfloat16):
        seen = probe(model)
        assert torch.empty(1).device.type == "meta"
    assert seen.refusal is None
    assert deepspeed.is_deepspeed_zero3_enabled()


def test_chances_of_a_training_decide_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probing, "_SEEN", {})
    config = transformers.LlamaConfig(**SIZES, attention_dropout=0.3)
    assert probe(transformers.AutoModelForCausalLM.from_config(config)).refusal is None


@pytest.mark.parametrize(("kind", "has_stock"), [("lfm2", True), ("bert", False), ("modernbert-decoder", False)])
def test_stock_trl_is_named_where_it_has_the_model_s_log_probabilities(kind: str, has_stock: bool) -> None:
    config = transformers.CONFIG_MAPPING[kind](**SETTINGS.get(kind, {}))
    with torch.device("meta"):
        model = transformers.AutoModelForCausalLM.from_config(config)
    with pytest.raises(RecipeError, match="take another model") as refused:
        use_packed_attention(model, "sdpa")
    assert ("train.trainer: pairwise" in str(refused.value)) == has_stock
    with (
        contextlib.nullcontext()
        if has_stock
        else pytest.raises(RecipeError, match=r"cannot be trained: .*; take another model")
    ):
        refuse_stock(model)
