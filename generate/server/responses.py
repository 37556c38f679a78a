"""What servers send is read in one place, by one form of each kind, right after it came.

What is not of its form is a broken answer (BrokenAnswerError), whatever is wrong with it.
"""

import json
import re
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidatorFunctionWrapHandler, WrapValidator

from .faults import BrokenAnswerError

HALF = re.compile(r"\\u[dD][89a-fA-F]")
# letters of what is no JSON that an error shows
MOST_SHOWN = 60
# kinds of mistakes, as pydantic has them -> what is said of them
MISTAKES = {
    "model_type": "is no object",
    "list_type": "is no list",
    "string_type": "is no text",
    "missing": "is missing",
}


class Form(BaseModel):
    """Base of all forms: nothing is converted, and what is not known is passed over."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


F = TypeVar("F", bound=Form)


def _or_none(value: Any, form: ValidatorFunctionWrapHandler) -> Any:
    try:
        return form(value)
    except ValidationError:
        return None


# a part that an answer can do without
Dispensable = WrapValidator(_or_none)
# more tokens than any request has
MOST_COUNT = 10**9
Count = Annotated[int, Field(ge=0, le=MOST_COUNT)]


def read(content: bytes | str, form: type[F]) -> F:
    """The response that this is.

    Raises:
        BrokenAnswerError: it is none of this form.
    """
    return formed(read_json(content), form)


def formed(value: Any, form: type[F]) -> F:
    """The response that a value is.

    Raises:
        BrokenAnswerError: it is none of this form.
    """
    try:
        return form.model_validate(value)
    except ValidationError as error:
        raise BrokenAnswerError(f"the answer is not of its form: {explained(error)}") from error


def read_json(content: bytes | str) -> Any:
    """The value, in texts that any file can hold: servers that cut texts by halves of characters write these, too.

    Raises:
        BrokenAnswerError: it is not JSON.
    """
    try:
        text = content if isinstance(content, str) else content.decode("utf-8-sig")
        value = json.loads(text)
        if HALF.search(text):
            plain = json.dumps(value, ensure_ascii=False).encode("utf-16-le", "surrogatepass")
            value = json.loads(plain.decode("utf-16-le", "replace"))
    except (ValueError, RecursionError) as error:
        raise BrokenAnswerError(f"the answer is not JSON: {_beginning(content)}") from error
    return value


def _beginning(content: bytes | str) -> str:
    """What tells a page, a stream of events or nothing from each other."""
    text = (content if isinstance(content, str) else content[: 4 * MOST_SHOWN].decode(errors="replace")).strip()
    return f"it begins with {text[:MOST_SHOWN]!r}" if text else "it is empty"


def explained(error: ValidationError) -> str:
    """The first mistake, and where it is."""
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, ValueError):
        return str(cause)
    # names of forms are not the server's
    place = ".".join(str(each) for each in first["loc"] if not str(each)[:1].isupper())
    said = MISTAKES.get(first["type"], f"is not right: {first['msg'].lower()}")
    return f"{place or 'it'} {said}"
