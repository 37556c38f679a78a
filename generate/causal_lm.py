"""Opening a language model of transformers for generation: model and tokenizer as the recipe names them.

And a LoRA adapter folded into its base model, for engines that serve adapters slowly or not at all.
"""

import logging
import shutil
from pathlib import Path
from typing import Any

from filelock import FileLock

from ..config import ModelSection
from ..errors import UnfitModelError
from ..extras import need
from ..models import locate
from ..models.adapters import open_adapter
from ..models.files import refuse_adapter
from ..models.opening import check_weights, open_chat_tokenizer, open_model, open_tokenizer, refuse_other_tokenizer
from ..models.wholeness import refuse_strange_numbers, strange_numbers, told_once

log = logging.getLogger(__name__)

ARCHITECTURE = "AutoModelForCausalLM"


def open_causal_lm(model: ModelSection, feature: str, attention: str | None = None) -> tuple[Any, Any]:
    """Tokenizer and model, in evaluation mode, on the accelerator where there is one.

    Args:
        model: what is opened, without its adapter.
        feature: for whom, as an error should name it: "backend 'transformers'".
        attention: attention implementation; None takes the section's.

    Raises:
        ModelError: the model cannot be opened, or is not whole.
    """
    torch = need("torch", feature)
    tokenizer = open_chat_tokenizer(model.name, feature, model.revision, model.chat_template_kwargs)
    loaded = open_model(
        ARCHITECTURE,
        model.name,
        feature,
        revision=model.revision,
        dtype=getattr(torch, model.dtype),
        attn_implementation=attention or model.answers_with,
    )
    refuse_other_tokenizer(tokenizer, loaded, f"{feature}: model {model.name!r}")
    return tokenizer, loaded.to("cuda" if torch.cuda.is_available() else "cpu")


def check_causal_lm(
    model: ModelSection, adapter: Path | None, feature: str, *, is_for_transformers: bool = False
) -> None:
    """Refuse a model or an adapter that is not whole, from headers alone, before an engine opens it.

    Left to the engine are models that transformers does not know and names in quantised checkpoints, which only the library
    that quantised them can tell.

    Args:
        model: what is looked at, without its adapter.
        adapter: folder of the one that is to be put on it.
        feature: for whom, as an error should name it.
        is_for_transformers: whether transformers will open it, which must have its attention and take it for a language model.

    Raises:
        ModelError: the model cannot be opened, or is not whole, or the adapter does not fit it.
    """
    tokenizer = open_chat_tokenizer(model.name, feature, model.revision, model.chat_template_kwargs)
    if adapter is not None:
        refuse_adapter(adapter)
    architecture = _architecture(model, feature)
    if architecture is None:
        return
    options: dict[str, Any] = {"attn_implementation": model.answers_with} if is_for_transformers else {}
    if is_for_transformers:
        architecture = ARCHITECTURE
    empty = check_weights(architecture, model.name, feature, revision=model.revision, **options)
    refuse_other_tokenizer(tokenizer, empty, f"{feature}: model {model.name!r}")
    if adapter is not None:
        # weights take the places of those without memory
        open_adapter(empty, adapter, low_cpu_mem_usage=True)


def _architecture(model: ModelSection, feature: str) -> str | None:
    """The class of transformers that a model's configuration names; None where transformers cannot tell its weights' names."""
    transformers = need("transformers", feature)
    folder = locate(model.name)
    with told_once(f"{feature} cannot open model {model.name!r}", folder):
        settings, _ = transformers.PretrainedConfig.get_config_dict(folder, revision=model.revision)
        kind = settings.get("model_type")
        if not isinstance(kind, str):
            # which is refused in transformers' own words
            return ARCHITECTURE
        if kind not in transformers.CONFIG_MAPPING or "quantization_config" in settings:
            return None
        named = settings.get("architectures") or [ARCHITECTURE]
        return next((str(name) for name in named if hasattr(transformers, str(name))), None)


def end_ids(model: Any, tokenizer: Any) -> set[int]:
    """Token ids that end a reply: those of the generation settings and the tokenizer's end token.

    Raises:
        UnfitModelError: the generation settings name something else than token ids.
    """
    named = model.generation_config.eos_token_id
    ids = [*(named if isinstance(named, list) else [named]), tokenizer.eos_token_id]
    if not all(token_id is None or isinstance(token_id, int) for token_id in ids):
        raise UnfitModelError(
            f"model {model.name_or_path!r}: its end tokens are {ids}, which are not token ids; mend eos_token_id in its "
            "generation_config.json"
        )
    return {i for i in ids if i is not None}


def merge_adapter(model_folder: Path, adapter: Path, target: Path, dtype: str) -> Path:
    """The folder of the merged model, `target`; made on the first call, by one process at a time.

    The sum is formed in float32 and rounded once: added in bfloat16, most of a small adapter would be rounded away.

    Args:
        model_folder: Hugging Face folder of the base model, in 16 or 32 bits.
        adapter: folder of a LoRA adapter.
        target: where the merged model goes; must name base, adapter and dtype by their content, because it is reused.
        dtype: of the saved weights: "float32", "bfloat16" or "float16".

    Raises:
        ModelError: base or adapter cannot be opened, or they do not fit.
    """
    feature = "merging an adapter"
    torch = need("torch", feature)
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{target}.lock"):
        if target.exists():
            return target
        log.info("merging adapter %s into its base model (once)", adapter)
        tokenizer = open_tokenizer(str(model_folder), feature)
        base = open_model("AutoModelForCausalLM", str(model_folder), feature, dtype=torch.float32)
        merged = open_adapter(base, adapter).merge_and_unload()
        # finite factors can still have a product or a sum that is not
        merged = merged.to(getattr(torch, dtype))
        refuse_strange_numbers(strange_numbers(merged), f"adapter {adapter}: merged into {model_folder}, it")
        temporary = target.with_name(f"{target.name}.tmp")
        shutil.rmtree(temporary, ignore_errors=True)
        merged.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
        temporary.rename(target)
    return target
