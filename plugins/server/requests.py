"""What a server is sent, and how its answers are read: chats for any server, token ids for vLLM's."""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache, partial, reduce
from typing import Any

from ...generate.answers import BLANK, reading, written_choice
from ...generate.backend import Ask, Prompt, Reply, failed, normalised, read_prompt
from ...generate.chat import turn_marks
from ...prompts import broken
from ...text.chat_marks import SENT
from ...text.digests import digest
from .answer_forms import ChatChoice, ChatResponse, TextChoice, TextLogprobs, TextResponse, TokenPosition
from .bounds import least_tokens

# the most alternatives to a token that OpenAI's protocol gives
MOST_ALTERNATIVES = 20
# probability that choices must have together to be read, and where something else is written
LEAST_READ, MOST_OTHER = 0.1, 0.5
# how far probabilities of choices may be off because one is not among the alternatives
MOST_UNSEEN = 0.01
# reason of an ask that the server answers by a refusal
REFUSED = "refused by the server"
# what vLLM's server writes for the logarithm of a probability of 0: a token that the answer may not have
IMPOSSIBLE = -9999.0
# prompts that are kept as token ids between their request and its answers
PROMPTS_KEPT = 256
# how far probabilities of all alternatives to a token may be above 1, as servers round them
MOST_EXCESS = 0.01


class Sending(ABC):
    """How asks become requests."""

    # the path behind the server's address, and what comes from there
    path: str
    form: type[ChatResponse | TextResponse]
    # tokens of the answer to an ask with choices, at most
    choice_tokens: int
    # whether that answer may be something else unless the server holds it to the choices
    may_be_guided: bool

    @abstractmethod
    def prompt(self, ask: Ask) -> Prompt:
        """The ask's prompt as it is known here."""

    @abstractmethod
    def body(self, ask: Ask, n: int) -> dict[str, Any]:
        """The request for n answers, without the model's name."""

    @abstractmethod
    def reply(self, ask: Ask, choice: Any, finish: str, n_prompt_tokens: int, *, is_held: bool) -> Reply:
        """One answer of a response.

        Args:
            ask: which it answers.
            choice: of the form's choices.
            finish: "stop" or "length".
            n_prompt_tokens: as the server counts them.
            is_held: whether the server was told to hold it to the ask's choices.
        """

    @abstractmethod
    def least_tokens(self, ask: Ask) -> int:
        """Tokens of the prompt, at least, however the server cuts it into them."""


class Messages(Sending):
    """Chats as OpenAI's protocol has them: the server's template writes the prompt.

    No text in them spells a mark of turns: not of the families that are known, nor of the model's own tokenizer.

    Args:
        tokenizer: the model's own, where it is at hand.
    """

    path = "/chat/completions"
    form = ChatResponse
    # a choice begins within these: some vocabularies write white space first
    choice_tokens = 4
    may_be_guided = True

    def __init__(self, tokenizer: Any = None) -> None:
        self._marks = [SENT, *([] if tokenizer is None else [turn_marks(tokenizer)])]

    def prompt(self, ask: Ask) -> Prompt:
        """No token ids are known; the digest is the chat's own."""
        return Prompt((), digest([turn.model_dump() for turn in ask.prompt]))

    def body(self, ask: Ask, n: int) -> dict[str, Any]:
        """Temperature, nucleus and seed; of choices the alternatives to the first tokens."""
        asked: dict[str, Any] = {
            "messages": [
                {"role": turn.role, "content": reduce(broken, self._marks, turn.content)} for turn in ask.prompt
            ],
            "temperature": ask.sampling.temperature,
            "seed": ask.seed % 2**31,
            "max_tokens": self.choice_tokens if ask.choices else ask.sampling.max_tokens,
        }
        if ask.sampling.top_p < 1:
            asked["top_p"] = ask.sampling.top_p
        if n > 1:
            asked["n"] = n
        if ask.choices:
            asked |= {"logprobs": True, "top_logprobs": MOST_ALTERNATIVES}
        return asked

    def reply(self, ask: Ask, choice: ChatChoice, finish: str, n_prompt_tokens: int, *, is_held: bool) -> Reply:
        """The text, the thought in its place where there is nothing else; of choices their probabilities where they are given."""
        prompt = self.prompt(ask)
        if choice.refusal and not choice.text:
            return failed(prompt, REFUSED, f"the model declined: {choice.refusal}")
        thought = choice.reasoning_content or choice.reasoning
        text = choice.text or (f"<think>{thought}" + ("</think>" if finish == "stop" else "") if thought else "")
        positions = (choice.logprobs.content if choice.logprobs else None) or ()
        shares = _shares(ask.choices, text, positions) if ask.choices else {}
        top = [each.logprob for position in positions[:1] for each in position.top_logprobs or ()]
        return Reply(
            text=text,
            finish_reason=finish,
            n_prompt_tokens=n_prompt_tokens,
            prompt_digest=prompt.digest,
            choice_probabilities=shares,
            is_guided=is_held and bool(shares) and any(each is not None and each <= IMPOSSIBLE for each in top),
        )

    def least_tokens(self, ask: Ask) -> int:
        """Tokens of the texts; the template adds its own."""
        return sum(least_tokens(turn.content) for turn in ask.prompt)


