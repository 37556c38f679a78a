"""Random models of two layers under the names of the hub, each of its name's family and with that class of tokenizer.

They lie in a folder as huggingface_hub keeps what it has fetched (HF_HUB_CACHE), so recipes name them as they name the real ones.
Vocabularies are small: bytes, letters or the words of the bundled corpora, and the special tokens and chat templates of the
published tokenizers.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from chat_families import FAMILIES, make_tokenizer
from sentencepiece_models import save_tokenizer

from evenhand.config import CorpusSection
from evenhand.corpora import load_corpus

REVISION = "0" * 40
# what all of them share; weights are large, so that what models say and score differs visibly
SMALL = {
    "hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "initializer_range": 0.3,
}  # fmt: skip
# heads of 32, the smallest that vLLM has on a CPU
DECODER = SMALL | {
    "hidden_size": 64, "initializer_range": 0.2, "num_key_value_heads": 1, "max_position_embeddings": 16384,
}  # fmt: skip
T5 = {
    "vocab_size": 256, "d_model": 16, "d_kv": 8, "d_ff": 32, "num_layers": 2, "num_heads": 2, "decoder_start_token_id": 0,
}  # fmt: skip
LLAMA_3_ROPE = {
    "rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}  # fmt: skip
NLI = {0: "CONTRADICTION", 1: "NEUTRAL", 2: "ENTAILMENT"}


def write_hub(hub: Path) -> None:
    """Write every model into the folder."""
    transformers = pytest.importorskip("transformers")
    pytest.importorskip("torch").manual_seed(0)
    for name, save in MODELS.items():
        with _kept(hub, name) as folder:
            save(transformers, folder)


@contextmanager
def _kept(hub: Path, name: str) -> Iterator[Path]:
    """The folder of a model's files in a cache of the hub."""
    place = hub / f"models--{name.replace('/', '--')}"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(REVISION)
    folder = place / "snapshots" / REVISION
    folder.parent.mkdir()
    folder.mkdir()
    yield folder


def _called(folder: Path, kind: str) -> None:
    """Have the tokenizer opened as this class, as the published one is."""
    path = folder / "tokenizer_config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | {"tokenizer_class": kind}))


@cache
def spoken_tokenizer(family: str) -> Any:
    """The tokenizer of a family of chat models, with most words of the bundled corpora whole.

    A random model then says words, some of which end a sentence, and measures have something to find.
    """
    from tokenizers import Regex, Tokenizer, models, pre_tokenizers, trainers

    tokenizer = make_tokenizer(FAMILIES[family])
    own = json.loads(tokenizer.backend_tokenizer.to_str())
    learner = Tokenizer(models.BPE())
    # at spaces alone, so that full stops stay with their words
    learner.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(" ?[^ ]+"), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    trainer = trainers.BpeTrainer(
        vocab_size=5000, special_tokens=list(FAMILIES[family].special), show_progress=False, min_frequency=1,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )  # fmt: skip
    corpora = [("sample", "stance"), ("reviews", "sentiment")]
    sets = [each for path, attribute in corpora for each in load_corpus(CorpusSection(path=path, attribute=attribute))]
    learner.train_from_iterator((document.text for each in sets for document in each.documents), trainer)
    learnt = json.loads(learner.to_str())
    places = learnt["model"]["vocab"]
    # special tokens stand first in both, and other added tokens behind all
    added = [each | {"id": places.get(each["content"], len(places) + n)} for n, each in enumerate(own["added_tokens"])]
    whole = own | {"model": learnt["model"], "pre_tokenizer": learnt["pre_tokenizer"], "added_tokens": added}
    tokenizer._tokenizer = Tokenizer.from_str(json.dumps(whole))
    return tokenizer


def _llama(transformers: Any, folder: Path) -> None:
    tokenizer = spoken_tokenizer("Llama 3")
    tokenizer.save_pretrained(folder)
    config = transformers.LlamaConfig(
        **DECODER, vocab_size=len(tokenizer), rope_parameters=LLAMA_3_ROPE, bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
    )  # fmt: skip
    model = transformers.LlamaForCausalLM(config)
    _have_it_end(model, tokenizer.eos_token_id)
    model.save_pretrained(folder)


def _have_it_end(model: Any, end: int) -> None:
    """Have a random model end its answers, most of them within ten words: the end's score varies more than others."""
    model.state_dict()["lm_head.weight"][end] *= 3.0


