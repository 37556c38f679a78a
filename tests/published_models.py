"""What is published of the models that recipes for GPUs name: their configurations, and how many weights they have.

A cache of the hub that holds the configurations alone is enough to estimate what a recipe needs.
"""

import json
from pathlib import Path
from typing import Any

REVISION = "0" * 40
_LLAMA = {"model_type": "llama", "num_key_value_heads": 8, "vocab_size": 128256, "max_position_embeddings": 131072}
_QWEN = {"model_type": "qwen2", "vocab_size": 152064, "max_position_embeddings": 32768}
_MISTRAL = {"model_type": "mistral", "num_key_value_heads": 8, "vocab_size": 32768, "sliding_window": None}
# config.json as published at huggingface.co, and the number of parameters that the model's page has of its safetensors
PUBLISHED: dict[str, tuple[dict[str, Any], int]] = {
    "meta-llama/Llama-3.1-8B-Instruct": (
        _LLAMA | {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32},
        8_030_261_248,
    ),
    "meta-llama/Llama-3.3-70B-Instruct": (
        _LLAMA | {"hidden_size": 8192, "intermediate_size": 28672, "num_hidden_layers": 80, "num_attention_heads": 64},
        70_553_706_496,
    ),
    "Qwen/Qwen2.5-7B-Instruct": (
        _QWEN
        | {
            "hidden_size": 3584, "intermediate_size": 18944, "num_hidden_layers": 28, "num_attention_heads": 28,
            "num_key_value_heads": 4,
        },
        7_615_616_512,
    ),
    "Qwen/Qwen2.5-14B-Instruct": (
        _QWEN
        | {
            "hidden_size": 5120, "intermediate_size": 13824, "num_hidden_layers": 48, "num_attention_heads": 40,
            "num_key_value_heads": 8,
        },
        14_770_033_664,
    ),
    "Qwen/Qwen2.5-32B-Instruct": (
        _QWEN
        | {
            "hidden_size": 5120, "intermediate_size": 27648, "num_hidden_layers": 64, "num_attention_heads": 40,
            "num_key_value_heads": 8,
        },
        32_763_876_352,
    ),
    "mistralai/Mistral-7B-Instruct-v0.3": (
        _MISTRAL | {"hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32, "num_attention_heads": 32},
        7_248_023_552,
    ),
    "mistralai/Mistral-Large-Instruct-2411": (
        _MISTRAL | {"hidden_size": 12288, "intermediate_size": 28672, "num_hidden_layers": 88, "num_attention_heads": 96},
        122_610_069_504,
    ),
    "mistralai/Mixtral-8x7B-Instruct-v0.1": (
        {
            "model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
            "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000, "num_local_experts": 8,
            "num_experts_per_tok": 2, "sliding_window": None,
        },
        46_702_792_704,
    ),
}  # fmt: skip


def settings_of(name: str) -> dict[str, Any]:
    """The configuration of a model; none of these has its embeddings as its head."""
    return PUBLISHED[name][0] | {"tie_word_embeddings": False}


def write_settings(hub: Path) -> None:
    """Write the configurations as huggingface_hub keeps what it has fetched."""
    for name in PUBLISHED:
        place = hub / f"models--{name.replace('/', '--')}"
        folder = place / "snapshots" / REVISION
        folder.mkdir(parents=True)
        (place / "refs").mkdir()
        (place / "refs" / "main").write_text(REVISION)
        (folder / "config.json").write_text(json.dumps(settings_of(name)))
