"""Reading the file of a released checkpoint that is a pickle, once, to turn it into plain tensors."""

import pickle
from pathlib import Path
from typing import Any

from ..errors import JudgeError
from ..extras import need


def read_released(path: Path) -> Any:
    """What a file that torch saved holds: tensors, plain values and plain containers.

    The file is opened with torch's restricted reader, which builds these and nothing else.

    Raises:
        JudgeError: the file is not there or damaged, or holds anything else.
    """
    torch = need("torch", "the conversion of a checkpoint")
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise JudgeError(
            f"{path}: holds more than tensors and plain values, or is damaged, so it was not opened; download it again, or save "
            "its tensors alone on a machine where you would run its code"
        ) from error
    except (OSError, EOFError, RuntimeError) as error:
        raise JudgeError(
            f"{path}: is not there, or cut short or damaged ({error or type(error).__name__}); download it again"
        ) from error


def only_tensors(path: Path, values: dict[str, Any]) -> dict[str, Any]:
    """The tensors as they can be saved: those that share memory are copied.

    Raises:
        JudgeError: a value is no tensor.
    """
    torch = need("torch", "the conversion of a checkpoint")
    others = [name for name, value in values.items() if not isinstance(value, torch.Tensor)]
    if others:
        raise JudgeError(
            f"{path}: {', '.join(map(repr, others[:3]))} should be tensors and are none; download it again"
        )
    return {name: value.clone() for name, value in values.items()}
