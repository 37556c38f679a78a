"""One request and what becomes of it: asks of one prompt, their body, their price, their answers."""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...config import BackendSection
from ...runfolder.spending import Cost, current
from ..backend import TOO_LONG, Ask, Reply, failed
from .client import redacted
from .kept import Answer, KeptAnswers
from .requests import ENDS, Sending, UnreadableError

log = logging.getLogger(__name__)

# reason of an ask that the server answers by a refusal
REFUSED = "refused by the server"
# reason of an ask that it answers by something else than text
UNREADABLE = "answer cannot be read"
# statuses of requests that the server does not answer in this form
REFUSALS = frozenset({400, 422})
# how servers say that a prompt is too long for the model
LENGTH = re.compile(
    r"context.?(?:length|window|size)|maximum context|too (?:long|many tokens)|exceeds? the .*(?:context|token)", re.I
)
# how they say that they do not answer such a text
CONTENT = re.compile(r"content.?(?:filter|policy|management)|safety|moderation|inappropriate|responsible.?ai", re.I)
# how they say that they give one answer at a time
ONE_ANSWER = re.compile(r"(?:\bn\b|\bbest_of\b|completion choice|multiple choices)", re.I)
# parameter by which vLLM's server holds an answer to choices; how it says that it cannot
GUIDE = "structured_outputs"
UNGUIDED = re.compile(r"structured.?output|guided|grammar", re.I)
# parameters that some models refuse -> what is sent in their place
INSTEAD = {"max_tokens": "max_completion_tokens", "seed": None, "logprobs": None, "top_logprobs": None, GUIDE: None}


@dataclass(frozen=True)
class Call:
    """Asks of one prompt that one request answers."""

    asks: tuple[Ask, ...]
    keys: tuple[str, ...]


