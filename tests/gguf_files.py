"""GGUF files of tiny random models, written as llama.cpp's converters write them."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.config import CorpusSection
from evenhand.corpora import load_corpus

NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)
WIDTH, HIDDEN, HEADS, LAYERS, HEAD = 32, 48, 4, 2, 8
TURNS = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ m['role'] }}\n{{ m['content'] }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)


@dataclass(frozen=True)
class Pieces:
    """A vocabulary with scores."""

    pieces: list[str]
    scores: list[float]
    kinds: list[int]
    # what trained it, which the file's reader is held against
    processor: Any = None
    bos: int = 1
    eos: int = 2
    unknown: int | None = 0
    # of a byte vocabulary, whose pieces have no scores
    merges: list[str] | None = None
    # how it cuts texts before merges
    cuts: str = ""


def _texts() -> list[str]:
    corpora = (("sample", "stance"), ("reviews", "sentiment"))
    sets = [each for path, of in corpora for each in load_corpus(CorpusSection(path=path, attribute=of))]
    return [document.text for each in sets for document in each.documents]


def trained(
    size: int = 600,
    symbols: Sequence[str] = (),
    control: Sequence[str] = (),
    *,
    prefix: bool = True,
    split: bool = True,
) -> Pieces:
    """SentencePiece's byte-pair vocabulary of the bundled corpora, as it is exported to a GGUF file."""
    library = pytest.importorskip("sentencepiece", reason="needs sentencepiece")
    model = io.BytesIO()
    library.SentencePieceTrainer.train(
        sentence_iterator=iter(_texts()), model_writer=model, model_type="bpe", vocab_size=size, byte_fallback=True,
        user_defined_symbols=list(symbols), control_symbols=list(control), add_dummy_prefix=prefix,
        normalization_rule_name="identity", remove_extra_whitespaces=False, allow_whitespace_only_pieces=True,
        split_by_whitespace=split, minloglevel=2, num_threads=1,
    )  # fmt: skip
    made = library.SentencePieceProcessor(model_proto=model.getvalue())
    kinds = []
    for i in range(len(made)):
        named = {
            UNKNOWN: made.is_unknown(i),
            CONTROL: made.is_control(i),
            BYTE: made.is_byte(i),
            UNUSED: made.is_unused(i),
        }
        kind = next((kind for kind, holds in named.items() if holds), NORMAL)
        kinds.append(USER_DEFINED if made.id_to_piece(i) in symbols else kind)
    return Pieces(
        [made.id_to_piece(i) for i in range(len(made))], [made.get_score(i) for i in range(len(made))], kinds, made
    )


def merged(cuts: str, pattern: str, control: Sequence[str]) -> Pieces:
    """A byte vocabulary with merges of the bundled corpora, cut by a pattern before; its processor is of tokenizers."""
    library = pytest.importorskip("tokenizers")
    parts = library.pre_tokenizers
    built = library.Tokenizer(library.models.BPE())
    built.pre_tokenizer = parts.Sequence(
        [parts.Split(library.Regex(pattern), "isolated"), parts.ByteLevel(add_prefix_space=False, use_regex=False)]
    )
    built.decoder = library.decoders.ByteLevel()
    trainer = library.trainers.BpeTrainer(
        vocab_size=500, special_tokens=list(control), initial_alphabet=parts.ByteLevel.alphabet(), show_progress=False
    )
    built.train_from_iterator([*_texts(), "in 2019 and 2024, 2024 and 1,950 or 450"] * 3, trainer)
    pieces = [built.id_to_token(i) for i in range(built.get_vocab_size())]
    kinds = [CONTROL if piece in control else NORMAL for piece in pieces]
    merges = [" ".join(pair) for pair in json.loads(built.to_str())["model"]["merges"]]
    return Pieces(pieces, [], kinds, built, bos=0, eos=1, unknown=0, merges=merges, cuts=cuts)


