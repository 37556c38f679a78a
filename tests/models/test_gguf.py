"""GGUF files become ordinary folders that end their turns with the right token."""

import json
from pathlib import Path

import pytest
from gguf_files import CONTROL, LAYERS, NORMAL, Pieces, write_qwen2

from evenhand.errors import StorageError
from evenhand.models import locate

CHAT = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>")


@pytest.fixture
def qwen2(tmp_path, monkeypatch):
    """A Qwen2 of two layers with random weights, as a GGUF file: the begin token is <|endoftext|>, the end token <|im_end|>."""
    pytest.importorskip("gguf", reason="needs gguf")
    pytest.importorskip("transformers", reason="needs transformers")
    pytest.importorskip("torch", reason="needs torch")
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    ordinary = [*bytes_to_unicode().values(), "th", "er"]
    tokens = [*ordinary, *SPECIAL]
    begin, end = tokens.index("<|endoftext|>"), tokens.index("<|im_end|>")
    kinds = [NORMAL] * len(ordinary) + [CONTROL] * len(SPECIAL)
    pieces = Pieces(tokens, [], kinds, bos=begin, eos=end, unknown=None, merges=["t h", "e r"], cuts="qwen2")
    return write_qwen2(tmp_path / "tiny-qwen2.gguf", pieces, CHAT, add_pad_token_id=begin)


def test_what_a_killed_conversion_left_is_no_part_of_the_folder(qwen2):
    from evenhand.models import gguf
    from evenhand.storage import sha256_of

    target = gguf.converted_folder(qwen2.stem, sha256_of(qwen2))
    left = target.with_name(target.name + ".tmp")
    left.mkdir(parents=True)
    (left / "adapter_config.json").write_text("{}")
    assert locate(str(qwen2)) == str(target)
    assert not (target / "adapter_config.json").exists()
    assert not left.exists()


@pytest.mark.parametrize("is_of_safetensors", [False, True])
def test_a_full_disk_is_one_message_and_nothing_is_left(qwen2, tmp_path, monkeypatch, is_of_safetensors):
    import safetensors
    import transformers

    full = OSError(28, "No space left on device")
    if is_of_safetensors:
        full = safetensors.SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")

    def save(self, folder, *_, **__):
        (folder / "config.json").write_text("{}")
        raise full

    monkeypatch.setattr(transformers.PreTrainedModel, "save_pretrained", save)
    with pytest.raises(StorageError, match=r"No space left on device.*EVENHAND_CACHE"):
        locate(str(qwen2))
    assert {path.suffix for path in (tmp_path / "cache" / "models").iterdir()} <= {".lock"}


def test_a_qwen2_file_keeps_its_chat_and_its_end_of_turn(qwen2):
    import transformers

    place = Path(locate(str(qwen2)))
    tokenizer = transformers.AutoTokenizer.from_pretrained(place)
    assert (tokenizer.eos_token, tokenizer.pad_token) == ("<|im_end|>", "<|im_end|>")
    chat = tokenizer.apply_chat_template([{"role": "user", "content": "hi"}], tokenize=False)
    assert chat == "<|im_start|>user\nhi<|im_end|>\n"
    # of these transformers knows three
    assert [len(tokenizer(token)["input_ids"]) for token in SPECIAL] == [1, 1, 1, 1]
    assert "<|vision_start|>" in {str(token) for token in tokenizer.added_tokens_decoder.values() if token.special}
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    assert json.loads((place / "config.json").read_text())["eos_token_id"] == end
    assert json.loads((place / "generation_config.json").read_text())["eos_token_id"] == end
    assert tokenizer(chat)["input_ids"].count(end) == 1
    model = transformers.AutoModelForCausalLM.from_pretrained(place)
    assert (model.config.model_type, model.config.num_hidden_layers) == ("qwen2", LAYERS)
