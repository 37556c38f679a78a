"""Opening a LoRA adapter: every weight of its file has a place in the model, and every place has a weight."""

import logging
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import UnfitModelError
from ..extras import need
from .bases import refuse_other_base
from .files import ADAPTER_SETTINGS, ADAPTER_WEIGHTS, GET_AGAIN, adapter_settings, refuse_adapter
from .wholeness import cut_names, is_finite, refuse_strange_numbers, told_once

log = logging.getLogger(__name__)

FEATURE = "an adapter"
# a factor of a low-rank update, behind the name of what it changes
FACTOR = re.compile(r"(.+)\.lora_(?:embedding_)?[AB](?:\.weight)?")


def open_adapter(model: Any, folder: Path, *, name: str = "default", config: Any = None, **options: Any) -> Any:
    """The model with a LoRA adapter from a folder.

    Args:
        model: of transformers, or one that has an adapter of another name already.
        folder: settings and weights; a pickle in the place of the weights is not opened.
        name: what the adapter is called in the model.
        config: its settings; None reads those of the folder.
        options: of `load_adapter` of peft. Without `is_trainable` the model is put in evaluation mode.

    Raises:
        UnfitModelError: the folder holds no such adapter, it is damaged, it does not fit the model, wholly or in part, or it was
            trained on another.
    """
    peft = need("peft", FEATURE)
    weights = adapter_weights(folder)
    settings = config or lora_config(folder)
    refuse_other_base(str(model.name_or_path), model.config, folder)
    if replaced := _replaced(model, weights, settings):
        raise UnfitModelError(
            f"adapter {folder}: would replace weights of its model, of which its settings say nothing: {cut_names(replaced)}; "
            f"{GET_AGAIN}, or name modules_to_save in its {ADAPTER_SETTINGS}"
        )
    with told_once(f"adapter {folder}: does not fit its model", str(folder), "name the model that it was trained on"):
        if not isinstance(model, peft.PeftModel):
            kind = peft.PeftModelForCausalLM if settings.task_type == "CAUSAL_LM" else peft.PeftModel
            cast = options.get("autocast_adapter_dtype", True)
            options["key_mapping"] = getattr(model, "_checkpoint_conversion_mapping", {})
            model = kind(model, settings, name, autocast_adapter_dtype=cast)
        report = model.load_adapter(str(folder), name, **options)
    # peft looks for the factors alone
    trained = peft.get_peft_model_state_dict(model, adapter_name=name, save_embedding_layers=False)
    biases = {key for key in trained if key.endswith(".bias")} - weights.keys()
    missing = biases.union(report.missing_keys)
    wrong = [
        f"has no weights for {cut_names(missing)}" if missing else "",
        f"has weights for {cut_names(report.unexpected_keys)}, which the model lacks" if report.unexpected_keys else "",
    ]
    mistakes = [mistake for mistake in wrong if mistake]
    if mistakes:
        raise UnfitModelError(
            f"adapter {folder}: fits its model only in part: it {', and '.join(mistakes)}; {GET_AGAIN}, or name the model "
            "that it was trained on"
        )
    return model if options.get("is_trainable") else model.eval()


def _replaced(model: Any, weights: Mapping[str, Any], settings: Any) -> list[str]:
    """Names of the model's own weights for which an adapter's file has others, though its settings do not say so.

    peft writes frozen embeddings beside the factors that change them, and rounds them as the model that was trained was rounded.
    """
    announced = set(settings.modules_to_save or ())
    model_weights = {_bare(name): weight for name, weight in model.state_dict().items()}
    names = []
    for name, weight in weights.items():
        original = model_weights.get(_bare(name))
        if original is None or original.is_meta or not original.numel() or announced & set(name.split(".")):
            continue
        if settings.bias != "none" and name.endswith(".bias"):
            continue
        replacement = weight.to(original.device)
        if not any(original.to(dtype).equal(replacement.to(dtype)) for dtype in (original.dtype, replacement.dtype)):
            names.append(name)
    return names


def _bare(name: str) -> str:
    """A weight's name in the model without adapters."""
    return name.removeprefix("base_model.model.").replace(".base_layer.", ".")


def lora_config(folder: Path) -> Any:
    """The settings of a LoRA adapter, as peft has them; its class is named, so that no file can choose another.

    Raises:
        UnfitModelError: the folder holds none, or peft cannot read them.
    """
    refuse_adapter(folder)
    library = need("peft", FEATURE)
    with told_once(f"adapter {folder}: its settings cannot be used", str(folder), GET_AGAIN):
        return library.LoraConfig.from_pretrained(str(folder))


def adapter_weights(folder: Path) -> dict[str, Any]:
    """The weights of a LoRA adapter by name; a warning says where they change nothing.

    Raises:
        UnfitModelError: they are not there, not whole, or not numbers.
    """
    refuse_adapter(folder)
    weights: dict[str, Any] = need("safetensors.torch", FEATURE).load_file(folder / ADAPTER_WEIGHTS)
    strange = [key for key, weight in weights.items() if not is_finite(weight)]
    refuse_strange_numbers(strange, f"adapter {folder}:")
    if changes_nothing(weights):
        log.warning("adapter %s changes nothing: in every pair of its factors one is zero", folder)
    settings = adapter_settings(folder)
    if not settings["lora_alpha"] and not settings.get("alpha_pattern"):
        log.warning("adapter %s changes nothing: its lora_alpha is 0", folder)
    return weights


def changes_nothing(weights: Mapping[str, Any]) -> bool:
    """Whether an adapter leaves its model as it is: of each pair of factors one is zero, and there is nothing else."""
    changed, idle = set(), set()
    for key, weight in weights.items():
        match = FACTOR.fullmatch(key)
        if match is None:
            return False
        changed.add(match[1])
        if not weight.any():
            idle.add(match[1])
    return changed == idle
