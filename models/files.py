"""What can be told of a model's files without loading anything: settings that are no settings, weights that are not whole.

A download that broke off, a clone without Git LFS and a disk that was full leave files that only look like a model. Their sizes
and headers show it in milliseconds.
"""

import math
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any
from zipfile import is_zipfile

from ..errors import StorageError, UnfitModelError
from ..storage import read_text
from ..text.json_text import NotJsonError, parse_json
from ..text.mistakes import listed
from ..text.shown import shortened

CONFIG = "config.json"
# its key that says whether a model's head is its embedding of words
TIED = "tie_word_embeddings"
# settings beside the configuration that decide what a model is asked and when it ends
OTHER_SETTINGS = ("generation_config.json", "tokenizer_config.json", "special_tokens_map.json")
# what transformers reads, the first that is there
WEIGHTS = (
    "model.safetensors",
    "model.safetensors.index.json",
    "pytorch_model.bin",
    "pytorch_model.bin.index.json",
)
# engines read weights under other names too
SUFFIXES = frozenset({".safetensors", ".bin", ".pt", ".pth"})

ADAPTER_SETTINGS = "adapter_config.json"
ADAPTER_WEIGHTS = "adapter_model.safetensors"

# keys of config.json that say how many layers there are, and more of them than any model has
N_LAYERS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers", "decoder_layers")
MOST_LAYERS = 10_000

# of an adapter; models' own matrices are smaller
MOST_RANK = 100_000

# how a file begins that Git LFS left in the place of a large one
LFS_POINTER = b"version https://git-lfs"
GET_AGAIN = "download or save it again"


def refuse_damaged(folder: Path) -> None:
    """Refuse a model folder whose settings cannot be read or whose weights are not whole.

    Raises:
        UnfitModelError: all that is wrong, each with its file.
    """
    mistakes = list(_mistakes(folder))
    if mistakes:
        raise UnfitModelError(listed(mistakes))


def _mistakes(folder: Path) -> Iterator[str]:
    # a sentence encoder is a list of parts, of which the first may lie in the folder itself
    parts = folder / "modules.json"
    if (folder / CONFIG).is_file():
        for name in (CONFIG, *OTHER_SETTINGS):
            yield from _unreadable(folder / name, N_LAYERS if name == CONFIG else ())
    if parts.is_file():
        yield from _damaged_parts(folder, parts)
        return
    weights = next((folder / name for name in WEIGHTS if (folder / name).is_file()), None)
    if weights is not None:
        yield from _damaged_weights(weights)
    elif not any(path.suffix in SUFFIXES for path in folder.iterdir()):
        yield f"{folder}: holds no weights (model.safetensors); {GET_AGAIN}"


def _damaged_parts(folder: Path, parts: Path) -> Iterator[str]:
    try:
        places = [folder / part["path"] for part in _value(parts)]
    except UnfitModelError as error:
        yield str(error)
        return
    except (TypeError, KeyError):
        yield f"{parts}: is not a list of parts; {GET_AGAIN}"
        return
    for place in places:
        for name in WEIGHTS:
            if (place / name).is_file():
                yield from _damaged_weights(place / name)


def _unreadable(path: Path, numbers: tuple[str, ...]) -> Iterator[str]:
    """What is wrong with a file of settings, of which these keys hold a number of layers; nothing where there is none."""
    if not path.is_file():
        return
    try:
        settings = read_settings(path)
    except UnfitModelError as error:
        yield str(error)
        return
    for key in numbers:
        # layers are made one by one before anything could be compared
        if isinstance(settings.get(key), int) and settings[key] > MOST_LAYERS:
            yield f"{path}: says {key} {shortened(settings[key])}, more than any model has; {GET_AGAIN}"


def read_settings(path: Path) -> dict[str, Any]:
    """The keys and values of a model's settings.

    Raises:
        UnfitModelError: the file cannot be read or is not a JSON object.
    """
    settings = _value(path)
    if not isinstance(settings, dict):
        raise UnfitModelError(f"{path}: holds {shortened(settings)} where the settings should be; {GET_AGAIN}")
    return settings


def _value(path: Path) -> Any:
    """The value of a JSON file, as lenient as transformers: it writes Infinity, and some models name a setting twice."""
    try:
        return parse_json(read_text(path), dict, allow_nan=True)
    except StorageError as error:
        raise UnfitModelError(f"{error}; {GET_AGAIN}") from error
    except NotJsonError as error:
        raise UnfitModelError(f"{path}:{error.line}: {error}; {GET_AGAIN}") from error


