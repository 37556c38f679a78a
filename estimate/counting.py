"""A stand-in for a language model: it counts what it is asked, and answers as long as it may."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

from ..config import ModelSection
from ..generate.backend import TOO_LONG, Ask, Reply, Usage, prompt_tokens
from ..generate.prefixes import segments
from ..models import file_at_hand
from ..models.flops import forward_flops, seen_from
from ..models.opening import open_chat_tokenizer
from ..models.sizes import Sizes
from ..records import Message

# characters of a token where the tokenizer is not here: a rule of thumb for English (OpenAI's help page "What are tokens")
CHARACTERS = 4
# what an answer is made of: a token of nearly every tokenizer
WORD = "the "

Reader = Callable[[Sequence[Message]], tuple[Any, ...]]


@dataclass
class TokenCounts:
    """What runs through a model."""

    calls: float = 0
    # of the prompts, each counted as often as it is asked
    prompts: float = 0
    # of the prompts, where equal ones are asked in one request: what a server is paid for
    paid: float = 0
    # of the prompts, where those that begin alike share their beginning
    prefilled: float = 0
    # at most
    generated: float = 0
    # tokens that these see, summed over them
    seen_by_prefilled: float = 0
    seen_by_generated: float = 0

    def times(self, factor: float) -> "TokenCounts":
        """So many times as much."""
        return TokenCounts(**{name: value * factor for name, value in vars(self).items()})

    def __add__(self, counts: "TokenCounts") -> "TokenCounts":
        return TokenCounts(**{name: value + getattr(counts, name) for name, value in vars(self).items()})

    def prefill_flops(self, sizes: Sizes) -> float:
        """Operations of the prompts, and of the logits that begin each answer."""
        return forward_flops(sizes, self.prefilled, self.seen_by_prefilled, self.calls)

    def decode_flops(self, sizes: Sizes) -> float:
        """Operations of the answers; the last token of one runs through nothing."""
        n = max(0.0, self.generated - self.calls)
        return forward_flops(sizes, n, self.seen_by_generated, n)


def reader(model: ModelSection) -> tuple[Reader, bool]:
    """What reads prompts as tokens, and whether it is the model's own tokenizer."""
    if model.name != "none" and file_at_hand(model.name, model.revision, "tokenizer_config.json"):
        tokenizer = open_chat_tokenizer(model.name, "an estimate", model.revision, model.chat_template_kwargs)
        return lambda prompt: tuple(prompt_tokens(tokenizer, prompt)), True
    return by_rule_of_thumb, False


def by_rule_of_thumb(prompt: Sequence[Message]) -> tuple[str, ...]:
    """The prompt in pieces of as many characters as a token has on average; equal beginnings have equal pieces."""
    text = "\n".join(message.content for message in prompt)
    return tuple(text[start : start + CHARACTERS] for start in range(0, len(text), CHARACTERS))


@dataclass
class Counter:
    """A backend that counts the tokens of what it is asked."""

    read: Reader
    # tokens of an answer; None for as many as an ask allows
    most: int | None = None
    # of one that is a choice
    choice_tokens: int = 1
    # tokens of a prompt with as many as its answer may have; what has more is left out, as an engine does. None: no limit
    room: int | None = None
    tokens: TokenCounts = field(default_factory=TokenCounts)
    # tokens of the longest prompt with its answer
    longest: int = 0
    usage: Usage = field(default_factory=Usage)
    signature: str = "a stand-in that counts"
    _said: int = 0

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """Answers of as many tokens as each ask allows."""
        prompts = {prompt: self.read(prompt) for prompt in dict.fromkeys(ask.prompt for ask in asks)}
        has_room = [self.has_room(len(prompts[ask.prompt]), ask.sampling.max_tokens) for ask in asks]
        fitting_prompts = {ask.prompt for ask, is_fitting in zip(asks, has_room, strict=True) if is_fitting}
        for segment in _distinct(sorted({prompts[prompt] for prompt in fitting_prompts})):
            self.tokens.prefilled += len(segment.tokens)
            self.tokens.seen_by_prefilled += seen_from(segment.start, len(segment.tokens))
        self.tokens.paid += sum(len(prompts[prompt]) for prompt in fitting_prompts)
        for ask in compress(asks, has_room):
            n_prompt, n_answer = len(prompts[ask.prompt]), self._length(ask)
            self.tokens.calls += 1
            self.tokens.prompts += n_prompt
            self.tokens.generated += n_answer
            self.tokens.seen_by_generated += seen_from(n_prompt, n_answer - 1)
            self.longest = max(self.longest, n_prompt + n_answer)
        return [
            Reply(self._answer(self._length(ask)), "stop") if is_fitting else Reply("", "failed", reason=TOO_LONG)
            for ask, is_fitting in zip(asks, has_room, strict=True)
        ]

    def has_room(self, n_prompt: int, n_answer: int) -> bool:
        """Whether a prompt of so many tokens is asked."""
        return self.room is None or n_prompt + n_answer <= self.room

    def _length(self, ask: Ask) -> int:
        if ask.choices:
            return self.choice_tokens
        return ask.sampling.max_tokens if self.most is None else min(self.most, ask.sampling.max_tokens)

    def _answer(self, n_tokens: int) -> str:
        # no two are alike, since equal ones would be judged once
        self._said += 1
        return f"{self._said} {WORD * (n_tokens - 1)}".strip()

    def close(self) -> None:
        """Nothing is held."""


def _distinct(prompts: Sequence[tuple[Any, ...]]) -> Iterator[Any]:
    """Each piece of the prompts that is run, once."""
    pieces = {id(segment): segment for end in segments(prompts) for segment in end.path()}
    yield from pieces.values()
