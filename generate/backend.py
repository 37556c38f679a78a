"""The one narrow seam to language models: a batch of asks in, a batch of replies out.

Methods and judges know nothing of vLLM or transformers. Prompts travel as token ids made by one function
(`prompt_tokens`), which training uses as well: what is trained on is what was generated from.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import not_
from typing import Any, Protocol, runtime_checkable

from pydantic import Field

from ..errors import EvenhandError, UnfitModelError
from ..records import Message, Record, Sampling
from ..text.digests import digest
from ..text.thoughts import opens_thought
from .chat import chat_text, defused, in_template

# tokens at the end of a prompt in which a chat template may open a thought
MOST_OPENING = 16


@dataclass(frozen=True)
class Ask:
    """One prompt, one reply wanted."""

    prompt: tuple[Message, ...]
    sampling: Sampling
    seed: int
    # the reply must be one of these, which one token tells apart (answers.py); empty for free text
    choices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reply:
    """What came of an ask: a text, or the reason there is none."""

    text: str
    # "stop": the model ended; "length": it ran into max_tokens; "failed": see `error`
    finish_reason: str
    n_prompt_tokens: int = 0
    # digest of the prompt's token ids
    prompt_digest: str = ""
    # generated token ids, end token included when the model gave one
    token_ids: tuple[int, ...] = ()
    # sum of the generated tokens' log-probabilities under the model (temperature 1), in nats; None when unknown
    logps: float | None = None
    # choice -> probability among the choices, summing to 1; empty without choices or when the backend cannot tell
    choice_probabilities: dict[str, float] = field(default_factory=dict)
    # whether a server that is sent chats let the model write nothing but a choice
    is_guided: bool = False
    # whether the text begins within a thought, which the chat template opened; False where a server has the template
    begins_in_thought: bool = False
    # why there is no text, when finish_reason is "failed": a short reason to count by, and what was wrong in full
    reason: str = ""
    error: str = ""


def reply_mistake(reply: object) -> str:
    """What is wrong with what a package's code gave as a reply; "" where nothing is."""
    if not isinstance(reply, Reply):
        return f"{type(reply).__name__} and no Reply"
    if not isinstance(reply.text, str):
        return f"a reply whose text is {type(reply.text).__name__}"
    return "a failed reply without a reason" if reply.finish_reason == "failed" and not reply.reason else ""


# what is wrong with prompts that a server read in part, and the remedy
READ_IN_PART = (
    "read in part, as its own counts of tokens tell: its context is too short for them; raise it (Ollama: num_ctx "
    "or OLLAMA_CONTEXT_LENGTH, llama.cpp: --ctx-size), and forget these answers (evenhand cache --clear). A server that counts "
    "only what it had not cached says so, too"
)


# what is wrong with answers of another model than was asked for, and the remedy
ANOTHER_MODEL = (
    "another model than was asked for, as the server names it; if it is not an alias of the same, write what you want as "
    "server.model, and forget these answers (evenhand cache --clear)"
)


class Used(Record):
    """What the prompts of some asks took, as a line of a journal has it."""

    # tokens of the prompts, and those of them that went through the model
    prompt_tokens: int
    prefilled_tokens: int
    # prompts of which a server read a part
    partial_prompts: int = Field(default=0, exclude_if=not_)
    # answers of another model than a server was asked for, by its name of it
    other_models: dict[str, int] = Field(default_factory=dict, exclude_if=not_)


@dataclass
class Usage:
    """Running totals of a backend since it was opened."""

    # tokens of the prompts that were answered, a prompt asked twice counted twice
    prompt_tokens: int = 0
    # those of them that went through the model, because no cache held them
    prefilled_tokens: int = 0
    # prompts of which a server read a part, by its own count of tokens
    partial_prompts: int = 0
    # answers of another model than a server was asked for, by its name of it
    other_models: Counter[str] = field(default_factory=Counter)

    @property
    def hit_rate(self) -> float | None:
        """Share of the prompt tokens that a cache served, in [0, 1]; None before the first prompt."""
        return 1 - self.prefilled_tokens / self.prompt_tokens if self.prompt_tokens else None

    @property
    def fields(self) -> dict[str, Any]:
        """The totals as those of `Used`."""
        return dict(vars(self))

    def add_used(self, used: "Used | Usage") -> None:
        """Count what was answered before, or elsewhere."""
        self.add(used.prompt_tokens, used.prefilled_tokens, used.partial_prompts, used.other_models)

    def add(
        self,
        prompt_tokens: int,
        prefilled_tokens: int,
        partial_prompts: int = 0,
        other_models: Mapping[str, int] | None = None,
    ) -> None:
        """Count prompts that were answered."""
        self.prompt_tokens += prompt_tokens
        self.prefilled_tokens += prefilled_tokens
        self.partial_prompts += partial_prompts
        # anew, since copies share it
        self.other_models = self.other_models + Counter(other_models or {})

    def since(self, before: "Usage") -> "Usage":
        """What was added since the totals were these."""
        return Usage(
            self.prompt_tokens - before.prompt_tokens,
            self.prefilled_tokens - before.prefilled_tokens,
            self.partial_prompts - before.partial_prompts,
            self.other_models - before.other_models,
        )


