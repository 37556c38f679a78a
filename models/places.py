"""Where a model's files are: a Hugging Face id, a local folder, a GGUF file, or one embedded in a package.

GGUF files are de-quantised once into an ordinary Hugging Face folder in the cache, which every engine can read.
"""

import logging
import re
from collections.abc import Iterable
from pathlib import Path

from ..errors import ModelError, UnfitModelError
from ..extras import need
from ..storage import local_path, sha256_of
from ..text.digests import digest
from .assemble import assembled, at_hand, refuse_unavailable
from .embedded import EMBEDDED, EMBEDDED_MODELS, EmbeddedModel, absent_parts, embedded_model
from .files import ADAPTER_SETTINGS, damage, read_settings, refuse_damaged
from .gguf import converted, converted_folder, is_unrecorded, is_whole
from .hub import first_line, refusal

log = logging.getLogger(__name__)

# a model's folder in the cache of huggingface_hub
HUB_CACHE = re.compile(r"(?:^|/)models--([^/]+)/snapshots/")

# files whose content decides what a model replies
WEIGHTS = frozenset({".safetensors", ".bin"})
MODEL_FILES = WEIGHTS | {".json", ".jinja", ".model", ".txt"}


def locate(name: str) -> str:
    """A local folder that holds the model, or the Hugging Face id as it stands.

    Embedded and GGUF models are converted on the first call (about 20 s for SmolLM2-135M).

    Raises:
        UnfitModelError: the path exists but holds no model, or the embedded model is not known or not installed.
    """
    if name.startswith(EMBEDDED):
        return str(_embedded(embedded_model(name)))
    path = local_path(name)
    if not path.exists():
        if name.startswith((".", "/", "~")) or name.count("/") > 1 or name.endswith(".gguf"):
            raise UnfitModelError(f"model {name!r}: there is no such file or folder")
        return name
    if path.suffix == ".gguf":
        return str(converted(path))
    if not any((path / marker).is_file() for marker in ("config.json", "modules.json")):
        raise UnfitModelError(f"model {name!r}: {_why_no_model(path)}")
    return str(path)


def fetched(name: str) -> str:
    """What `locate` gives, with all that was made of it hashed; what is not whole is made again.

    Raises:
        UnfitModelError, StorageError: as `locate`.
    """
    if name.startswith(EMBEDDED):
        return str(_embedded(embedded_model(name), mend=True))
    return str(converted(local_path(name), mend=True)) if name.endswith(".gguf") else locate(name)


def check(name: str) -> None:
    """Refuse a model that `locate` would refuse, or whose files are damaged; nothing is converted or loaded.

    Raises:
        UnfitModelError: as `locate` and `files.refuse_damaged`.
    """
    if name.startswith(EMBEDDED):
        model = embedded_model(name)
        if (place := _embedded_at_hand(model)) is None:
            refuse_unavailable(model)
            return
        path = place
    else:
        path = local_path(name)
    if path.suffix == ".gguf" and path.is_file():
        why = damage(path)
        if why:
            raise UnfitModelError(f"{path}: {why}")
    elif name.startswith(EMBEDDED) or Path(locate(name)).is_dir():
        refuse_damaged(path)


def refuse_unready(models: Iterable[EmbeddedModel]) -> None:
    """Refuse embedded models that `locate` would refuse for their packages or for want of room; all that is wrong is one message.

    Raises:
        UnfitModelError, StorageError: as `locate`.
    """
    refuse_unavailable(*(model for model in models if not (model.is_gguf and _folder(model).is_dir())))


def is_hub_id(name: str) -> bool:
    """Whether a model's name is one of a hub ("org/name"), and not a place on this machine or in a package."""
    is_place = name.startswith((EMBEDDED, ".", "/", "~")) or name.endswith(".gguf") or Path(name).exists()
    return not is_place and name.count("/") <= 1


def public_name(name: str) -> str:
    """What others know a model by: its id on the hub, where its name or its place in the hub's cache says it; else its name."""
    if name.startswith(EMBEDDED):
        return embedded_model(name).hub_id
    cached = HUB_CACHE.search(Path(name).as_posix())
    return cached[1].replace("--", "/", 1) if cached else name


