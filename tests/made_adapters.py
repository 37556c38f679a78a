"""Adapters with random weights."""

from pathlib import Path
from typing import Any

import pytest


def made_adapter(model: Path, folder: Path, seed: int = 1) -> Path:
    """Folder of an adapter of rank 4 for a model."""
    torch = pytest.importorskip("torch")
    peft, transformers = (pytest.importorskip(name) for name in ("peft", "transformers"))
    torch.manual_seed(seed)
    base = transformers.AutoModelForCausalLM.from_pretrained(model)
    settings = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM", init_lora_weights=False)
    peft.get_peft_model(base, settings).save_pretrained(folder)
    return folder


def adapted(model: Any, folder: Path, *, std: float = 0.5, seed: int = 1, **config: Any) -> Any:
    """The model with an adapter of which nothing is zero, as B is at first; the folder has the adapter."""
    torch, peft = pytest.importorskip("torch"), pytest.importorskip("peft")
    torch.manual_seed(seed)
    wrapped = peft.get_peft_model(model, peft.LoraConfig(**{"r": 4, "target_modules": ["q_proj", "v_proj"]} | config))
    for name, weight in wrapped.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=std)
    wrapped.save_pretrained(folder)
    return wrapped.eval()