class Backend(Protocol):
    """Runs a model. Opening one loads the model; closing it gives the memory back."""

    # names everything that the replies depend on besides the asks
    signature: str
    # what was asked so far, and how much of it was run
    usage: Usage

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order. An ask that cannot be answered gets a failed reply; it never stops the others."""
        ...

    def close(self) -> None:
        """Give the model's memory back."""
        ...


class NotCachedError(EvenhandError):
    """An ask has no answer yet."""


@runtime_checkable
class CachingBackend(Backend, Protocol):
    """One whose answers are kept the moment they arrive, from run to run."""

    def cached(self) -> Backend:
        """What is kept of its answers, as a backend that asks nobody, and raises NotCachedError where one is missing."""
        ...


@dataclass(frozen=True)
class Prompt:
    """A prompt as the model reads it."""

    token_ids: tuple[int, ...]
    # digest of the token ids
    digest: str
    # whether the chat template opened a thought at its end
    opens_thought: bool = False


def read_prompts(tokenizer: Any, asks: Sequence[Ask]) -> list[Prompt]:
    """The prompt of each ask; a prompt that is asked several times is tokenised once."""
    prompts: dict[tuple[Message, ...], Prompt] = {}
    for ask in asks:
        if ask.prompt not in prompts:
            prompts[ask.prompt] = read_prompt(tokenizer, ask.prompt)
    return [prompts[ask.prompt] for ask in asks]


def read_prompt(tokenizer: Any, prompt: Sequence[Message]) -> Prompt:
    """The chat as the model of this tokenizer reads it."""
    token_ids = tuple(prompt_tokens(tokenizer, prompt))
    ending = tokenizer.decode(token_ids[-MOST_OPENING:]) if tokenizer.chat_template else ""
    return Prompt(token_ids, tokens_digest(token_ids), opens_thought(ending))


def prompt_tokens(tokenizer: Any, prompt: Sequence[Message]) -> list[int]:
    """Token ids of a chat up to where the answer begins, under the tokenizer's own chat template.

    What a text says of turns is broken (`defused`): a document cannot end its turn and begin another.

    Raises:
        UnfitModelError: as of `in_template`.
    """
    turns = [{"role": message.role, "content": defused(tokenizer, message.content)} for message in prompt]
    if tokenizer.chat_template is None:
        return list(tokenizer(chat_text(tokenizer, turns))["input_ids"])
    return list(in_template(tokenizer, turns, tokenize=True, return_dict=True)["input_ids"])


def tokens_digest(token_ids: Sequence[int]) -> str:
    """Digest of token ids, 16 hexadecimal digits."""
    return digest(list(token_ids))


# reason of an ask that does not fit
TOO_LONG = "prompt too long"


def too_long(prompt: Prompt, ask: Ask, max_model_len: int, n_opening: int = 0) -> Reply | None:
    """The reply to an ask that does not fit, None when it does. Checked before an engine sees the prompt.

    Args:
        prompt: of the ask.
        ask: what is asked.
        max_model_len: most tokens of prompt and answer.
        n_opening: tokens that the answer is given to begin with.
    """
    n_prompt, n_answer = len(prompt.token_ids) + n_opening, 1 if ask.choices else ask.sampling.max_tokens
    if n_prompt + n_answer <= max_model_len:
        return None
    reason = (
        f"prompt of {n_prompt} tokens and {n_answer} for the answer exceed max_model_len {max_model_len}; "
        "raise max_model_len or leave the set out"
    )
    return failed(prompt, TOO_LONG, reason)


def normalised(logprobs: dict[str, float]) -> dict[str, float]:
    """Probabilities among the choices, summing to 1, from their log-probabilities."""
    weights = {choice: math.exp(value - max(logprobs.values())) for choice, value in logprobs.items()}
    return {choice: weight / sum(weights.values()) for choice, weight in weights.items()}


def refuse_no_numbers(is_finite: bool) -> None:
    """Refuse a model whose logits are not numbers, so that nothing can be drawn from them.

    Raises:
        UnfitModelError: unless they are finite.
    """
    if not is_finite:
        raise UnfitModelError(
            "the model's logits are not numbers (NaN or infinite): it overflows in its dtype or is damaged; write model.dtype: "
            "bfloat16 or float32, or download it again"
        )


def failed(prompt: Prompt, reason: str, error: str) -> Reply:
    """The reply to an ask that could not be answered."""
    return Reply(
        text="",
        finish_reason="failed",
        n_prompt_tokens=len(prompt.token_ids),
        prompt_digest=prompt.digest,
        reason=reason,
        error=error,
    )