class Exchange:
    """What a server is sent, and what is kept of its responses.

    Args:
        section: of the backend; it has a server.
        name: what the server calls the model.
        sending: how asks become requests.
        kept: where answers are kept.
    """

    def __init__(self, section: BackendSection, name: str, sending: Sending, kept: KeptAnswers) -> None:
        assert section.server is not None
        self.server, self.sending, self.kept = section.server, sending, kept
        # changes when the server has loaded an adapter
        self.name = name
        # what this server was found not to take
        self.without: set[str] = set()
        # whether the server is told to hold answers to their choices; None where it was not asked yet whether it can
        self.guides = None if sending.may_be_guided else False
        self._more = section.engine

    def body(self, asks: Sequence[Ask]) -> dict[str, Any]:
        """The request that answers asks of one prompt, in the form that the server takes."""
        body = {"model": self.name, **self.sending.body(asks[0], len(asks))}
        if self.guides and asks[0].choices:
            body[GUIDE] = {"choice": list(asks[0].choices)}
        for key, other in INSTEAD.items():
            if key in self.without and key in body:
                value = body.pop(key)
                body |= {other: value} if other else {}
        return body | self._more

    def most_cost(self, body: Mapping[str, Any]) -> float:
        """What a request can cost; 0 without prices."""
        given, written = most_tokens(body)
        return self.server.price.cost(given, 0, written) if self.server.price else 0.0

    def taken(
        self, keys: Sequence[str], asks: Sequence[Ask], body: Mapping[str, Any], response: dict[str, Any]
    ) -> dict[str, Answer]:
        """The answers that the response to a request of this body holds, in its own order, booked and kept."""
        # what is paid is written down before what was got for it
        self._book(response, self.most_cost(body))
        answers = dict(zip(keys, self._read(asks, response, is_held=GUIDE in body), strict=False))
        # a refusal, or an answer without a word, may be another one tomorrow
        self.kept.keep({key: each for key, each in answers.items() if each.reply.text})
        return answers

    def _book(self, response: dict[str, Any], most: float) -> None:
        """Book what a request took; where the server does not say it, the most that it can have cost."""
        account = current()
        if account is None:
            return
        given, cached, written = _used(response)
        price, is_told = self.server.price, bool(given)
        cost = None if price is None else price.cost(given, cached, written) if is_told else most
        account.book(Cost(model=self.name, input=given, cached=cached, output=written, cost=cost, is_told=is_told))

    def _read(self, asks: Sequence[Ask], response: dict[str, Any], *, is_held: bool) -> list[Answer]:
        """The answers that a response holds, in its own order; `is_held` is whether the server was told to hold them."""
        given, cached, _ = _used(response)
        choices = sorted(response["choices"], key=lambda each: each.get("index") or 0)
        found: list[Answer] = []
        for ask, choice in zip(asks, choices, strict=False):
            if (reason := choice.get("finish_reason")) not in ENDS:
                said = redacted(f"it ended the answer for another reason: {reason}", self.server)
                reply = failed(self.sending.prompt(ask), REFUSED, said)
            else:
                try:
                    reply = self.sending.reply(ask, choice, given, is_held=is_held)
                except UnreadableError as error:
                    reply = failed(self.sending.prompt(ask), UNREADABLE, redacted(str(error), self.server))
            # a prompt that is asked n times in one request is run once
            found.append(Answer(reply=reply, prefilled=0 if found else given - cached))
        return found

    def refused(self, ask: Ask, status: int, said: str) -> Reply | None:
        """The reply to an ask that the server refused for its length or content; None for any other fault."""
        if status == 413 or (status in REFUSALS and LENGTH.search(said)):
            return failed(self.sending.prompt(ask), TOO_LONG, redacted(said, self.server))
        if status in REFUSALS and CONTENT.search(said):
            return failed(self.sending.prompt(ask), REFUSED, redacted(said, self.server))
        return None

    def do_without(self, error: Any, body: Mapping[str, Any], without: frozenset[str]) -> bool:
        """Whether the request can be sent again in another form, after a refusal that names a parameter of it.

        Args:
            error: the refusal.
            body: what was refused.
            without: what it was sent without: requests beside it may have found out more since.
        """
        if error.status_code not in REFUSALS:
            return False
        said = str(error)
        named = {error.param} if error.param else {key for key in INSTEAD if f"'{key}'" in said}
        named &= INSTEAD.keys() & body.keys()
        if GUIDE in body and not named and UNGUIDED.search(said):
            named = {GUIDE}
        if body.get("n", 1) > 1 and (error.param == "n" or (not named and ONE_ANSWER.search(said))):
            named = {"n"}
        if new := named - self.without:
            log.warning("%s does not take %s, so requests go without", self.server.base_url, ", ".join(sorted(new)))
        self.without |= new
        return bool(named - without)


def calls_of(asks: Sequence[tuple[Ask, str]]) -> list[Call]:
    """The requests for these asks: those that differ in their seed alone are drawn together."""
    together: dict[Any, dict[str, Ask]] = {}
    for ask, key in asks:
        is_drawn = ask.sampling.temperature > 0 and not ask.choices
        group = (ask.prompt, ask.sampling) if is_drawn else key
        together.setdefault(group, {})[key] = ask
    return [Call(tuple(each.values()), tuple(each)) for each in together.values()]


def most_tokens(body: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens of a request and of its answers, at most: none is less than a byte, but for a few around each turn."""
    turns = body.get("messages")
    given = len(body["prompt"]) if turns is None else sum(len(turn["content"].encode()) + 32 for turn in turns)
    return given, int(body.get("n", 1)) * int(body.get("max_completion_tokens") or body["max_tokens"])


def _used(response: dict[str, Any]) -> tuple[int, int, int]:
    """Tokens of the prompt, those of them that the server had cached, and of all answers; 0 where it does not say."""
    used = response.get("usage") or {}
    cached = (used.get("prompt_tokens_details") or {}).get("cached_tokens")
    return int(used.get("prompt_tokens") or 0), int(cached or 0), int(used.get("completion_tokens") or 0)
