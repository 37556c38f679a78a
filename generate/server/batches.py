"""OpenAI's batch interface: requests go as a file, answers come as one, within a day.

A batch whose answers were taken in is not looked at again. What got none is submitted again, and given up with the server's words
after so many batches in a row; that, and what is not kept in the file of answers (a refusal), stays noted until all that is
asked together has its reply, so that it is not asked again while the rest is waited for.
"""

import json
import logging
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import Any, NamedTuple
from urllib.parse import quote

from ...errors import ModelError, UnfitModelError, WaitingError
from ...extras import need
from ...runfolder.spending import current
from ...storage import digest
from ..backend import Ask, failed
from .client import FEATURE, PASSING, shortened, unlike_batches, within, words
from .exchange import Call, Exchange, RejectedError, calls_of
from .kept import Answer
from .rejections import OWN_FAULTS, rejection
from .responses import Batch, BatchLine, BatchList, BrokenAnswerError, Identified, Response, read
from .tries import Tries

log = logging.getLogger(__name__)

# requests of one batch, at most, as OpenAI has it
MOST_REQUESTS = 50_000
# bytes of its file, at most: OpenAI takes 200 MB (reference of "Create batch"), Together AI 100 (its page "Batch inference")
MOST_BYTES = 100_000_000
# bytes of a file of answers, at most, and seconds in which a file comes or goes
MOST_FILE, FILE_SECONDS = 2_000_000_000, 3600.0
# batches in a row in which a request fails before it is given up, and the reason that it then has
MOST_FAILURES = 3
UNANSWERED = "not answered by the server"
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
        missing = f"its file {file} is not whole: {missing_lines}" if missing_lines else missing
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


class Request(NamedTuple):
    """A request as it stands in a batch's file."""

    call: Call
    line: bytes
    # what it can cost
    most: float


