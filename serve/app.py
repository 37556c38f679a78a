"""The addresses of `evenhand serve`, and errors in the form of OpenAI's protocol.

Logged are method, path, status and milliseconds, never what was sent or answered: error texts, which may quote documents, go to
the client, and into the log only where the command was started with -v. Why a server refuses key, model or address is logged in
any case: it lasts until somebody who reads the log mends it.
"""

import asyncio
import hmac
import json
import logging
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import quote

from ..errors import DataError, EvenhandError, JudgeError, ModelError, RecipeError, UnfitModelError
from ..extras import need, verbosity
from ..records import Judgement
from ..runfolder.phases import Phase
from ..storage import digest
from .asked import Asked, Chat, items_of, read, request_of
from .guard import Guard
from .late import Late
from .metrics import Metrics
from .pool import BusyError, Pool
from .sides import worst_gap, worst_side
from .work import Chosen, NoSummaryError, Worker, local_judges, refuse_relative, signature

if TYPE_CHECKING:
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse, Response

log = logging.getLogger(__name__)

FEATURE = "evenhand serve"
# serves the best candidate, whatever it is
NO_GUARD = Guard()
# seconds after which a client that was sent away may come again
RETRY_AFTER = 2
# seconds that workers and judges have to close
CLOSING_SECONDS = 2
# what a client is told of a fault that is not its own
UPSTREAM = "the model's server or a judge does not answer; try again later"
UNFIT = (
    "the model's server or a judge's has not what evenhand asks it for (model, address), or refuses the key, and whoever runs "
    "evenhand must mend that; its log says what"
)
FAULT = "evenhand could not answer; its log says more"


@dataclass(frozen=True)
class Limits:
    """What a client may ask for."""

    # requests at a time; requests that may wait for one of them
    workers: int = 4
    most_waiting: int = 16
    # seconds until a request is answered
    deadline: float = 120.0
    # bytes of a request
    most_bytes: int = 2_000_000
    # one of these must be sent as bearer token; none: everybody may ask
    keys: tuple[str, ...] = ()


class Refusal(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, code: str, said: str) -> None:
        super().__init__(said)
        self.status, self.code, self.said = status, code, said


class Rule(NamedTuple):
    """What becomes of an error."""

    kind: type[BaseException]
    status: int
    code: str
    # what is said in place of its text
    said: str | None = None


# the first that fits
RULES = (
    Rule(BusyError, 429, "busy"),
    Rule(NoSummaryError, 422, "no_summary"),
    Rule(DataError, 422, "invalid_request"),
    Rule(RecipeError, 422, "invalid_request"),
    Rule(UnfitModelError, 503, "upstream_unfit", UNFIT),
    Rule(ModelError, 503, "upstream_unavailable", UPSTREAM),
    Rule(JudgeError, 503, "upstream_unavailable", UPSTREAM),
    Rule(TimeoutError, 504, "deadline_exceeded", "there was no summary in time; raise --deadline, or ask again: what was "
         "drawn and judged is kept"),
)  # fmt: skip


def refusal_of(error: Exception) -> Refusal:
    """The answer to a request that ended with this error; its text is kept back where it is not about the request."""
    for rule in RULES:
        if isinstance(error, rule.kind):
            return Refusal(rule.status, rule.code, str(error) if rule.said is None else rule.said)
    return Refusal(500, "internal_error", FAULT)


