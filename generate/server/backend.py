"""A server that speaks OpenAI's protocol, as a backend.

Asks of one prompt go in one request where the server can give several answers, so that the prompt is paid for once. Each
answered request is kept at once (`kept`) and booked (`runfolder.spending`). When a request fails for good, no other begins, those
under way are waited for, and the stage stops: nothing that was paid for is lost, nothing is written that the server did not say.

What a server draws under a seed is its own affair: most promise nothing. Answers that are kept stay the same, those of another
machine may differ.
"""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from ...config import BackendSection, ModelSection
from ...errors import ModelError, UnfitModelError, WaitingError
from ...extras import need
from ...models import adapter_digest
from ...models.opening import open_chat_tokenizer
from ...runfolder.spending import Cost, Spending, current
from ...runfolder.timing import booked
from ..backend import TOO_LONG, Ask, Reply, Usage, failed, too_long
from .batches import MOST_REQUESTS, look, submit
from .client import FEATURE, are_choices, open_client, redacted, refusal
from .kept import Answer, KeptAnswers, ask_key
from .requests import ENDS, Messages, Sending, Tokens

log = logging.getLogger(__name__)

# reason of an ask that the server answers by a refusal
REFUSED = "refused by the server"
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
# parameters that some models refuse -> what is sent in their place
INSTEAD = {"max_tokens": "max_completion_tokens", "seed": None, "logprobs": None, "top_logprobs": None}


@dataclass(frozen=True)
class _Call:
    """Asks of one prompt that one request answers."""

    asks: tuple[Ask, ...]
    keys: tuple[str, ...]


