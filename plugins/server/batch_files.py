"""Batches at a server: submitted as a file, looked at, and read from the files of their answers."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

from ...text.digests import digest
from .client import get, within
from .faults import BrokenAnswerError, RejectedError
from .keys import ServerKeys
from .reachability import unlike_batches
from .rejections import rejection
from .remedies import shortened, words
from .responses import BatchLine, BatchList, BatchStatus, Identified, RequestCounts, read
from .tries import first_whole

# bytes of a file of answers, at most, and seconds in which a file comes or goes
MOST_FILE, FILE_SECONDS = 2_000_000_000, 3600.0
# states of a batch in which nothing more comes
GONE = "gone"
ENDED = frozenset({"completed", "failed", "expired", "cancelled", GONE})
STARTED = frozenset({"validating", "in_progress", "finalizing"})
# key of a batch's metadata that tells it again, if it was submitted and not noted
MARK = "evenhand"
# batches that are looked through for one that was not noted; status of what is not there
MOST_LISTED, NOT_FOUND = 100, 404


@dataclass(frozen=True)
class BatchProgress:
    """How far a batch is."""

    status: str
    completed: int
    total: int
    # request -> HTTP status and body, once the batch has ended; requests that were not answered are absent
    responses: dict[str, tuple[int, Any]]
    # why it failed as a whole, without the server's key; "" when it did not
    error: str = ""
    # why its answers, which are paid for, do not come, although it has ended; "" when they do
    missing: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more comes."""
        return self.status in ENDED


def mark_of(names: Iterable[str]) -> str:
    """What tells a batch of requests of these names, before it has an id."""
    return digest(sorted(names), 32)


async def submit(
    client: Any, section: ServerKeys, path: str, lines: Mapping[str, bytes], noted: Collection[str]
) -> str:
    """Submit the lines of requests by name; the batch's id.

    One that was submitted by a process that was killed since, or by a try whose answer was lost, is found again; none of those
    that were noted.

    Raises:
        UnfitModelError: the server has batches of another form.
    """
    mark, seconds = mark_of(lines), section.timeout
    content = ("requests.jsonl", b"".join(lines.values()))

    async def known_or_created() -> str:
        try:
            if (known := await _known(client, seconds, mark, noted)) is not None:
                return known
        except BrokenAnswerError as error:
            raise unlike_batches(section) from error
        upload = await within(FILE_SECONDS, client.files.with_raw_response.create(file=content, purpose="batch"))
        body = {
            "input_file_id": read(upload.content, Identified).id, "endpoint": f"/v1{path}", "completion_window": "24h",
            "metadata": {MARK: mark},
        }  # fmt: skip
        return read(await within(seconds, client.post("/batches", body=body, cast_to=bytes)), Identified).id

    return await first_whole(section.retries, known_or_created)


async def _known(client: Any, seconds: float, mark: str, noted: Collection[str]) -> str | None:
    """The id of a batch of that mark that has not failed, other than those."""
    listed = (await get(client, f"/batches?limit={MOST_LISTED}", BatchList, seconds)).data or ()
    alive = (
        each.id
        for each in listed
        if (each.metadata or {}).get(MARK) == mark and each.status in {*STARTED, "completed"} and each.id not in noted
    )
    return next(alive, None)


async def look(client: Any, section: ServerKeys, batch: str) -> BatchProgress:
    """How far a batch is, with its responses where it has ended; of one that the server no longer has there are none."""
    retries, path = section.retries, f"/batches/{quote(batch, safe='')}"
    try:
        state = await first_whole(retries, lambda: get(client, path, BatchStatus, section.timeout))
    except RejectedError as error:
        if error.said.status != NOT_FOUND:
            raise
        return BatchProgress(GONE, 0, 0, {}, words(error, section))
    counts, responses, missing = state.request_counts or RequestCounts(), dict[str, tuple[int, Any]](), ""
    for file in (state.output_file_id, state.error_file_id) if state.status in ENDED else ():
        if not file:
            continue
        try:
            content = await first_whole(retries, partial(_read_file, client, file))
        except RejectedError as error:
            if error.said.status != NOT_FOUND:
                raise
            missing = f"its file {file} is not there: {words(error, section)}"
            continue
        lines, fault = _read_lines(content, counts.completed if file == state.output_file_id else 0)
        responses |= lines
        missing = f"its file {file} is not whole: {shortened(fault, section)}" if fault else missing
    said = shortened(rejection(200, state.faults).words, section)
    return BatchProgress(state.status, counts.completed, counts.total, responses, said, missing)


async def _read_file(client: Any, file: str) -> bytes:
    path = f"/files/{quote(file, safe='')}/content"
    content: bytes = await within(FILE_SECONDS, client.get(path, cast_to=bytes), MOST_FILE)
    return content


def _read_lines(content: bytes, n_least: int) -> tuple[dict[str, tuple[int, Any]], str]:
    """Responses by request, and what is wrong with the file as a whole; "" where nothing is.

    Lines that say nothing of a request, as of those that expired, are passed over. One that cannot be read is the answer of none,
    but where it is the last, or the only one, or lines are missing, the file was cut or is another.

    Args:
        content: of the file.
        n_least: how many requests were answered, as the server says.
    """
    lines = [line for line in content.decode("utf-8-sig", "replace").split("\n") if line.strip()]
    responses, broken = dict[str, tuple[int, Any]](), list[str]()
    for number, line in enumerate(lines, start=1):
        try:
            said = read(line, BatchLine)
        except BrokenAnswerError as error:
            broken.append(f"line {number} of {len(lines)}: {error}")
            continue
        if said.status or said.body is not None:
            responses[said.custom_id] = said.status, said.body
    if broken and (len(broken) == len(lines) or broken[-1].startswith(f"line {len(lines)} ")):
        return responses, broken[-1]
    if len(lines) < n_least:
        return responses, f"it has {len(lines)} lines, and {n_least} requests were answered"
    return responses, ""
