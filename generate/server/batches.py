"""OpenAI's batch interface: requests go as a file, answers come as one, within a day."""

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import ModelError, WaitingError
from ...runfolder.spending import current
from ...storage import digest
from ..backend import Ask
from .client import are_choices, redacted
from .exchange import REFUSALS, Call, Exchange, calls_of
from .kept import Answer

# requests of one batch, at most, as OpenAI has it
MOST_REQUESTS = 50_000
# states of a batch in which nothing more comes
ENDED = frozenset({"completed", "failed", "expired", "cancelled"})
STARTED = frozenset({"validating", "in_progress", "finalizing"})
# key of a batch's metadata that tells it again, if it was submitted and not noted
MARK = "evenhand"
# batches that are looked through for one that was not noted
MOST_LISTED = 100


@dataclass(frozen=True)
class Progress:
    """How far a batch is."""

    status: str
    completed: int
    total: int
    # request -> HTTP status and body, once the batch has ended; requests that were not answered are absent
    responses: dict[str, tuple[int, dict[str, Any]]]
    # why it failed as a whole; "" when it did not
    error: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more comes."""
        return self.status in ENDED


async def submit(client: Any, path: str, requests: Mapping[str, dict[str, Any]]) -> str:
    """Submit requests by name; the batch's id. One that was submitted by a process that was killed since is found again."""
    mark = digest(sorted(requests), 32)
    if (known := await _known(client, mark)) is not None:
        return known
    lines = [
        json.dumps({"custom_id": name, "method": "POST", "url": f"/v1{path}", "body": body})
        for name, body in requests.items()
    ]
    file = await client.files.create(file=("requests.jsonl", "\n".join(lines).encode() + b"\n"), purpose="batch")
    batch = await client.batches.create(
        input_file_id=file.id, endpoint=f"/v1{path}", completion_window="24h", metadata={MARK: mark}
    )
    return str(batch.id)


async def _known(client: Any, mark: str) -> str | None:
    """The id of a batch of that mark that has not failed."""
    listed = (await client.batches.list(limit=MOST_LISTED)).data or ()
    alive = (
        each for each in listed if (each.metadata or {}).get(MARK) == mark and each.status in {*STARTED, "completed"}
    )
    return next((str(each.id) for each in alive), None)


async def look(client: Any, batch: str) -> Progress:
    """How far a batch is, with its responses where it has ended."""
    found = await client.batches.retrieve(batch)
    counts = found.request_counts
    responses: dict[str, tuple[int, dict[str, Any]]] = {}
    if found.status in ENDED:
        files = [each for each in (found.output_file_id, found.error_file_id) if each]
        for content in await asyncio.gather(*(client.files.content(each) for each in files)):
            responses |= _read(content.text.splitlines())
    faults = (found.errors.data if found.errors else None) or ()
    return Progress(
        found.status,
        counts.completed if counts else 0,
        counts.total if counts else 0,
        responses,
        "; ".join(dict.fromkeys(str(each.message) for each in faults)),
    )


def _read(lines: Sequence[str]) -> dict[str, tuple[int, dict[str, Any]]]:
    """Responses by request; lines that say nothing of one, as of those that expired, are passed over."""
    found = {}
    for line in filter(str.strip, lines):
        said = json.loads(line)
        response = said.get("response") or {}
        if isinstance(response.get("body"), dict):
            found[str(said["custom_id"])] = int(response.get("status_code") or 0), response["body"]
    return found


@dataclass(frozen=True)
class Batched:
    """The batches of one server, as far as they were noted."""

    client: Any
    exchange: Exchange

    async def answer(self, calls: Sequence[Call], found: dict[str, Answer]) -> None:
        """Take what came of the batches into `found`, and submit what none of them asks.

        Raises:
            WaitingError: a batch is under way.
            ModelError: a batch failed as a whole, or requests of it were refused for what they are.
            CostLimitError: a batch might pass limits.cost.
        """
        asks = {key: ask for call in calls for key, ask in zip(call.keys, call.asks, strict=True)}
        waiting, pending = await self._collect(asks, found)
        left = calls_of([(ask, key) for key, ask in asks.items() if key not in found and key not in pending])
        place = self.exchange.server.base_url
        for start in range(0, len(left), MOST_REQUESTS):
            some = left[start : start + MOST_REQUESTS]
            bodies = {call.keys[0]: self.exchange.body(call.asks) for call in some}
            self._refuse_cost(bodies.values())
            batch = await submit(self.client, self.exchange.sending.path, bodies)
            self.exchange.kept.submit(batch, place, {call.keys[0]: call.keys for call in some})
            waiting.append(f"batch {batch} of {len(some)} requests was submitted")
        if waiting:
            raise WaitingError(f"{place}: {'; '.join(waiting)}; the same command continues when it is done")

    async def _collect(self, asks: Mapping[str, Ask], found: dict[str, Answer]) -> tuple[list[str], set[str]]:
        """Put the answers of batches that have ended into `found`; what the others are at, and the keys that they will answer."""
        waiting, pending = list[str](), set[str]()
        place, kept = self.exchange.server.base_url, self.exchange.kept
        for batch, names in kept.submitted(place).items():
            keys = {key for its in names.values() for key in its}
            if not keys & asks.keys():
                continue
            progress = await look(self.client, batch)
            if not progress.has_ended:
                done = f"{progress.completed} of {progress.total} requests done"
                waiting.append(f"batch {batch} is {progress.status}, {done}")
                pending |= keys
                continue
            known = {name: its for name, its in names.items() if set(its) & asks.keys()}
            refused = self._take(known, asks, progress, found)
            # what was answered and nobody asks for now stays noted
            kept.finish(batch, {each: names[each] for each in progress.responses.keys() & names.keys() - known.keys()})
            if refused or not progress.responses:
                why = (
                    refused
                    or f"it ended as {progress.status} without answers: {progress.error or 'it does not say why'}"
                )
                raise ModelError(f"{place}: batch {batch}: {why}; the same command submits anew what has no answer")
        return waiting, pending

    def _take(
        self, names: Mapping[str, Sequence[str]], asks: Mapping[str, Ask], progress: Progress, found: dict[str, Answer]
    ) -> str:
        """Put the answers to these requests into `found`; what the server says of requests that it refuses for what they are."""
        refused = ""
        for name, keys in names.items():
            if name not in progress.responses:
                # it expired
                continue
            status, body = progress.responses[name]
            # those of a request differ in their seed alone, of which answers say nothing
            ask = next(asks[key] for key in keys if key in asks)
            if are_choices(body):
                its = [ask] * len(keys)
                found |= self.exchange.taken(keys, its, body, self.exchange.most_cost(self.exchange.body(its)))
            elif (reply := self.exchange.refused(ask, status, json.dumps(body))) is not None:
                found |= dict.fromkeys(keys, Answer(reply=reply))
            elif status in REFUSALS:
                refused = f"requests were refused: {redacted(json.dumps(body)[:300], self.exchange.server)}"
        return refused

    def _refuse_cost(self, bodies: Iterable[Mapping[str, Any]]) -> None:
        account, most = current(), sum(map(self.exchange.most_cost, bodies))
        if account is not None and not account.has_room(most):
            raise account.refusal(most)
