"""Small random models of the right architectures and their tokenizers, for the judges that run one."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def roberta_tokenizer() -> Any:
    """Words of a dozen, pairs joined as RoBERTa joins them, 24 tokens at most."""
    tokenizers = pytest.importorskip("tokenizers")
    from transformers import PreTrainedTokenizerFast

    words = "<s> <pad> </s> <unk> the ferry is cheap dear nurses need it at night . a bridge pays".split()
    model = tokenizers.Tokenizer(
        tokenizers.models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>")
    )
    model.normalizer = tokenizers.normalizers.Lowercase()
    model.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    model.post_processor = tokenizers.processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=model, bos_token="<s>", pad_token="<pad>", eos_token="</s>", unk_token="<unk>",
        sep_token="</s>", cls_token="<s>", model_max_length=24,
    )  # fmt: skip


@pytest.fixture(scope="session")
def roberta_config() -> Callable[..., Any]:
    """Makes the configuration of a tiny RoBERTa."""
    transformers = pytest.importorskip("transformers")
    values: dict[str, Any] = {
        "vocab_size": 20, "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2,
        "max_position_embeddings": 26, "type_vocab_size": 1, "pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2,
        # large enough that probabilities differ visibly from 1/3
        "initializer_range": 0.5,
    }  # fmt: skip
    return lambda **changes: transformers.RobertaConfig(**values | changes)


@pytest.fixture
def nli_folder(
    tmp_path: Path, roberta_tokenizer: Any, roberta_config: Callable[..., Any]
) -> Callable[[dict[int, str]], Path]:
    """Writes a random RoBERTa classifier whose classes have the given names; its folder."""

    def write(labels: dict[int, str]) -> Path:
        torch = pytest.importorskip("torch")
        transformers = pytest.importorskip("transformers")
        torch.manual_seed(0)
        folder = tmp_path / "-".join(labels.values()).replace("/", "")
        config = roberta_config(id2label=labels, label2id={name: i for i, name in labels.items()})
        transformers.RobertaForSequenceClassification(config).save_pretrained(folder)
        roberta_tokenizer.save_pretrained(folder)
        return folder

    return write


@pytest.fixture(scope="session")
def t5_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random T5 with a unigram tokenizer of a dozen words, as T5 has one, and the vocabulary that MiniCheck's labels need."""
    tokenizers = pytest.importorskip("tokenizers")
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    words = "the ferry is cheap dear nurses need it at night . a bridge pays Yes No predict: question: claim: document:"
    pieces = ["<pad>", "</s>", "<unk>", "\u2581", *(f"\u2581{word}" for word in words.split()), "."]
    # token 209, with which MiniCheck says "supported", is a figure 1
    pieces += [*(f"\u2581never{i}" for i in range(len(pieces), 209)), "\u25811"]
    model = tokenizers.Tokenizer(tokenizers.models.Unigram([(piece, -1.0) for piece in pieces], unk_id=2))
    model.normalizer = tokenizers.normalizers.NFKC()
    model.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    model.post_processor = tokenizers.processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=model, eos_token="</s>", pad_token="<pad>", unk_token="<unk>"
    )
    config = transformers.T5Config(
        vocab_size=256, d_model=16, d_kv=8, d_ff=32, num_layers=2, num_heads=2, decoder_start_token_id=0,
        # large enough that answers differ visibly from 1/2
        initializer_factor=1.0,
    )  # fmt: skip
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("models") / "tiny-t5"
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def sentencepiece_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SentencePiece tokenizer as ALBERT and DeBERTa v3 have it: its special tokens are pieces like any other."""
    tokenizers = pytest.importorskip("tokenizers")
    from transformers import PreTrainedTokenizerFast

    folder = tmp_path_factory.mktemp("models") / "sentencepiece"
    pieces = ["[PAD]", "[CLS]", "[SEP]", "[UNK]", "[MASK]", *"\u2581 \u2581the \u2581ferry \u2581is [ ] SEP".split()]
    model = tokenizers.Tokenizer(tokenizers.models.Unigram([(piece, -1.0) for piece in pieces], unk_id=3))
    model.normalizer = tokenizers.normalizers.NFKC()
    model.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    model.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=model, cls_token="[CLS]", sep_token="[SEP]", pad_token="[PAD]", unk_token="[UNK]", mask_token="[MASK]",
        model_max_length=32,
    ).save_pretrained(folder)  # fmt: skip
    return folder


class Hostile:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return (open, (str(self.path), "w"))
