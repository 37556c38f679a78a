"""Turning a BLEURT checkpoint into a folder that transformers, and so the judge, reads.

What is read is the public PyTorch port of the released TensorFlow checkpoints (`model_type: bleurt`, for example
lucadiliello/BLEURT-20-D6). Its tensors are those of RemBERT (with `embedding_size` in the configuration) or of BERT under two
other names: the prefix, and what maps the embeddings to the hidden size. Its SentencePiece model becomes a tokenizer.json whose
normalisation, pieces and scores are those of the model itself.
"""

from collections.abc import Container, Iterable, Mapping
from pathlib import Path
from typing import Any

from ...errors import JudgeError, MissingExtra, StorageError
from ...extras import need
from ...judges.released import FEATURE, differing_tensor, read_tensors, refuse_filled, write_model
from ...models.wholeness import told_once
from ...storage import read_json

WEIGHTS = ("model.safetensors", "pytorch_model.bin")
SENTENCEPIECE = ("spm.model", "sent_piece.model")
# name in the port -> name in transformers, where they differ
PREFIX = "bleurt."
PROJECTION = ("encoder.embedding_projection.", "encoder.embedding_hidden_mapping_in.")
# a buffer that older transformers saved; it holds 0, 1, 2, ...
NOT_A_WEIGHT = ("embeddings.position_ids", "embeddings.token_type_ids")
# keys of the port's configuration that transformers' have too
KEPT = (
    "vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "hidden_act",
    "hidden_dropout_prob", "attention_probs_dropout_prob", "max_position_embeddings", "type_vocab_size", "initializer_range",
    "layer_norm_eps", "pad_token_id",
)  # fmt: skip
# special tokens that stand around the texts
TOKENS = ("[CLS]", "[SEP]")
TENSORFLOW = ("saved_model.pb", "bert_config.json", "bleurt_config.json")


def convert_bleurt(checkpoint: Path, folder: Path) -> None:
    """Write a checkpoint of the port as a folder that the judge reads.

    Args:
        checkpoint: the port's folder, or the file of its weights in it.
        folder: where to write; made if it is not there.

    Raises:
        JudgeError, UnfitModelError: it is no checkpoint of the port, or damaged; nothing is written.
        DataError: the folder already exists and is not empty, or cannot be written.
    """
    torch = need("torch", FEATURE)
    transformers = need("transformers", FEATURE)
    refuse_filled(folder)
    if not checkpoint.exists():
        raise JudgeError(
            f"{checkpoint}: is not there; name the folder of a BLEURT checkpoint, or the file of its weights"
        )
    source = checkpoint if checkpoint.is_dir() else checkpoint.parent
    weights = _weights(source) if checkpoint.is_dir() else checkpoint
    settings = _settings(source)
    kind = "rembert" if settings.get("embedding_size") is not None else "bert"
    tensors = renamed(read_tensors(weights), kind)
    name = "RemBertForSequenceClassification" if kind == "rembert" else "BertForSequenceClassification"
    # tensors of this device have a shape and no memory
    with told_once(f"{source / 'config.json'}: is not a configuration of BLEURT", str(source)), torch.device("meta"):
        config = _config(settings, kind)
        model = getattr(transformers, name)(config)
    if differing := differing_tensor(tensors, model):
        key, shape, wanted = differing
        raise JudgeError(
            f"{weights}: is not a BLEURT checkpoint of the size that {source / 'config.json'} says: {key} is {shape} in it and "
            f"should be {wanted}; download both again from one place"
        )
    config.architectures = [name]
    write_model(folder, config, _tokenizer(source), tensors)


