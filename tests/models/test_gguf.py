"""GGUF files become ordinary folders that end their turns with the right token."""

import json
from pathlib import Path

import pytest

from evenhand.errors import StorageError
from evenhand.models import locate

CHAT = "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>")
WIDTH, HIDDEN, HEADS, LAYERS = 32, 48, 4, 2


@pytest.fixture
def qwen2(tmp_path, monkeypatch):
    """A Qwen2 of two layers with random weights, as a GGUF file: the begin token is <|endoftext|>, the end token <|im_end|>."""
    gguf = pytest.importorskip("gguf", reason="needs gguf")
    pytest.importorskip("transformers", reason="needs transformers")
    pytest.importorskip("torch", reason="needs torch")
    import numpy as np

    monkeypatch.setenv("EVENHAND_CACHE", str(tmp_path / "cache"))
    from transformers.convert_slow_tokenizer import bytes_to_unicode

    tokens = [*bytes_to_unicode().values(), "th", "er", *SPECIAL]
    ordinary, control = gguf.TokenType.NORMAL, gguf.TokenType.CONTROL
    path = tmp_path / "tiny-qwen2.gguf"
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_block_count(LAYERS)
    writer.add_context_length(64)
    writer.add_embedding_length(WIDTH)
    writer.add_feed_forward_length(HIDDEN)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS // 2)
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10000.0)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("qwen2")
    writer.add_token_list(tokens)
    writer.add_token_types([*[ordinary] * (len(tokens) - len(SPECIAL)), *[control] * len(SPECIAL)])
    writer.add_token_merges(["t h", "e r"])
    writer.add_bos_token_id(tokens.index("<|endoftext|>"))
    writer.add_eos_token_id(tokens.index("<|im_end|>"))
    writer.add_pad_token_id(tokens.index("<|endoftext|>"))
    writer.add_chat_template(CHAT)
    rng = np.random.default_rng(3)

    def add(name, *shape):
        writer.add_tensor(name, rng.normal(0, 0.1, shape).astype(np.float32))

    add("token_embd.weight", len(tokens), WIDTH)
    add("output.weight", len(tokens), WIDTH)
    add("output_norm.weight", WIDTH)
    for layer in range(LAYERS):
        for name, rows in (("attn_q", WIDTH), ("attn_k", WIDTH // 2), ("attn_v", WIDTH // 2)):
            add(f"blk.{layer}.{name}.weight", rows, WIDTH)
            add(f"blk.{layer}.{name}.bias", rows)
        add(f"blk.{layer}.attn_output.weight", WIDTH, WIDTH)
        add(f"blk.{layer}.attn_norm.weight", WIDTH)
        add(f"blk.{layer}.ffn_norm.weight", WIDTH)
        add(f"blk.{layer}.ffn_gate.weight", HIDDEN, WIDTH)
        add(f"blk.{layer}.ffn_up.weight", HIDDEN, WIDTH)
        add(f"blk.{layer}.ffn_down.weight", WIDTH, HIDDEN)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


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
