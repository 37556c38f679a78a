"""OpenAI's batch interface: requests go as a file, answers come as one, within a day."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...storage import digest

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
