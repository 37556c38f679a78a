"""A server that speaks OpenAI's protocol, as a backend.

Asks of one prompt go in one request where the server can give several answers, so that the prompt is paid for once. Each
answered request is kept at once (`kept`) and booked (`account`). When a request fails for good, no other begins, those
under way are waited for, and the stage stops: nothing that was paid for is lost, nothing is written that the server did not say.

What a server draws under a seed is its own affair: most promise nothing. Answers that are kept stay the same, those of another
machine may differ.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from ...config import BackendSection, ModelSection
from ...errors import StorageError, UnfitModelError
from ...extras import need
from ...generate.backend import Ask, Reply, Usage, too_long
from ...generate.chat import tokenizer_at_hand
from ...generate.patience import while_waited_for
from ...models import adapter_digest
from ...models.opening import open_chat_tokenizer
from ...runfolder.timing import booked
from .account import Charge, Spending, current
from .batches import Batched
from .bounds import most_bytes, most_tokens
from .client import open_client, outside_of_loops, redirected_to, within
from .exchange import Exchange, ServerCall, calls_of
from .faults import FEATURE, BrokenAnswerError, RejectedError, ResponseError
from .kept import BEAT_SECONDS, CachedAnswer, KeptAnswers, OnlyKept, ask_key
from .reachability import takes_choices
from .remedies import refusal, words
from .requests import Messages, Sending, Tokens
from .section import ServerSection
from .tries import first_whole

log = logging.getLogger(__name__)

# requests that are refused for no reason that is known, before a request is answered: so many texts can hardly be at fault
MOST_UNEXPLAINED = 4
# how often a try is sent on
MOST_REDIRECTS = 3
# seconds, and tenths of them
MINUTE, TENTHS = 60.0, 600
# seconds between looks for the answers to what another command asks
POLL_SECONDS = 0.2


class ServerBackend:
    """A server with a model and, where its prompts are tokens, a LoRA adapter."""

    def __init__(self, section: BackendSection, model: ModelSection, adapter: Path | None, signature: str) -> None:
        assert isinstance(section.server, ServerSection)
        self.signature = signature
        self.usage = Usage()
        self._section, self._server, self._model = section, section.server, model
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
        """Run it to its end; what a server's faults mean is said here.

        Raises:
            UnfitModelError, ModelError: no answer came, and none would.
        """
        try:
            outside_of_loops(partial(self._runner.run, self._beating(work)))
        except ResponseError as error:
            raise refusal(error, self._server, self._model.name) from error

    async def _beating(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work, and show other commands meanwhile that it is under way."""

        async def beat() -> None:
            while True:
                await asyncio.sleep(BEAT_SECONDS)
                # one that cannot be written is missed
                with suppress(StorageError):
                    self._kept.beat()

        beats = asyncio.create_task(beat())
        try:
            await work
        finally:
            beats.cancel()

    async def _load(self, adapter: Path) -> None:
        """Have the server load an adapter, which lies on a file system that it shares."""
        name = f"evenhand-{adapter_digest(adapter)}"
        body = {"lora_name": name, "lora_path": str(adapter.absolute())}
        try:
            await first_whole(
                self._server.retries,
                lambda: within(self._server.timeout, self._client.post("/load_lora_adapter", body=body, cast_to=str)),
            )
        except RejectedError as error:
            if error.said.is_of_key:
                raise
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
        cached = self._kept.find(keys)
        # what was answered before shows that requests of its form are right
        self._exchange.answered |= {bool(ask.choices) for ask, key in zip(asks, keys, strict=True) if key in cached}
        for ask, key in zip(asks, keys, strict=True):
            if key not in cached and (refused := self._refused(ask)):
                cached[key] = CachedAnswer(reply=refused)
        calls = calls_of([(ask, key) for ask, key in zip(asks, keys, strict=True) if key not in cached])
        if calls:
            with booked("models"):
                work = self._batched().answer(calls, cached) if self._server.batches else self._answer(calls, cached)
                self._run(while_waited_for(work))
        elif self._server.batches:
            self._batched().settle()
        for key, ask in dict(zip(keys, asks, strict=True)).items():
            answer, n = cached[key], cached[key].reply.n_prompt_tokens
            if answer.reply.finish_reason != "failed":
                # counts are the same however often the work was interrupted
                other_models = {answer.other_model: 1} if answer.other_model else {}
                self.usage.add(n, answer.prefilled, int(self._exchange.is_partial(ask, n)), other_models)
        return [cached[key].reply for key in keys]

    def _batched(self) -> Batched:
        return Batched(self._client, self._exchange)

    def _refused(self, ask: Ask) -> Reply | None:
        """The reply to an ask that need not be sent."""
        try:
            self._server.refuse_drawing(ask.sampling)
        except ValueError as error:
            raise UnfitModelError(f"{FEATURE}: {error}") from error
        prompt = self._exchange.sending.prompt(ask)
        # of a chat the server alone knows how long it is
        return too_long(prompt, ask, self._section.max_model_len) if prompt.token_ids else None

    async def _answer(self, calls: Sequence[ServerCall], cached: dict[str, CachedAnswer]) -> None:
        """Answer the calls, several at a time; after the first failure none begins, and those under way are waited for."""
        if self._exchange.guides is None and any(call.asks[0].choices for call in calls):
            self._exchange.guides = await takes_choices(self._client, self._server)
        queue, failures, unexplained = deque(calls), list[Exception](), list[tuple[RejectedError, ServerCall]]()

        async def work() -> None:
            while queue and not failures and len(unexplained) < MOST_UNEXPLAINED:
                call = queue.popleft()
                try:
                    await self._ask(call, cached)
                except RejectedError as error:
                    if self._exchange.is_unexplained(error.said, call.asks[0]):
                        # its text may be the reason, if others are answered
                        unexplained.append((error, call))
                    else:
                        failures.append(error)
                except Exception as error:
                    failures.append(error)

        while queue and not failures:
            await asyncio.gather(*(work() for _ in range(self._server.concurrency)))
            failures += [error for error, call in unexplained if not self._leave_out(call, error, cached)]
            unexplained.clear()
        if failures:
            raise failures[0]

    def _leave_out(self, call: ServerCall, error: RejectedError, cached: dict[str, CachedAnswer]) -> bool:
        """Whether the asks of a refused request can be left out, with their replies in `cached`."""
        for key, ask in zip(call.keys, call.asks, strict=True):
            if key not in cached:
                if (reply := self._exchange.refused(ask, error.said)) is None:
                    return False
                cached[key] = CachedAnswer(reply=reply)
        return True

    async def _ask(self, call: ServerCall, cached: dict[str, CachedAnswer]) -> None:
        """Put the answers to one call into `cached`; those that one request does not bring are asked for one by one.

        What another command asks at this moment is waited for, and not paid for twice.
        """
        is_told = False
        while (kept := self._kept.begin(call.keys)) is None:
            if not is_told:
                log.info("another command has requested the same; waiting for its answers")
                is_told = True
            await asyncio.sleep(POLL_SECONDS)
        cached |= kept
        exchange, left = self._exchange, {k: ask for k, ask in zip(call.keys, call.asks, strict=True) if k not in kept}
        try:
            while left:
                without = frozenset(exchange.without)
                keys = [*left][: 1 if "n" in without else None]
                asks = [left[key] for key in keys]
                body = exchange.body(asks)
                try:
                    answers = await self._send(keys, asks, body)
                except RejectedError as error:
                    if exchange.do_without(error.said, body, without):
                        continue
                    if (reply := exchange.refused(asks[0], error.said)) is None:
                        raise
                    answers = dict.fromkeys(keys, CachedAnswer(reply=reply))
                if len(answers) < len(keys):
                    exchange.without.add("n")
                cached |= answers
                left = {key: ask for key, ask in left.items() if key not in answers}
        finally:
            self._kept.end(call.keys)

    async def _send(self, keys: Sequence[str], asks: Sequence[Ask], body: Mapping[str, Any]) -> dict[str, CachedAnswer]:
        """The answers to one request, within the limits of rate and cost."""
        most_input, most_output = most_tokens(body)
        requests, tokens = self._rates
        if requests is not None:
            await requests.acquire(1)
        if tokens is not None:
            await tokens.acquire(min(most_input / 4 + most_output, tokens.max_rate))
        return await first_whole(self._server.retries, lambda: self._followed(keys, asks, body))

    async def _followed(
        self, keys: Sequence[str], asks: Sequence[Ask], body: Mapping[str, Any]
    ) -> dict[str, CachedAnswer]:
        """The answers that a try brings, sent on as the server says; each time is a try of its own, and later ones go there."""
        for _ in range(MOST_REDIRECTS + 1):
            try:
                return await self._try(keys, asks, body)
            except RejectedError as error:
                if (address := redirected_to(error.response)) is None:
                    raise
                self._exchange.address = str(address)
        raise BrokenAnswerError(f"it sends requests on more than {MOST_REDIRECTS} times")

    async def _try(self, keys: Sequence[str], asks: Sequence[Ask], body: Mapping[str, Any]) -> dict[str, CachedAnswer]:
        """The answers that one try brings; what it can cost is booked before it is sent, and stays where nothing whole comes."""
        account, exchange = current(), self._exchange
        number = await _begin(account, exchange.most(body))
        try:
            sent = self._client.post(exchange.address, body=body, cast_to=bytes, options={"follow_redirects": False})
            response = exchange.read(await within(self._server.timeout, sent, most_bytes(body)))
            return exchange.taken(keys, asks, body, response, number)
        except ResponseError as error:
            account.leave(number, is_refused=isinstance(error, RejectedError), is_sent=error.is_sent)
            raise
        finally:
            account.leave(number)

    def cached(self) -> OnlyKept:
        """What is kept of its answers."""
        return OnlyKept(self.signature)

    def close(self) -> None:
        """Close the connections and the file of answers."""
        self._kept.close()
        self._run(self._client.close())
        outside_of_loops(self._runner.close)


async def _begin(account: Spending, charge: Charge) -> int:
    """Wait until a try has room in what may be spent, beside those under way; its number in the account."""
    while not account.has_room(charge.cost or 0.0):
        if account.is_idle:
            raise account.refusal(charge.cost or 0.0)
        await asyncio.sleep(0.01)
    return account.begin(charge)


def _rate(per_minute: int | None, at_once: int | None = None) -> Any:
    """What lets so many units pass in a minute, at most `at_once` of them together; None for no limit."""
    if per_minute is None:
        return None
    burst = at_once or per_minute
    return need("aiolimiter", FEATURE).AsyncLimiter(burst, MINUTE * burst / per_minute)