def _qwen(transformers: Any, folder: Path) -> None:
    tokenizer = spoken_tokenizer("Qwen 2.5")
    tokenizer.pad_token = FAMILIES["Qwen 2.5"].special[0]
    tokenizer.save_pretrained(folder)
    _called(folder, "Qwen2Tokenizer")
    config = transformers.Qwen2Config(
        **DECODER, vocab_size=len(tokenizer), bos_token_id=None, eos_token_id=tokenizer.eos_token_id
    )
    model = transformers.Qwen2ForCausalLM(config)
    _have_it_end(model, tokenizer.eos_token_id)
    model.save_pretrained(folder)


def _mistral(transformers: Any, folder: Path) -> None:
    folder.rmdir()
    save_tokenizer(folder, "v3", "mistral-v0.3")
    config = transformers.MistralConfig(
        **DECODER, vocab_size=32768, sliding_window=None, bos_token_id=1, eos_token_id=2
    )
    model = transformers.MistralForCausalLM(config)
    _have_it_end(model, config.eos_token_id)
    model.save_pretrained(folder)


def _mixtral(transformers: Any, folder: Path) -> None:
    folder.rmdir()
    save_tokenizer(folder, "v1", "mistral-v0.1")
    config = transformers.MixtralConfig(
        **DECODER, vocab_size=32000, sliding_window=None, bos_token_id=1, eos_token_id=2, num_local_experts=2
    )
    model = transformers.MixtralForCausalLM(config)
    _have_it_end(model, config.eos_token_id)
    model.save_pretrained(folder)


def byte_tokenizer(special: tuple[str, ...], pair: str, most: int, **tokens: str) -> Any:
    """Bytes, as RoBERTa and DeBERTa have them before they are merged, framed as a template of the tokenizers library says."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    pieces = [*special, *sorted(pre_tokenizers.ByteLevel.alphabet())]
    built = Tokenizer(models.BPE({piece: place for place, piece in enumerate(pieces)}, []))
    built.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    built.decoder = decoders.ByteLevel()
    used = [(token, pieces.index(token)) for token in special if token in pair]
    built.post_processor = processors.TemplateProcessing(
        single=f"{pair.partition('$A')[0]}$A {pair.rsplit(maxsplit=1)[-1]}", pair=pair, special_tokens=used
    )
    return PreTrainedTokenizerFast(tokenizer_object=built, model_max_length=most, **tokens)


def roberta_tokenizer() -> Any:
    """As RoBERTa frames texts and pairs."""
    return byte_tokenizer(
        ("<s>", "<pad>", "</s>", "<unk>", "<mask>"), "<s> $A </s> </s> $B </s>", 512, bos_token="<s>", cls_token="<s>",
        eos_token="</s>", sep_token="</s>", pad_token="<pad>", unk_token="<unk>", mask_token="<mask>",
    )  # fmt: skip


def roberta_config(transformers: Any, **changes: Any) -> Any:
    """A RoBERTa that reads 512 tokens."""
    return transformers.RobertaConfig(
        **SMALL | changes, vocab_size=len(roberta_tokenizer()), max_position_embeddings=514, type_vocab_size=1, pad_token_id=1,
        bos_token_id=0, eos_token_id=2,
    )  # fmt: skip


def _classifier(labels: dict[int, str]) -> dict[str, Any]:
    return {"id2label": labels, "label2id": {name: number for number, name in labels.items()}}


def _roberta(transformers: Any, folder: Path) -> None:
    roberta_tokenizer().save_pretrained(folder)
    _called(folder, "RobertaTokenizer")
    config = roberta_config(transformers, **_classifier(NLI))
    transformers.RobertaForSequenceClassification(config).save_pretrained(folder)


BERT = ("[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]")


def _bert_like(most: int) -> Any:
    return byte_tokenizer(
        BERT, "[CLS] $A [SEP] $B [SEP]", most, cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", unk_token="[UNK]",
        mask_token="[MASK]",
    )  # fmt: skip


def _saved(folder: Path, most: int) -> dict[str, int]:
    """Save a tokenizer of the BERT kind; what a configuration says of it."""
    tokenizer = _bert_like(most)
    tokenizer.save_pretrained(folder)
    return {"vocab_size": len(tokenizer), "pad_token_id": 0}


def _deberta(transformers: Any, folder: Path) -> None:
    config = transformers.DebertaConfig(
        **SMALL, **_saved(folder, 512), **_classifier(NLI), relative_attention=True, pos_att_type=["c2p", "p2c"],
        position_biased_input=False, max_position_embeddings=512, type_vocab_size=0,
    )  # fmt: skip
    transformers.DebertaForSequenceClassification(config).save_pretrained(folder)


def _deberta_v3(transformers: Any, folder: Path) -> None:
    config = transformers.DebertaV2Config(
        **SMALL, **_saved(folder, 512), **_classifier({0: "contradiction", 1: "entailment", 2: "neutral"}),
        relative_attention=True, pos_att_type=["p2c", "c2p"], position_biased_input=False, position_buckets=256,
        norm_rel_ebd="layer_norm", share_att_key=True, max_position_embeddings=512, type_vocab_size=0,
    )  # fmt: skip
    transformers.DebertaV2ForSequenceClassification(config).save_pretrained(folder)


def _albert(transformers: Any, folder: Path) -> None:
    config = transformers.AlbertConfig(
        **SMALL, **_saved(folder, 512), **_classifier({0: "SUPPORTS", 1: "REFUTES", 2: "NOT ENOUGH INFO"}), embedding_size=16,
        max_position_embeddings=512,
    )  # fmt: skip
    transformers.AlbertForSequenceClassification(config).save_pretrained(folder)


def _t5(transformers: Any, folder: Path) -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

    # letters and what the questions of UniEval and MiniCheck ask to be answered with: token 209 is MiniCheck's "supported"
    pieces = ["<pad>", "</s>", "<unk>", "\u2581", "\u2581Yes", "\u2581No", *map(chr, range(33, 127))]
    pieces += [*(f"\u2581never{number}" for number in range(len(pieces), 209)), "\u25811"]
    built = Tokenizer(models.Unigram([(piece, -1.0) for piece in pieces], unk_id=2))
    built.pre_tokenizer = pre_tokenizers.Metaspace()
    built.decoder = decoders.Metaspace()
    built.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=built, eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )
    tokenizer.save_pretrained(folder)
    config = transformers.T5Config(**T5)
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)


def flan_t5(transformers: Any, folder: Path) -> None:
    """As Flan-T5 and T5 v1.1 are published: gated, and with a head that is no copy of the embedding of words."""
    _t5(transformers, folder)
    config = transformers.T5Config(**T5, feed_forward_proj="gated-gelu")
    model = transformers.T5ForConditionalGeneration(config)
    head = model.shared.weight.detach().clone().normal_(std=0.5)
    model.save_pretrained(folder)
    write_tensors(folder, {"lm_head.weight": head})
    # the file of older versions: this one writes that every T5 is tied, and by this key it reads that none is
    settings = json.loads((folder / "config.json").read_text()) | {"tie_word_embeddings": False}
    del settings["scale_decoder_outputs"]
    (folder / "config.json").write_text(json.dumps(settings))


def write_tensors(folder: Path, tensors: dict[str, Any]) -> None:
    """Write tensors beside those of a model's file, or in their place."""
    from safetensors.torch import load_file, save_file

    path = folder / "model.safetensors"
    save_file(load_file(path) | tensors, path, {"format": "pt"})


