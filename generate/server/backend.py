"""A server that speaks OpenAI's protocol, as a backend.

Asks of one prompt go in one request where the server can give several answers, so that the prompt is paid for once. Each
answered request is kept at once (`kept`) and booked (`runfolder.spending`). When a request fails for good, no other begins, those
under way are waited for, and the stage stops: nothing that was paid for is lost, nothing is written that the server did not say.

What a server draws under a seed is its own affair: most promise nothing. Answers that are kept stay the same, those of another
machine may differ.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from pathlib import Path
from typing import Any

from ...config import BackendSection, ModelSection
from ...errors import UnfitModelError
from ...extras import need
from ...models import adapter_digest
from ...models.opening import open_chat_tokenizer
from ...runfolder.spending import Spending, current
from ...runfolder.timing import booked
from ..backend import Ask, Reply, Usage, too_long
from ..chat import tokenizer_at_hand
from .batches import Batched
from .client import FEATURE, open_client, refusal, takes_choices, words
from .exchange import Call, Exchange, calls_of, most_tokens
from .kept import Answer, KeptAnswers, ask_key
from .patience import while_waited_for
from .requests import Messages, Sending, Tokens

# seconds, and tenths of them
MINUTE, TENTHS = 60.0, 600


class ServerBackend:
    """A server with a model and, where its prompts are tokens, a LoRA adapter."""

    def __init__(self, section: BackendSection, model: ModelSection, adapter: Path | None, signature: str) -> None:
        assert section.server is not None
        self.signature = signature
        self.usage = Usage()
        self._section, self._server, self._model = section, section.server, model
        self._errors = need("openai", FEATURE)
        sending: Sending
        if self._server.prompts == "tokens":
            sending = Tokens(open_chat_tokenizer(model.name, FEATURE, model.revision, model.chat_template_kwargs))
        else:
            sending = Messages(tokenizer_at_hand(model.name, FEATURE))
        # each step of a run begins anew, and bursts of a minute would add up; of a tenth of a second they do not
        requests = self._server.requests_per_minute
        at_once = max(1, (requests or 0) // TENTHS)
        self._rates = _rate(requests, at_once), _rate(self._server.tokens_per_minute)
        self._client = open_client(self._server)
        self._kept = KeptAnswers()
        self._exchange = Exchange(section, self._server.model or model.name, sending, self._kept)
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
            if isinstance(error, self._errors.AuthenticationError | self._errors.PermissionDeniedError):
                raise refusal(error, self._server, self._model.name) from error
            if "already" not in str(error):
                raise UnfitModelError(
                    f"{self._server.base_url} does not load the adapter {adapter}: {words(error, self._server)}; start it with "
                    "--enable-lora, --max-lora-rank and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True, where it can read that folder"
                ) from error
        self._exchange.name = name

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order; what was answered before is not asked again.

        Raises:
            ModelError: the server refuses key or model, or gives no answer after all retries.
            CostLimitError: the next request might pass limits.cost.
            GivenUpError: nobody waits any longer; answers that came before are kept.
        """
        keys = [ask_key(self.signature, ask) for ask in asks]
        found = self._kept.find(keys)
        for ask, key in zip(asks, keys, strict=True):
            if key not in found and (refused := self._refused(ask)):
                found[key] = Answer(reply=refused)
        calls = calls_of([(ask, key) for ask, key in zip(asks, keys, strict=True) if key not in found])
        if calls:
            with booked("models"):
                work = self._in_batches(calls, found) if self._server.batches else self._answer(calls, found)
                self._run(while_waited_for(work))
        elif self._server.batches:
            Batched(self._client, self._exchange).settle()
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
        prompt = self._exchange.sending.prompt(ask)
        # of a chat the server alone knows how long it is
        return too_long(prompt, ask, self._section.max_model_len) if prompt.token_ids else None

    async def _answer(self, calls: Sequence[Call], found: dict[str, Answer]) -> None:
        """Answer the calls, several at a time; after the first failure none begins, and those under way are waited for."""
        if self._exchange.guides is None and any(call.asks[0].choices for call in calls):
            self._exchange.guides = await takes_choices(self._client, self._server, self._model.name)
        left, failures = iter(calls), list[Exception]()

        async def work() -> None:
            while not failures and (call := next(left, None)) is not None:
                try:
                    found.update(await self._ask(call))
                except Exception as error:
                    failures.append(error)

        await asyncio.gather(*(work() for _ in range(self._server.concurrency)))
        if failures:
            raise failures[0]

    async def _in_batches(self, calls: Sequence[Call], found: dict[str, Answer]) -> None:
        """Take what came of the server's batches, and submit what none of them asks."""
        try:
            await Batched(self._client, self._exchange).answer(calls, found)
        except self._errors.OpenAIError as error:
            raise refusal(error, self._server, self._model.name) from error

    async def _ask(self, call: Call) -> dict[str, Answer]:
        """The answers to one call, kept; asks that one request did not answer are asked one by one."""
        found: dict[str, Answer] = {}
        while len(found) < len(call.asks):
            without = frozenset(self._exchange.without)
            n = 1 if "n" in without else len(call.asks) - len(found)
            asks, keys = call.asks[len(found) :][:n], call.keys[len(found) :][:n]
            body = self._exchange.body(asks)
            try:
                found |= (answers := await self._send(keys, asks, body))
            except self._errors.APIStatusError as error:
                if self._exchange.do_without(error, body, without):
                    continue
                if (reply := self._exchange.refused(asks[0], error.status_code, str(error))) is not None:
                    found |= dict.fromkeys(keys, Answer(reply=reply))
                    continue
                raise refusal(error, self._server, self._model.name) from error
            except self._errors.OpenAIError as error:
                raise refusal(error, self._server, self._model.name) from error
            if len(answers) < n:
                self._exchange.without.add("n")
        return found

    async def _send(self, keys: Sequence[str], asks: Sequence[Ask], body: Mapping[str, Any]) -> dict[str, Answer]:
        """The answers to one request, within the limits of rate and cost."""
        most_input, most_output = most_tokens(body)
        requests, tokens = self._rates
        if requests is not None:
            await requests.acquire(1)
        if tokens is not None:
            await tokens.acquire(min(most_input / 4 + most_output, tokens.max_rate))
        account, most = current(), self._exchange.most_cost(body)
        await self._reserve(account, most)
        try:
            response: dict[str, Any] = await self._client.post(
                self._exchange.sending.path, body=body, cast_to=dict[str, Any]
            )
            return self._exchange.taken(keys, asks, body, response)
        finally:
            if account is not None:
                account.release(most)

    async def _reserve(self, account: Spending | None, most: float) -> None:
        """Wait until the request has room in what may be spent, beside those under way."""
        if account is None:
            return
        while not account.has_room(most):
            if account.is_idle:
                raise account.refusal(most)
            await asyncio.sleep(0.01)
        account.reserve(most)

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


def _rate(per_minute: int | None, at_once: int | None = None) -> Any:
    """What lets so many units pass in a minute, at most `at_once` of them together; None for no limit."""
    if per_minute is None:
        return None
    most = at_once or per_minute
    return need("aiolimiter", FEATURE).AsyncLimiter(most, MINUTE * most / per_minute)