def file_at_hand(name: str, revision: str | None, file: str) -> Path | None:
    """A file of a model that is on this machine: in its folder, or kept from the hub. Nothing is fetched or converted.

    Raises:
        ModelError, StorageError: as `locate`.
    """
    folder = local_path(name)
    if name.startswith(EMBEDDED):
        if name.removeprefix(EMBEDDED) not in EMBEDDED_MODELS:
            # `check` refuses it; here it is a model of which nothing is on this machine
            return None
        place = _embedded_at_hand(embedded_model(name))
        return place / file if place is not None and (place / file).is_file() else None
    if folder.suffix == ".gguf" and folder.is_file():
        folder = converted_folder(folder.stem, sha256_of(folder))
    if folder.is_dir():
        return folder / file if (folder / file).is_file() else None
    if not is_hub_id(name):
        return None
    try:
        path = need("huggingface_hub", f"model {name!r}").try_to_load_from_cache(name, file, revision=revision)
    except ValueError:
        # a name that no hub can have: a server's, or a mistake that is found where the model is opened
        return None
    return Path(path) if isinstance(path, str) else None


def refuse_out_of_reach(
    model: str, revision: str | None, feature: str, patience: float = 20.0, remedy: str = "name a folder that holds it"
) -> None:
    """Refuse a model that is neither on this machine nor on a hub that answers: asked once, where loading asks a dozen times.

    Args:
        model: Hugging Face id, or what `locate` made of another name.
        revision: branch, tag or commit of a Hugging Face id.
        feature: what the user asked for, as errors name it.
        patience: seconds that the hub has for its answer.
        remedy: what to do where the model cannot be had.

    Raises:
        ModelError: there is no such model, or no network.
    """
    need("huggingface_hub", feature)
    if Path(model).exists() or file_at_hand(model, revision, "config.json"):
        return
    if error := refusal(model, revision, feature, patience):
        raise ModelError(
            f"{feature} cannot open model {model!r}: it is not on this machine, and the hub does not give it "
            f"({first_line(error)}); {remedy}"
        ) from error


def _why_no_model(path: Path) -> str:
    remedy = "name the folder that save_pretrained wrote, a .gguf file, or a Hugging Face id"
    if path.is_file():
        return f"is a file, but no .gguf file; {remedy}"
    if (path / ADAPTER_SETTINGS).is_file():
        return "the folder holds an adapter, not a model; name the model it was trained on, and the folder as model.adapter"
    if files := sorted(path.glob("*.gguf")):
        return f"the folder has no config.json; name the file in it: {files[0]}"
    return f"the folder has no config.json, so it is not a Hugging Face model; {remedy}"


def signature(name: str, revision: str | None = None, adapter: Path | None = None) -> str:
    """Text that names a model and its adapter in signatures; what local files hold counts, where they lie does not.

    Raises:
        UnfitModelError: the model cannot be located, or the adapter cannot be read.
    """
    place = Path(locate(name))
    if name.startswith(EMBEDDED):
        text = embedded_model(name).signature
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
    return digest({str(path.relative_to(folder)): sha256_of(path)[:16] for path in files})


def _embedded(model: EmbeddedModel, *, mend: bool = False) -> Path:
    """The folder of an embedded model; assembled and converted where it was not yet, or is to be mended."""
    if not model.is_gguf:
        return assembled(model, mend=mend)
    folder = _folder(model)
    if is_whole(folder, model.title, mend=mend):
        return folder
    if is_unrecorded(folder) and at_hand(model) is None and absent_parts(model):
        log.warning("%s was converted by an earlier version, and what it was made of is not here to check it", folder)
        return folder
    # hashed before anything is made of it, since it may have been assembled long ago
    return converted(assembled(model, mend=True), model.converted_bytes, name=model.title, mend=mend)


def _folder(model: EmbeddedModel) -> Path:
    """The folder that is made of an embedded GGUF file."""
    return converted_folder(Path(model.weights).stem, model.sha256)


def _embedded_at_hand(model: EmbeddedModel) -> Path | None:
    """The folder or the GGUF file of an embedded model, as far as it is there; nothing is assembled or converted."""
    if model.is_gguf and (is_whole(_folder(model), model.title) or is_unrecorded(_folder(model))):
        return _folder(model)
    if (place := at_hand(model)) is None and model.how == "whole" and not absent_parts(model):
        return assembled(model)
    return place
