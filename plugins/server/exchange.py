"""One request and what becomes of it: asks of one prompt, their body, their price, their answers."""

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...config import BackendSection
from ...generate.backend import TOO_LONG, Ask, Reply, failed
from ...text.secrets import holds
from .account import Charge, current
from .answer_forms import CUT, BrokenChoice, Choice, Response, TokenUsage
from .bounds import most_tokens
from .faults import BrokenAnswerError, RejectedError
from .kept import CachedAnswer, KeptAnswers
from .model_names import is_same_model
from .rejections import WRONG, Rejection, rejection
from .remedies import shortened
from .requests import REFUSED, Sending
from .responses import formed, read_json
from .section import ServerSection

log = logging.getLogger(__name__)

# reason of an ask that it answers by something else than text
UNREADABLE = "answer cannot be read"
# texts in a row that may be refused for no reason that is known: more are the server's fault
MOST_IN_ROW = 24
# how they say that they give one answer at a time
ONE_ANSWER = re.compile(r"(?:\bn\b|\bbest_of\b|completion choice|multiple choices)", re.I)
# parameter by which vLLM's server holds an answer to choices; how it says that it cannot
GUIDE = "structured_outputs"
UNGUIDED = re.compile(r"structured.?output|guided|grammar", re.I)
# parameters that some models refuse -> what is sent in their place
INSTEAD = {"max_tokens": "max_completion_tokens", "seed": None, "logprobs": None, "top_logprobs": None, GUIDE: None}


