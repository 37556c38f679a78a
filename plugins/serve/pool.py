"""Threads that take requests in turn; when too many wait, the next one is sent away, unless a trainer sent it with its batch.

Each worker has a thread of its own, on which it is made, used and closed. When a request runs out of time, what servers were
asked for it is given up, so that a server that hangs holds no worker. What has come by then stays in the caches: `late` serves
the best of it, and the same request asked again goes on from there.
"""

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from ...errors import EvenhandError
from ...generate.patience import Patience
from .work import ThreadWorker, all_closed

T = TypeVar("T")


class BusyError(EvenhandError):
    """All workers are at work, and as many requests wait as may."""


class Pool:
    """The workers.

    Args:
        make: makes one.
        n: how many.
        most_waiting: requests that may wait for one.

    Raises:
        EvenhandError: a worker cannot be made.
    """

    def __init__(self, make: Callable[[], ThreadWorker], n: int, most_waiting: int) -> None:
        self.n, self.waiting, self._most_waiting = n, 0, most_waiting
        threads = [ThreadPoolExecutor(1, f"worker-{place}") for place in range(n)]
        self._hands = [(thread, thread.submit(make).result()) for thread in threads]
        self._free: asyncio.Queue[tuple[ThreadPoolExecutor, ThreadWorker]] = asyncio.Queue()
        for hand in self._hands:
            self._free.put_nowait(hand)
        # of those who wait for the workers
        self._patience: set[Patience] = set()

    @property
    def n_free(self) -> int:
        """Workers without a request."""
        return self._free.qsize()

    async def run(self, work: Callable[[ThreadWorker], T], seconds: float, *, is_batch: bool = False) -> T:
        """What the work gives, by the first worker that is free.

        Args:
            work: is done on the worker's thread.
            seconds: until it is given up.
            is_batch: whether it is one of many that a program asks at once, and so waits however many do.

        Raises:
            BusyError: too many requests wait.
            TimeoutError: it is not done after so many seconds, waiting included.
        """
        patience = Patience()
        self._patience.add(patience)
        try:
            async with asyncio.timeout(seconds):
                thread, worker = hand = await self._next(is_batch)
                future = thread.submit(patience.during, lambda: work(worker))
                loop = asyncio.get_running_loop()
                future.add_done_callback(lambda _: loop.call_soon_threadsafe(self._free.put_nowait, hand))
                return await asyncio.shield(unlogged(asyncio.wrap_future(future)))
        finally:
            patience.end()
            self._patience.remove(patience)

    async def _next(self, is_batch: bool) -> tuple[ThreadPoolExecutor, ThreadWorker]:
        if not self._free.empty():
            return self._free.get_nowait()
        if self.waiting >= self._most_waiting and not is_batch:
            raise BusyError(f"{self.n} requests are under way and {self.waiting} wait; try again later")
        self.waiting += 1
        try:
            return await self._free.get()
        finally:
            self.waiting -= 1

    def close(self, seconds: float) -> bool:
        """Give up what servers are asked, and close the workers; whether all were closed within so many seconds."""
        for patience in self._patience:
            patience.end()
        return all_closed("a worker", [(thread, worker.close) for thread, worker in self._hands], seconds)


def unlogged(work: Awaitable[T]) -> "asyncio.Future[T]":
    """The work under way; an error of it that nobody waits for any more is not logged, since its text may quote documents."""
    future = asyncio.ensure_future(work)
    future.add_done_callback(lambda done: done.cancelled() or done.exception())
    return future