def write_bleurt(transformers: Any, folder: Path) -> None:
    """A RemBERT with one output, as `evenhand judges convert bleurt` writes one."""
    config = transformers.RemBertConfig(
        **SMALL, **_saved(folder, 512), num_labels=1, input_embedding_size=8, max_position_embeddings=512
    )
    transformers.RemBertForSequenceClassification(config).save_pretrained(folder)


def _encoder(transformers: Any, folder: Path) -> None:
    library = pytest.importorskip("sentence_transformers")
    inner = folder / "made"
    config = transformers.BertConfig(**SMALL, **_saved(inner, 256), max_position_embeddings=256)
    transformers.BertModel(config).save_pretrained(inner)
    # the mean of its tokens, as the published ones have it
    library.SentenceTransformer(str(inner), device="cpu").save(str(folder))


# name on the hub -> what writes one of its kind
MODELS: dict[str, Callable[[Any, Path], None]] = {
    **dict.fromkeys(("meta-llama/Llama-3.1-8B-Instruct", "meta-llama/Llama-3.3-70B-Instruct"), _llama),
    **dict.fromkeys((f"Qwen/Qwen2.5-{size}B-Instruct" for size in (7, 14, 32)), _qwen),
    **dict.fromkeys(("mistralai/Mistral-7B-Instruct-v0.3", "mistralai/Mistral-Large-Instruct-2411"), _mistral),
    "mistralai/Mixtral-8x7B-Instruct-v0.1": _mixtral,
    **dict.fromkeys(("roberta-large", "FacebookAI/roberta-large-mnli"), _roberta),
    "microsoft/deberta-large-mnli": _deberta,
    "cross-encoder/nli-deberta-v3-base": _deberta_v3,
    "tals/albert-xlarge-vitaminc-mnli": _albert,
    "MingZhong/unieval-sum": _t5,
    "lytang/MiniCheck-Flan-T5-Large": flan_t5,
    **dict.fromkeys((f"sentence-transformers/{name}" for name in ("all-mpnet-base-v2", "all-MiniLM-L6-v2")), _encoder),
}
