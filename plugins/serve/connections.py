"""Connections: how many there may be, and how long a request may take to arrive.

uvicorn closes connections that are silent after an answer, and bounds headers in bytes (with h11), but lets a request that does
not go on wait for ever. Its limit of connections counts those that are silent as well, and refuses all others then. So here each
part of a request has its time, and where there are too many connections, the one that has been silent longest is closed.
"""

import logging
import resource
from asyncio import TimerHandle
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

log = logging.getLogger(__name__)

# seconds until the headers of a request are there, and then its body
HEADER_SECONDS, BODY_SECONDS = 10.0, 60.0
# connections, at most and at least; files that are left for servers, caches and libraries
MOST, LEAST, OTHER_FILES = 1024, 32, 96


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