@dataclass
class UnderWay:
    """Batches that the server works at."""

    # what each is at
    said: list[str] = field(default_factory=list)
    # of the asks that they will answer
    keys: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class Batched:
    """The batches of one server, as far as they were noted."""

    client: Any
    tries: Tries
    exchange: Exchange

    async def answer(self, calls: Sequence[Call], found: dict[str, Answer]) -> None:
        """Take what came of the batches into `found`, and submit what none of them asks.

        Raises:
            WaitingError: a batch is under way.
            ModelError: a batch failed as a whole, or requests of it were refused for what they are.
            CostLimitError: the next batch might pass limits.cost, and none is under way that may turn out to cost less.
        """
        asks = {key: ask for call in calls for key, ask in zip(call.keys, call.asks, strict=True)}
        under_way, kept = await self._collect(asks, found), self.exchange.kept
        # another run may have taken batches in since these were found to have no answer
        found |= kept.find([*asks.keys() - found.keys()])
        found |= kept.given_up(asks.keys() - found.keys(), MOST_FAILURES)
        left = calls_of([(ask, key) for key, ask in asks.items() if key not in found and key not in under_way.keys])
        await self._submit(left, under_way)
        if under_way.said:
            said = "; ".join(under_way.said)
            raise WaitingError(f"{self.exchange.server.base_url}: {said}; the same command continues when it is done")
        kept.forget_failures(asks)

    def settle(self) -> None:
        """Take back what batches can cost whose answers were all taken in, where nothing is left to ask this server."""
        account = current()
        if account is not None and any(each.startswith(self._address("")) for each in account.promised):
            self._open()

    async def _submit(self, calls: Sequence[Call], under_way: UnderWay) -> None:
        """Submit these in batches, as many as have room in limits.cost beside all that are not answered."""
        place, kept, account, n_left = self.exchange.server.base_url, self.exchange.kept, current(), len(calls)
        for some in self._files(calls):
            most, unnamed = sum(each.most for each in some.values()), f"{place}/batches of mark {mark_of(some)}"
            # one that was killed may have submitted it, and has noted what it can cost
            if account is not None and not account.has_room(most - account.promised.get(unnamed, 0.0)):
                if not under_way.said:
                    raise account.refusal(most)
                under_way.said.append(f"{n_left} further requests wait until limits.cost has room for them")
                break
            keys = [key for each in some.values() for key in each.call.keys]
            try:
                if kept.begin(keys, FILE_SECONDS) != {} or not self._submitted_keys().isdisjoint(keys):
                    under_way.said.append(f"another command submits requests that are among {len(some)} of these")
                    continue
                if account is not None:
                    account.promise(unnamed, most)
                lines = {name: each.line for name, each in some.items()}
                batch = await submit(self.client, self.tries, self.exchange.sending.path, lines, kept.noted(place))
                kept.submit(batch, place, {name: each.call.keys for name, each in some.items()})
            finally:
                kept.end(keys)
            self._promise(batch, most)
            if account is not None:
                account.promise(unnamed, 0.0)
            under_way.said.append(f"batch {batch} of {len(some)} requests was submitted")
            n_left -= len(some)

    def _submitted_keys(self) -> set[str]:
        """Keys of the asks that batches answer which were not taken in yet."""
        submitted = self.exchange.kept.submitted(self.exchange.server.base_url)
        return {key for names in submitted.values() for keys in names.values() for key in keys}

    def _files(self, calls: Sequence[Call]) -> Iterator[dict[str, Request]]:
        """The requests of each batch by name, within the bounds of a file; one request is in any case."""
        url, file, size = f"/v1{self.exchange.sending.path}", dict[str, Request](), 0
        for call in calls:
            name, body = call.keys[0], self.exchange.body(call.asks)
            said = {"custom_id": name, "method": "POST", "url": url, "body": body}
            line = json.dumps(said).encode() + b"\n"
            if file and (len(file) == MOST_REQUESTS or size + len(line) > MOST_BYTES):
                yield file
                file, size = {}, 0
            file[name] = Request(call, line, self.exchange.most_cost(body))
            size += len(line)
        if file:
            yield file

    async def _collect(self, asks: Mapping[str, Ask], found: dict[str, Answer]) -> UnderWay:
        """Put the answers of batches that have ended into `found`; the others, as far as they answer these asks."""
        under_way = UnderWay()
        place, kept = self.exchange.server.base_url, self.exchange.kept
        for batch, names in self._open().items():
            known = {name: its for name, its in names.items() if set(its) & asks.keys()}
            if not known:
                continue
            progress = await look(self.client, self.tries, batch)
            if not progress.has_ended:
                done = f"{progress.completed} of {progress.total} requests done"
                under_way.said.append(f"batch {batch} is {progress.status}, {done}")
                under_way.keys |= {key for its in names.values() for key in its}
                # a run that it was not submitted by waits for it, too
                self._promise(batch, max(self._promised(batch), self._most_of(known, asks)))
                continue
            self._refuse_missing(batch, names, known, asks, progress)
            refused, without = self._take(known, asks, progress, found)
            # what was answered and nobody asks for now stays noted, unless a process that was killed took it in
            others = progress.responses.keys() & names.keys() - known.keys()
            left = {each: names[each] for each in others if not kept.has_all(names[each])}
            kept.finish(batch, place, left, without)
            self._promise(batch, max(0.0, self._promised(batch) - self._most_of(known, asks)) if left else 0.0)
            if refused:
                raise UnfitModelError(
                    f"{place}: batch {batch}: {refused}; mend what it names, in the recipe (model, plans, engine) or in the "
                    "server's options: the command then submits again what has no answer"
                )
            if not (progress.responses or progress.missing):
                why = f"it ended as {progress.status} without answers: {progress.error or 'it does not say why'}"
                raise ModelError(f"{place}: batch {batch}: {why}; the same command submits again what has no answer")
            if said := [each.reply.error for n, each in without.values() if n == 1]:
                log.warning("%s: batch %s: %d answers did not come: %s", place, batch, len(said), said[-1])
        return under_way

    def _refuse_missing(
        self,
        batch: str,
        names: Mapping[str, Sequence[str]],
        known: Mapping[str, Sequence[str]],
        asks: Mapping[str, Ask],
        progress: Progress,
    ) -> None:
        """Refuse to go on where answers of a batch that has ended do not come: to submit it again would be to pay again.

        Raises:
            ModelError: they did not come for the first times; after these its requests are left out.
        """
        if not progress.missing:
            return
        place, kept = self.exchange.server.base_url, self.exchange.kept
        wanted = {name: keys for name, keys in known.items() if name not in progress.responses}
        unanswered = {
            key: (1, Answer(reply=failed(self.exchange.sending.prompt(asks[key]), UNANSWERED, progress.missing)))
            for keys in wanted.values()
            for key in keys
            if key in asks
        }
        kept.finish(batch, place, names, unanswered)
        if len(kept.given_up(unanswered, MOST_FAILURES)) < len(unanswered):
            raise ModelError(
                f"{place}: batch {batch} has ended, and {progress.missing}; it is not submitted again, since it was paid for; "
                f"the same command looks again, and when the file is missing {MOST_FAILURES} times leaves its requests out"
            )

    def _open(self) -> dict[str, dict[str, list[str]]]:
        """The batches whose answers were not all taken in; what the others can cost is taken back."""
        place, kept = self.exchange.server.base_url, self.exchange.kept
        submitted = kept.submitted(place)
        for batch, names in [*submitted.items()]:
            if kept.has_all(chain.from_iterable(names.values())):
                # a process that was killed took it in, and could not say so
                kept.finish(batch, place, {}, {})
                del submitted[batch]
        if (account := current()) is not None:
            # another run took them in, or they were forgotten
            addresses = {self._address(batch) for batch in submitted}
            for each in [*account.promised]:
                if each.startswith(self._address("")) and each not in addresses:
                    account.promise(each, 0.0)
        return submitted

    def _most(self, asks: Sequence[Ask]) -> float:
        return self.exchange.most_cost(self.exchange.body(asks))

    def _most_of(self, names: Mapping[str, Sequence[str]], asks: Mapping[str, Ask]) -> float:
        return sum(self._most(_asked(keys, asks)) for keys in names.values())

    def _promised(self, batch: str) -> float:
        """What the batch can still cost, as the run's account has it."""
        return 0.0 if (account := current()) is None else account.promised.get(self._address(batch), 0.0)

    def _promise(self, batch: str, most: float) -> None:
        if (account := current()) is not None:
            account.promise(self._address(batch), most)

    def _address(self, batch: str) -> str:
        return f"{self.exchange.server.base_url}/batches/{batch}"

    def _take(
        self, names: Mapping[str, Sequence[str]], asks: Mapping[str, Ask], progress: Progress, found: dict[str, Answer]
    ) -> tuple[str, dict[str, tuple[int, Answer]]]:
        """Put the answers to these requests into `found`.

        Returns:
            What the server says of requests that it refuses for what they are; and the asks without an answer to keep, as
            `KeptAnswers.finish` notes them.
        """
        rejected, without = dict[str, tuple[int, Any]](), dict[str, tuple[int, Answer]]()
        for name, keys in names.items():
            status, body = progress.responses.get(name, (0, None))
            its = _asked(keys, asks)
            if (response := self._response(body)) is not None:
                answers = self.exchange.taken(keys, its, self.exchange.body(its), response)
                found |= answers
                without |= {key: (MOST_FAILURES, each) for key, each in answers.items() if not each.reply.text}
                continue
            if status or progress.missing:
                # nothing whole came, and it may be paid for
                self.exchange.book(None, self.exchange.most(self.exchange.body(its)), None)
            rejected[name] = status, body
        refused, others = self._leave_out(names, asks, progress, rejected, found)
        return refused, without | others

    def _response(self, body: Any) -> Response | None:
        """The answers that a body holds; None where it is none of their form."""
        try:
            return self.exchange.formed(body)
        except (BrokenAnswerError, RejectedError):
            return None

    def _leave_out(
        self,
        names: Mapping[str, Sequence[str]],
        asks: Mapping[str, Ask],
        progress: Progress,
        rejected: Mapping[str, tuple[int, Any]],
        found: dict[str, Answer],
    ) -> tuple[str, dict[str, tuple[int, Answer]]]:
        """Put into `found` what the server does not answer for its text; it returns what `_take` does."""
        refused, without = "", dict[str, tuple[int, Answer]]()
        for name, (status, body) in rejected.items():
            ask, said = _asked(names[name], asks)[0], rejection(status, body)
            # answers and refusals of a batch come in no order
            self.exchange.n_in_row = 0
            if (reply := self.exchange.refused(ask, said)) is not None:
                found |= dict.fromkeys(names[name], Answer(reply=reply))
                without |= dict.fromkeys(names[name], (MOST_FAILURES, Answer(reply=reply)))
            elif 400 <= status < OWN_FAULTS and status not in PASSING:
                refused = f"requests were refused: {self._said(status, body)}"
            elif status or progress.status == "completed":
                # that a whole batch expired or was cancelled is nothing that its requests did
                reply = failed(self.exchange.sending.prompt(ask), UNANSWERED, self._said(status, body))
                without |= dict.fromkeys(names[name], (1, Answer(reply=reply)))
        return refused, without

    def _said(self, status: int, body: Any) -> str:
        """What the server said of a request that failed."""
        if not status:
            return "the batch has no answer to it"
        return shortened(f"status {status}: {json.dumps(body)}", self.exchange.server)


def _asked(keys: Sequence[str], asks: Mapping[str, Ask]) -> list[Ask]:
    """The asks of a request, one of which is there at least: they differ in their seed alone, of which answers say nothing."""
    return [next(asks[key] for key in keys if key in asks)] * len(keys)
