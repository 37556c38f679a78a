"""Models in the forms in which those that recipes and docs name are published, in miniature.

Keys of config.json, names of weights, files and tokenizers are as published; sizes, words and weights are not, and the chat
templates are short ones with the same constructs. A guard must let all of them through.
"""

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from chat_families import FAMILIES, Family, make_tokenizer
from hub_models import (
    MODELS,
    SMALL,
    byte_tokenizer,
    flan_t5,
    roberta_config,
    roberta_tokenizer,
    write_bleurt,
    write_tensors,
)

TURNS = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
# a date of its own, and one of the day
OWN_DATE = "{% if not date_string is defined %}{% set date_string = '26 Jul 2024' %}{% endif %}{{ 'Day: ' + date_string + '\n' }}"
DAY = (
    "{% if not date_string is defined %}{% if strftime_now is defined %}{% set date_string = strftime_now('%d %b %Y') %}"
    "{% else %}{% set date_string = '26 Jul 2024' %}{% endif %}{% endif %}{{ 'Day: ' + date_string + '\n' }}"
)
CLOCK = "{%- set today = strftime_now('%Y-%m-%d') -%}{{ '<|im_start|>system\nDay: ' + today + '<|im_end|>\n' }}"
THINKING = TURNS.replace(
    "assistant\n' }}",
    "assistant\n' }}{% if enable_thinking is defined and not enable_thinking %}{{ '<think></think>' }}{% endif %}",
)
LLAMA, QWEN, GEMMA = FAMILIES["Llama 3"], FAMILIES["Qwen 2.5"], FAMILIES["Gemma 3"]
CHATML = replace(QWEN, special=("<|endoftext|>", "<|im_start|>", "<|im_end|>"), added=(), template=TURNS)

SIZES = {
    "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
    "head_dim": 8, "max_position_embeddings": 16384, "initializer_range": 0.2,
}  # fmt: skip


@dataclass(frozen=True)
class Shape:
    """The form of a published model."""

    # class of transformers by which evenhand opens it
    architecture: str
    write: Callable[[Path], None]
    is_tied: bool = False
    # what its files lack and nothing reads
    may_lack: tuple[str, ...] = ()
    # how many tokens end an answer, and whether prompts hold the day; of models that are asked in turns
    n_ends: int = 0
    is_dated: bool = False
    has_template: bool = True


@dataclass(frozen=True)
class Decoder:
    """A language model."""

    kind: str
    family: Family
    values: Mapping[str, Any] = field(default_factory=dict)
    tied: bool = False
    # tokens that generation_config.json names as ends; None for no such file
    ends: tuple[str, ...] | None = ()
    # the template's own file, else tokenizer_config.json has it
    has_jinja: bool = True
    # of several files with an index
    shards: bool = False
    # what lies beside the weights: the makers' own file of them
    beside: str = ""
    # tokens that tokenizer.json does not call special
    plain: tuple[str, ...] = ()
    # class that tokenizer_config.json names
    tokenizer: str = "PreTrainedTokenizerFast"
    # one that its family has in transformers
    attention: str = "sdpa"

    def write(self, folder: Path) -> None:
        """Write its files."""
        transformers = pytest.importorskip("transformers")
        pytest.importorskip("torch").manual_seed(0)
        tokenizer = make_tokenizer(self.family)
        tokenizer.chat_template = self.family.template or None
        tokenizer.save_pretrained(folder, save_jinja_files=self.has_jinja)
        settings = json.loads((folder / "tokenizer_config.json").read_text())
        (folder / "tokenizer_config.json").write_text(json.dumps(settings | {"tokenizer_class": self.tokenizer}))
        ids = tokenizer.convert_tokens_to_ids
        end = ids(self.family.eos)
        config = transformers.AutoConfig.for_model(
            self.kind, **{**SIZES, **self.values}, vocab_size=len(tokenizer) + 8, tie_word_embeddings=self.tied, eos_token_id=end,
            bos_token_id=ids(self.family.bos) if self.family.bos else None, pad_token_id=None,
        )  # fmt: skip
        model = transformers.AutoModelForCausalLM.from_config(config)
        if self.ends:
            model.generation_config.eos_token_id = [ids(token) for token in self.ends]
        model.save_pretrained(folder, max_shard_size="30KB" if self.shards else "1GB")
        if self.ends is None:
            (folder / "generation_config.json").unlink()
        if self.plain:
            path = folder / "tokenizer.json"
            settings = json.loads(path.read_text())
            for token in settings["added_tokens"]:
                token["special"] &= token["content"] not in self.plain
            path.write_text(json.dumps(settings))
        if self.beside:
            (folder / self.beside).parent.mkdir(exist_ok=True)
            # names of their own, which nothing here reads
            weight = {"layers.0.attention.wq.weight": model.get_input_embeddings().weight.detach().clone()}
            pytest.importorskip("safetensors.torch").save_file(weight, folder / self.beside)

    def shape(self, *, is_dated: bool = False) -> Shape:
        """What is expected of it."""
        ends = {self.family.eos, *(self.ends or ())}
        return Shape(
            "AutoModelForCausalLM",
            self.write,
            self.tied,
            n_ends=len(ends),
            is_dated=is_dated,
            has_template=bool(self.family.template),
        )