def _damaged_weights(path: Path) -> Iterator[str]:
    if path.suffix != ".json":
        why = damage(path)
        if why:
            yield f"{path}: {why}"
        return
    try:
        shards = sorted(set(read_settings(path)["weight_map"].values()))
    except UnfitModelError as error:
        yield str(error)
        return
    except (KeyError, TypeError, AttributeError):
        yield f"{path}: does not say which file holds which weight; {GET_AGAIN}"
        return
    for shard in shards:
        if PurePosixPath(shard).name != shard:
            yield f"{path}: names {shard!r}, which is not a file of its folder; {GET_AGAIN}"
        elif not (path.parent / shard).is_file():
            yield f"{path}: names {shard}, which is not there; {GET_AGAIN}"
        else:
            yield from _damaged_weights(path.parent / shard)


def damage(path: Path) -> str | None:
    """What is wrong with a file of weights and how to mend it; None when its size is what its header says."""
    try:
        with path.open("rb") as file:
            first = file.read(len(LFS_POINTER))
    except OSError as error:
        return f"cannot be read: {error.strerror}"
    if not first:
        return f"is empty; {GET_AGAIN}"
    if first == LFS_POINTER:
        return "is not the weights but a pointer of Git LFS to them; run git lfs pull in its folder"
    # a machine that only starts a generation elsewhere need not have the library
    if path.suffix != ".safetensors" or find_spec("safetensors") is None:
        # what torch writes is a zip, whose table of contents stands last
        is_cut = first.startswith(b"PK") and not is_zipfile(path)
        return f"is not a whole file of weights; {GET_AGAIN}" if is_cut else None
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="np") as tensors:
            return None if list(tensors.keys()) else f"holds no weights; {GET_AGAIN}"
    except SafetensorError as error:
        return f"is not a whole file of weights ({error}); {GET_AGAIN}"


def _safetensors(folder: Path) -> list[Path]:
    """The files that transformers reads a folder's weights from, as far as they are safetensors."""
    weights, index = folder / WEIGHTS[0], folder / WEIGHTS[1]
    if weights.is_file():
        return [weights]
    return (
        [folder / name for name in sorted(set(read_settings(index)["weight_map"].values()))] if index.is_file() else []
    )


def weight_in(folder: Path, names: Iterable[str], prefix: str) -> Any:
    """A tensor of torch from a folder's safetensors by any of its names, with or without the prefix; None when they hold none."""
    from safetensors import safe_open

    wanted = {part for name in names for part in (name, name.removeprefix(f"{prefix}."))}
    for path in _safetensors(folder):
        with safe_open(path, framework="pt") as tensors:
            for key in wanted.intersection(tensors.keys()):
                return tensors.get_tensor(key)
    return None


def weight_names(folder: Path) -> set[str]:
    """Names of all tensors in a folder's safetensors."""
    from safetensors import safe_open

    names: set[str] = set()
    for path in _safetensors(folder):
        with safe_open(path, framework="np") as tensors:
            names.update(tensors.keys())
    return names


def adapter_settings(folder: Path) -> dict[str, Any]:
    """The settings of a LoRA adapter.

    Raises:
        UnfitModelError: the folder holds none, they cannot be read, are those of another kind of adapter, or have no
            lora_alpha or no rank.
    """
    path = folder / ADAPTER_SETTINGS
    if not path.is_file():
        raise UnfitModelError(
            f"adapter {folder}: has no {ADAPTER_SETTINGS}; name the folder that save_pretrained of peft wrote"
        )
    settings = read_settings(path)
    kind = settings.get("peft_type")
    if kind != "LORA":
        raise UnfitModelError(
            f"adapter {folder}: its {ADAPTER_SETTINGS} says peft_type {shortened(kind)}; only LoRA adapters are opened "
            "(peft_type LORA)"
        )
    alpha = settings.get("lora_alpha")
    if not isinstance(alpha, int | float) or isinstance(alpha, bool) or not math.isfinite(alpha):
        raise UnfitModelError(
            f"adapter {folder}: its {ADAPTER_SETTINGS} says lora_alpha {shortened(alpha)}, which is not a number; "
            f"{GET_AGAIN}"
        )
    pattern = settings.get("rank_pattern") or {}
    ranks = [settings.get("r", 8), *(pattern.values() if isinstance(pattern, dict) else [pattern])]
    for rank in ranks:
        if type(rank) is not int or not 0 < rank <= MOST_RANK:
            raise UnfitModelError(
                f"adapter {folder}: its {ADAPTER_SETTINGS} says rank {shortened(rank)} (r or rank_pattern), which is no whole "
                f"number from 1 to {MOST_RANK:,}; {GET_AGAIN}"
            )
    return settings


def refuse_adapter(folder: Path) -> None:
    """Refuse an adapter folder without whole weights as safetensors, in whose place peft would open a pickle, or of another kind.

    Raises:
        UnfitModelError: the settings or the weights are not there or damaged.
    """
    adapter_settings(folder)
    path = folder / ADAPTER_WEIGHTS
    if not path.is_file():
        raise UnfitModelError(
            f"adapter {folder}: holds no {ADAPTER_WEIGHTS}; save it with save_pretrained of peft, which writes one"
        )
    why = damage(path)
    if why:
        raise UnfitModelError(f"{path}: {why}")
