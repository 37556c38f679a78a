"""OpenAI's batch interface: requests go as a file, answers come as one, within a day.

A batch whose answers were taken in is not looked at again. What got none is submitted again, and given up with the server's words
after so many batches in a row; that, and what is not kept in the file of answers (a refusal), stays noted until all that is
asked together has its reply, so that it is not asked again while the rest is waited for.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, NamedTuple

from ...errors import ModelError, UnfitModelError, WaitingError
from ...runfolder.spending import current
from ..backend import Ask, failed
from .answer_forms import Response
from .batch_files import FILE_SECONDS, Progress, look, mark_of, submit
from .exchange import Call, Exchange, calls_of
from .faults import BrokenAnswerError, RejectedError
from .kept import Answer
from .rejections import rejection
from .remedies import shortened

log = logging.getLogger(__name__)
# requests of one batch, at most, as OpenAI has it
MOST_REQUESTS = 50_000
# bytes of its file, at most: OpenAI takes 200 MB (reference of "Create batch"), Together AI 100 (its page "Batch inference")
MOST_BYTES = 100_000_000
# batches in a row in which a request fails before it is given up, and the reason that it then has
MOST_FAILURES = 3
UNANSWERED = "not answered by the server"


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
        if any(each.startswith(self._address("")) for each in current().promised):
            self._open()

    async def _submit(self, calls: Sequence[Call], under_way: UnderWay) -> None:
        """Submit these in batches, as many as have room in limits.cost beside all that are not answered."""
        place, kept, account, n_left = self.exchange.server.base_url, self.exchange.kept, current(), len(calls)
        for some in self._files(calls):
            most, unnamed = sum(each.most for each in some.values()), f"{place}/batches of mark {mark_of(some)}"
            # one that was killed may have submitted it, and has noted what it can cost
            if not account.has_room(most - account.promised.get(unnamed, 0.0)):
                if not under_way.said:
                    raise account.refusal(most)
                under_way.said.append(f"{n_left} further requests wait until limits.cost has room for them")
                break
            keys = [key for each in some.values() for key in each.call.keys]
            try:
                if kept.begin(keys, FILE_SECONDS) != {} or not self._submitted_keys().isdisjoint(keys):
                    under_way.said.append(f"another command submits requests that are among {len(some)} of these")
                    continue
                account.promise(unnamed, most)
                lines = {name: each.line for name, each in some.items()}
                batch = await submit(
                    self.client, self.exchange.server, self.exchange.sending.path, lines, kept.noted(place)
                )
                kept.submit(batch, place, {name: each.call.keys for name, each in some.items()})
            finally:
                kept.end(keys)
            self._promise(batch, most)
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
            file[name] = Request(call, line, self.exchange.most(body).cost or 0.0)
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
            progress = await look(self.client, self.exchange.server, batch)
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
        # another run took them in, or they were forgotten
        account, addresses = current(), {self._address(batch) for batch in submitted}
        for each in [*account.promised]:
            if each.startswith(self._address("")) and each not in addresses:
                account.promise(each, 0.0)
        return submitted

    def _most(self, asks: Sequence[Ask]) -> float:
        return self.exchange.most(self.exchange.body(asks)).cost or 0.0

    def _most_of(self, names: Mapping[str, Sequence[str]], asks: Mapping[str, Ask]) -> float:
        return sum(self._most(_asked(keys, asks)) for keys in names.values())

    def _promised(self, batch: str) -> float:
        """What the batch can still cost, as the run's account has it."""
        return current().promised.get(self._address(batch), 0.0)

    def _promise(self, batch: str, most: float) -> None:
        current().promise(self._address(batch), most)

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

    def _response(self, body: Any) -> Response[Any] | None:
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
            elif status >= 400 and not said.may_pass:
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
