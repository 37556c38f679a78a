"""Adapters with random weights."""

from pathlib import Path

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