def _llama(template: str, **values: Any) -> Family:
    return replace(LLAMA, template=template + LLAMA.template, **values)


LLAMA_ENDS = ("<|end_of_text|>", "<|eom_id|>", "<|eot_id|>")
ROPE = {"rope_type": "llama3", "rope_theta": 500000.0, "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
        "original_max_position_embeddings": 8192}  # fmt: skip
WINDOW = {"sliding_window": 16, "layer_types": ["sliding_attention", "full_attention"], "query_pre_attn_scalar": 8}
EXPERTS = {"num_local_experts": 2, "num_experts_per_tok": 1, "sliding_window": 16}
DECODERS = {
    "Llama 3.1, shards": Decoder(
        "llama", _llama(OWN_DATE), {"rope_parameters": ROPE}, ends=LLAMA_ENDS, shards=True, beside="original/one.safetensors"
    ),
    "Llama 3.2, tied": Decoder("llama", _llama(DAY), {"rope_parameters": ROPE}, tied=True, ends=LLAMA_ENDS, has_jinja=False),
    "Llama 3.1, base": Decoder("llama", replace(LLAMA, template="", eos="<|end_of_text|>"), {"rope_parameters": ROPE}),
    "Qwen 2.5": Decoder("qwen2", QWEN, tokenizer="Qwen2Tokenizer", ends=("<|im_end|>", "<|endoftext|>"), has_jinja=False),
    "Qwen 3": Decoder("qwen3", replace(QWEN, template=THINKING), ends=("<|im_end|>", "<|endoftext|>"), shards=True),
    "Qwen 3, tied": Decoder("qwen3", replace(QWEN, template=THINKING), tied=True, ends=("<|im_end|>", "<|endoftext|>")),
    "Mistral 0.3, consolidated": Decoder(
        "mistral", FAMILIES["Mistral 0.3"], {"sliding_window": None}, beside="consolidated.safetensors", shards=True
    ),
    "Mixtral": Decoder("mixtral", FAMILIES["Mixtral"], {"sliding_window": None, "num_local_experts": 2}),
    "Gemma 2": Decoder("gemma2", FAMILIES["Gemma 2"], WINDOW, tied=True, ends=("<eos>", "<end_of_turn>"), shards=True),
    "Gemma 3": Decoder("gemma3_text", GEMMA, WINDOW, tokenizer="GemmaTokenizer", tied=True, ends=("<eos>", "<end_of_turn>")),
    "Phi 3.5": Decoder(
        "phi3", FAMILIES["Phi 3"], {"original_max_position_embeddings": 4096}, ends=("<|end|>", "<|assistant|>", "<|endoftext|>")
    ),
    "SmolLM 2": Decoder("llama", CHATML, tied=True, has_jinja=False),
    "SmolLM 3": Decoder("smollm3", replace(CHATML, template=CLOCK + TURNS), tied=True),
    "gpt-oss": Decoder(
        "gpt_oss", replace(CHATML, template=CLOCK + TURNS), EXPERTS, ends=("<|im_end|>", "<|endoftext|>"), attention="eager"
    ),
    "Granite": Decoder("granite", replace(CHATML, template=CLOCK + TURNS), tied=True),
    "OLMo 2": Decoder("olmo2", CHATML),
    "ChatML with a plain end": Decoder("llama", CHATML, ends=("<|im_end|>",), plain=("<|im_start|>", "<|im_end|>")),
    "no generation settings": Decoder("llama", CHATML, ends=None),
}  # fmt: skip


def _saved_old(name: str, extra: Mapping[str, Callable[[Any], Any]]) -> Callable[[Path], None]:
    """One of the hub's models with tensors that older versions of transformers wrote beside its weights."""

    def write(folder: Path) -> None:
        torch = pytest.importorskip("torch")
        MODELS[name](pytest.importorskip("transformers"), folder)
        write_tensors(folder, {key: make(torch) for key, make in extra.items()})

    return write


