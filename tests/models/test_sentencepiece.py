"""Tokenizers of GGUF files cut texts as SentencePiece does, whatever family the file is of."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from gguf_files import CONTROL, NORMAL, TURNS, Pieces, merged, trained, write_gemma3, write_llama
from logs import warned

from evenhand.errors import UnfitModelError
from evenhand.models import locate
from evenhand.models.gguf import SAMPLES, refuse_other_tokens
from evenhand.models.sentencepiece import encoded, read_vocabulary

transformers = pytest.importorskip("transformers")
pytest.importorskip("torch")

TEXTS = [
    *SAMPLES,
    "The council",
    "the ferry   is cheap",
    " begins with a space",
    "ends with one ",
    "\n\n\nThree lines\n",
    "1,234,567.89",
    "\u00e9 e\u0301 \ufb01 \u00df",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
    "wordwithoutspaces" * 4,
]
GEMMA = ("<start_of_turn>", "<end_of_turn>")


@pytest.fixture(scope="module")
def llama() -> Pieces:
    """As Llama 2 has it: a space before the text, bytes for what it lacks."""
    return trained()


@pytest.fixture(scope="module")
def gemma() -> Pieces:
    """As Gemma has it: no space before the text, lines and spaces as symbols of their own, tokens of turns."""
    symbols = [*("\n" * n for n in range(1, 4)), *("\u2581" * n for n in range(2, 5)), "<table>"]
    return trained(symbols=symbols, control=GEMMA, prefix=False)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def tokenizer_of(path: Path) -> Any:
    return transformers.AutoTokenizer.from_pretrained(locate(str(path)))


def assert_alike(tokenizer: Any, vocabulary: Pieces) -> None:
    assert tokenizer.convert_ids_to_tokens(range(len(vocabulary.pieces))) == vocabulary.pieces
    for text in TEXTS:
        assert tokenizer(text, add_special_tokens=False)["input_ids"] == vocabulary.processor.encode(text), text
        assert tokenizer.decode(vocabulary.processor.encode(text)) == text


def test_a_llama_file_has_the_tokens_of_its_scores(cache: Path, tmp_path: Path, llama: Pieces) -> None:
    tokenizer = tokenizer_of(write_llama(tmp_path / "llama.gguf", llama))
    assert_alike(tokenizer, llama)
    assert tokenizer.chat_template is None
    assert (tokenizer.bos_token, tokenizer.eos_token, tokenizer.unk_token) == ("<s>", "</s>", "<unk>")
    assert tokenizer("a")["input_ids"][0] == llama.bos


@pytest.mark.parametrize("architecture", [write_llama, write_gemma3])
def test_a_gemma_file_keeps_its_turns_and_ends_them(
    cache: Path, tmp_path: Path, gemma: Pieces, architecture: Any
) -> None:
    path = architecture(tmp_path / "gemma.gguf", gemma, TURNS, add_add_space_prefix=False)
    tokenizer = tokenizer_of(path)
    assert_alike(tokenizer, gemma)
    first, last = (gemma.pieces.index(token) for token in GEMMA)
    ids = tokenizer.apply_chat_template([{"role": "user", "content": "Hello"}], add_generation_prompt=True)["input_ids"]
    assert (ids[0], ids[1], ids.count(first), ids.count(last)) == (gemma.bos, first, 2, 1)
    settings = json.loads((Path(locate(str(path))) / "generation_config.json").read_text())
    assert settings["eos_token_id"] == [gemma.eos, last]
    model = transformers.AutoModelForCausalLM.from_pretrained(locate(str(path)))
    assert model.config.vocab_size == len(gemma.pieces)


def test_ends_of_turns_that_the_file_names_are_ends(cache: Path, tmp_path: Path, gemma: Pieces) -> None:
    path = write_llama(tmp_path / "named.gguf", gemma, add_add_space_prefix=False, add_eot_token_id=gemma.eos + 2)
    settings = json.loads((Path(locate(str(path))) / "generation_config.json").read_text())
    assert settings["eos_token_id"] == [gemma.eos, gemma.eos + 2]


@pytest.mark.parametrize("size", [400, 900, 1500])
@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("split", [True, False])
def test_the_reference_is_sentencepiece(tmp_path: Path, size: int, prefix: bool, split: bool) -> None:
    pieces = trained(size, prefix=prefix, split=split)
    path = write_llama(tmp_path / "one.gguf", pieces, add_add_space_prefix=prefix)
    vocabulary = read_vocabulary(path)
    assert vocabulary is not None
    assert (vocabulary.pieces, vocabulary.kinds) == (pieces.pieces, pieces.kinds)
    for text in TEXTS:
        assert encoded(vocabulary, text) == pieces.processor.encode(text), text


def test_a_tokenizer_that_is_none_of_the_files_is_refused(cache: Path, tmp_path: Path, gemma: Pieces) -> None:
    vocabulary = read_vocabulary(write_llama(tmp_path / "a.gguf", gemma, TURNS, add_add_space_prefix=False))
    tokenizer = tokenizer_of(tmp_path / "a.gguf")
    assert vocabulary is not None
    refuse_other_tokens(tokenizer, vocabulary, "a.gguf")
    turned = vocabulary.pieces.copy()
    turned[-1], turned[-2] = turned[-2], turned[-1]
    n = len(turned)
    with pytest.raises(
        UnfitModelError, match=rf"token {n - 2} would be .* and is .* in the file; name the model's folder"
    ):
        refuse_other_tokens(tokenizer, replace(vocabulary, pieces=turned), "a.gguf")
    with pytest.raises(UnfitModelError, match=r"would be cut into .* by the file's scores"):
        refuse_other_tokens(tokenizer, replace(vocabulary, scores=vocabulary.scores[::-1]), "a.gguf")
    # a word of several tokens is no token of control
    pieces = [*vocabulary.pieces[:-1], "ferry council"]
    kinds = [*vocabulary.kinds[:-1], CONTROL]
    with pytest.raises(UnfitModelError, match="'ferry council', which controls the model, would be cut"):
        refuse_other_tokens(Renamed(tokenizer, pieces), replace(vocabulary, pieces=pieces, kinds=kinds), "a.gguf")


class Renamed:
    """A tokenizer whose tokens are called otherwise."""

    def __init__(self, tokenizer: Any, pieces: list[str]) -> None:
        self._tokenizer, self._pieces = tokenizer, pieces

    def convert_ids_to_tokens(self, ids: Any) -> list[str]:
        return [self._pieces[i] for i in ids]

    def __call__(self, text: str, **options: Any) -> Any:
        return self._tokenizer(text, **options)


def test_two_tokens_of_the_same_piece_are_refused(cache: Path, tmp_path: Path, llama: Pieces) -> None:
    pieces = [*llama.pieces[:-1], llama.pieces[-2]]
    path = write_llama(tmp_path / "twice.gguf", replace(llama, pieces=pieces))
    with pytest.raises(UnfitModelError, match="no right tokenizer can be made of it: token"):
        locate(str(path))
    assert {each.suffix for each in (cache / "models").iterdir()} <= {".lock"}
    assert llama.kinds[-1] == NORMAL


LLAMA_3 = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
GPT_2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
HEADERS = ("<|begin_of_text|>", "<|eot_id|>", "<|start_header_id|>", "<|end_header_id|>")


@pytest.mark.parametrize(("cuts", "pattern"), [("llama-bpe", LLAMA_3), ("llama3", LLAMA_3), ("gpt-2", GPT_2)])
def test_a_byte_vocabulary_is_cut_as_its_file_says(
    cache: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, cuts: str, pattern: str
) -> None:
    pieces = merged(cuts, pattern, HEADERS)
    tokenizer = tokenizer_of(write_llama(tmp_path / "bytes.gguf", pieces, "{{ messages[0]['content'] }}<|eot_id|>"))
    assert tokenizer.convert_ids_to_tokens(range(len(pieces.pieces))) == pieces.pieces
    for text in TEXTS:
        assert tokenizer(text, add_special_tokens=False)["input_ids"] == pieces.processor.encode(text).ids, text
    assert [tokenizer(token, add_special_tokens=False)["input_ids"] for token in HEADERS] == [[0], [1], [2], [3]]
    assert not warned(caplog)


def test_a_way_of_cutting_that_is_not_known_is_told(
    cache: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    locate(str(write_llama(tmp_path / "bytes.gguf", merged("tekken", GPT_2, HEADERS))))
    assert "cuts texts as 'tekken' does, which evenhand does not know" in caplog.text
