"""One request and what becomes of it: asks of one prompt, their body, their price, their answers."""

import json
import logging
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from ...config import BackendSection
from ...runfolder.spending import Cost, current
from ..backend import TOO_LONG, Ask, Reply, failed
from .bounds import most_tokens
from .client import BrokenAnswerError, are_choices, redacted
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
        return self.most(body).cost or 0.0

    def most(self, body: Mapping[str, Any]) -> Cost:
        """What a try of a request can take, at most: none of its tokens was cached, or all, whichever costs more."""
        price, (given, written) = self.server.price, most_tokens(body)
        cost = None if price is None else max(price.cost(given, cached, written) for cached in (0, given))
        return Cost(model=self.name, input=given, cached=0, output=written, cost=cost, is_told=False)

    def read(self, content: bytes) -> dict[str, Any]:
        """The response that came.

        Raises:
            BrokenAnswerError: it is none.
        """
        try:
            response = json.loads(content)
        except (ValueError, RecursionError) as error:
            raise BrokenAnswerError("the answer is not JSON") from error
        if not are_choices(response):
            raise BrokenAnswerError("the answer holds no choices")
        return cast(dict[str, Any], response)

    def taken(
        self,
        keys: Sequence[str],
        asks: Sequence[Ask],
        body: Mapping[str, Any],
        response: dict[str, Any],
        number: int | None = None,
    ) -> dict[str, Answer]:
        """The answers that the response to a request of this body holds, in its own order, booked and kept.

        Args:
            keys: of the asks.
            asks: of one prompt.
            body: of the request.
            response: to it.
            number: of its try in the account; None for a request of a batch.
        """
        # what is paid is written down before what was got for it
        self._book(response, self.most(body), number)
        answers = dict(zip(keys, self._read(asks, response, is_held=GUIDE in body), strict=False))
        # a refusal, or an answer without a word, may be another one tomorrow
        self.kept.keep({key: each for key, each in answers.items() if each.reply.text})
        return answers

    def _book(self, response: dict[str, Any], most: Cost, number: int | None) -> None:
        """Book what a request took; where the server says nothing that can be, the most that it can have cost."""
        account = current()
        if account is None:
            return
        used = possible_usage(response, most.output)
        if used is None:
            cost = most
        else:
            (given, cached, written), price = used, self.server.price
            paid = None if price is None else price.cost(given, cached, written)
            cost = Cost(model=self.name, input=given, cached=cached, output=written, cost=paid)
        if number is None:
            account.book(cost)
        else:
            account.settle(number, cost)

    def _read(self, asks: Sequence[Ask], response: dict[str, Any], *, is_held: bool) -> list[Answer]:
        """The answers that a response holds, in its own order; `is_held` is whether the server was told to hold them."""
        given, cached, _ = possible_usage(response, sys.maxsize) or (0, 0, 0)
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


def possible_usage(response: Mapping[str, Any], most_output: int) -> tuple[int, int, int] | None:
    """Tokens of the prompt, those of them that the server had cached, and of all answers; None where it says none that can be."""
    used = response.get("usage")
    details = used.get("prompt_tokens_details") if isinstance(used, Mapping) else None
    cached = (details.get("cached_tokens") if isinstance(details, Mapping) else None) or 0
    given, written = (
        (used.get(key) for key in ("prompt_tokens", "completion_tokens"))
        if used and isinstance(used, Mapping)
        else (0, 0)
    )
    written = written or 0
    if not all(type(each) is int and each >= 0 for each in (given, cached, written)):
        return None
    return (given, cached, written) if given and cached <= given and written <= most_output else None
