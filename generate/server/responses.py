"""What servers answer: one form of each kind of response, read in one place right after it came.

What is not of its form is a broken answer (BrokenAnswerError), whatever is wrong with it. Parts that an answer can do without
(tokens that were used, probabilities) are None where they are not of theirs; one of several choices that cannot be read does not
break the others.
"""

import json
import math
import re
from typing import Annotated, Any, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

HALF = re.compile(r"\\u[dD][89a-fA-F]")
# why servers end an answer that is one; any other reason is a fault or a filter
CUT = frozenset({"length", "max_tokens", "max_length", "model_length"})
STOPPED = frozenset({"stop", "eos", "eos_token", "end_turn", "stop_sequence", "end_of_text", ""})
# kinds of mistakes, as pydantic has them -> what is said of them
MISTAKES = {
    "model_type": "is no object",
    "list_type": "is no list",
    "string_type": "is no text",
    "missing": "is missing",
}
# how some write the reasons of an enumeration
REASON_PREFIX = re.compile(r"^finish_?reason[._]")


class ResponseError(Exception):
    """What a request brought is no answer to it."""


class BrokenAnswerError(ResponseError):
    """It is no response of its kind; why, is the text of this."""


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
Count = Annotated[int, Field(ge=0)]


class CachedTokens(Form):
    """Tokens of a prompt, in parts."""

    cached_tokens: Count | None = None


class TokenUsage(Form):
    """Tokens that a request took, as the server counts them."""

    prompt_tokens: Annotated[int, Field(ge=1)]
    completion_tokens: Count
    prompt_tokens_details: CachedTokens | None = None

    @property
    def cached(self) -> int:
        """Tokens of the prompt that the server had cached."""
        return (self.prompt_tokens_details and self.prompt_tokens_details.cached_tokens) or 0

    @model_validator(mode="after")
    def _is_possible(self) -> "TokenUsage":
        if self.cached > self.prompt_tokens:
            raise ValueError("more tokens were cached than the prompt has")
        return self


def _number(value: Any) -> Any:
    """None in place of what is no number, and of text: JSON has no infinity, so that some write null for a probability of 0."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return None if math.isnan(number) else number


Logprob = Annotated[float | None, BeforeValidator(_number)]


class Alternative(Form):
    """A token that may stand at a position of an answer."""

    token: str
    logprob: Logprob = None

    @property
    def probability(self) -> float:
        """In [0, 1], but for what a server writes that is none; 0 where it is not known."""
        return 0.0 if self.logprob is None else math.exp(min(self.logprob, 1.0))


class TokenPosition(Alternative):
    """The token that stands there, with its alternatives."""

    top_logprobs: Annotated[list[Alternative] | None, Dispensable] = None


class ChatLogprobs(Form):
    """Probabilities of a chat's answer, token by token."""

    content: list[TokenPosition] | None = None


class TextLogprobs(Form):
    """Probabilities of a completion's tokens, and of alternatives to each."""

    token_logprobs: list[Logprob] | None = None
    top_logprobs: list[dict[str, Logprob] | None] | None = None


def _reason(value: Any) -> Any:
    return REASON_PREFIX.sub("", value.strip().lower()) if isinstance(value, str) else value


class Choice(Form):
    """One answer of a response."""

    index: Annotated[Count | None, Dispensable] = None
    # in small letters; None where the server does not say why the answer ends
    finish_reason: Annotated[str | None, BeforeValidator(_reason)] = None
    # what some servers say beside an answer that is none
    error: Any = None

    @property
    def text(self) -> str:
        """What it says; "" where it says nothing."""
        raise NotImplementedError

    @property
    def is_whole(self) -> bool:
        """Whether it ended as answers do, by itself or at its length."""
        return not self.error and (self.finish_reason is None or self.finish_reason in CUT | STOPPED)


class BrokenChoice(Form):
    """An answer that cannot be read."""

    index: Annotated[Count | None, Dispensable] = None
    reason: str