def build_app(phase: Phase, limits: Limits, guard: Guard = NO_GUARD) -> "FastAPI":
    """The application; its workers are opened here, before anything listens.

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
                response = error_response(_logged(error))
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
        stand_in = _number(request.query_params.get("unscored"))
        body = await self._body(request)
        items = items_of(body, self.phase.recipe)
        found = await self.pool.run(lambda worker: worker.score(items), self.limits.deadline)
        rewards = [reward for reward, _ in found]
        names = self.phase.recipe.reward.judges
        scores = {name: [_score_by(name, said) for _, said in found] for name in names}
        if "query" in body:
            return _json(_for_openrlhf(rewards, scores, stand_in))
        rows = [
            {
                "reward": reward,
                "scores": {each.judge: each.score for each in said},
                "unscored": {each.judge: each.unscored for each in said if each.unscored},
            }
            for reward, said in found
        ]
        signatures = {each.judge: each.signature for _, said in found for each in said}
        return _json({"rewards": _filled(rewards, stand_in), "results": rows, "signatures": signatures})

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
        return self._chosen(chosen, len(asked.messages), is_late=is_late)

    def _chosen(self, chosen: Chosen, n_messages: int, *, is_late: bool) -> "JSONResponse":
        best, reward = chosen.best.candidate, chosen.best.reward
        about: dict[str, Any] = {
            "recipe": self.phase.recipe.name,
            "phase": self.phase.name,
            "request": chosen.request.id,
            "side": chosen.request.side,
            "candidate": best.id,
            "n_candidates": len(chosen.group.candidates),
            "deadline": _passed(chosen) if is_late else None,
            "reward": reward,
            "scores": {each.judge: each.score for each in chosen.said},
            "unscored": {each.judge: each.unscored for each in chosen.said if each.unscored},
            "sides": chosen.sides,
            "source": chosen.source,
            "limits": [each.text for each in self.guard.limits],
            "contract_ok": best.contract_ok,
            "issues": best.issues,
            "model": best.model,
            # with its folder's name: those of rounds are all called "adapter"
            "adapter": "/".join(self.phase.adapter.parts[-2:]) if self.phase.adapter else None,
            "signatures": {each.judge: each.signature for each in chosen.said},
            "signature": self.signature,
            "messages_not_read": n_messages,
        }
        message = {"role": "assistant", "content": best.text}
        cut = "length" if best.finish_reason == "length" else "stop"
        answer = {
            "id": f"chatcmpl-{digest([self.signature, best.id])}",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": self.phase.recipe.name,
            "choices": [{"index": 0, "message": message, "finish_reason": cut}],
            "evenhand": about,
        }
        headers = {
            "X-Evenhand-Signature": self.signature,
            "X-Evenhand-Candidates": str(about["n_candidates"]),
            "X-Evenhand-Reward": str(reward),
        }
        if about["adapter"]:
            # names may have letters that a header may not
            headers["X-Evenhand-Adapter"] = quote(about["adapter"])
        worst = {judge: worst_side(table) for judge, table in chosen.sides.items()}
        if told := [f"{quote(judge)}={has:.4g}" for judge, has in worst.items() if has is not None]:
            headers["X-Evenhand-Worst-Side"] = ", ".join(told)
        if is_late:
            headers["X-Evenhand-Deadline"] = "passed"
        return _json(answer, headers=headers)

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
            raise Refusal(400, "invalid_json", "the body is no JSON") from error
        if not isinstance(body, dict):
            raise Refusal(400, "invalid_json", "the body is no JSON object")
        return body


def _documents(asked: Chat) -> Asked:
    """What a chat says of documents, without what every chat has."""
    return Asked(**{key: getattr(asked, key) for key in Asked.model_fields})


def _passed(chosen: Chosen) -> str:
    n_judged = sum(each.candidate.answers_request for each in chosen.group.candidates)
    return f"passed: {n_judged} of {chosen.n_draws} candidates were judged"


def _score_by(name: str, said: Sequence[Judgement]) -> float | None:
    return next((each.score for each in said if each.judge == name), None)


def _filled(numbers: list[float | None], stand_in: float | None) -> list[float | None]:
    return [stand_in if each is None else each for each in numbers]


def _for_openrlhf(
    rewards: list[float | None], scores: dict[str, list[float | None]], stand_in: float | None
) -> dict[str, Any]:
    """What OpenRLHF reads, which has no word for a reward that is not known.

    Raises:
        NoSummaryError: a summary has none, and the client has not said what to put in its place.
    """
    if stand_in is None and (without := [place for place, each in enumerate(rewards) if each is None]):
        raise NoSummaryError(
            f"{len(without)} of {len(rewards)} summaries have no reward, the first at {without[0]}; write the number that is to "
            "stand for it into the address: /v1/score?unscored=0"
        )
    filled = _filled(rewards, stand_in)
    logs = {name: _filled(mine, stand_in) for name, mine in scores.items()}
    return {"rewards": filled, "scores": filled, "extra_logs": logs}


def _number(given: str | None) -> float | None:
    if given is None:
        return None
    try:
        number = float(given)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"unscored={given[:20]!r} is no number")
    return number


def _logged(error: Exception) -> Refusal:
    """The refusal, after a line in the log where the fault is not the client's: the error's kind.

    Its text is there only with -v, or where a server is to be mended.
    """
    refused = refusal_of(error)
    if refused.status >= 500:
        is_told = verbosity() == "verbose" or isinstance(error, UnfitModelError)
        said = f": {error}" if is_told else ""
        log.warning("%s%s", type(error).__name__, said, exc_info=verbosity() == "verbose")
    elif not isinstance(error, EvenhandError):
        log.warning("%s", type(error).__name__)
    return refused


def _json(content: dict[str, Any], status: int = 200, headers: dict[str, str] | None = None) -> "JSONResponse":
    from fastapi.responses import JSONResponse

    return JSONResponse(content, status, headers)


def error_response(refused: Refusal) -> "JSONResponse":
    """An error as OpenAI's servers write it."""
    kind = "invalid_request_error" if refused.status < 500 else "server_error"
    headers = {"Retry-After": str(RETRY_AFTER)} if refused.status == 429 else None
    error = {"message": refused.said, "type": kind, "param": None, "code": refused.code}
    return _json({"error": error}, refused.status, headers)
