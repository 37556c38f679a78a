"""The finished adapter folder: what PEFT, transformers and vLLM read, the model's tokenizer among it, and nothing else."""

import json
from pathlib import Path
from typing import Any

from ..config import Recipe
from ..errors import ModelError
from ..models import public_name
from ..models.bases import write_base
from ..models.cache import remove
from ..models.files import ADAPTER_SETTINGS, ADAPTER_WEIGHTS
from ..storage import read_text, write_json, write_text
from .policy import load_tokenizer

CARD = """\
---
base_model: {base}
library_name: peft
pipeline_tag: summarization
tags: [dpo, evenhand, lora, trl]
---

# {name}

A LoRA adapter for `{base}`, trained with DPO on preference pairs of summaries (`evenhand`, run `{name}`).

- {policy}
- {kept} pairs, {steps} steps of {batch} {unit}, learning rate {learning_rate:g}, beta {beta:g}
- losses, rows left out by side, versions: `training.json` in the round's folder
"""


def save_adapter(trainer: Any, target: Path, recipe: Recipe, facts: dict[str, Any]) -> None:
    """Write the trained adapter to `target`; it appears whole or not at all.

    All processes must call this: sharded weights are gathered for it. The main one writes. Of a continued adapter's frozen
    copy and the pickled arguments that transformers saves along, nothing is kept; the tokenizer is the model's own, without the
    padding that a trainer gives it.

    Args:
        trainer: a DPOTrainer that has trained.
        target: the adapter folder.
        recipe: for the base model, by the name that others know it by.
        facts: fields of the model card.

    Raises:
        ModelError: the trainer saved no adapter.
    """
    raw = target.with_name(f".{target.name}.raw")
    if trainer.is_world_process_zero():
        remove(raw)
    trainer.save_model(str(raw))
    if not trainer.is_world_process_zero():
        return
    if not (raw / ADAPTER_WEIGHTS).is_file():
        raise ModelError(
            f"{raw}: the trainer saved no {ADAPTER_WEIGHTS}; a pickled or sharded adapter is not read back"
        )
    draft = target.with_name(f".{target.name}.tmp")
    remove(draft)
    draft.mkdir()
    (raw / ADAPTER_WEIGHTS).rename(draft / ADAPTER_WEIGHTS)
    config = json.loads(read_text(raw / ADAPTER_SETTINGS))
    if isinstance(config.get("target_modules"), list):
        config["target_modules"].sort()
    base = {"base_model_name_or_path": public_name(recipe.model.name), "revision": recipe.model.revision}
    # sets in order and without this machine's paths: equal adapters are equal files
    write_json(draft / ADAPTER_SETTINGS, dict(sorted((config | base | {"inference_mode": True}).items())))
    write_base(draft, recipe.model.name)
    load_tokenizer(recipe.model).save_pretrained(draft)
    write_text(draft / "README.md", CARD.format(base=public_name(recipe.model.name), name=recipe.name, **facts))
    remove(raw)
    # left over when a kill came after the rename and before the receipt
    remove(target)
    draft.rename(target)
