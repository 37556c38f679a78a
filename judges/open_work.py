"""What judges have not judged yet: batches of requests with their candidates, for one process or for several."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import islice

from ..records import Candidate, SummaryRequest
from ..runfolder.files import with_candidates
from ..runfolder.journal import Journal
from ..runfolder.phases import Phase
from ..runfolder.shards import Shard
from .asking import companies
from .batch import JudgedBatch, judge_work, keep_verdicts, score_batch
from .cache import VerdictCache
from .judge import Judge

# a candidate with its request
Pair = tuple[SummaryRequest, Candidate]
# judge -> ids of the requests that it has judged
Done = Mapping[str, set[str]]


def batches_of(phase: Phase, size: int) -> Iterator[list[Pair]]:
    """The candidates of `size` requests at a time, each with its request; requests without a candidate are passed over."""
    with_any = ([(r, c) for c in candidates] for r, candidates in with_candidates(phase.folder) if candidates)
    while some := list(islice(with_any, size)):
        yield [pair for pairs in some for pair in pairs]


def size_of(group: Sequence[Judge]) -> int:
    """Requests of a batch for judges that hold one model."""
    return min(judge.requests_per_batch for judge in group)


def open_pairs(
    phase: Phase, group: Sequence[Judge], batch: Sequence[Pair], done: Done
) -> list[tuple[list[Judge], list[Pair]]]:
    """What judges of one model are to be asked about in a batch, by company; companies with nothing to do are left out."""
    work = []
    for company in companies(group):
        names = [judge.name for judge in company]
        pairs = [
            (request, candidate)
            for request, candidate in batch
            if any(phase.is_judged(candidate, name) for name in names)
            and any(request.id not in done[name] for name in names)
        ]
        if pairs:
            work.append((company, pairs))
    return work


def of_others(phase: Phase, groups: Sequence[Sequence[Judge]], shard: Shard) -> dict[str, set[str]]:
    """Judge -> ids of the requests that it judges in other shards."""
    request_ids: dict[str, set[str]] = defaultdict(set)
    for group in groups if shard.name else ():
        for number, batch in enumerate(batches_of(phase, size_of(group))):
            if not shard.has(number):
                for judge in group:
                    request_ids[judge.name].update(request.id for request, _ in batch)
    return request_ids


def n_new(phase: Phase, company: Sequence[Judge], pairs: Sequence[Pair], done: Done) -> Counter[str]:
    """How much each judge of a company has not judged of these."""
    new = (
        judge.name
        for judge in company
        for r, c in pairs
        if r.id not in done[judge.name] and phase.is_judged(c, judge.name)
    )
    return Counter(new)


def judge_open(
    phase: Phase,
    group: Sequence[Judge],
    batches: Iterable[Sequence[Pair]],
    done: Done,
    cache: VerdictCache,
    journal: Journal[JudgedBatch],
) -> Iterator[Counter[str]]:
    """Put what batches lack into the journal; how much of each is new, by judge, when the journal has it.

    The judges hold one model together, or none, which is closed in the end.
    """
    with ExitStack() as models:
        for judge in group:
            models.callback(judge.close)
        for batch in batches:
            new = Counter[str]()
            for company, pairs in open_pairs(phase, group, batch, done):
                work = judge_work(company, pairs)
                judged = score_batch(work, cache)
                # the journal comes first: a batch that was cut short is then asked in the same company again
                journal.append([judged])
                keep_verdicts(judged, work, cache)
                new += n_new(phase, company, pairs, done)
            yield new


def keep_last(
    phase: Phase, journals: Sequence[Journal[JudgedBatch]], judges: Sequence[Judge], cache: VerdictCache
) -> None:
    """Put the last batch of each journal into the cache: a kill may have come between the two."""
    last = [journal[-1] for journal in journals if len(journal)]
    if not last:
        return
    judged = [{judgement.candidate_id for judgement in batch.judgements} for batch in last]
    pairs: list[list[Pair]] = [[] for _ in last]
    for batch in batches_of(phase, 1):
        for names, judged_pairs in zip(judged, pairs, strict=True):
            judged_pairs += [pair for pair in batch if pair[1].id in names]
    for scored, judged_pairs in zip(last, pairs, strict=True):
        keep_verdicts(scored, judge_work(judges, judged_pairs), cache)
