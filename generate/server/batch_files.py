"""Batches at a server: submitted as a file, looked at, and read from the files of their answers."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import quote

from ...extras import need
from ...storage import digest
from .client import FEATURE, within
from .reachability import unlike_batches
from .rejections import rejection
from .remedies import shortened, words
from .responses import BrokenAnswerError, read
from .server_forms import Batch, BatchLine, BatchList, Identified
from .tries import Tries

# bytes of a file of answers, at most, and seconds in which a file comes or goes
MOST_FILE, FILE_SECONDS = 2_000_000_000, 3600.0
# states of a batch in which nothing more comes
GONE = "gone"
ENDED = frozenset({"completed", "failed", "expired", "cancelled", GONE})
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


async def submit(client: Any, tries: Tries, path: str, lines: Mapping[str, bytes], noted: Collection[str]) -> str:
    """Submit the lines of requests by name; the batch's id.

    One that was submitted by a process that was killed since, or by a try whose answer was lost, is found again; none of those
    that were noted.

    Raises:
        UnfitModelError: the server has batches of another form.
    """
    mark, seconds = mark_of(lines), tries.section.timeout
    content = ("requests.jsonl", b"".join(lines.values()))

    async def known_or_created() -> str:
        try:
            if (known := await within(seconds, _known(client, mark, noted))) is not None:
                return known
        except BrokenAnswerError as error:
            raise unlike_batches(tries.section) from error
        upload = await within(FILE_SECONDS, client.files.with_raw_response.create(file=content, purpose="batch"))
        body = {
            "input_file_id": read(upload.content, Identified).id, "endpoint": f"/v1{path}", "completion_window": "24h",
            "metadata": {MARK: mark},
        }  # fmt: skip
        return read(await within(seconds, client.post("/batches", body=body, cast_to=bytes)), Identified).id

    return await tries.first_whole(known_or_created)


async def _known(client: Any, mark: str, noted: Collection[str]) -> str | None:
    """The id of a batch of that mark that has not failed, other than those."""
    listed = read(await client.get(f"/batches?limit={MOST_LISTED}", cast_to=bytes), BatchList).data or ()
    alive = (
        each.id
        for each in listed
        if (each.metadata or {}).get(MARK) == mark and each.status in {*STARTED, "completed"} and each.id not in noted
    )
    return next(alive, None)


async def look(client: Any, tries: Tries, batch: str) -> Progress:
    """How far a batch is, with its responses where it has ended; of one that the server no longer has there are none."""
    responses: dict[str, tuple[int, Any]] = {}
    not_found, missing = need("openai", FEATURE).NotFoundError, ""
    try:
        state = await tries.first_whole(partial(_read_batch, client, tries.section.timeout, batch))
    except not_found as error:
        return Progress(GONE, 0, 0, {}, words(error, tries.section))
    counts = state.request_counts
    for file in [each for each in (state.output_file_id, state.error_file_id) if each and state.status in ENDED]:
        n_least = counts.completed if counts and file == state.output_file_id else 0
        try:
            content = await tries.first_whole(partial(_read_file, client, file))
            lines, missing_lines = _read_lines(content, n_least)
        except not_found as error:
            missing = f"its file {file} is not there: {words(error, tries.section)}"
            continue
        responses |= lines
        missing = (
            f"its file {file} is not whole: {shortened(missing_lines, tries.section)}" if missing_lines else missing
        )
    return Progress(
        state.status,
        counts.completed if counts else 0,
        counts.total if counts else 0,
        responses,
        shortened(rejection(200, state.faults).words, tries.section),
        missing,
    )


async def _read_batch(client: Any, seconds: float, batch: str) -> Batch:
    content = await within(seconds, client.get(f"/batches/{quote(batch, safe='')}", cast_to=bytes))
    return read(content, Batch)


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
        if said.response is not None:
            responses[said.custom_id] = said.response.status_code, said.response.body
    if broken and (len(broken) == len(lines) or broken[-1].startswith(f"line {len(lines)} ")):
        return responses, broken[-1]
    if len(lines) < n_least:
        return responses, f"it has {len(lines)} lines, and {n_least} requests were answered"
    return responses, ""
