"""Forms of servers' answers: chats and completions, with the tokens that they took.

Parts that an answer can do without (tokens that were used, probabilities) are None where they are not of theirs; one of several
choices that cannot be read does not break the others.
"""

import math
import re
from typing import Annotated, Any, Generic, TypeVar

from pydantic import (
    AliasPath,
    BeforeValidator,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from .responses import MOST_COUNT, Count, Dispensable, Form, explained

# why servers end an answer that is one; any other reason is a fault or a filter
CUT = frozenset(
    "length max_tokens max_length model_length max_output_tokens max_new_tokens token_limit model_context_window_exceeded".split()
)
STOPPED = frozenset(
    ["", *"stop eos eos_token end_turn stop_sequence end_of_text endoftext complete completed finish finished".split()]
)
# tokens that a server may add to a prompt beyond what was sent, as instructions of its own
MOST_ADDED = 100_000
# how some write the reasons of an enumeration
REASON_PREFIX = re.compile(r"^finish_?reason[._]")
# None for what is no number: JSON has no infinity, so that some write null for a probability of 0
Logprob = Annotated[Annotated[float, Field(ge=-math.inf)] | None, Dispensable]
Remark = Annotated[str | None, Dispensable]


class TokenUsage(Form):
    """Tokens that a request took, as the server counts them."""

    prompt_tokens: Annotated[int, Field(ge=1, le=MOST_COUNT)]
    completion_tokens: Count
    # those of the prompt that the server had
    cached_tokens: Count | None = Field(
        default=None, validation_alias=AliasPath("prompt_tokens_details", "cached_tokens")
    )
    total_tokens: Annotated[Count | None, Dispensable] = None

    @property
    def cached(self) -> int:
        """Tokens of the prompt that the server had cached."""
        return self.cached_tokens or 0

    @property
    def output(self) -> int:
        """Tokens that were written: some servers count those of a thought in the total alone, and want them paid, too."""
        return max(self.completion_tokens, (self.total_tokens or 0) - self.prompt_tokens)

    @model_validator(mode="after")
    def _is_possible(self) -> "TokenUsage":
        if self.cached > self.prompt_tokens:
            raise ValueError("more tokens were cached than the prompt has")
        return self


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


def _joined(content: Any) -> Any:
    """The text, or the text parts in their order; "" where there is nothing."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    kinds = [str(part.get("type")) if isinstance(part, dict) else type(part).__name__ for part in parts]
    if any(kind != "text" or not isinstance(part.get("text"), str) for part, kind in zip(parts, kinds, strict=True)):
        raise ValueError(f"the answer's content is not text: its parts are of type {', '.join(sorted({*kinds}))}")
    return "".join(part["text"] for part in parts)


Content = Annotated[str, BeforeValidator(_joined)]


class Choice(Form):
    """One answer of a response."""

    index: Annotated[Count | None, Dispensable] = None
    # "" where it says nothing
    text: Content
    # in small letters; None where the server does not say why the answer ends
    finish_reason: Annotated[str | None, BeforeValidator(_reason)] = None
    # what some servers say beside an answer that is none
    error: Any = None

    @property
    def is_whole(self) -> bool:
        """Whether it ended as answers do, by itself or at its length."""
        return not self.error and (self.finish_reason is None or self.finish_reason in CUT | STOPPED)


class BrokenChoice(Form):
    """An answer that cannot be read."""

    index: Annotated[Count | None, Dispensable] = None
    reason: str


class ChatChoice(Choice):
    """An answer of a chat."""

    message: dict[str, Any]
    text: Content = Field(default="", validation_alias=AliasPath("message", "content"))
    # what the model thought, and why it declined, where servers keep these apart
    reasoning_content: Remark = Field(default=None, validation_alias=AliasPath("message", "reasoning_content"))
    reasoning: Remark = Field(default=None, validation_alias=AliasPath("message", "reasoning"))
    refusal: Remark = Field(default=None, validation_alias=AliasPath("message", "refusal"))
    logprobs: Annotated[ChatLogprobs | None, Dispensable] = None


class TextChoice(Choice):
    """An answer of a completion."""

    token_ids: list[Count] | None = None
    logprobs: Annotated[TextLogprobs | None, Dispensable] = None


def _or_broken(value: Any, form: ValidatorFunctionWrapHandler) -> Any:
    """The choice; one of another form is left out, and breaks no other, as long as it is an object at all."""
    try:
        return form(value)
    except ValidationError as error:
        if not isinstance(value, dict):
            raise
        return BrokenChoice(index=value.get("index"), reason=explained(error))


C = TypeVar("C", bound=Choice)


class Response(Form, Generic[C]):
    """Answers to a request."""

    # the model's name, as the server has it
    model: Remark = None
    choices: Annotated[list[Annotated[C | BrokenChoice, WrapValidator(_or_broken)]], Field(min_length=1)]
    usage: Annotated[TokenUsage | None, Dispensable] = None

    def usage_within(self, most_input: int, most_output: int) -> TokenUsage | None:
        """The tokens that it took; None where the server says none that can be, or more than prompt and answers may have."""
        used = self.usage
        if used is None or used.prompt_tokens > most_input + MOST_ADDED or used.output > most_output:
            return None
        says_nothing = all(isinstance(choice, BrokenChoice) or not choice.text for choice in self.choices)
        return used if used.completion_tokens or says_nothing else None

    def in_order(self) -> list[C | BrokenChoice]:
        """The choices, in the order that they name."""
        return sorted(self.choices, key=lambda choice: choice.index or 0)


class ChatResponse(Response[ChatChoice]):
    """Answers to a chat."""


class TextResponse(Response[TextChoice]):
    """Answers to a prompt of tokens."""
