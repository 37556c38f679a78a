"""The addresses of `evenhand serve`. Logged are method, path, status and milliseconds, never what was sent or answered."""

import asyncio
import hmac
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from ...errors import DataError
from ...records import SummaryRequest
from ...runfolder.phases import Phase
from ...text.json_text import NotJsonError
from ...text.mistakes import listed
from .answers import completion, evenhand_field, headers_of, rewards, rewards_for_openrlhf, stand_in_of
from .asked import Chat, ScoredSummary, body_of, items_of, read, request_of, unset
from .browsers import refuse_foreign
from .guard import Guard
from .late import Late
from .metrics import Metrics
from .pool import Pool, unlogged
from .refusals import Refusal, error_response, logged
from .sides import worst_gap
from .work import NoSummaryError, ThreadWorker, local_judges, refuse_relative, rehearsal, signature

log = logging.getLogger(__name__)
T = TypeVar("T")

# serves the best candidate, whatever it is
NO_GUARD = Guard()
# seconds that workers and judges have to close
CLOSING_SECONDS = 2
# bodies that are read, checked and made into requests at a time, on threads: small ones do not wait for large ones
READERS, LARGE_READERS = 2, 1
# bytes of a body that is large; how many of the largest ones may be there at a time
LARGE, MOST_BODIES = 100_000, 32
# after a large body that is refused, how often as long as it took the next one waits, and the seconds that this is at most
REST, MOST_REST = 19, 2.0
# what is logged of a client that has left; a status that no server sends
LEFT = 499


@dataclass(frozen=True)
class Limits:
    """What a client may ask for."""

    # requests at a time; requests that may wait for one of them before a summary is refused
    workers: int = 4
    most_waiting: int = 16
    # seconds until a request is answered
    deadline: float = 120.0
    # bytes of a request
    most_bytes: int = 2_000_000
    # one of these must be sent as bearer token; none: everybody may ask
    keys: tuple[str, ...] = ()
    # names besides addresses and this machine's own by which it may be called where there is no key
    hosts: tuple[str, ...] = ()


def build_app(phase: Phase, limits: Limits, guard: Guard = NO_GUARD) -> Starlette:
    """The application; its workers are opened and local judges' models loaded here, before anything is answered.

    When it has ended, `state.is_closed` tells whether all were closed; threads that hang keep Python from ending.

    Raises:
        EvenhandError: the backend or a judge cannot be opened.
    """
    service = Service(phase, limits, guard)

    @asynccontextmanager
    async def open_while_served(_: Any) -> AsyncIterator[None]:
        try:
            yield
        finally:
            # also where a second interrupt hurries
            # until it is: what hangs after a fault must not keep the process
            app.state.is_closed = False
            app.state.is_closed = service.close(CLOSING_SECONDS)

    async def unknown(_: Any, error: Any) -> JSONResponse:
        return error_response(Refusal(error.status_code, "unknown_address", str(error.detail)))

    routes = [
        Route(path, service.answering(path, answer), methods=[method]) for method, path, answer in service.addresses
    ]
    app = Starlette(routes=routes, lifespan=open_while_served, exception_handlers={HTTPException: unknown})
    return app


