"""What the journals of a judging stage say, of all processes that worked at it."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from ..generate.backend import Usage
from ..records import Judgement
from ..runfolder.journal import Journal
from .batch import JudgedBatch


def done_by(journals: Sequence[Journal[JudgedBatch]]) -> dict[str, set[str]]:
    """Judge -> ids of the requests that it has judged already: a batch holds all candidates of its requests."""
    done: dict[str, set[str]] = defaultdict(set)
    for journal in journals:
        for batch in journal:
            for judgement in batch.judgements:
                done[judgement.judge].add(judgement.request_id)
    return done


# a line of a journal, and the place of its first request among all
Line = tuple[int, Journal[JudgedBatch], int]


class Told:
    """What journals say, read again in the order of the candidates: of each company one batch is in memory, and what is not yet
    told of those before it.

    Args:
        journals: of the stage.
        place: request id -> its place in that order.

    Attributes:
        cached: judge -> distinct inputs whose verdict came from the cache.
        used: judges that were asked together -> what their prompts took.
    """

    def __init__(self, journals: Sequence[Journal[JudgedBatch]], place: Mapping[str, int]) -> None:
        lines: dict[str, list[Line]] = {}
        self.cached: Counter[str] = Counter()
        self.used: dict[tuple[str, ...], Usage] = {}
        for journal in journals:
            for number, batch in enumerate(journal):
                self.cached.update(batch.cached)
                used = self.used.setdefault(tuple(batch.cached), Usage())
                used.add_used(batch)
                first = min((place[judgement.request_id] for judgement in batch.judgements), default=0)
                for name in batch.cached:
                    lines.setdefault(name, []).append((first, journal, number))
        for journal_lines in lines.values():
            journal_lines.sort(key=lambda line: line[0])
        # judges that were asked together stand in the same lines, which are then read once for all of them
        companies: dict[tuple[tuple[str, int], ...], _Company] = {}
        self._company: dict[str, _Company] = {}
        for name, journal_lines in lines.items():
            places = tuple((journal.path.name, number) for _, journal, number in journal_lines)
            self._company[name] = companies.setdefault(places, _Company(journal_lines))

    def judgement(self, judge: str, candidate_id: str) -> Judgement:
        """What a judge says of a candidate; candidates come in their order."""
        return self._company[judge].judgement(judge, candidate_id)


class _Company:
    """The lines of judges that were asked together."""

    def __init__(self, lines: Sequence[Line]) -> None:
        self._lines = iter(lines)
        self._read: dict[tuple[str, str], Judgement] = {}

    def judgement(self, judge: str, candidate_id: str) -> Judgement:
        while (judge, candidate_id) not in self._read:
            _, journal, number = next(self._lines)
            # where batches were cut anew, one may hold requests before and after those of another
            self._read |= {
                (judgement.judge, judgement.candidate_id): judgement for judgement in journal[number].judgements
            }
        return self._read.pop((judge, candidate_id))
