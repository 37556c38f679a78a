"""Options of a library that a recipe passes on unchanged."""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import AfterValidator

from ..text.shown import shortened

# names under which libraries take secrets; not those of special tokens ("pad_token") or of counts ("max_num_batched_tokens")
SECRET = re.compile(
    r"(^|[_.-])(api[_-]?key|access[_-]?key|private[_-]?key|secret|credential|password|passwd|passphrase"
    r"|(hf|hub|auth|access|api|bearer|session)[_-]?token)s?([_.-]|$)|^token$",
    re.IGNORECASE,
)


WORD = re.compile(r"[\w.-]+")
# what precedes a value, however the two are set apart: "hf_token=", "hf_token: ", "--hf-token "
KEY = re.compile(r"[\w.-]*=?")


def shown(value: Any, key: str = "") -> str:
    """How an error shows the value of a key: shortened, and not at all where it or a key within it is the name of a secret."""
    secret = next((name for name in (key, *_keys(value)) if SECRET.search(name)), "")
    return "a secret, which is not shown" if secret else shortened(value)


def shown_override(override: str) -> str:
    """How an error shows KEY=VALUE, or what was meant to be one: the key alone where a word of it is the name of a secret."""
    if not names_secret(override):
        return shortened(override)
    key = KEY.match(override)
    return shortened(f"{key[0] if key else ''}...")


def names_secret(text: str) -> bool:
    """Whether a word of the text is the name of a secret."""
    return any(map(SECRET.search, WORD.findall(text)))


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    secret = next((key for key in _keys(values) if SECRET.search(key)), None)
    if secret is not None:
        raise ValueError(
            f"{shortened(secret)} is the name of a secret, and a recipe is written into the run folder and its reports; take it "
            "out and give the secret in the environment, in the variable that the library reads (HF_TOKEN for Hugging Face)"
        )
    for key, value in values.items():
        try:
            json.dumps(value, allow_nan=False)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{key} is {shortened(value)}, which JSON cannot hold; write a plain number, text or list"
            ) from error
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


# options of a library that are passed on unchanged
Keywords = Annotated[dict[str, Any], AfterValidator(_plain)]