class ServerBackend:
    """A server with a model and, where its prompts are tokens, a LoRA adapter."""

    def __init__(self, section: BackendSection, model: ModelSection, adapter: Path | None, signature: str) -> None:
        assert section.server is not None
        self.signature = signature
        self.usage = Usage()
        self._section, self._server, self._model = section, section.server, model
        self._errors = need("openai", FEATURE)
        self._sending: Sending = Messages()
        if self._server.prompts == "tokens":
            self._sending = Tokens(open_chat_tokenizer(model.name, FEATURE, model.revision))
        self._name = self._server.model or model.name
        self._rates = _rates(self._server.requests_per_minute), _rates(self._server.tokens_per_minute)
        # what this server was found not to take
        self._without: set[str] = set()
        self._client = open_client(self._server)
        self._kept = KeptAnswers()
        self._runner = asyncio.Runner()
        if adapter is not None:
            try:
                self._run(self._load(adapter))
            except BaseException:
                self.close()
                raise

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        """Run it to its end."""
        _outside_of_loops(partial(self._runner.run, work))

    async def _load(self, adapter: Path) -> None:
        """Have the server load an adapter, which lies on a file system that it shares."""
        name = f"evenhand-{adapter_digest(adapter)}"
        try:
            body = {"lora_name": name, "lora_path": str(adapter.absolute())}
            await self._client.post("/load_lora_adapter", body=body, cast_to=str)
        except self._errors.OpenAIError as error:
            if "already" not in str(error):
                raise UnfitModelError(
                    f"{self._server.base_url} does not load the adapter {adapter}: {error}; start it with --enable-lora, "
                    f"--max-lora-rank and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True, where it can read that folder"
                ) from error
        self._name = name

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order; what was answered before is not asked again.

        Raises:
            ModelError: the server refuses key or model, or gives no answer after all retries.
            CostLimitError: the next request might pass limits.cost.
        """
        keys = [ask_key(self.signature, ask) for ask in asks]
        found = self._kept.find(keys)
        for ask, key in zip(asks, keys, strict=True):
            if key not in found and (refused := self._refused(ask)):
                found[key] = Answer(reply=refused)
        calls = _calls([(ask, key) for ask, key in zip(asks, keys, strict=True) if key not in found])
        if calls:
            with booked("models"):
                self._run(self._submit(calls, found) if self._server.batches else self._answer(iter(calls), found))
        for answer in found.values():
            if answer.reply.finish_reason != "failed":
                # counts are the same however often the work was interrupted
                self.usage.add(answer.reply.n_prompt_tokens, answer.prefilled)
        return [found[key].reply for key in keys]

    def _refused(self, ask: Ask) -> Reply | None:
        """The reply to an ask that need not be sent."""
        try:
            self._server.refuse_drawing(ask.sampling)
        except ValueError as error:
            raise UnfitModelError(f"{FEATURE}: {error}") from error
        prompt = self._sending.prompt(ask)
        # of a chat the server alone knows how long it is
        reason = prompt.token_ids and too_long(len(prompt.token_ids), ask, self._section.max_model_len)
        return failed(prompt, TOO_LONG, reason) if reason else None

    async def _answer(self, calls: Iterator[_Call], found: dict[str, Answer]) -> None:
        """Answer the calls, several at a time; after the first failure none begins, and those under way are waited for."""
        failures: list[Exception] = []

        async def work() -> None:
            while not failures and (call := next(calls, None)) is not None:
                try:
                    found.update(await self._ask(call))
                except Exception as error:
                    failures.append(error)

        await asyncio.gather(*(work() for _ in range(self._server.concurrency)))
        if failures:
            raise failures[0]

    async def _submit(self, calls: Sequence[_Call], found: dict[str, Answer]) -> None:
        """Take what came of the server's batches, and submit what none of them asks.

        Raises:
            WaitingError: a batch is under way.
            ModelError: a batch failed as a whole.
        """
        asks = {key: ask for call in calls for key, ask in zip(call.keys, call.asks, strict=True)}
        try:
            waiting, pending = await self._collect(asks, found)
            left = _calls([(ask, key) for key, ask in asks.items() if key not in found and key not in pending])
            for start in range(0, len(left), MOST_REQUESTS):
                some = left[start : start + MOST_REQUESTS]
                self._refuse_cost(some)
                bodies = {call.keys[0]: self._body(call.asks) for call in some}
                batch = await submit(self._client, self._sending.path, bodies)
                self._kept.submit(batch, self._server.base_url, {call.keys[0]: call.keys for call in some})
                waiting.append(f"batch {batch} of {len(some)} requests was submitted")
        except self._errors.OpenAIError as error:
            raise refusal(error, self._server, self._model.name) from error
        if waiting:
            raise WaitingError(
                f"{self._server.base_url}: {'; '.join(waiting)}; the same command continues when it is done"
            )

    async def _collect(self, asks: Mapping[str, Ask], found: dict[str, Answer]) -> tuple[list[str], set[str]]:
        """Put the answers of batches that have ended into `found`; what the others are at, and the keys that they will answer."""
        waiting, refused = list[str](), list[str]()
        pending: set[str] = set()
        for batch, names in self._kept.submitted(self._server.base_url).items():
            keys = {key for its in names.values() for key in its}
            if not keys & asks.keys():
                continue
            progress = await look(self._client, batch)
            if not progress.has_ended:
                waiting.append(
                    f"batch {batch} is {progress.status}, {progress.completed} of {progress.total} requests done"
                )
                pending |= keys
                continue
            known = {name: its for name, its in names.items() if set(its) & asks.keys()}
            for name in known.keys() & progress.responses.keys():
                status, body = progress.responses[name]
                found |= self._taken(known[name], asks, status, body)
                if status in REFUSALS and known[name][0] not in found:
                    refused.append(redacted(json.dumps(body)[:300], self._server))
            self._kept.finish(
                batch, {each: names[each] for each in progress.responses.keys() & names.keys() - known.keys()}
            )
            if not progress.responses:
                raise ModelError(
                    f"{self._server.base_url}: batch {batch} ended as {progress.status} without answers: "
                    f"{progress.error or 'it does not say why'}; the same command submits it anew"
                )
        if refused:
            raise ModelError(
                f"{self._server.base_url} refuses {len(refused)} requests of its batches: {refused[0]}; mend the recipe, and the "
                "same command submits them anew"
            )
        return waiting, pending

    def _taken(
        self, keys: Sequence[str], asks: Mapping[str, Ask], status: int, body: dict[str, Any]
    ) -> dict[str, Answer]:
        """The answers to one request of a batch, kept and booked; {} where it is to be sent again."""
        # those of a request differ in their seed alone, of which answers say nothing
        any_of_it = next(asks[key] for key in keys if key in asks)
        if (reply := self._failed(any_of_it, status, json.dumps(body))) is not None:
            return dict.fromkeys(keys, Answer(reply=reply))
        if not are_choices(body):
            return {}
        self._book(current(), body, self._most_cost([any_of_it] * len(keys)))
        answers = dict(zip(keys, self._read([any_of_it] * len(keys), body), strict=False))
        self._keep(answers)
        return answers

    def _refuse_cost(self, calls: Sequence[_Call]) -> None:
        """Refuse a batch that might pass the limit of cost."""
        account, most = current(), sum(self._most_cost(call.asks) for call in calls)
        if account is not None and not account.has_room(most):
            raise account.refusal(most)

    def _most_cost(self, asks: Sequence[Ask]) -> float:
        """What the request that answers asks of one prompt can cost; 0 without prices."""
        given, written = _most(self._body(asks))
        return self._server.price.cost(given, 0, written) if self._server.price else 0.0

    async def _ask(self, call: _Call) -> dict[str, Answer]:
        """The answers to one call, kept; asks that one request did not answer are asked one by one."""
        found: dict[str, Answer] = {}
        while len(found) < len(call.asks):
            n, without = 1 if "n" in self._without else len(call.asks) - len(found), frozenset(self._without)
            asks, keys = call.asks[len(found) :][:n], call.keys[len(found) :][:n]
            try:
                response = await self._send(asks)
            except self._errors.APIStatusError as error:
                if self._do_without(error, n, without):
                    continue
                if (reply := self._failed(asks[0], error.status_code, str(error))) is not None:
                    found |= dict.fromkeys(keys, Answer(reply=reply))
                    continue
                raise refusal(error, self._server, self._model.name) from error
            except self._errors.OpenAIError as error:
                raise refusal(error, self._server, self._model.name) from error
            answers = dict(zip(keys, self._read(asks, response), strict=False))
            self._keep(answers)
            found |= answers
            if len(answers) < n:
                self._without.add("n")
        return found

    async def _send(self, asks: Sequence[Ask]) -> dict[str, Any]:
        """The response to one request, booked, within the limits of rate and cost."""
        body = self._body(asks)
        most_input, most_output = _most(body)
        requests, tokens = self._rates
        if requests is not None:
            await requests.acquire(1)
        if tokens is not None:
            await tokens.acquire(min(most_input / 4 + most_output, tokens.max_rate))
        account, most = current(), self._most_cost(asks)
        await self._reserve(account, most)
        try:
            response: dict[str, Any] = await self._client.post(self._sending.path, body=body, cast_to=dict[str, Any])
            self._book(account, response, most)
        finally:
            if account is not None:
                account.release(most)
        return response

    def _body(self, asks: Sequence[Ask]) -> dict[str, Any]:
        """The request that answers asks of one prompt, in the form that the server takes."""
        body = {"model": self._name, **self._sending.body(asks[0], len(asks))}
        for key, other in INSTEAD.items():
            if key in self._without and key in body:
                value = body.pop(key)
                body |= {other: value} if other else {}
        return body | self._section.engine

    async def _reserve(self, account: Spending | None, most: float) -> None:
        """Wait until the request has room in what may be spent, beside those under way."""
        if account is None:
            return
        while not account.has_room(most):
            if account.is_idle:
                raise account.refusal(most)
            await asyncio.sleep(0.01)
        account.reserve(most)

    def _book(self, account: Spending | None, response: dict[str, Any], most: float) -> None:
        """Book what a request took; where the server does not say it, the most that it can have cost."""
        if account is None:
            return
        given, cached, written = _tokens(response)
        price, is_told = self._server.price, bool(given)
        cost = None if price is None else price.cost(given, cached, written) if is_told else most
        account.book(Cost(model=self._name, input=given, cached=cached, output=written, cost=cost, is_told=is_told))

    def _read(self, asks: Sequence[Ask], response: dict[str, Any]) -> list[Answer]:
        """The answers that a response holds, in its own order."""
        given, cached, _ = _tokens(response)
        choices = sorted(response["choices"], key=lambda each: each.get("index") or 0)
        found: list[Answer] = []
        for ask, choice in zip(asks, choices, strict=False):
            if (reason := choice.get("finish_reason")) not in ENDS:
                reply = failed(self._sending.prompt(ask), REFUSED, f"it ended the answer for another reason: {reason}")
            else:
                reply = self._sending.reply(ask, choice, given)
            # a prompt that is asked n times in one request is run once
            found.append(Answer(reply=reply, prefilled=0 if found else given - cached))
        return found

    def _do_without(self, error: Any, n: int, without: frozenset[str]) -> bool:
        """Whether the request can be sent again in another form, after a refusal that names a parameter.

        Args:
            error: the refusal.
            n: answers that the request asked for.
            without: what it was sent without: requests beside it may have found out more since.
        """
        if error.status_code not in {400, 422}:
            return False
        said = str(error)
        named = {error.param} if error.param else {key for key in INSTEAD if f"'{key}'" in said}
        named &= INSTEAD.keys()
        if n > 1 and (error.param == "n" or (not named and ONE_ANSWER.search(said))):
            named = {"n"}
        if new := named - self._without:
            log.warning("%s does not take %s, so requests go without", self._server.base_url, ", ".join(sorted(new)))
        self._without |= new
        return bool(named - without)

    def _failed(self, ask: Ask, status: int, said: str) -> Reply | None:
        """The reply to an ask that the server refused for its length or content; None for any other fault."""
        if status == 413 or (status in REFUSALS and LENGTH.search(said)):
            return failed(self._sending.prompt(ask), TOO_LONG, redacted(said, self._server))
        if status in REFUSALS and CONTENT.search(said):
            return failed(self._sending.prompt(ask), REFUSED, redacted(said, self._server))
        return None

    def _keep(self, answers: Mapping[str, Answer]) -> None:
        """Keep what was said; a refusal, or an answer without a word, may be another one tomorrow."""
        self._kept.keep({key: each for key, each in answers.items() if each.reply.text})

    def close(self) -> None:
        """Close the connections and the file of answers."""
        self._kept.close()
        self._run(self._client.close())
        _outside_of_loops(self._runner.close)


def _outside_of_loops(work: Callable[[], None]) -> None:
    """Do what runs a loop of events, in another thread where one runs in this: a notebook's."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        work()
        return
    with ThreadPoolExecutor(1) as pool:
        pool.submit(copy_context().run, work).result()