class Service:
    """What answers requests.

    Args:
        phase: is served.
        limits: what may be asked.
        guard: what may be served.
    """

    def __init__(self, phase: Phase, limits: Limits, guard: Guard) -> None:
        self.phase, self.limits, self.guard, self.signature = phase, limits, guard, signature(phase, guard)
        self._metrics = Metrics()
        self._local = local_judges(phase)
        # whatever answers /health is sent requests
        self._local.load(rehearsal(phase.recipe))
        self.pool = Pool(
            lambda: ThreadWorker(phase, self._local, guard, self._metrics), limits.workers, limits.most_waiting
        )
        self._readers, self._large_readers, self._n_held = CapacityLimiter(READERS), CapacityLimiter(LARGE_READERS), 0
        self._late = Late(phase, self._local, guard, limits.workers + limits.most_waiting)
        self._metrics.watch({"under_way": lambda: self.pool.n - self.pool.n_free, "waiting": lambda: self.pool.waiting})
        # /health is for those who start and stop servers, and tells nothing
        self.addresses: list[tuple[str, str, Callable[[Any], Awaitable[Response]]]] = [
            ("GET", "/health", self.health),
            ("GET", "/metrics", self.metrics),
            ("GET", "/v1/models", self.models),
            ("GET", "/v1/models/{name:path}", self.model),
            ("POST", "/v1/chat/completions", self.chat),
            ("POST", "/v1/score", self.score),
        ]

    def close(self, seconds: float) -> bool:
        """Give up what servers are asked, and close all models and connections; whether that was done within so many seconds."""
        until = time.monotonic() + seconds
        # each is closed, whatever becomes of the others
        closed = [worker.close(max(0.0, until - time.monotonic())) for worker in (self._late, self.pool, self._local)]
        return all(closed)

    def answering(self, path: str, answer: Callable[[Any], Awaitable[Response]]) -> Any:
        """An endpoint that looks at the key, answers, turns errors into OpenAI's form, and logs one line.

        Args:
            path: its address; where that has a name in it the form, so that metrics do not grow with what is asked.
            answer: what answers.
        """

        async def endpoint(request: Request) -> Response:
            start = time.perf_counter()
            response: Response
            try:
                self._refuse_stranger(request)
                response = await answer(request)
            except Refusal as refused:
                response = error_response(refused)
            except asyncio.CancelledError:
                # the command was told to stop, and the seconds that requests have then are over
                response = error_response(Refusal(503, "stopping", "evenhand is being stopped"))
            except ClientDisconnect:
                response = error_response(Refusal(LEFT, "left", "the client has left"))
            except Exception as error:
                response = error_response(logged(error))
            seconds = time.perf_counter() - start
            self._metrics.answered(path, response.status_code, seconds)
            log.info("%s %s %d %.0f ms", request.method, path, response.status_code, 1000 * seconds)
            return response

        return endpoint

    def _refuse_stranger(self, request: Request) -> None:
        if request.url.path == "/health":
            return
        if not self.limits.keys:
            refuse_foreign(request.headers, self.limits.hosts)
            return
        scheme, _, key = request.headers.get("authorization", "").partition(" ")
        bearer = key.strip().encode() if scheme.lower() == "bearer" else b""
        # all are compared, so that the time tells nothing
        fits = [hmac.compare_digest(bearer, server_key.encode()) for server_key in self.limits.keys]
        if True not in fits:
            raise Refusal(401, "invalid_api_key", "send one of the server's keys as a bearer token")

    async def health(self, _: Request) -> JSONResponse:
        """Whether it is there, and how much is under way."""
        under_way = self.pool.n - self.pool.n_free
        return JSONResponse({"status": "ok", "under_way": under_way, "waiting": self.pool.waiting})

    async def metrics(self, _: Request) -> Response:
        """What Prometheus reads."""
        text, kind = self._metrics.text()
        return Response(text, media_type=kind)

    async def models(self, _: Request) -> JSONResponse:
        """The recipe, which is what there is to ask."""
        return JSONResponse({"object": "list", "data": [self._model]})

    async def model(self, request: Request) -> JSONResponse:
        """The recipe, where it is asked for by its name."""
        self._refuse_other(request.path_params["name"])
        return JSONResponse(self._model)

    @property
    def _model(self) -> dict[str, Any]:
        return {"id": self.phase.recipe.name, "object": "model", "created": 0, "owned_by": "evenhand"}

    def _refuse_other(self, model: str) -> None:
        if model != (name := self.phase.recipe.name):
            raise Refusal(404, "model_not_found", f"there is no model {model[:80]!r} here; there is {name!r}")

    async def score(self, request: Request) -> JSONResponse:
        """The recipe's rewards of summaries made elsewhere, in evenhand's form or OpenRLHF's."""
        refuse_relative(self.phase.recipe)
        stand_in = stand_in_of(request.query_params.get("unscored"))
        items, is_openrlhf = await self._read(request, self._items)
        work = self.pool.run(lambda worker: worker.score(items), self.limits.deadline, is_batch=True)
        rows = await _while_there(request, work)
        if is_openrlhf:
            return JSONResponse(rewards_for_openrlhf(rows, self.phase.recipe.reward.judges, stand_in))
        return JSONResponse(rewards(rows, stand_in))

    def _items(self, body: dict[str, Any]) -> tuple[list[ScoredSummary], bool]:
        return items_of(body, self.phase.recipe), "query" in body

    async def chat(self, request: Request) -> JSONResponse:
        """The best of the recipe's candidates for the documents of the request."""
        wanted, n_messages = await self._read(request, self._wanted)
        try:
            work = self._late.best(self.pool, wanted, self.limits.deadline)
            chosen, is_late = await _while_there(request, work)
        except NoSummaryError:
            self._metrics.served("none", {})
            raise
        gaps = {judge: worst_gap(table) for judge, table in chosen.sides.items()}
        self._metrics.served(chosen.source, gaps, is_late=is_late)
        about = evenhand_field(self.phase, self.guard, self.signature, chosen, is_late=is_late)
        about["messages_not_read"] = n_messages
        return JSONResponse(completion(about, chosen), headers=headers_of(about))

    def _wanted(self, body: dict[str, Any]) -> tuple[SummaryRequest, int]:
        """What a chat asks the recipe's model, and how many messages are passed over."""
        body, mistakes = unset(body)
        if body.get("stream") is True:
            mistakes["stream"] = "a summary is chosen when all candidates are whole"
        if mistakes:
            reasons = listed([f"{key}: {why}; leave it out" for key, why in mistakes.items()])
            raise Refusal(400, "unsupported_parameter", reasons, next(iter(mistakes)))
        chat = read(Chat, body)
        self._refuse_other(chat.model)
        return request_of(chat, self.phase.recipe), len(chat.messages)

    async def _read(self, request: Request, make: Callable[[dict[str, Any]], T]) -> T:
        """What is made of the body, which is bounded first, and read and checked on a thread.

        Raises:
            Refusal: it is too long, or no JSON object.
            DataError: it is beyond another bound, or as `make`.
        """
        content = bytearray()

        def made() -> T:
            try:
                return make(body_of(content, self.limits.most_bytes))
            except NotJsonError as error:
                if error.is_syntax:
                    raise Refusal(400, "invalid_json", f"the body {error}") from error
                raise DataError(f"the body: {error}") from error

        try:
            await self._receive(request, content)
            is_large = len(content) > LARGE
            async with self._large_readers if is_large else self._readers:
                begun = time.perf_counter()
                try:
                    return await run_sync(made)
                except (Refusal, DataError):
                    # whoever sends such bodies one after the other leaves most of the time to others
                    await asyncio.sleep(is_large * min(REST * (time.perf_counter() - begun), MOST_REST))
                    raise
        finally:
            self._n_held -= len(content)

    async def _receive(self, request: Request, content: bytearray) -> None:
        """Put the body into the content, if it is not too long, nor too much for what the others have sent."""
        too_large = Refusal(413, "too_large", f"the body has more than {self.limits.most_bytes:,} bytes")
        # what is sent after the answer is passed over
        if int(request.headers.get("content-length", 0)) > self.limits.most_bytes:
            raise too_large
        async for part in request.stream():
            content += part
            self._n_held += len(part)
            if len(content) > self.limits.most_bytes:
                raise too_large
            if len(content) > LARGE and self._n_held > MOST_BODIES * self.limits.most_bytes:
                raise Refusal(429, "busy", "too many large requests arrive at once; try again later")


async def _while_there(request: Request, work: Coroutine[Any, Any, T]) -> T:
    """What the work gives; it ends when the client leaves.

    Raises:
        ClientDisconnect: it has left.
    """

    async def leaves() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    working, leaving = unlogged(work), asyncio.ensure_future(leaves())
    either: list[asyncio.Future[Any]] = [working, leaving]
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if working.done():
            return working.result()
        raise ClientDisconnect
    finally:
        leaving.cancel()
        working.cancel()
