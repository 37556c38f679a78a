"""A LoRA adapter folded into its base model: for engines that serve adapters slowly or not at all."""

import logging
import shutil
from pathlib import Path

from filelock import FileLock

from ..errors import ModelError
from ..extras import need
from .causal_lm import open_adapter

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
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{target}.lock"):
        if not target.exists():
            log.info("merging adapter %s into its base model (once)", adapter)
            _merge(model_folder, adapter, target, dtype)
    return target


def _merge(model_folder: Path, adapter: Path, target: Path, dtype: str) -> None:
    torch = need("torch", "merging an adapter")
    transformers = need("transformers", "merging an adapter")
    try:
        base = transformers.AutoModelForCausalLM.from_pretrained(
            model_folder, dtype=torch.float32, trust_remote_code=False
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(model_folder, trust_remote_code=False)
        # safe_merge refuses an adapter whose weights are not finite
        merged = open_adapter(base, adapter).merge_and_unload(safe_merge=True)
    except (ModelError, ValueError, OSError, RuntimeError) as error:
        raise ModelError(f"adapter {adapter} cannot be merged into {model_folder}: {error}") from error
    temporary = target.with_name(f"{target.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    merged.to(getattr(torch, dtype)).save_pretrained(temporary)
    tokenizer.save_pretrained(temporary)
    temporary.rename(target)
