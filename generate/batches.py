"""Batches of requests in the journals of their stage: what is finished, and rounds of what is not.

One process works through the batches, or several replicas do, each with a journal of its own (`runfolder/replicas.py`). Which of
them made a batch cannot be told from the files that the stage leaves.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, takewhile

from pydantic import RootModel

from ..records import Candidate, Failure, Turn
from ..runfolder.journal import Journal, Merged
from ..text.digests import digest
from .backend import Used
from .rounds import Round


class FinishedBatch(Used):
    """What came of one batch of requests: a line of the journal."""

    request_ids: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    failures: tuple[Failure, ...]
    # what was said on the way, of methods that ask more than once
    turns: tuple[Turn, ...] = ()


class JournalLine(RootModel[FinishedBatch | Round]):
    """A line of the journal: a finished batch, or a finished round of one that was not finished."""


class JournalContents:
    """What journals of the stage hold.

    Args:
        journals: of one process or of all.
        ids: of the stage's requests, in their order.

    Attributes:
        done: places of the requests that are finished.
        overlapping: see `Merged`.
    """

    def __init__(self, journals: Sequence[Journal[JournalLine]], ids: Iterable[str]) -> None:
        self._place = {name: place for place, name in enumerate(ids)}
        # name of a batch -> call -> its round
        self._rounds: dict[str, dict[int, Round]] = {}
        self._merged = Merged(journals, self._places)
        self.done, self.overlapping = self._merged.done, self._merged.overlapping

    def _places(self, line: JournalLine) -> list[int]:
        entry = line.root
        if isinstance(entry, Round):
            self.take([entry])
            return []
        self._rounds.pop(batch_name(entry.request_ids), None)
        return [self._place[name] for name in entry.request_ids]

    def take(self, rounds: Iterable[Round]) -> None:
        """Keep rounds of a batch that is not finished."""
        for each in rounds:
            self._rounds.setdefault(each.batch, {}).setdefault(each.call, each)

    def rounds(self, ids: Sequence[str]) -> list[Round]:
        """Those of a batch of these requests that was under way, from its first call on."""
        rounds_ = self._rounds.get(batch_name(ids), {})
        return [rounds_[call] for call in takewhile(rounds_.__contains__, count())]

    def __iter__(self) -> Iterator[FinishedBatch]:
        """The finished batches, in the order of the requests."""
        for line in self._merged:
            assert isinstance(line.root, FinishedBatch)
            yield line.root


def batch_name(ids: Sequence[str]) -> str:
    """What rounds call the batch of these requests."""
    return digest(list(ids))
