"""OpenAI's batch interface: requests go as a file, answers come as one, within a day.

A batch whose answers were taken in is not looked at again. What got none is submitted again, and given up with the server's words
after so many batches in a row; that, and what is not kept in the file of answers (a refusal), stays noted until all that is
asked together has its reply, so that it is not asked again while the rest is waited for.
"""

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from ...errors import ModelError, UnfitModelError, WaitingError
from ...generate.backend import Ask
from .account import current
from .batch_files import BatchProgress, look, mark_of, submit
from .exchange import Exchange, ServerCall, calls_of
from .faults import ResponseError
from .kept import CachedAnswer
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
# what a batch has of a request that was not answered
NO_RESPONSE = (0, None)
# request of a batch -> keys of the asks that it answers
Calls = Mapping[str, Sequence[str]]


class Request(NamedTuple):
    """A request as it stands in a batch's file."""

    call: ServerCall
    line: bytes
    # what it can cost
    most: float


class Batched:
    """The batches of one server, as far as they were noted, for one call.

    Args:
        client: the server's.
        exchange: what it is sent.
    """

    def __init__(self, client: Any, exchange: Exchange) -> None:
        self._client, self._exchange = client, exchange
        self._place, self._kept = exchange.server.base_url, exchange.kept
        # what batches that are under way are at, and the keys of the asks that they will answer
        self._said = list[str]()
        self._awaited = set[str]()

    async def answer(self, calls: Sequence[ServerCall], cached: dict[str, CachedAnswer]) -> None:
        """Take what came of the batches into `cached`, and submit what none of them asks.

        Raises:
            WaitingError: a batch is under way.
            ModelError: a batch failed as a whole, or requests of it were refused for what they are.
            CostLimitError: the next batch might pass limits.cost, and none is under way that may turn out to cost less.
        """
        asks = {key: ask for call in calls for key, ask in zip(call.keys, call.asks, strict=True)}
        for batch, names in self._open().items():
            if known := {name: keys for name, keys in names.items() if not asks.keys().isdisjoint(keys)}:
                await self._collect(batch, names, known, asks, cached)
        # another run may have taken batches in since these were found to have no answer
        cached |= self._kept.find([*asks.keys() - cached.keys()])
        cached |= self._kept.given_up(asks.keys() - cached.keys(), MOST_FAILURES)
        await self._submit(
            calls_of([(ask, key) for key, ask in asks.items() if key not in cached and key not in self._awaited])
        )
        if self._said:
            message = "; ".join(self._said)
            raise WaitingError(f"{self._place}: {message}; the same command continues when it is done")
        self._kept.forget_failures(asks)

    def settle(self) -> None:
        """Take back what batches can cost whose answers were all taken in, where nothing is left to ask this server."""
        if any(address.startswith(self._address("")) for address in current().promised):
            self._open()

    async def _submit(self, calls: Sequence[ServerCall]) -> None:
        """Submit these in batches, as many as have room in limits.cost beside all that are not answered."""
        kept, account, n_left = self._kept, current(), len(calls)
        for some in self._files(calls):
            most, unnamed = sum(call.most for call in some.values()), f"{self._place}/batches of mark {mark_of(some)}"
            # one that was killed may have submitted it, and has noted what it can cost
            if not account.has_room(most - account.promised.get(unnamed, 0.0)):
                if not self._said:
                    raise account.refusal(most)
                self._said.append(f"{n_left} further requests wait until limits.cost has room for them")
                break
            keys = [key for each in some.values() for key in each.call.keys]
            try:
                if kept.begin(keys) != {} or not self._submitted_keys().isdisjoint(keys):
                    self._said.append(f"another command submits requests that are among {len(some)} of these")
                    continue
                account.promise(unnamed, most)
                lines, path = {name: call.line for name, call in some.items()}, self._exchange.sending.path
                batch = await submit(self._client, self._exchange.server, path, lines, kept.noted(self._place))
                kept.submit(batch, self._place, {name: call.call.keys for name, call in some.items()})
            finally:
                kept.end(keys)
            self._promise(batch, most)
            account.promise(unnamed, 0.0)
            self._said.append(f"batch {batch} of {len(some)} requests was submitted")
            n_left -= len(some)

    def _submitted_keys(self) -> set[str]:
        """Keys of the asks that batches answer which were not taken in yet."""
        return {key for names in self._kept.submitted(self._place).values() for keys in names.values() for key in keys}

    def _files(self, calls: Sequence[ServerCall]) -> Iterator[dict[str, Request]]:
        """The requests of each batch by name, within the bounds of a file; one request is in any case."""
        url, file, size = f"/v1{self._exchange.sending.path}", dict[str, Request](), 0
        for call in calls:
            name, body = call.keys[0], self._exchange.body(call.asks)
            said = {"custom_id": name, "method": "POST", "url": url, "body": body}
            line = json.dumps(said).encode() + b"\n"
            if file and (len(file) == MOST_REQUESTS or size + len(line) > MOST_BYTES):
                yield file
                file, size = {}, 0
            file[name] = Request(call, line, self._exchange.most(body).cost or 0.0)
            size += len(line)
        if file:
            yield file

    async def _collect(
        self, batch: str, names: Calls, known: Calls, asks: Mapping[str, Ask], found: dict[str, CachedAnswer]
    ) -> None:
        """Put the answers of a batch that has ended into `found`, as far as its `known` requests answer these asks."""
        progress = await look(self._client, self._exchange.server, batch)
        most = sum(self._most(_asked(keys, asks)) for keys in known.values())
        promised = current().promised.get(self._address(batch), 0.0)
        if not progress.has_ended:
            self._said.append(
                f"batch {batch} is {progress.status}, {progress.completed} of {progress.total} requests done"
            )
            self._awaited.update(chain.from_iterable(names.values()))
            # a run that it was not submitted by waits for it, too
            self._promise(batch, max(promised, most))
            return
        self._refuse_missing(batch, names, known, asks, progress)
        refused, without = self._take(known, asks, progress, found)
        # what was answered and nobody asks for now stays noted, unless a process that was killed took it in
        others = progress.responses.keys() & names.keys() - known.keys()
        left = {each: names[each] for each in others if not self._kept.has_all(names[each])}
        self._kept.finish(batch, self._place, left, without)
        self._promise(batch, max(0.0, promised - most) if left else 0.0)
        if refused:
            raise UnfitModelError(
                f"{self._place}: batch {batch}: requests were refused: {refused}; mend what it names, in the recipe (model, "
                "plans, engine) or in the server's options: the command then submits again what has no answer"
            )
        if not (progress.responses or progress.missing):
            why = f"it ended as {progress.status} without answers: {progress.error or 'it does not say why'}"
            raise ModelError(f"{self._place}: batch {batch}: {why}; the same command submits again what has no answer")
        if said := [each.reply.error for n, each in without.values() if n == 1]:
            log.warning("%s: batch %s: %d answers did not come: %s", self._place, batch, len(said), said[-1])

    def _refuse_missing(
        self, batch: str, names: Calls, known: Calls, asks: Mapping[str, Ask], progress: BatchProgress
    ) -> None:
        """Refuse to go on where answers of a batch that has ended do not come: to submit it again would be to pay again.

        Raises:
            ModelError: they did not come for the first times; after these its requests are left out.
        """
        if not progress.missing:
            return
        wanted = asks.keys() & {key for name in known.keys() - progress.responses.keys() for key in known[name]}
        unanswered = {key: (1, self._unanswered(asks[key], progress.missing)) for key in wanted}
        self._kept.finish(batch, self._place, names, unanswered)
        if len(self._kept.given_up(unanswered, MOST_FAILURES)) < len(unanswered):
            raise ModelError(
                f"{self._place}: batch {batch} has ended, and {progress.missing}; it is not submitted again, since it was paid "
                f"for; the same command looks again, and when the file is missing {MOST_FAILURES} times leaves its requests out"
            )

    def _open(self) -> dict[str, dict[str, list[str]]]:
        """The batches whose answers were not all taken in; what the others can cost is taken back."""
        submitted = self._kept.submitted(self._place)
        for batch, names in [*submitted.items()]:
            if self._kept.has_all(chain.from_iterable(names.values())):
                # a process that was killed took it in, and could not say so
                self._kept.finish(batch, self._place, {}, {})
                del submitted[batch]
        # another run took them in, or they were forgotten
        account, addresses = current(), {self._address(batch) for batch in submitted}
        for each in [*account.promised]:
            if each.startswith(self._address("")) and each not in addresses:
                account.promise(each, 0.0)
        return submitted

    def _most(self, asks: Sequence[Ask]) -> float:
        return self._exchange.most(self._exchange.body(asks)).cost or 0.0

    def _promise(self, batch: str, most: float) -> None:
        """Note what the batch can still cost."""
        current().promise(self._address(batch), most)

    def _address(self, batch: str) -> str:
        return f"{self._place}/batches/{batch}"

    def _unanswered(self, ask: Ask, why: str) -> CachedAnswer:
        return CachedAnswer(reply=self._exchange.failed(ask, UNANSWERED, why))

    def _take(
        self, names: Calls, asks: Mapping[str, Ask], progress: BatchProgress, found: dict[str, CachedAnswer]
    ) -> tuple[str, dict[str, tuple[int, CachedAnswer]]]:
        """Put the answers to these requests into `found`.

        Returns:
            What the server says of requests that it refuses for what they are; and the asks without an answer to keep, as
            `KeptAnswers.finish` notes them.
        """
        rejected, refused, without = list[str](), "", dict[str, tuple[int, CachedAnswer]]()
        for name, keys in names.items():
            status, content = progress.responses.get(name, NO_RESPONSE)
            its = _asked(keys, asks)
            body = self._exchange.body(its)
            try:
                answers = self._exchange.taken(keys, its, body, self._exchange.formed(content))
            except ResponseError:
                if status or progress.missing:
                    # nothing whole came, and it may be paid for
                    self._exchange.book(None, self._exchange.most(body), None)
                rejected.append(name)
                continue
            found |= answers
            without |= {key: (MOST_FAILURES, each) for key, each in answers.items() if not each.reply.text}
        # behind the answers, which show that requests of their form are right
        for name in rejected:
            status, content = progress.responses.get(name, NO_RESPONSE)
            ask, said = _asked(names[name], asks)[0], rejection(status, content)
            words = f"status {status}: {json.dumps(content)}" if status else "the batch has no answer to it"
            # answers and refusals of a batch come in no order
            self._exchange.n_in_row = 0
            if (reply := self._exchange.refused(ask, said)) is not None:
                found |= dict.fromkeys(names[name], CachedAnswer(reply=reply))
                without |= dict.fromkeys(names[name], (MOST_FAILURES, CachedAnswer(reply=reply)))
            elif status >= 400 and not said.may_pass:
                refused = shortened(words, self._exchange.server)
            elif status or progress.status == "completed":
                # that a whole batch expired or was cancelled is nothing that its requests did
                without |= dict.fromkeys(names[name], (1, self._unanswered(ask, words)))
        return refused, without


def _asked(keys: Sequence[str], asks: Mapping[str, Ask]) -> list[Ask]:
    """The asks of a request, one of which is there at least: they differ in their seed alone, of which answers say nothing."""
    return [next(asks[key] for key in keys if key in asks)] * len(keys)