def _calls(asks: Sequence[tuple[Ask, str]]) -> list[_Call]:
    """The requests for these asks: those that differ in their seed alone are drawn together."""
    together: dict[Any, dict[str, Ask]] = {}
    for ask, key in asks:
        is_drawn = ask.sampling.temperature > 0 and not ask.choices
        group = (ask.prompt, ask.sampling) if is_drawn else key
        together.setdefault(group, {})[key] = ask
    return [_Call(tuple(each.values()), tuple(each)) for each in together.values()]


def _most(body: Mapping[str, Any]) -> tuple[int, int]:
    """Tokens of a request and of its answers, at most: none is less than a byte, but for a few around each turn."""
    turns = body.get("messages")
    given = len(body["prompt"]) if turns is None else sum(len(turn["content"].encode()) + 32 for turn in turns)
    return given, int(body.get("n", 1)) * int(body.get("max_completion_tokens") or body["max_tokens"])


def _tokens(response: dict[str, Any]) -> tuple[int, int, int]:
    """Tokens of the prompt, those of them that the server had cached, and of all answers; 0 where it does not say."""
    used = response.get("usage") or {}
    cached = (used.get("prompt_tokens_details") or {}).get("cached_tokens")
    return int(used.get("prompt_tokens") or 0), int(cached or 0), int(used.get("completion_tokens") or 0)


def _rates(per_minute: int | None) -> Any:
    """What spreads so many units over a minute; None for no limit."""
    return need("aiolimiter", FEATURE).AsyncLimiter(per_minute, 60) if per_minute else None
