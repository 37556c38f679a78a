"""What servers send is read in one place, by one form of each kind, right after it came; those of answers are in `answer_forms`.

What is not of its form is a broken answer (BrokenAnswerError), whatever is wrong with it.
"""

import json
import re
from typing import Annotated, Any, TypeVar

from pydantic import (
    AliasPath,
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)

from .faults import BrokenAnswerError

HALF = re.compile(r"\\u[dD][89a-fA-F]")
# letters of what is no JSON that an error shows
MOST_SHOWN = 60
# kinds of mistakes, as pydantic has them -> what is said of them
MISTAKES = {
    "model_type": "is no object",
    "dict_type": "is no object",
    "list_type": "is no list",
    "string_type": "is no text",
    "missing": "is missing",
}


class Form(BaseModel):
    """Base of all forms: nothing is converted, and what is not known is passed over."""

    model_config = ConfigDict(frozen=True, strict=True, extra="ignore")


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


class ServedModel(Form):
    """A model of a server."""

    id: str
    owned_by: Annotated[str | None, Dispensable] = None


class ModelList(Form):
    """The models of a server; what is in the list and no model is None."""

    data: list[Annotated[ServedModel | None, Dispensable]] | None

    @property
    def models(self) -> list[ServedModel]:
        """Those that are."""
        return [each for each in self.data or () if each is not None]


class Identified(Form):
    """What a server has made and named: a file."""

    id: Annotated[str, Field(min_length=1)]


class RequestCounts(Form):
    """How many requests of a batch are done."""

    completed: Count = 0
    failed: Count = 0
    total: Count = 0


class BatchStatus(Identified):
    """A batch of requests."""

    status: str
    output_file_id: str | None = None
    error_file_id: str | None = None
    request_counts: Annotated[RequestCounts | None, Dispensable] = None
    metadata: Annotated[dict[str, Any] | None, Dispensable] = None
    errors: Any = None

    @property
    def faults(self) -> Any:
        """What went wrong with all of it."""
        return self.errors.get("data") if isinstance(self.errors, dict) else self.errors


class BatchList(Form):
    """The batches of a server."""

    data: list[BatchStatus] | None


class BatchLine(Form):
    """A line of a batch's file of answers; without status and body where the request was not answered."""

    custom_id: str
    # some write it as a text
    status: Annotated[int, Field(strict=False)] = Field(
        default=0, validation_alias=AliasPath("response", "status_code")
    )
    body: Any = Field(default=None, validation_alias=AliasPath("response", "body"))


F = TypeVar("F", bound=Form)


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
