"""What a server is sent, and how its answers are read: chats for any server, token ids for vLLM's."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import lru_cache, partial, reduce
from typing import Any

from ...prompts import broken
from ...records import Message
from ...storage import digest
from ...text.chat_marks import SENT
from ..answers import reading
from ..backend import Ask, Prompt, Reply, normalised, prompt_tokens, tokens_digest
from ..chat import turn_marks

# the most alternatives to a token that OpenAI's protocol gives
MOST_ALTERNATIVES = 20
# probability that choices must have together to be read
LEAST_READ = 0.1
# how far probabilities of choices may be off because one is not among the alternatives
MOST_UNSEEN = 0.01
# what vLLM's server writes for the logarithm of a probability of 0: a token that the answer may not have
IMPOSSIBLE = -9999.0
# prompts that are kept as token ids between their request and its answers
PROMPTS_KEPT = 256
# why servers end an answer that is one; any other reason is a fault or a filter
CUT = frozenset({"length", "max_tokens"})
ENDS = CUT | {"stop", "eos", "eos_token", "end_turn", "stop_sequence", "", None}
# white space as some vocabularies write it
BLANK = " \t\n\u2581\u0120"


class UnreadableError(Exception):
    """An answer is something else than text; which, is the text of this."""


class Sending(ABC):
    """How asks become requests."""

    # the path behind the server's address
    path: str
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
    def reply(self, ask: Ask, choice: Mapping[str, Any], n_prompt_tokens: int, *, is_held: bool) -> Reply:
        """One answer of a response; `is_held` is whether the server was told to hold it to the choices.

        Raises:
            UnreadableError: it is something else than text.
        """


class Messages(Sending):
    """Chats as OpenAI's protocol has them: the server's template writes the prompt.

    No text in them spells a mark of turns: not of the families that are known, nor of the model's own tokenizer.

    Args:
        tokenizer: the model's own, where it is at hand.
    """

    path = "/chat/completions"
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

    def reply(self, ask: Ask, choice: Mapping[str, Any], n_prompt_tokens: int, *, is_held: bool) -> Reply:
        """The text; of choices the likeliest, with their probabilities where the server gives them.

        Raises:
            UnreadableError: the answer is something else.
        """
        message, prompt = choice.get("message") or {}, self.prompt(ask)
        text = _text(message.get("content") if isinstance(message, Mapping) else [message])
        top = _alternatives((choice.get("logprobs") or {}).get("content") or ()) if ask.choices else ()
        shares = _shares(ask.choices, top)
        return Reply(
            text=max(shares, key=lambda each: shares[each]) if shares else text,
            finish_reason=_finish(choice),
            n_prompt_tokens=n_prompt_tokens,
            prompt_digest=prompt.digest,
            choice_probabilities=shares,
            is_guided=is_held and bool(shares) and any(each["logprob"] <= IMPOSSIBLE for each in top),
        )


class Tokens(Sending):
    """Token ids, as vLLM's server takes them: the prompts and answers of backend: vllm.

    Args:
        tokenizer: the model's own.
    """

    path = "/completions"
    choice_tokens = 1
    may_be_guided = False

    def __init__(self, tokenizer: Any) -> None:
        # each is read for what is sent, and again for what comes back
        self._prompt = lru_cache(PROMPTS_KEPT)(partial(_tokens, tokenizer))
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

    def reply(self, ask: Ask, choice: Mapping[str, Any], n_prompt_tokens: int, *, is_held: bool) -> Reply:
        """The text and its token ids; of choices their probabilities among each other.

        Raises:
            UnreadableError: as `Messages.reply`.
        """
        prompt, logprobs = self.prompt(ask), choice.get("logprobs") or {}
        found = [each for each in logprobs.get("token_logprobs") or () if each is not None]
        shares = {}
        if ask.choices:
            ids = self._reading(ask.choices).ids
            top = (logprobs.get("top_logprobs") or [{}])[0] or {}
            named = {each: top.get(f"token_id:{i}") for each, i in zip(ask.choices, ids, strict=True)}
            if None not in named.values():
                shares = normalised({each: float(value) for each, value in named.items() if value is not None})
        return Reply(
            text=_text(choice.get("text")),
            finish_reason=_finish(choice),
            n_prompt_tokens=len(prompt.token_ids),
            prompt_digest=prompt.digest,
            token_ids=tuple(choice.get("token_ids") or ()),
            logps=math.fsum(found) if found else None,
            choice_probabilities=shares,
        )


# server.prompts -> what is sent
SENDINGS: dict[str, type[Sending]] = {"messages": Messages, "tokens": Tokens}


def _tokens(tokenizer: Any, prompt: tuple[Message, ...]) -> Prompt:
    token_ids = tuple(prompt_tokens(tokenizer, prompt))
    return Prompt(token_ids, tokens_digest(token_ids))


def _text(content: Any) -> str:
    """What an answer says: the text, or the text parts in their order; "" where there is nothing."""
    if content is None or isinstance(content, str):
        return content or ""
    parts = content if isinstance(content, list) else [content]
    said = [each if isinstance(each, Mapping) else {"type": type(each).__name__} for each in parts]
    texts = [str(each["text"]) for each in said if each.get("type") == "text" and isinstance(each.get("text"), str)]
    if len(texts) < len(said):
        kinds = ", ".join(sorted({str(each.get("type")) for each in said}))
        raise UnreadableError(f"the answer's content is not text: its parts are of type {kinds}")
    return "".join(texts)


def _finish(choice: Mapping[str, Any]) -> str:
    """ "length" or "stop"."""
    return "length" if choice.get("finish_reason") in CUT else "stop"


def _alternatives(places: Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    """The alternatives to the first token of an answer that is no white space."""
    place = next((each for each in places if str(each.get("token", "")).strip(BLANK)), None)
    return (place or {}).get("top_logprobs") or ()


def _shares(choices: Sequence[str], top: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Probabilities among choices, of the alternatives to a token; {} where they cannot be told.

    They cannot where the choices together have less than a tenth of the probability, because the model begins with something
    else (those that think first do), and where alternatives that are unseen, or begin several choices, could move a share by .01.
    """
    found, unclear = dict.fromkeys(choices, 0.0), 0.0
    for each in top:
        begins, share = str(each.get("token", "")).strip(BLANK), math.exp(each["logprob"])
        meant = [choice for choice in choices if begins and choice.startswith(begins)]
        if len(meant) == 1:
            found[meant[0]] += share
        elif meant:
            unclear += share
    total = math.fsum(found.values())
    # a choice that is not among the alternatives is less likely than all of them
    unclear += sum(share == 0 for share in found.values()) * min(
        (math.exp(each["logprob"]) for each in top), default=1.0
    )
    if total < LEAST_READ or unclear > MOST_UNSEEN * total:
        return {}
    return {choice: share / total for choice, share in found.items()}