def _pickled(write: Callable[[Any, Path], None]) -> Callable[[Path], None]:
    """A model whose weights are pytorch_model.bin, as older ones have them."""

    def written(folder: Path) -> None:
        torch = pytest.importorskip("torch")
        write(pytest.importorskip("transformers"), folder)
        path = folder / "model.safetensors"
        torch.save(pytest.importorskip("safetensors.torch").load_file(path), folder / "pytorch_model.bin")
        path.unlink()

    return written


def _of_hub(name: str) -> Callable[[Path], None]:
    return lambda folder: MODELS[name](pytest.importorskip("transformers"), folder)


def _roberta_of_words(folder: Path) -> None:
    """As roberta-large is published: with a head that fills masks, which no judge reads, and without a pooler."""
    transformers = pytest.importorskip("transformers")
    roberta_tokenizer().save_pretrained(folder)
    transformers.RobertaForMaskedLM(roberta_config(transformers)).save_pretrained(folder)


def _bart(folder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    tokenizer = byte_tokenizer(
        ("<s>", "<pad>", "</s>", "<unk>", "<mask>"), "<s> $A </s> </s> $B </s>", 512, bos_token="<s>", eos_token="</s>",
        pad_token="<pad>", unk_token="<unk>",
    )  # fmt: skip
    tokenizer.save_pretrained(folder)
    config = transformers.BartConfig(
        vocab_size=len(tokenizer), d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64,
    )  # fmt: skip
    transformers.BartForConditionalGeneration(config).save_pretrained(folder)


def _flan_t5(folder: Path) -> None:
    flan_t5(pytest.importorskip("transformers"), folder)


def _bert(folder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    MODELS["tals/albert-xlarge-vitaminc-mnli"](transformers, folder)
    tokens = len(transformers.AutoTokenizer.from_pretrained(folder))
    config = transformers.BertConfig(**SMALL, vocab_size=tokens, max_position_embeddings=256, pad_token_id=0)
    transformers.BertModel(config).save_pretrained(folder)


def _mpnet(folder: Path) -> None:
    transformers = pytest.importorskip("transformers")
    _roberta_of_words(folder)
    tokens = len(transformers.AutoTokenizer.from_pretrained(folder))
    config = transformers.MPNetConfig(**SMALL, vocab_size=tokens, max_position_embeddings=514)
    transformers.MPNetModel(config).save_pretrained(folder)


NLI, POOLER = "AutoModelForSequenceClassification", ("pooler.",)
POSITIONS = {"roberta.embeddings.position_ids": lambda torch: torch.arange(514)[None]}
SHAPES: dict[str, Shape] = {
    **{name: each.shape(is_dated="strftime_now" in each.family.template) for name, each in DECODERS.items()},
    "Flan-T5 (MiniCheck), two heads": Shape("AutoModelForSeq2SeqLM", _flan_t5),
    "Flan-T5, pickled": Shape("AutoModelForSeq2SeqLM", _pickled(flan_t5)),
    "T5 (UniEval), tied": Shape("AutoModelForSeq2SeqLM", _of_hub("MingZhong/unieval-sum"), is_tied=True),
    "T5, pickled": Shape("AutoModelForSeq2SeqLM", _pickled(MODELS["MingZhong/unieval-sum"]), is_tied=True),
    "BART": Shape("AutoModelForSeq2SeqLM", _bart, is_tied=True),
    "RoBERTa (AlignScore, BERTScore)": Shape("AutoModel", _roberta_of_words, may_lack=POOLER),
    "RoBERTa, NLI": Shape(NLI, _saved_old("FacebookAI/roberta-large-mnli", POSITIONS)),
    "DeBERTa, NLI": Shape(NLI, _pickled(MODELS["microsoft/deberta-large-mnli"])),
    "DeBERTa v3, NLI": Shape(NLI, _of_hub("cross-encoder/nli-deberta-v3-base")),
    "ALBERT, NLI": Shape(NLI, _of_hub("tals/albert-xlarge-vitaminc-mnli")),
    "BLEURT": Shape(NLI, lambda folder: write_bleurt(pytest.importorskip("transformers"), folder)),
    "MiniLM": Shape("AutoModel", _bert),
    "mpnet": Shape("AutoModel", _mpnet),
}


class Folders:
    """Folders of the shapes, each written when it is first asked for; a copy may be damaged."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def whole(self, name: str) -> Path:
        """The folder of a shape, which must stay as it is."""
        folder = self._place / "".join(c if c.isalnum() else "-" for c in name)
        if not folder.exists():
            folder.mkdir(parents=True)
            pytest.importorskip("torch").manual_seed(0)
            SHAPES[name].write(folder)
        return folder

    def copy(self, name: str, target: Path) -> Path:
        """A copy of a shape's folder."""
        return Path(shutil.copytree(self.whole(name), target))
