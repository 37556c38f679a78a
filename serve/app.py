"""The addresses of `evenhand serve`. Logged are method, path, status and milliseconds, never what was sent or answered."""

import asyncio
import hmac
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..extras import need
from ..runfolder.phases import Phase
from .answers import completion, evenhand_field, headers_of, rewards, rewards_for_openrlhf, stand_in_of
from .asked import Asked, Chat, items_of, read, request_of
from .guard import Guard
from .late import Late
from .metrics import Metrics
from .pool import Pool
from .refusals import Refusal, error_response, logged
from .sides import worst_gap
from .work import NoSummaryError, Worker, local_judges, refuse_relative, signature

if TYPE_CHECKING:
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse, Response

log = logging.getLogger(__name__)

FEATURE = "evenhand serve"
# serves the best candidate, whatever it is
NO_GUARD = Guard()
# seconds that workers and judges have to close
CLOSING_SECONDS = 2


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


def build_app(phase: Phase, limits: Limits, guard: Guard = NO_GUARD) -> "FastAPI":
    """The application; its workers are opened and local judges' models loaded here, before anything is answered.

    When it has ended, `state.is_closed` tells whether all were closed; threads that hang keep Python from ending.

    Raises:
        MissingExtra: FastAPI is not installed.
        EvenhandError: the backend or a judge cannot be opened.
    """
    fastapi = need("fastapi", FEATURE)
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

    app: FastAPI = fastapi.FastAPI(
        title=FEATURE, docs_url=None, redoc_url=None, openapi_url=None, lifespan=open_while_served
    )
    for method, path, answer in service.addresses:
        app.add_api_route(path, service.answering(answer), methods=[method], response_model=None)

    @app.exception_handler(fastapi.exceptions.StarletteHTTPException)
    async def _unknown(_: Any, error: Any) -> "JSONResponse":
        return error_response(Refusal(error.status_code, "unknown_address", str(error.detail)))

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
        self._local.load()
        self.pool = Pool(lambda: Worker(phase, self._local, guard, self._metrics), limits.workers, limits.most_waiting)
        self._late = Late(phase, self._local, guard, limits.workers + limits.most_waiting)
        self._metrics.watch({"under_way": lambda: self.pool.n - self.pool.n_free, "waiting": lambda: self.pool.waiting})
        # /health is for those who start and stop servers, and tells nothing
        self.addresses: list[tuple[str, str, Callable[[Any], Awaitable[Response]]]] = [
            ("GET", "/health", self.health),
            ("GET", "/metrics", self.metrics),
            ("GET", "/v1/models", self.models),
            ("POST", "/v1/chat/completions", self.chat),
            ("POST", "/v1/score", self.score),
        ]

    def close(self, seconds: float) -> bool:
        """Give up what servers are asked, and close all models and connections; whether that was done within so many seconds."""
        until = time.monotonic() + seconds
        # each is closed, whatever becomes of the others
        closed = [each.close(max(0.0, until - time.monotonic())) for each in (self._late, self.pool, self._local)]
        return all(closed)

    def answering(self, answer: "Callable[[Any], Awaitable[Response]]") -> Any:
        """An endpoint that looks at the key, answers, turns errors into OpenAI's form, and logs one line."""
        from fastapi import Request

        async def endpoint(request: Request) -> "Response":
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
            except Exception as error:
                response = error_response(logged(error))
            seconds = time.perf_counter() - start
            self._metrics.answered(request.url.path, response.status_code, seconds)
            log.info("%s %s %d %.0f ms", request.method, request.url.path, response.status_code, 1000 * seconds)
            return response

        return endpoint

    def _refuse_stranger(self, request: "Request") -> None:
        if not self.limits.keys or request.url.path == "/health":
            return
        given = request.headers.get("authorization", "").removeprefix("Bearer ").encode()
        # all are compared, so that the time tells nothing
        fits = [hmac.compare_digest(given, key.encode()) for key in self.limits.keys]
        if True not in fits:
            raise Refusal(401, "invalid_api_key", "send one of the server's keys as a bearer token")

    async def health(self, _: "Request") -> "JSONResponse":
        """Whether it is there, and how much is under way."""
        under_way = self.pool.n - self.pool.n_free
        return _json({"status": "ok", "under_way": under_way, "waiting": self.pool.waiting})

    async def metrics(self, _: "Request") -> "Response":
        """What Prometheus reads."""
        from fastapi.responses import Response

        text, kind = self._metrics.text()
        return Response(text, media_type=kind)

    async def models(self, _: "Request") -> "JSONResponse":
        """The recipe, which is what there is to ask."""
        recipe = self.phase.recipe
        listed = {"id": recipe.name, "object": "model", "created": 0, "owned_by": "evenhand"}
        return _json({"object": "list", "data": [listed]})

    async def score(self, request: "Request") -> "JSONResponse":
        """The recipe's rewards of summaries made elsewhere, in evenhand's form or OpenRLHF's."""
        refuse_relative(self.phase.recipe)
        stand_in = stand_in_of(request.query_params.get("unscored"))
        body = await self._body(request)
        items = items_of(body, self.phase.recipe)
        found = await self.pool.run(lambda worker: worker.score(items), self.limits.deadline, is_batch=True)
        if "query" in body:
            return _json(rewards_for_openrlhf(found, self.phase.recipe.reward.judges, stand_in))
        return _json(rewards(found, stand_in))

    async def chat(self, request: "Request") -> "JSONResponse":
        """The best of the recipe's candidates for the documents of the request."""
        asked = read(Chat, await self._body(request))
        recipe = self.phase.recipe
        if asked.model != recipe.name:
            raise Refusal(
                404, "model_not_found", f"there is no model {asked.model[:80]!r} here; there is {recipe.name!r}"
            )
        if asked.stream:
            raise Refusal(400, "unsupported_parameter", "stream: a summary is chosen when all candidates are whole")
        wanted = request_of(_documents(asked), recipe)
        try:
            chosen, is_late = await self._late.best(self.pool, wanted, self.limits.deadline)
        except NoSummaryError:
            self._metrics.served("none", {})
            raise
        gaps = {judge: worst_gap(table) for judge, table in chosen.sides.items()}
        self._metrics.served(chosen.source, gaps, is_late=is_late)
        about = evenhand_field(self.phase, self.guard, self.signature, chosen, is_late=is_late)
        about["messages_not_read"] = len(asked.messages)
        return _json(completion(about, chosen), headers_of(about))

    async def _body(self, request: "Request") -> Any:
        """The body as JSON; no more of it is read than may be.

        Raises:
            Refusal: it is too long, or no JSON object.
        """
        found = bytearray()
        async for part in request.stream():
            found += part
            if len(found) > self.limits.most_bytes:
                raise Refusal(413, "too_large", f"the body has more than {self.limits.most_bytes:,} bytes")
        try:
            body = json.loads(found)
        except (ValueError, RecursionError) as error:
            raise Refusal(400, "invalid_json", "the body is not JSON") from error
        if not isinstance(body, dict):
            raise Refusal(400, "invalid_json", "the body is not a JSON object")
        return body


def _documents(asked: Chat) -> Asked:
    """What a chat says of documents, without what every chat has."""
    return Asked(**{key: getattr(asked, key) for key in Asked.model_fields})


def _json(content: dict[str, Any], headers: dict[str, str] | None = None) -> "JSONResponse":
    from fastapi.responses import JSONResponse

    return JSONResponse(content, headers=headers)
