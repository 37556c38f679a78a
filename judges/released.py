"""Reading the files of a released checkpoint, once, to turn them into plain tensors."""

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..errors import DataError, JudgeError
from ..extras import need
from ..models.wholeness import is_finite, refuse_strange_numbers, told, told_once

FEATURE = "the conversion of a checkpoint"


def read_released(path: Path) -> Any:
    """What a file that torch saved holds: tensors, plain values and plain containers.

    The file is opened with torch's restricted reader, which builds these and nothing else.

    Raises:
        JudgeError: the file is not there or damaged, or holds anything else.
        UnfitModelError: torch cannot tell what it is.
    """
    torch = need("torch", FEATURE)
    # the reader stumbles over a file of another kind wherever it is
    with told_once(f"{path}: is not what torch saved", str(path), "download it again"):
        try:
            return torch.load(path, map_location="cpu", weights_only=True)
        except pickle.UnpicklingError as error:
            raise JudgeError(
                f"{path}: holds more than tensors and plain values, or is damaged, so it was not opened; download it again, or "
                "save its tensors alone on a machine where you would run its code"
            ) from error
        except (OSError, EOFError, RuntimeError) as error:
            raise JudgeError(
                f"{path}: is not there, or cut short or damaged ({told(error)}); download it again"
            ) from error


def read_tensors(path: Path) -> dict[str, Any]:
    """The tensors of a .safetensors file, or of one that torch saved.

    Raises:
        JudgeError: the file is not there or damaged, or holds anything else.
        UnfitModelError: its numbers are none, or torch cannot tell what it is.
    """
    if path.suffix != ".safetensors":
        state = read_released(path)
        if not isinstance(state, dict):
            raise JudgeError(f"{path}: holds no table of tensors; name the file of a model's weights")
        return only_tensors(path, state)
    library = need("safetensors", FEATURE)
    try:
        tensors = need("safetensors.torch", FEATURE).load_file(path)
    except (OSError, library.SafetensorError) as error:
        raise JudgeError(f"{path}: is not there, or cut short or damaged ({error}); download it again") from error
    return only_tensors(path, tensors)


def only_tensors(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    """The tensors as they can be saved: those that share memory are copied.

    Raises:
        JudgeError: a value is not a tensor, or has no name.
        UnfitModelError: a tensor holds NaN or infinity.
    """
    torch = need("torch", FEATURE)
    strange = [
        name for name, value in values.items() if not isinstance(name, str) or not isinstance(value, torch.Tensor)
    ]
    if strange:
        raise JudgeError(
            f"{path}: {', '.join(map(repr, strange[:3]))} should be tensors with a name and are none; download it again"
        )
    refuse_strange_numbers([name for name, value in values.items() if not is_finite(value)], f"{path}:")
    return {name: value.clone() for name, value in values.items()}


def differing_tensor(tensors: Mapping[str, Any], module: Any) -> tuple[str, Any, Any] | None:
    """The first tensor that a module has not, lacks or has in another shape: its name, shape found, shape wanted.

    Absent ones have the shape "absent"; None when all agree.
    """
    shapes = {name: tuple(tensor.shape) for name, tensor in tensors.items()}
    wanted = {name: tuple(tensor.shape) for name, tensor in module.state_dict().items()}
    for name in sorted(shapes.keys() | wanted.keys()):
        if shapes.get(name) != wanted.get(name):
            return name, shapes.get(name, "absent"), wanted.get(name, "absent")
    return None


def write_model(folder: Path, config: Any, tokenizer: Any, tensors: dict[str, Any]) -> None:
    """Write a model as transformers and the judges read it: config.json, the tokenizer's files, model.safetensors.

    Raises:
        DataError: the folder holds something already, or cannot be written.
    """
    refuse_filled(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        config.save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        # last, so that a folder with weights is whole
        need("safetensors.torch", FEATURE).save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    except OSError as error:
        raise DataError(f"--out {folder}: cannot be written: {error}") from error


def refuse_filled(folder: Path) -> None:
    """Refuse an output folder with something in it: files of two models side by side would be read as one.

    Raises:
        DataError: it is a file, or not empty.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"--out {folder}: already exists and is not empty; name a new folder")
