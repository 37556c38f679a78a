"""Folders in the hub's layout with Mistral's own SentencePiece vocabularies, which come with mistral_common."""

import json
import shutil
from pathlib import Path

import pytest

# vocabulary -> its file in mistral_common, and tokens for control that the hub's files name
VOCABULARIES = {
    # Mistral 7B v0.1 and v0.2, Mixtral 8x7B
    "v1": ("tokenizer.model.v1", ["<unk>", "<s>", "</s>"]),
    # Mistral 7B v0.3
    "v3": (
        "mistral_instruct_tokenizer_240323.model.v3",
        ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[TOOL_CALLS]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]"],
    ),
}


def turns(user: str, assistant: str) -> str:
    """A chat template from what stands for a turn of each role."""
    return (
        "{{ bos_token }}{% for m in messages %}{% if m['role'] == 'user' %}{{ "
        + user
        + " }}{% else %}{{ "
        + assistant
        + " }}{% endif %}{% endfor %}"
    )


# as published, without their errors, tools and system prompts
TEMPLATES = {
    "mistral-v0.1": turns("' [INST] ' + m['content'] + ' [/INST]'", "' ' + m['content'] + eos_token"),
    "mistral-v0.3": turns("'[INST] ' + m['content'] + '[/INST]'", "' ' + m['content'] | trim + eos_token"),
    "llama-2": turns("'[INST] ' + m['content'].strip() + ' [/INST]'", "' ' + m['content'].strip() + ' ' + eos_token"),
    "zephyr": "{% for m in messages %}{{ '<|' + m['role'] + '|>\\n' + m['content'] + eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}",
}


def save_tokenizer(folder: Path, vocabulary: str, template: str) -> None:
    """Write a tokenizer of that vocabulary and chat template, with Mistral's own file beside it, as on the hub."""
    data = Path(pytest.importorskip("mistral_common").__file__).parent / "data"
    tokenizers, transformers = pytest.importorskip("tokenizers"), pytest.importorskip("transformers")
    name, control = VOCABULARIES[vocabulary]
    folder.mkdir(parents=True)
    shutil.copy(data / name, folder / "tokenizer.model")
    flags = {"lstrip": False, "normalized": False, "rstrip": False, "single_word": False, "special": True}
    config = {
        "tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "add_eos_token": False, "bos_token": "<s>",
        "eos_token": "</s>", "unk_token": "<unk>", "legacy": False, "chat_template": TEMPLATES[template],
        "added_tokens_decoder": {str(i): {"content": token, **flags} for i, token in enumerate(control)},
    }  # fmt: skip
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    made = transformers.AutoTokenizer.from_pretrained(folder)
    # as published: a text by itself begins with a blank
    made.backend_tokenizer.normalizer = None
    made.backend_tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(prepend_scheme="first", split=False)
    made.save_pretrained(folder)
    shutil.copy(data / name, folder / f"tokenizer.model.{vocabulary}")


def save_mistral(folder: Path) -> None:
    """Write a Mistral of two layers with random weights and the vocabulary of 7B v0.3."""
    torch, transformers = pytest.importorskip("torch"), pytest.importorskip("transformers")
    save_tokenizer(folder, "v3", "mistral-v0.3")
    torch.manual_seed(0)
    config = transformers.MistralConfig(
        vocab_size=32768, hidden_size=64, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=2048, sliding_window=None, tie_word_embeddings=True,
        bos_token_id=1, eos_token_id=2, initializer_range=0.3,
    )  # fmt: skip
    # larger weights than usual: what stands far back in the prompt shows in the grades
    transformers.MistralForCausalLM(config).save_pretrained(folder)
    # Mistral's own weights beside them make vLLM take its own tokenizer too, which has no chat template
    shutil.copy(folder / "model.safetensors", folder / "consolidated.safetensors")