def _joined(content: Any) -> Any:
    """The text, or the text parts in their order; "" where there is nothing."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = [each if isinstance(each, dict) else {"type": type(each).__name__} for each in _listed(content)]
    texts = [each["text"] for each in parts if each.get("type") == "text" and isinstance(each.get("text"), str)]
    if len(texts) < len(parts):
        kinds = ", ".join(sorted({str(each.get("type")) for each in parts}))
        raise ValueError(f"the answer's content is not text: its parts are of type {kinds}")
    return "".join(texts)


def _listed(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]


Content = Annotated[str, BeforeValidator(_joined)]
Remark = Annotated[str | None, Dispensable]


class ChatAnswer(Form):
    """What a chat's model said."""

    content: Content = ""
    # what it thought, and why it declined, where servers keep these apart
    reasoning_content: Remark = None
    reasoning: Remark = None
    refusal: Remark = None


class ChatChoice(Choice):
    """An answer of a chat."""

    message: ChatAnswer
    logprobs: Annotated[ChatLogprobs | None, Dispensable] = None

    @property
    def text(self) -> str:
        """What it says."""
        return self.message.content


class TextChoice(Choice):
    """An answer of a completion."""

    content: Content = Field(alias="text")
    token_ids: list[Count] | None = None
    logprobs: Annotated[TextLogprobs | None, Dispensable] = None

    @property
    def text(self) -> str:
        """What it says."""
        return self.content


def _or_broken(value: Any, form: ValidatorFunctionWrapHandler) -> Any:
    """The choice; one of another form is left out, and breaks no other, as long as it is an object at all."""
    try:
        return form(value)
    except ValidationError as error:
        if not isinstance(value, dict):
            raise
        return BrokenChoice(index=value.get("index"), reason=_explained(error))


class Response(Form):
    """Answers to a request."""

    usage: Annotated[TokenUsage | None, Dispensable] = None
    # what some servers say in place of answers, or beside them
    error: Any = None

    def usage_within(self, most_output: int) -> TokenUsage | None:
        """The tokens that it took; None where the server says none that can be, or more than the answers may have."""
        used = self.usage
        if used is None or used.completion_tokens > most_output:
            return None
        says_nothing = all(isinstance(each, BrokenChoice) or not each.text for each in self.in_order())
        return used if used.completion_tokens or says_nothing else None

    def in_order(self) -> list[Any]:
        """The choices, in the order that they name."""
        choices: list[Any] = getattr(self, "choices")  # noqa: B009
        return sorted(choices, key=lambda each: each.index or 0)


class ChatResponse(Response):
    """Answers to a chat."""

    choices: Annotated[list[Annotated[ChatChoice | BrokenChoice, WrapValidator(_or_broken)]], Field(min_length=1)]


class TextResponse(Response):
    """Answers to a prompt of tokens."""

    choices: Annotated[list[Annotated[TextChoice | BrokenChoice, WrapValidator(_or_broken)]], Field(min_length=1)]


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


class Batch(Identified):
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

    data: list[Batch] | None


class BatchResponse(Form):
    """What became of a request of a batch."""

    # some write it as a text
    status_code: Annotated[int, Field(strict=False)] = 0
    body: Any = None


class BatchLine(Form):
    """A line of a batch's file of answers; without a response where the request was not answered."""

    custom_id: str
    response: BatchResponse | None = None


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
        raise BrokenAnswerError(f"the answer is not of its form: {_explained(error)}") from error


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
        raise BrokenAnswerError("the answer is not JSON") from error
    return value


def _explained(error: ValidationError) -> str:
    """The first mistake, and where it is."""
    first = error.errors(include_url=False)[0]
    cause = first.get("ctx", {}).get("error")
    if isinstance(cause, ValueError):
        return str(cause)
    # names of forms are not the server's
    place = ".".join(str(each) for each in first["loc"] if not str(each)[:1].isupper())
    said = MISTAKES.get(first["type"], f"is not right: {first['msg'].lower()}")
    return f"{place or 'it'} {said}"
