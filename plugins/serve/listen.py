"""What must be right before anything listens, and listening, with bounds on connections.

uvicorn closes connections that are silent after an answer, and bounds headers in bytes (with h11), but lets a request that does
not go on wait for ever. Its limit of connections counts those that are silent as well, and refuses all others then. So here each
part of a request has its time, and where there are too many connections, the one that has been silent longest is closed.
"""

import logging
import os
import resource
import socket
import sys
from asyncio import TimerHandle
from typing import Any

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from ...config import Recipe
from ...config.model import LanguageModel
from ...config.remote import RemoteSection
from ...errors import DataError, ModelError, RecipeError
from ...preflight import check_names
from ...preflight.judges import under
from ...runfolder.phases import BASE, Phase, open_phase
from ...text.mistakes import listed
from .app import CLOSING_SECONDS, NO_GUARD, Limits, build_app
from .browsers import is_loopback
from .guard import Guard
from .work import asks_servers

log = logging.getLogger(__name__)

# seconds until the command ends, at most, after it is told to stop; those of them that requests under way have
LAST_SECONDS = 10
# that a thread at work may keep the loop of events waiting: Python's own five milliseconds add up over the steps of an answer
SWITCH_SECONDS = 0.0005
LAST_OF_REQUESTS = LAST_SECONDS - CLOSING_SECONDS - 1
# exit code of a command that was interrupted
INTERRUPTED = 130
# seconds until the headers of a request are there, and then its body
HEADER_SECONDS, BODY_SECONDS = 10.0, 60.0
# connections, at most and at least; files that are left for servers, caches and libraries
MOST, LEAST, OTHER_FILES = 1024, 32, 96


def served_phase(recipe: Recipe, name: str | None = None) -> Phase:
    """The phase whose candidates are drawn: the untrained model's, unless another is named.

    Raises:
        RecipeError: there is no such phase, or the recipe is not fit to serve; all mistakes are listed.
        ModelError: a server is not there, refuses the key, or lacks the model.
    """
    phase = open_phase(recipe, name or BASE)
    section = recipe.generate
    mistakes = []
    if section.has_model and section.server is None:
        mistakes.append(
            f"key 'generate.backend': {section.backend} runs the model in this process, and an engine belongs in a server of "
            "its own; start one (python -m vllm.entrypoints.openai.api_server --model MODEL), and write backend: openai with "
            "server.base_url"
        )
    if recipe.limits.cost is not None:
        mistakes.append(
            "key 'limits.cost': is an account of a run, and serving keeps none, so nothing would be limited; leave it out: --set "
            "limits.cost=null"
        )
    batched = [key for key, server in recipe.servers.items() if server.is_deferred]
    mistakes += [f"key '{key}.server.batches': answers come within a day; leave it out" for key in batched]
    if mistakes:
        raise RecipeError(listed(mistakes))
    check_names(recipe)
    language_models = {"generate": LanguageModel(recipe.model, section)} if section.has_model else {}
    for judge in phase.judges:
        models = recipe.judges[judge].language_models if asks_servers(recipe.judges[judge]) else {}
        language_models |= {f"{under(f'judges.{judge}', below)}.backend": model for below, model in models.items()}
    for key, model in language_models.items():
        # a scripted backend asks nobody
        if model.backend.server is not None:
            _refuse_unreachable(f"{key}.server", model.backend.server, model.model.name)
    return phase


def _refuse_unreachable(key: str, server: RemoteSection, model: str) -> None:
    try:
        server.refuse_unreachable(model)
    except ModelError as error:
        raise type(error)(f"key '{key}': {error}") from error


def keys_from(variable: str | None) -> tuple[str, ...]:
    """The keys in a variable of the environment, parted by commas; none where no variable is named.

    Raises:
        DataError: it is not set.
    """
    if variable is None:
        return ()
    keys = tuple(filter(None, (key.strip() for key in os.environ.get(variable, "").split(","))))
    if not keys:
        raise DataError(f"--api-key-env: the variable {variable} is not set; export one key, or several with commas")
    return keys


def warn_of_strangers(host: str, limits: Limits) -> None:
    """Say what it means to listen to other machines without a key."""
    if not limits.keys and not is_loopback(host):
        log.warning(
            "whoever reaches %s may ask, and what the model's server costs is yours: ask for a key (--api-key-env)",
            host,
        )


def open_socket(host: str, port: int) -> socket.socket:
    """The address to listen at; port 0 takes a free one.

    Raises:
        DataError: it cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family)
    except (OSError, OverflowError) as error:
        place = address(host, port)
        raise DataError(f"{place} cannot be listened at: {error}; name another with --host and --port") from error


def address(host: str, port: int) -> str:
    """Host and port as addresses have them, IPv6 in brackets."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def server_of(phase: Phase, limits: Limits, guard: Guard = NO_GUARD) -> uvicorn.Server:
    """The server with the workers open.

    Raises:
        EvenhandError: the backend or a judge cannot be opened.
    """
    sys.setswitchinterval(SWITCH_SECONDS)
    bounds = {"http": protocol(most_connections()), "timeout_graceful_shutdown": LAST_OF_REQUESTS}
    quiet = {"access_log": False, "log_config": None, "server_header": False, "proxy_headers": False, "ws": "none"}
    options: dict[str, Any] = {**bounds, **quiet, "lifespan": "on"}
    return uvicorn.Server(uvicorn.Config(build_app(phase, limits, guard), **options))


def leave_what_hangs(server: Any) -> None:
    """End the process at once where a thread of the server, which has ended, could not be closed: Python would wait for it."""
    if not getattr(server.config.app.state, "is_closed", True):
        log.warning("something hangs, and was left: a judge on this machine, or its model")
        logging.shutdown()
        os._exit(INTERRUPTED)


def most_connections() -> int:
    """How many there may be: fewer than files that the process may have open."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files == resource.RLIM_INFINITY else max(LEAST, min(MOST, files - OTHER_FILES))


def protocol(
    limit: int, header_seconds: float = HEADER_SECONDS, body_seconds: float = BODY_SECONDS
) -> type[H11Protocol]:
    """uvicorn's protocol of HTTP/1.1 with these bounds."""
    seconds = {"IDLE": ("headers", header_seconds), "SEND_BODY": ("body", body_seconds)}

    class TimedConnection(H11Protocol):
        """A connection whose requests arrive in time."""

        # what is waited for, and the timer
        awaited = ""
        timer: TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._watch()
            if len(self.connections) > limit:
                connections: set[Any] = self.connections - {self}
                silent = [connection for connection in connections if connection.awaited == "headers"]
                min(silent, key=lambda connection: connection.timer.when(), default=self).drop(
                    f"there are more than {limit} connections"
                )

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            self._await("", 0.0)

        def handle_events(self) -> None:
            super().handle_events()
            self._watch()

        def _watch(self) -> None:
            awaited, wait = seconds.get(str(self.conn.their_state), ("", 0.0))
            if awaited != self.awaited:
                self._await(awaited, wait)

        def _await(self, awaited: str, wait: float) -> None:
            if self.timer is not None:
                self.timer.cancel()
            reason = f"no whole {awaited} within {wait:g} seconds"
            self.awaited, self.timer = awaited, self.loop.call_later(wait, self.drop, reason) if awaited else None

        def drop(self, why: str) -> None:
            self._await("", 0.0)
            if not self.transport.is_closing():
                log.warning("a connection was closed: %s", why)
                self.transport.abort()

    return TimedConnection
