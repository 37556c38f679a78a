"""The best so far, for a request whose deadline passes: of the candidates whose answers, and whose judges' answers, are kept.

Answers of servers are kept the moment they arrive. So a second worker goes the way of the first one, asks no server, and leaves
out whatever is not there yet: what has come is not paid for twice, and what the first one draws and chooses stays the same. It
starts a little before the deadline, since what it takes is the time of judges on this machine.
"""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from ...errors import EvenhandError
from ...generate.backend import Ask, Backend, CachingBackend, NotCachedError, Reply, Usage
from ...generate.method import Draw
from ...generate.stage import make_batch
from ...judges.shared import Lazy, SharedModels
from ...records import Candidate, SummaryRequest
from ...runfolder.phases import Phase
from .guard import EXTRACTED, Guard
from .metrics import Metrics
from .pool import Pool, unlogged
from .work import Judges, RankedResponse, ThreadWorker

T = TypeVar("T")

# part of the deadline that is left when it starts
LAST_PART = 0.2


class KeptModels(SharedModels):
    """Servers' models of judges as far as their answers are kept."""

    def lazy(self, key: str, load: Callable[[], Any]) -> Lazy[Any]:
        """The answers of the model of that key."""
        return super().lazy(key, lambda: _cached(load()))


class NothingCached:
    """A backend that keeps no answers."""

    def __init__(self, signature: str) -> None:
        self.signature, self.usage = signature, Usage()

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """Nothing.

        Raises:
            NotCachedError: always.
        """
        raise NotCachedError(f"{len(asks)} requests have no answer, and none is kept")

    def close(self) -> None:
        """Nothing to give back."""


def _cached(backend: Backend) -> Backend:
    """What is kept of a backend's answers; it was opened for that alone."""
    backend.close()
    return backend.cached() if isinstance(backend, CachingBackend) else NothingCached(backend.signature)


class LateWorker(ThreadWorker):
    """A worker that finds what others have drawn and had judged.

    Args:
        phase: what they draw.
        local: judges that all workers share.
        guard: what a served summary must not be.
    """

    models = KeptModels

    def __init__(self, phase: Phase, local: Judges, guard: Guard) -> None:
        # candidates are counted by those who draw them
        super().__init__(phase, local, guard, Metrics())
        # candidates of the request
        self._n_found = 0

    def _open(self, phase: Phase) -> Backend:
        return _cached(super()._open(phase))

    def _tries(self, request: SummaryRequest) -> Iterator[tuple[str, Phase, Sequence[Draw]]]:
        # an extraction comes after candidates that were found wanting, and not in place of any
        self._n_found = 0
        for attempt in super()._tries(request):
            if attempt[0] != EXTRACTED or self._n_found:
                yield attempt

    def _draw(
        self, request: SummaryRequest, phase: Phase, order: Sequence[Draw]
    ) -> tuple[Sequence[Candidate], list[str]]:
        """The candidates that are drawn, and about which the judges that ask servers have said everything."""
        candidates: list[Candidate] = []
        for draw in order:
            try:
                batch = make_batch(phase, self._backend_of(phase), [request], [draw])
                self._own.judge(self._phase.judges, [(request, candidate) for candidate in batch.candidates])
            except NotCachedError:
                continue
            candidates += batch.candidates
        self._n_found += len(candidates)
        return candidates, []


@dataclass
class _Shared:
    """What is under way for a request, and how many wait for it."""

    work: "asyncio.Future[RankedResponse]"
    n_waiting: int = 0


class Late:
    """What is served when a deadline passes.

    Args:
        phase: is served.
        local: judges that all workers share.
        guard: what may be served.
        most_waiting: requests that may wait for it.
    """

    def __init__(self, phase: Phase, local: Judges, guard: Guard, most_waiting: int) -> None:
        self._pool = Pool(lambda: LateWorker(phase, local, guard), 1, most_waiting)
        # by the request's JSON
        self._under_way: dict[str, _Shared] = {}

    async def best(self, pool: Pool, request: SummaryRequest, seconds: float) -> tuple[RankedResponse, bool]:
        """The best candidate of a request, and whether the deadline passed before all were drawn and judged.

        Raises:
            TimeoutError: it passed, and there is nothing that can be served.
            EvenhandError: as `ThreadWorker.summarise` and `Pool.run`.
        """
        answer = unlogged(self._whole(pool, request, time.monotonic() + seconds))
        so_far: asyncio.Future[RankedResponse | None] | None = None
        try:
            await asyncio.wait([answer], timeout=(1 - LAST_PART) * seconds)
            if answer.done():
                return answer.result(), False
            so_far = unlogged(self._so_far(request, LAST_PART * seconds))
            try:
                return await answer, False
            except TimeoutError:
                if (chosen := await so_far) is None:
                    raise
                return chosen, True
        finally:
            # also where nobody waits for the answer any more
            for future in (answer, so_far):
                if future is not None:
                    future.cancel()

    async def _whole(self, pool: Pool, request: SummaryRequest, until: float) -> RankedResponse:
        """The best of all candidates; of equal requests at the same time one is worked at, and the others wait for it."""
        key = request.model_dump_json()
        while True:
            shared = self._under_way.get(key)
            if is_mine := shared is None or shared.work.done():
                seconds = until - time.monotonic()
                shared = _Shared(unlogged(pool.run(lambda worker: worker.summarise(request), seconds)))
                self._under_way[key] = shared
            shared.n_waiting += 1
            try:
                return await asyncio.shield(shared.work)
            except TimeoutError:
                # of another, whose deadline is earlier
                if is_mine:
                    raise
            finally:
                shared.n_waiting -= 1
                if not shared.n_waiting:
                    shared.work.cancel()
                    if self._under_way.get(key) is shared:
                        del self._under_way[key]

    async def _so_far(self, request: SummaryRequest, seconds: float) -> RankedResponse | None:
        try:
            return await self._pool.run(lambda worker: worker.summarise(request), seconds)
        except (TimeoutError, EvenhandError):
            return None

    def close(self, seconds: float) -> bool:
        """Close it; whether it was closed within so many seconds."""
        return self._pool.close(seconds)