class Tokens(Sending):
    """Token ids, as vLLM's server takes them: the prompts and answers of backend: vllm.

    Args:
        tokenizer: the model's own.
    """

    path = "/completions"
    form = TextResponse
    choice_tokens = 1
    may_be_guided = False

    def __init__(self, tokenizer: Any) -> None:
        # each is read for what is sent, and again for what comes back
        self._prompt = lru_cache(PROMPTS_KEPT)(partial(read_prompt, tokenizer))
        self._reading = lru_cache(partial(reading, tokenizer))

    def prompt(self, ask: Ask) -> Prompt:
        """The token ids that the model reads."""
        return self._prompt(ask.prompt)

    def body(self, ask: Ask, n: int) -> dict[str, Any]:
        """All of the sampling; of choices, the tokens that tell them apart and no others."""
        sampling, read = ask.sampling, self._reading(ask.choices)
        asked: dict[str, Any] = {
            "prompt": [*self.prompt(ask).token_ids, *read.opening],
            "temperature": sampling.temperature,
            "return_token_ids": True,
            "return_tokens_as_token_ids": True,
            "logprobs": 0,
        }
        if ask.choices:
            ids = list(read.ids)
            return asked | {
                "max_tokens": self.choice_tokens,
                "allowed_token_ids": ids,
                "logprob_token_ids": ids,
                "logprobs": len(ids),
            }
        asked |= {"n": n, "max_tokens": sampling.max_tokens, "seed": ask.seed, "top_p": sampling.top_p}
        beyond = {"top_k": sampling.top_k, "min_p": sampling.min_p}
        asked |= {key: value for key, value in beyond.items() if value}
        if sampling.repetition_penalty != 1:
            asked["repetition_penalty"] = sampling.repetition_penalty
        return asked

    def reply(self, ask: Ask, choice: TextChoice, finish: str, n_prompt_tokens: int, *, is_held: bool) -> Reply:
        """The text and its token ids; of choices their probabilities among each other."""
        prompt, logprobs = self.prompt(ask), choice.logprobs or TextLogprobs()
        known = [each for each in logprobs.token_logprobs or () if each is not None]
        shares = {}
        if ask.choices:
            ids = self._reading(ask.choices).ids
            top = (logprobs.top_logprobs or [None])[0] or {}
            named = {each: top.get(f"token_id:{i}") for each, i in zip(ask.choices, ids, strict=True)}
            weights = {each: value for each, value in named.items() if value is not None}
            if len(weights) == len(named) and all(map(math.isfinite, weights.values())):
                shares = normalised(weights)
        return Reply(
            text=choice.text,
            finish_reason=finish,
            n_prompt_tokens=len(prompt.token_ids),
            prompt_digest=prompt.digest,
            token_ids=tuple(choice.token_ids or ()),
            logps=math.fsum(known) if known and all(map(math.isfinite, known)) else None,
            choice_probabilities=shares,
            begins_in_thought=prompt.opens_thought,
        )

    def least_tokens(self, ask: Ask) -> int:
        """All of them: the server reads what it is sent."""
        return len(self.prompt(ask).token_ids)


# server.prompts -> what is sent
SENDINGS: dict[str, type[Sending]] = {"messages": Messages, "tokens": Tokens}


def _shares(choices: Sequence[str], text: str, positions: Sequence[TokenPosition]) -> dict[str, float]:
    """Probabilities among choices, where the written text has its own; {} where they cannot be told.

    They are read at the token that is the written choice. Of a text that is none, and does not begin like one, they are those of
    its first token if most of the probability is on choices. They cannot be told where the choices have less than a tenth of the
    probability, where all alternatives together have more than 1, where alternatives that are unseen, or begin several choices,
    could move a share by .01, and where the written choice is far from the likeliest: then they are of another token.
    """
    written = written_choice(text, choices)
    position = next((position for position in positions if _begins(position, written)), None)
    if position is None or not (top := position.top_logprobs):
        return {}
    found, unclear = dict.fromkeys(choices, 0.0), 0.0
    for each in top:
        begins = each.token.strip(BLANK)
        meant = [choice for choice in choices if begins and choice.startswith(begins)]
        if len(meant) == 1:
            found[meant[0]] += each.probability
        elif meant:
            unclear += each.probability
    total = math.fsum(found.values())
    # a choice that is not among the alternatives is less likely than all of them
    unclear += sum(share == 0 for share in found.values()) * min(each.probability for each in top)
    least = LEAST_READ if written else MOST_OTHER
    if total < least or unclear > MOST_UNSEEN * total or math.fsum(each.probability for each in top) > 1 + MOST_EXCESS:
        return {}
    if found[written] * 2 < max(found.values()) if written else any(_begins(position, choice) for choice in choices):
        return {}
    return {choice: share / total for choice, share in found.items()}


def _begins(position: TokenPosition, choice: str | None) -> bool:
    """Whether the token there begins the choice; of none, whether it is more than white space."""
    token = position.token.strip(BLANK)
    return bool(token) and (choice is None or choice.startswith(token))
