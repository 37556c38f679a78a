"""Options of a library that a recipe passes on as they stand."""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator

from ..storage import shortened

# names under which libraries take secrets; not those of special tokens ("pad_token") or of counts ("max_num_batched_tokens")
SECRET = re.compile(
    r"(^|[_.-])(api[_-]?key|access[_-]?key|private[_-]?key|secret|credential|password|passwd|passphrase"
    r"|(hf|hub|auth|access|api|bearer|session)[_-]?token)s?([_.-]|$)|^token$",
    re.IGNORECASE,
)


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    for key, value in values.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{key} is {shortened(value)}, which JSON cannot hold; write a plain number, text or list"
            ) from error
    secret = next((key for key in _keys(values) if SECRET.search(key)), None)
    if secret is not None:
        raise ValueError(
            f"{shortened(secret)} is the name of a secret, and a recipe is written into the run folder and its reports; take it "
            "out and give the secret in the environment, in the variable that the library reads (HF_TOKEN for Hugging Face)"
        )
    return values


def _keys(value: Any) -> Iterator[str]:
    """The keys of an object and of all objects within it."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield str(key)
            yield from _keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _keys(inner)


# options of a library that are passed on as they stand
Keywords = Annotated[dict[str, Any], AfterValidator(_plain)]
