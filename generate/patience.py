"""Servers are asked as long as somebody waits for the answer: where patience ends, what is under way is given up at once.

A stage waits for whatever it asks. `evenhand serve` asks on behalf of clients who wait until a deadline.
"""

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from threading import Lock
from typing import Any, TypeVar

from ..errors import EvenhandError

T = TypeVar("T")


class GivenUpError(EvenhandError):
    """Nobody waits any longer for what was asked."""


class Patience:
    """Of somebody for whom a thread works; any thread may end it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._has_ended = False
        self._under_way: set[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = set()

    def during(self, work: Callable[[], T]) -> T:
        """What the work gives; what it asks servers is given up when patience ends.

        Raises:
            GivenUpError: it has ended.
        """
        token = _patience.set(self)
        try:
            refuse_given_up()
            return work()
        finally:
            _patience.reset(token)

    def end(self) -> None:
        """Nobody waits any longer."""
        with self._lock:
            self._has_ended = True
            for loop, task in self._under_way:
                loop.call_soon_threadsafe(task.cancel)

    def refuse_ended(self) -> None:
        """Refuse to go on when it has ended."""
        if self._has_ended:
            raise GivenUpError("nobody waits for the answer any longer")

    async def ask(self, work: Coroutine[Any, Any, None]) -> None:
        """Do the work while it lasts.

        Raises:
            GivenUpError: it has ended.
        """
        task = asyncio.current_task()
        assert task is not None
        mine = asyncio.get_running_loop(), task
        with self._lock:
            # whoever ends it now finds the task
            self._under_way.add(mine)
        try:
            self.refuse_ended()
            await work
        except asyncio.CancelledError:
            self.refuse_ended()
            raise
        finally:
            work.close()
            with self._lock:
                self._under_way.remove(mine)


_patience: ContextVar[Patience | None] = ContextVar("patience", default=None)


def refuse_given_up() -> None:
    """Refuse to begin what nobody waits for any longer.

    Raises:
        GivenUpError: somebody waited, and does not any longer.
    """
    if (patience := _patience.get()) is not None:
        patience.refuse_ended()


def while_waited_for(work: Coroutine[Any, Any, None]) -> Coroutine[Any, Any, None]:
    """The work, given up when the patience ends of whoever waits for it here."""
    patience = _patience.get()
    return work if patience is None else patience.ask(work)