@dataclass(frozen=True)
class ServerCall:
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
        assert isinstance(section.server, ServerSection)
        self.server, self.sending, self.kept = section.server, sending, kept
        # changes when the server has loaded an adapter
        self.name = name
        # where requests go: the path behind the server's address, or where it sent one on to
        self.address = sending.path
        # what this server was found not to take
        self.without: set[str] = set()
        # whether the server is told to hold answers to their choices; None where it was not asked yet whether it can
        self.guides = None if sending.may_be_guided else False
        # whether asks with choices, and those without, were answered: a request of their form is right
        self.answered: set[bool] = set()
        # refusals without a known reason since the last answer
        self.n_in_row = 0
        # what was said of this server already, once each
        self._remarks: set[str] = set()
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

    def most(self, body: Mapping[str, Any]) -> Charge:
        """What a try of a request can take, at most: none of its tokens was cached, or all, whichever costs more."""
        price, (given, written) = self.server.price, most_tokens(body)
        cost = None if price is None else max(price.cost(given, cached, written) for cached in (0, given))
        return Charge(model=self.name, input=given, cached=0, output=written, cost=cost, is_told=False)

    def read(self, content: bytes) -> Response[Any]:
        """The response that came.

        Raises:
            RejectedError: it says that the text is not answered.
            BrokenAnswerError: it is none.
        """
        return self.formed(read_json(content))

    def formed(self, value: Any) -> Response[Any]:
        """The response that a value is; it raises as `read` does."""
        if isinstance(value, dict) and (value.get("error") or _is_failure(value)):
            said = rejection(200, value)
            if said.is_of_length or said.is_of_content:
                raise RejectedError(said)
            raise BrokenAnswerError(f"an error in place of an answer: {said.words}")
        return formed(value, self.sending.form)

    def taken(
        self,
        keys: Sequence[str],
        asks: Sequence[Ask],
        body: Mapping[str, Any],
        response: Response[Any],
        number: int | None = None,
    ) -> dict[str, CachedAnswer]:
        """The answers that the response to a request of this body holds, in its own order, booked and kept.

        Args:
            keys: of the asks.
            asks: of one prompt.
            body: of the request.
            response: to it.
            number: of its try in the account; None for a request of a batch.
        """
        # what is paid is written down before what was got for it
        most = self.most(body)
        self.book(response.usage_within(most.input, most.output), most, number)
        answers = dict(zip(keys, self._read(asks, response, most.output, is_held=GUIDE in body), strict=False))
        # a refusal, or an answer without a word, may be another one tomorrow
        self.kept.keep({key: each for key, each in answers.items() if each.reply.text})
        if any(answer.reply.text for answer in answers.values()):
            self.answered.add(bool(asks[0].choices))
            self.n_in_row = 0
        return answers

    def book(self, used: TokenUsage | None, most: Charge, number: int | None) -> None:
        """Book what a request took; where the server says nothing that can be, the most that it can have cost."""
        account, cost = current(), most
        if used is not None:
            counts = used.prompt_tokens, used.cached, used.output
            paid = self.server.price.cost(*counts) if self.server.price else None
            cost = Charge(model=self.name, input=counts[0], cached=counts[1], output=counts[2], cost=paid)
        if number is None:
            account.book(cost)
        else:
            account.settle(number, cost)

    def _read(
        self, asks: Sequence[Ask], response: Response[Any], most_output: int, *, is_held: bool
    ) -> list[CachedAnswer]:
        """The answers that a response holds, in its own order; `is_held` is whether the server was told to hold them."""
        used, found = response.usage, list[CachedAnswer]()
        name = response.model or self.name
        other = "" if is_same_model(self.name, name) else shortened(name, self.server)
        if other:
            self._remark(
                f"answers as the model {other!r}, and {self.name!r} is asked for: write what you want as server.model, if it is "
                "not an alias of the same; the end of the step has the number of such answers"
            )
        for ask, choice in zip(asks, response.in_order(), strict=False):
            if isinstance(choice, BrokenChoice):
                reply = self.failed(ask, UNREADABLE, choice.reason)
            elif not choice.is_whole:
                said = rejection(200, {"error": choice.error}).words
                why = f"it ended the answer for another reason: {choice.finish_reason}" + (f": {said}" if said else "")
                reply = self.failed(ask, REFUSED, why)
            else:
                finish = self._finish(choice, is_full=used is not None and used.completion_tokens >= most_output)
                reply = self.sending.reply(ask, choice, finish, used.prompt_tokens if used else 0, is_held=is_held)
                if holds(reply.text, self.server.secrets):
                    reply = self.failed(ask, UNREADABLE, "the answer holds the server's key")
                elif reply.error:
                    reply = self.failed(ask, reply.reason, reply.error)
            # a prompt that is asked n times in one request is run once
            prefilled = 0 if found or not used else used.prompt_tokens - used.cached
            found.append(CachedAnswer(reply=reply, prefilled=prefilled, other_model=other))
        if used is not None and self.is_partial(asks[0], used.prompt_tokens):
            n_letters = sum(len(turn.content) for turn in asks[0].prompt)
            self._remark(
                f"counts {used.prompt_tokens} tokens for a prompt of {n_letters} characters, so it reads a part of it (or counts "
                "what it had not cached alone): raise the context that it gives a request (Ollama: num_ctx or "
                "OLLAMA_CONTEXT_LENGTH, llama.cpp: --ctx-size); the end of the step has the number of such prompts"
            )
        return found

    def _finish(self, choice: Choice, *, is_full: bool) -> str:
        """ "length" or "stop"; where a server does not say why an answer ends, its number of tokens may."""
        if choice.finish_reason is None:
            self._remark("does not say why its answers end (finish_reason), so that cut ones may count as whole")
            return "length" if is_full else "stop"
        return "length" if choice.finish_reason in CUT else "stop"

    def failed(self, ask: Ask, reason: str, said: str) -> Reply:
        """The reply to an ask that has no answer, with a reason to count by and what the server said."""
        return failed(self.sending.prompt(ask), reason, shortened(said, self.server))

    def is_partial(self, ask: Ask, n_prompt_tokens: int) -> bool:
        """Whether a server that counts so many tokens can have read no more than a part of the ask's prompt."""
        return 0 < n_prompt_tokens < self.sending.least_tokens(ask)

    def _remark(self, text: str) -> None:
        """Say it of the server, once."""
        if text.split(maxsplit=1)[0] not in self._remarks:
            self._remarks.add(text.split(maxsplit=1)[0])
            log.warning("%s %s", self.server.base_url, text)

    def refused(self, ask: Ask, said: Rejection) -> Reply | None:
        """The reply to an ask that the server refused for its length or content; None for any other fault.

        A refusal that says nothing of the kind is one of the text, too, where other requests of this form were answered.
        """
        if said.is_of_length:
            return self.failed(ask, TOO_LONG, said.words)
        is_of_text = said.is_of_content
        if not is_of_text and self.is_unexplained(said, ask) and bool(ask.choices) in self.answered:
            self.n_in_row += 1
            is_of_text = self.n_in_row <= MOST_IN_ROW
        return self.failed(ask, REFUSED, said.words) if is_of_text else None

    def is_unexplained(self, said: Rejection, ask: Ask) -> bool:
        """Whether a refusal may be one of the text alone: it names nothing else that is wrong with the request."""
        if said.status not in WRONG or said.is_of_credit or said.is_of_key or said.is_of_model:
            return False
        return not said.names_any(self.body([ask]))

    def do_without(self, said: Rejection, body: Mapping[str, Any], without: frozenset[str]) -> bool:
        """Whether the request can be sent again in another form, after a refusal that names a parameter of it.

        Args:
            said: the refusal.
            body: what was refused.
            without: what it was sent without: requests beside it may have found out more since.
        """
        if said.status not in WRONG or said.is_of_length:
            return False
        named = said.named(INSTEAD.keys() & body.keys())
        if "max_tokens" in body and said.named({"max_completion_tokens"}):
            named.add("max_tokens")
        if "logprobs" in named:
            # no server gives alternatives without the token's own
            named |= {"top_logprobs"} & body.keys()
        if GUIDE in body and not named and UNGUIDED.search(said.words):
            named = {GUIDE}
        if body.get("n", 1) > 1 and (
            "n" in said.parameters or (not named and not said.is_of_content and ONE_ANSWER.search(said.words))
        ):
            named = {"n"}
        if new := named - self.without:
            log.warning("%s does not take %s, so requests go without", self.server.base_url, ", ".join(sorted(new)))
        self.without |= new
        return bool(named - without)


def _is_failure(body: Mapping[str, Any]) -> bool:
    """Whether a body has no answer and a code of MiniMax's, which answers with status 200."""
    state = body.get("base_resp")
    return not body.get("choices") and isinstance(state, Mapping) and state.get("status_code", 0) != 0


def calls_of(asks: Sequence[tuple[Ask, str]]) -> list[ServerCall]:
    """The requests for these asks: those that differ in their seed alone are drawn together."""
    together: dict[Any, dict[str, Ask]] = {}
    for ask, key in asks:
        is_drawn = ask.sampling.temperature > 0 and not ask.choices
        group = (ask.prompt, ask.sampling) if is_drawn else key
        together.setdefault(group, {})[key] = ask
    return [ServerCall(tuple(each.values()), tuple(each)) for each in together.values()]