def renamed(tensors: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The tensors under transformers' names, from the port's or these."""
    named_tensors = {}
    for name, tensor in tensors.items():
        key = f"{kind}.{name.removeprefix(PREFIX)}" if name.startswith(PREFIX) else name
        if not key.endswith(NOT_A_WEIGHT):
            named_tensors[key.replace(*PROJECTION)] = tensor
    return named_tensors


def _weights(folder: Path) -> Path:
    for name in WEIGHTS:
        if (folder / name).is_file():
            return folder / name
    if any((folder / name).exists() for name in TENSORFLOW):
        raise JudgeError(
            f"{folder}: holds TensorFlow's files, which are not read here; take the same checkpoint from the PyTorch port, for "
            "example lucadiliello/BLEURT-20-D6 on the hub"
        )
    raise JudgeError(f"{folder}: has no {' or '.join(WEIGHTS)}; name the folder of a BLEURT checkpoint")


def _settings(folder: Path) -> dict[str, Any]:
    try:
        settings = read_json(folder / "config.json")
    except StorageError as error:
        raise JudgeError(
            f"{folder}: a BLEURT checkpoint needs its config.json next to the weights ({error})"
        ) from error
    if not isinstance(settings, dict) or settings.get("model_type") != "bleurt":
        kind = settings.get("model_type") if isinstance(settings, dict) else None
        raise JudgeError(
            f"{folder / 'config.json'}: says model_type {kind!r}, not 'bleurt'; a rembert or bert with one output is read as it "
            "stands, anything else is not a BLEURT checkpoint"
        )
    return settings


def _config(settings: Mapping[str, Any], kind: str) -> Any:
    transformers = need("transformers", FEATURE)
    options: dict[str, Any] = {key: settings[key] for key in KEPT if key in settings} | {"num_labels": 1}
    dropout = settings.get("classifier_dropout")
    if kind == "bert":
        return transformers.BertConfig(**options, classifier_dropout=dropout)
    return transformers.RemBertConfig(
        **options,
        input_embedding_size=settings["embedding_size"],
        **({} if dropout is None else {"classifier_dropout_prob": dropout}),
    )


def _tokenizer(folder: Path) -> Any:
    for name in SENTENCEPIECE:
        if (folder / name).is_file():
            return sentencepiece_tokenizer(folder / name)
    path = folder / "vocab.txt"
    if not path.is_file():
        raise JudgeError(f"{folder}: has no {', '.join(SENTENCEPIECE)} or vocab.txt, and the judge needs the tokenizer")
    with told_once(f"{path}: is not a vocabulary of BERT", str(path), "download it again"):
        # transformers adds those that it lacks, under numbers that were never trained
        _refuse_without(path, TOKENS, path.read_text(encoding="utf-8").split("\n"))
        return need("transformers", FEATURE).BertTokenizerFast.from_pretrained(folder, trust_remote_code=False)


def _refuse_without(path: Path, tokens: Iterable[str], known: Container[str]) -> None:
    if absent := [token for token in tokens if token not in known]:
        raise JudgeError(f"{path}: has no piece {' and no '.join(absent)}, so it is not a tokenizer of BLEURT")


def sentencepiece_tokenizer(path: Path) -> Any:
    """A fast tokenizer that splits as the SentencePiece model of a BLEURT-20 checkpoint does, pairs joined as BERT joins them.

    Raises:
        JudgeError: the file is damaged, or lacks the special tokens.
        MissingExtra: protobuf is not installed.
    """
    tokenizers = need("tokenizers", FEATURE)
    try:
        proto = need("transformers.convert_slow_tokenizer", FEATURE).import_protobuf().ModelProto()
    except ImportError as error:
        raise MissingExtra(
            f"{FEATURE} needs protobuf, which is not installed: pip install 'evenhand[judges]'"
        ) from error
    try:
        proto.ParseFromString(path.read_bytes())
    except (OSError, need("google.protobuf.message", FEATURE).DecodeError) as error:
        raise JudgeError(f"{path}: is not a SentencePiece model, or damaged ({error}); download it again") from error
    pieces = {piece.piece: i for i, piece in enumerate(proto.pieces)}
    special = {"cls": "[CLS]", "sep": "[SEP]", "pad": "[PAD]", "mask": "[MASK]"}
    special = {role: token for role, token in special.items() if token in pieces or token in TOKENS}
    _refuse_without(path, special.values(), pieces)
    unknown = proto.trainer_spec.unk_id
    model = tokenizers.Tokenizer(
        tokenizers.models.Unigram([(piece.piece, piece.score) for piece in proto.pieces], unk_id=unknown)
    )
    normalizers = tokenizers.normalizers
    charsmap = proto.normalizer_spec.precompiled_charsmap
    model.normalizer = normalizers.Sequence([
        *([normalizers.Precompiled(charsmap)] if charsmap else []),
        normalizers.Strip(),
        normalizers.Replace(tokenizers.Regex(" {2,}"), " "),
    ])  # fmt: skip
    model.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="always")
    model.decoder = tokenizers.decoders.Metaspace(prepend_scheme="always")
    model.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(token, pieces[token]) for token in TOKENS],
    )
    return need("transformers", FEATURE).PreTrainedTokenizerFast(
        tokenizer_object=model,
        unk_token=proto.pieces[unknown].piece,
        model_max_length=512,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **{f"{role}_token": token for role, token in special.items()},
    )
