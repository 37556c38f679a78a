"""Sound models of many families are opened, whatever their files hold besides."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.config import ModelSection
from evenhand.errors import UnfitModelError
from evenhand.generate.causal_lm import check_causal_lm
from evenhand.models.opening import check_weights, open_chat_tokenizer, open_model, refuse_other_tokenizer
from evenhand.models.wholeness import is_finite

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
safetensors = pytest.importorskip("safetensors.torch")

SIZES: dict[str, Any] = {
    "vocab_size": 120, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4,
    "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
HEADS = {"num_key_value_heads": 2, "head_dim": 8}
SHORT = {"max_position_embeddings": 64}
SEQ2SEQ: dict[str, Any] = {
    "vocab_size": 120, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4,
    "decoder_attention_heads": 4, "encoder_ffn_dim": 48, "decoder_ffn_dim": 48, "pad_token_id": 0, "bos_token_id": 1,
    "eos_token_id": 2, "forced_eos_token_id": 2,
} | SHORT  # fmt: skip
T5: dict[str, Any] = {"vocab_size": 120, "d_model": 32, "d_kv": 8, "d_ff": 48, "num_layers": 2, "num_heads": 4}

DECODERS = ["llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "gemma3_text", "phi3", "olmo2"]
ENCODERS = ["bert", "roberta", "deberta-v2", "electra", "mpnet", "xlm-roberta", "rembert", "modernbert"]
# the pooler of a saved head is not there, and nobody reads it
POOLER = ("pooler.",)


def saved(folder: Path, architecture: str, family: str, **values: Any) -> str:
    """A random model of a family, as transformers saves it."""
    torch.manual_seed(0)
    config = transformers.AutoConfig.for_model(family, **values)
    getattr(transformers, architecture).from_config(config).save_pretrained(folder)
    return str(folder)


def opened(architecture: str, folder: str) -> Any:
    """The model, opened and checked."""
    check_weights(architecture, folder, "the trial", may_lack=POOLER)
    return open_model(architecture, folder, "the trial", may_lack=POOLER)


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("family", DECODERS)
def test_decoders_are_opened_whether_or_not_their_head_is_tied(tmp_path: Path, family: str, tied: bool) -> None:
    folder = saved(tmp_path, "AutoModelForCausalLM", family, **SIZES, **HEADS, tie_word_embeddings=tied)
    model = opened("AutoModelForCausalLM", folder)
    assert (model.get_output_embeddings().weight is model.get_input_embeddings().weight) == tied


@pytest.mark.parametrize("architecture", ["AutoModelForSequenceClassification", "AutoModelForMaskedLM", "AutoModel"])
@pytest.mark.parametrize("family", ENCODERS)
def test_encoders_are_opened_from_models_with_heads(tmp_path: Path, family: str, architecture: str) -> None:
    folder = saved(tmp_path, architecture, family, **SIZES, **SHORT)
    opened(architecture, folder)
    opened("AutoModel", folder)


@pytest.mark.parametrize(("family", "values"), [("t5", T5), ("mt5", T5), ("bart", SEQ2SEQ), ("pegasus", SEQ2SEQ)])
def test_sequence_models_are_opened(tmp_path: Path, family: str, values: dict[str, Any]) -> None:
    folder = saved(tmp_path, "AutoModelForSeq2SeqLM", family, **values)
    opened("AutoModelForSeq2SeqLM", folder)
    opened("AutoModel", folder)


def changed(folder: str, **tensors: Any) -> None:
    """Add tensors to the saved ones."""
    path = Path(folder) / "model.safetensors"
    safetensors.save_file(safetensors.load_file(path) | tensors, path, {"format": "pt"})


def test_buffers_of_older_versions_do_no_harm(tmp_path: Path) -> None:
    llama = saved(tmp_path / "llama", "AutoModelForCausalLM", "llama", **SIZES, **HEADS)
    changed(llama, **{"model.layers.0.self_attn.rotary_emb.inv_freq": torch.ones(4)})
    opened("AutoModelForCausalLM", llama)
    bert = saved(tmp_path / "bert", "AutoModel", "bert", **SIZES, **SHORT)
    changed(bert, **{"embeddings.position_ids": torch.arange(64)[None], "cls.seq_relationship.bias": torch.ones(2)})
    opened("AutoModel", bert)


def test_head_that_is_kept_beside_the_words_it_is_tied_to_is_opened(tmp_path: Path) -> None:
    folder = saved(tmp_path, "AutoModelForCausalLM", "llama", **SIZES, **HEADS, tie_word_embeddings=True)
    changed(
        folder, **{"lm_head.weight": safetensors.load_file(tmp_path / "model.safetensors")["model.embed_tokens.weight"]}
    )
    model = opened("AutoModelForCausalLM", folder)
    assert model.get_output_embeddings().weight is model.get_input_embeddings().weight


def test_settings_are_read_as_leniently_as_transformers_does(tmp_path: Path) -> None:
    folder = saved(tmp_path, "AutoModelForCausalLM", "llama", **SIZES, **HEADS)
    text = (tmp_path / "config.json").read_text()
    (tmp_path / "config.json").write_text('{"note": 1, "note": Infinity,' + text.lstrip().removeprefix("{"))
    opened("AutoModelForCausalLM", folder)


def test_weights_in_shards_are_opened(tmp_path: Path) -> None:
    folder = saved(tmp_path, "AutoModelForCausalLM", "llama", **SIZES, **HEADS)
    model = open_model("AutoModelForCausalLM", folder, "the trial")
    (tmp_path / "model.safetensors").unlink()
    model.save_pretrained(tmp_path, max_shard_size="20KB")
    assert len(list(tmp_path.glob("model-*.safetensors"))) > 1
    opened("AutoModelForCausalLM", folder)


def test_engine_judges_types_and_quantised_weights_by_itself(tiny_model: Path, tmp_path: Path) -> None:
    for path in tiny_model.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    settings = json.loads((tmp_path / "config.json").read_text())
    for changes in ({"model_type": "newer"}, {"quantization_config": {"quant_method": "awq"}}):
        (tmp_path / "config.json").write_text(json.dumps(settings | {"num_hidden_layers": 4} | changes))
        check_causal_lm(ModelSection(name=str(tmp_path)), None, "the trial")


def test_four_bits_are_opened(tmp_path: Path) -> None:
    pytest.importorskip("bitsandbytes")
    folder = saved(tmp_path, "AutoModelForCausalLM", "llama", **SIZES, **HEADS)
    section = transformers.BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4")
    open_model("AutoModelForCausalLM", folder, "the trial", quantization_config=section)


def test_added_padding_token_makes_no_other_tokenizer(tiny_model: Path) -> None:
    # some models were given one that they never read; their words are still theirs
    model = check_weights("AutoModelForCausalLM", str(tiny_model), "the trial")
    tokenizer = transformers.AutoTokenizer.from_pretrained(tiny_model)
    tokenizer.add_special_tokens({"pad_token": "[PAD]"})
    assert len(tokenizer) > model.get_input_embeddings().num_embeddings
    refuse_other_tokenizer(tokenizer, model, "the trial")


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_numbers_are_finite_or_not(dtype: str) -> None:
    weight = torch.tensor([1.0, -2.0, 0.0], dtype=getattr(torch, dtype))
    assert is_finite(weight)
    for strange in ("nan", "inf", "-inf"):
        weight[1] = float(strange)
        assert not is_finite(weight)
    for without in (weight.to("meta"), weight[:0], torch.tensor([1, 2])):
        assert is_finite(without)


def test_weights_that_have_no_place_in_the_asked_dtype_are_refused(tmp_path: Path) -> None:
    folder = saved(tmp_path, "AutoModelForCausalLM", "llama", **SIZES, **HEADS)
    changed(folder, **{"model.norm.weight": torch.full((32,), 1e6)})
    open_model("AutoModelForCausalLM", folder, "the trial", dtype=torch.bfloat16)
    with pytest.raises(UnfitModelError, match=r"in model\.norm\.weight; .* write dtype: bfloat16"):
        # the largest number of float16 is 65,504
        open_model("AutoModelForCausalLM", folder, "the trial", dtype=torch.float16)


def with_template(tiny_model: Path, folder: Path, template: str) -> Path:
    """The tiny model with another chat template."""
    for path in tiny_model.iterdir():
        if path.name != "chat_template.jinja":
            (folder / path.name).symlink_to(path)
    (folder / "chat_template.jinja").write_text(template)
    return folder


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("a fixed prompt", "it leaves out what a user says"),
        ("{% for message in messages %}{{ message.role }}{% endfor %}", "it leaves out what a user says"),
        ("{% for m in messages if m.role == 'system' %}{{ m.content }}{% endfor %}", "it leaves out what a user says"),
        ("{{ messages[0].content[:3] }}", "it leaves out what a user says"),
        ("{# " + "x" * 600_000 + " #}{{ messages }}", r"its chat template has 600,\d+ characters"),
    ],
)
def test_a_chat_template_that_drops_texts_or_takes_minutes_is_refused(
    tiny_model: Path, tmp_path: Path, template: str, said: str
) -> None:
    folder = with_template(tiny_model, tmp_path, template)
    with pytest.raises(UnfitModelError, match=said):
        open_chat_tokenizer(str(folder), "a test")


@pytest.mark.parametrize(
    "template",
    [
        "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}{% endfor %}",
        "{{ messages[-1]['content'] }}",
        "{# " + "x" * 100_000 + " #}{{ messages }}",
    ],
)
def test_usual_chat_templates_are_opened(tiny_model: Path, tmp_path: Path, template: str) -> None:
    folder = with_template(tiny_model, tmp_path, template)
    assert open_chat_tokenizer(str(folder), "a test").chat_template == template


@pytest.mark.parametrize(("bound", "attention"), [(50.0, "eager"), (None, "sdpa")])
def test_a_model_with_bounded_scores_is_opened_with_what_bounds_them(
    tmp_path: Path, bound: float | None, attention: str
) -> None:
    config = transformers.Gemma2Config(
        vocab_size=20, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=2,
        num_key_value_heads=1, head_dim=4, attn_logit_softcapping=bound, attn_implementation="eager",
    )  # fmt: skip
    transformers.Gemma2ForCausalLM(config).save_pretrained(tmp_path)
    if bound is None and not transformers.Gemma2ForCausalLM._supports_sdpa:
        pytest.skip("this transformers has no sdpa for the family")
    opened = open_model("AutoModelForCausalLM", str(tmp_path), "a test", attn_implementation="sdpa")
    assert opened.config._attn_implementation == attention
