"""A LoRA adapter folded into its base model: for engines that serve adapters slowly or not at all."""

import logging
import shutil
from pathlib import Path

from filelock import FileLock

from ..extras import need
from ..models.adapters import open_adapter
from ..models.opening import open_model, open_tokenizer
from ..models.wholeness import refuse_strange_numbers, strange_numbers

log = logging.getLogger(__name__)


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