def write_llama(path: Path, vocabulary: Pieces, template: str | None = None, **fields: Any) -> Path:
    """A Llama of two layers with a vocabulary of pieces; fields are methods of GGUFWriter and what they are given."""
    writer = _begun(path, "llama", vocabulary, template, fields)
    writer.add_rope_dimension_count(HEAD)
    _add_weights(writer, len(vocabulary.pieces))
    return _closed(writer, path)


def write_gemma3(path: Path, vocabulary: Pieces, template: str | None = None, **fields: Any) -> Path:
    """A Gemma 3 of two layers; its head is its embedding of words."""
    writer = _begun(path, "gemma3", vocabulary, template, fields)
    writer.add_key_length(HEAD)
    writer.add_value_length(HEAD)
    writer.add_sliding_window(16)
    _add_weights(writer, len(vocabulary.pieces), has_head=False, norms=("post_attention_norm", "post_ffw_norm"))
    return _closed(writer, path)


def write_qwen2(path: Path, vocabulary: Pieces, template: str | None = None, **fields: Any) -> Path:
    """A Qwen2 of two layers."""
    writer = _begun(path, "qwen2", vocabulary, template, fields)
    _add_weights(writer, len(vocabulary.pieces), has_biases=True)
    return _closed(writer, path)


def _begun(path: Path, architecture: str, vocabulary: Pieces, template: str | None, fields: dict[str, Any]) -> Any:
    gguf = pytest.importorskip("gguf", reason="needs gguf")
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_block_count(LAYERS)
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS // 2)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(len(vocabulary.pieces))
    writer.add_tokenizer_model("llama" if vocabulary.merges is None else "gpt2")
    writer.add_token_list(vocabulary.pieces)
    if vocabulary.merges is None:
        writer.add_token_scores(vocabulary.scores)
    else:
        writer.add_token_merges(vocabulary.merges)
        writer.add_tokenizer_pre(vocabulary.cuts)
    writer.add_token_types(vocabulary.kinds)
    writer.add_bos_token_id(vocabulary.bos)
    writer.add_eos_token_id(vocabulary.eos)
    if vocabulary.unknown is not None:
        writer.add_unk_token_id(vocabulary.unknown)
    if template is not None:
        writer.add_chat_template(template)
    for name, value in fields.items():
        getattr(writer, name)(value)
    return writer


def _add_weights(
    writer: Any, n_tokens: int, *, has_head: bool = True, has_biases: bool = False, norms: Sequence[str] = ()
) -> None:
    rng = np.random.default_rng(3)

    def add(name: str, *shape: int) -> None:
        writer.add_tensor(name, rng.normal(0, 0.1, shape).astype(np.float32))

    add("token_embd.weight", n_tokens, WIDTH)
    if has_head:
        add("output.weight", n_tokens, WIDTH)
    add("output_norm.weight", WIDTH)
    for layer in range(LAYERS):
        for name, rows in (("attn_q", HEADS * HEAD), ("attn_k", HEADS // 2 * HEAD), ("attn_v", HEADS // 2 * HEAD)):
            add(f"blk.{layer}.{name}.weight", rows, WIDTH)
            if has_biases:
                add(f"blk.{layer}.{name}.bias", rows)
        add(f"blk.{layer}.attn_output.weight", WIDTH, HEADS * HEAD)
        for name in ("attn_norm", "ffn_norm", *norms):
            add(f"blk.{layer}.{name}.weight", WIDTH)
        if norms:
            add(f"blk.{layer}.attn_q_norm.weight", HEAD)
            add(f"blk.{layer}.attn_k_norm.weight", HEAD)
        add(f"blk.{layer}.ffn_gate.weight", HIDDEN, WIDTH)
        add(f"blk.{layer}.ffn_up.weight", HIDDEN, WIDTH)
        add(f"blk.{layer}.ffn_down.weight", WIDTH, HIDDEN)


def _closed(writer: Any, path: Path) -> Path:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path
