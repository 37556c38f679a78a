"""GGUF files, de-quantised once into an ordinary Hugging Face folder in the cache, which every engine can read."""

import logging
from pathlib import Path

from ..errors import StorageError, UnfitModelError
from ..extras import need
from ..storage import sha256_of
from .cache import made_alone, models_folder, refuse_full_disk, whole_folder
from .files import damage

log = logging.getLogger(__name__)


def converted_folder(stem: str, sha256: str) -> Path:
    """Where the Hugging Face folder made from a GGUF file of this name and SHA-256 lies, or will."""
    return models_folder() / f"{stem}-{sha256[:16]}"


def converted(gguf: Path, n_bytes: int = 0) -> Path:
    """The cached Hugging Face folder made from a GGUF file; converted on first use, by one process at a time.

    Args:
        gguf: the file.
        n_bytes: room that the folder needs, where that is known.

    Raises:
        UnfitModelError: the file is damaged, or cannot be converted.
        StorageError: the disk has no room for the folder, or the cache cannot be written.
    """
    target = converted_folder(gguf.stem, sha256_of(gguf))
    with made_alone(target):
        if not target.exists():
            refuse_full_disk(target.parent, n_bytes, f"converting {gguf.name}")
            log.info("converting %s to a Hugging Face folder (once)", gguf.name)
            _convert(gguf, target)
    return target


def _convert(gguf: Path, target: Path) -> None:
    need("gguf", f"model file {gguf.name}")
    transformers = need("transformers", f"model file {gguf.name}")
    torch = need("torch", f"model file {gguf.name}")
    from .wholeness import refuse_misfit, refuse_strange_numbers, strange_numbers, told_once

    if why := damage(gguf):
        raise UnfitModelError(f"{gguf}: {why}")
    with told_once(f"{gguf}: cannot be converted", str(gguf)):
        model, report = transformers.AutoModelForCausalLM.from_pretrained(
            gguf.parent,
            gguf_file=gguf.name,
            dtype=torch.bfloat16,
            local_files_only=True,
            trust_remote_code=False,
            output_loading_info=True,
        )
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            gguf.parent, gguf_file=gguf.name, local_files_only=True, trust_remote_code=False
        )
    refuse_misfit(model, report, f"{gguf}:")
    refuse_strange_numbers(strange_numbers(model), f"{gguf}:")
    # the weights are plain numbers now; with these two left in place they would be saved as if still quantised
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    # the GGUF reader takes the begin token for the end token and sets no padding token: without this a trained summary
    # would end in <|im_start|>
    end = tokenizer.convert_ids_to_tokens(model.config.eos_token_id)
    tokenizer.eos_token = end
    tokenizer.pad_token = end
    with whole_folder(target) as temporary:
        try:
            model.save_pretrained(temporary)
            tokenizer.save_pretrained(temporary)
        except need("safetensors", f"model file {gguf.name}").SafetensorError as error:
            # a full disk is none of the system's errors there
            raise StorageError(
                f"{target}: cannot be written: {error}; make room, or name another folder with EVENHAND_CACHE"
            ) from error
