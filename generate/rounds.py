"""Rounds of a batch that is under way, kept in the stage's journal so that a kill loses only the round in flight.

A method asks the backend as often as it has rounds, and what it asks next follows from the replies alone. So a stage that
continues runs the method again from its beginning, and `KeptRounds` answers the calls that were answered before from the journal:
the method comes to where it was, in no time, and goes on as if nothing had happened.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from ..errors import StorageError
from ..text.digests import digest
from .backend import Ask, Backend, Reply, Usage, Used


class Round(Used):
    """The replies to one call of a batch: a line of the journal."""

    # digest of the batch's requests
    batch: str
    # which of the batch's calls, from 0
    call: int
    # digest of what was asked
    asked: str
    replies: tuple[Reply, ...]


class KeptRounds:
    """A backend for one batch: calls that were answered before come from `kept`, the others go to the real one.

    A call is handed to `keep` when the next one begins. The last one never is: what comes of it is in the batch's own line of the
    journal, so a method of one call leaves no rounds at all.

    Args:
        backend: the real one.
        batch: digest of the batch's requests.
        kept: the batch's rounds that the journal holds, in order.
        keep: appends a round to the journal.
    """

    def __init__(self, backend: Backend, batch: str, rounds: Sequence[Round], keep: Callable[[Round], object]) -> None:
        self.signature = backend.signature
        # of this batch, in all processes that worked at it
        self.usage = Usage()
        self._backend = backend
        self._batch = batch
        self._kept = rounds
        self._keep = keep
        self._n_calls = 0
        self._pending: tuple[Sequence[Ask], Sequence[Reply], Usage] | None = None

    def complete(self, asks: Sequence[Ask]) -> list[Reply]:
        """One reply for each ask, in order.

        Raises:
            StorageError: the journal has replies to other asks.
        """
        self._keep_pending()
        call, self._n_calls = self._n_calls, self._n_calls + 1
        if call < len(self._kept):
            round_ = self._kept[call]
            if round_.call != call or round_.asked != _digest(asks):
                raise StorageError(
                    f"the journal of this stage has, for a batch that is under way, replies to other questions than those of "
                    f"call {call}; delete it (receipts/generate.*.partial.jsonl in the phase folder), and the stage starts over"
                )
            self.usage.add_used(round_)
            return list(round_.replies)
        before = replace(self._backend.usage)
        replies = self._backend.complete(asks)
        used = self._backend.usage.since(before)
        self.usage.add_used(used)
        self._pending = asks, replies, used
        return replies

    def _keep_pending(self) -> None:
        if self._pending is None:
            return
        asks, replies, used = self._pending
        self._pending = None
        self._keep(
            Round(
                batch=self._batch,
                call=self._n_calls - 1,
                asked=_digest(asks),
                replies=tuple(replies),
                **used.fields,
            )
        )

    def close(self) -> None:
        """Nothing to give back: the real backend goes on with the next batch."""


def _digest(asks: Sequence[Ask]) -> str:
    return digest(
        [
            [[turn.model_dump() for turn in ask.prompt], ask.sampling.model_dump(), ask.seed, list(ask.choices)]
            for ask in asks
        ]
    )
