"""What lies in a phase's files, read side by side: of every request its candidates and what was made of them.

All files of a phase are in the order of its requests, so one request is in memory at a time, however many there are. Files of
another order were not made by the stages, and are refused.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping
from heapq import nsmallest
from itertools import groupby
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel

from ..errors import DataError
from ..records import (
    Candidate,
    CandidateGroup,
    CandidateScores,
    GroupScores,
    Judgement,
    ScoredCandidate,
    SummaryRequest,
)
from ..storage import iter_jsonl
from ..text.mistakes import listed
from .phases import CANDIDATES, GROUPS, JUDGEMENTS, REQUESTS, Phase

R = TypeVar("R", Candidate, Judgement, GroupScores)

# a request, its candidates, and what its judges said of them
Judged = tuple[SummaryRequest, tuple[Candidate, ...], tuple[Judgement, ...]]


class _Id(BaseModel):
    """Id of a request, which is all that its place needs."""

    id: str


def refuse_absent(phase: Phase, made_by: Mapping[str, str]) -> None:
    """Refuse to go on without files that earlier stages of a phase leave.

    Args:
        phase: in its folder they should lie.
        made_by: name of each file, and the stage that makes it.

    Raises:
        DataError: names the first that is not there, and the command that makes it.
    """
    for name, verb in made_by.items():
        path = phase.folder / name
        if not path.is_file():
            shards = any(path.parent.glob(f"receipts/{verb}.*.shard-*.partial.jsonl"))
            first = f"put its shards together (`evenhand run merge RECIPE --phase {phase.name}`), or " if shards else ""
            raise DataError(f"{path}: is not there; {first}run `evenhand {verb} RECIPE --phase {phase.name}` first")


def with_candidates(folder: Path) -> Iterator[tuple[SummaryRequest, tuple[Candidate, ...]]]:
    """The requests of a phase in their order, each with its candidates.

    Raises:
        StorageError: a file cannot be read.
        DataError: lines are wrong, a candidate's request is missing, a candidate or a request occurs twice, or candidates are in
            another order than the requests.
    """
    path = folder / CANDIDATES
    candidates = _Lines(path, Candidate, _places(folder))
    for place, request in enumerate(iter_jsonl(folder / REQUESTS, SummaryRequest)):
        request_candidates = candidates.of(place)
        times = Counter(candidate.id for candidate in request_candidates)
        candidates.mistakes += [f"{path}: candidate id {i!r} occurs {n} times" for i, n in times.items() if n > 1]
        yield request, request_candidates
    candidates.end()


def shortest_prompts(
    folder: Path, n: int, is_wanted: Callable[[Candidate], bool]
) -> list[tuple[SummaryRequest, Candidate]]:
    """The requests of the `n` shortest prompts, each with its first candidate that is wanted; others are passed over."""
    pairs = (
        (request, next(filter(is_wanted, candidates)))
        for request, candidates in with_candidates(folder)
        if any(map(is_wanted, candidates))
    )
    return nsmallest(n, pairs, key=lambda pair: (sum(len(turn.content) for turn in pair[0].prompt), pair[0].id))


def with_judgements(folder: Path) -> Iterator[Judged]:
    """The requests of a phase in their order, each with its candidates and the judgements of its candidates.

    Judgements may be of other requests or candidates besides, which are passed over.

    Raises:
        StorageError: a file cannot be read.
        DataError: as of `with_candidates`, of judgements, too.
    """
    places = _places(folder)
    judgements = _Lines(folder / JUDGEMENTS, Judgement, places, skips_strays=True)
    for place, (request, candidates) in enumerate(with_candidates(folder)):
        request_judgements = judgements.of(place)
        times = Counter((judgement.candidate_id, judgement.judge) for judgement in request_judgements)
        judgements.mistakes += [
            f"{folder / JUDGEMENTS}: candidate {i!r} has {n} judgements by {judge!r}"
            for (i, judge), n in times.items()
            if n > 1
        ]
        yield request, candidates, request_judgements
    judgements.end()


def with_groups(folder: Path) -> Iterator[tuple[SummaryRequest, CandidateGroup]]:
    """The requests of a reranked phase in their order, each with its candidates, their scores and rewards.

    The file of groups names candidates by their ids; this puts texts and prompts beside them.

    Raises:
        StorageError: a file cannot be read.
        DataError: as of `with_candidates`, or the groups are of other candidates.
    """
    groups = _Lines(folder / GROUPS, GroupScores, _places(folder))
    for place, (request, candidates) in enumerate(with_candidates(folder)):
        rows = groups.of(place)
        if len(rows) != 1 or [candidate.id for candidate in rows[0].candidates] != [
            candidate.id for candidate in candidates
        ]:
            raise DataError(
                f"{folder / GROUPS}: candidates of request {request.id!r} are not those of {CANDIDATES}; delete "
                f"{folder / 'receipts' / 'rerank.json'} and give the command that made it again"
            )
        yield request, _joined(request, candidates, rows[0])
    groups.end()


def chosen_groups(folder: Path, request_ids: Collection[str]) -> Mapping[str, tuple[SummaryRequest, CandidateGroup]]:
    """Some requests of a reranked phase with their candidates, by id."""
    return {request.id: (request, group) for request, group in with_groups(folder) if request.id in request_ids}


def scores_of(group: CandidateGroup) -> GroupScores:
    """What the file of groups keeps: ids, scores and rewards; texts and prompts lie in other files."""
    return GroupScores(
        request_id=group.request_id,
        set_id=group.set_id,
        side=group.side,
        candidates=tuple(
            CandidateScores(id=entry.candidate.id, scores=entry.scores, reward=entry.reward)
            for entry in group.candidates
        ),
        best_id=group.best_id,
    )


def _joined(request: SummaryRequest, candidates: tuple[Candidate, ...], scores: GroupScores) -> CandidateGroup:
    return CandidateGroup(
        request_id=request.id,
        set_id=scores.set_id,
        side=scores.side,
        prompt=request.prompt,
        candidates=tuple(
            ScoredCandidate(candidate=candidate, scores=entry.scores, reward=entry.reward)
            for candidate, entry in zip(candidates, scores.candidates, strict=True)
        ),
        best_id=scores.best_id,
    )


def _places(folder: Path) -> dict[str, int]:
    """Place of each request, by its id."""
    places: dict[str, int] = {}
    for place, request in enumerate(iter_jsonl(folder / REQUESTS, _Id)):
        if places.setdefault(request.id, place) != place:
            raise DataError(f"{folder / REQUESTS}: request {request.id!r} occurs there twice; keep one of the two")
    return places


class _Lines(Generic[R]):
    """The lines of a file, taken request by request; what is wrong with their order is said at the end.

    Args:
        path: of the file.
        model: of its lines.
        places: of the requests.
        skips_strays: whether lines may be of other requests.
    """

    def __init__(self, path: Path, model: type[R], places: Mapping[str, int], *, skips_strays: bool = False) -> None:
        self.mistakes: list[str] = []
        self._path = path
        self._places = places
        self._skips_strays = skips_strays
        lines: Iterator[R] = iter_jsonl(path, model)
        self._groups: Iterator[tuple[str, Iterator[R]]] = groupby(lines, key=lambda line: line.request_id)
        self._lines: tuple[R, ...]
        self._place, self._lines = self._after(-1)

    def of(self, place: int) -> tuple[R, ...]:
        """The lines of the request at that place; places have to rise from call to call."""
        if place < self._place:
            return ()
        lines = self._lines
        self._place, self._lines = self._after(place)
        return lines

    def end(self) -> None:
        """Say what was wrong with the lines.

        Raises:
            DataError: names the lines.
        """
        if self.mistakes:
            raise DataError(listed(self.mistakes))

    def _after(self, last: int) -> tuple[int, tuple[R, ...]]:
        """The next lines in order, with the place of their request: one after the last request when there are none."""
        for request_id, lines in self._groups:
            place = self._places.get(request_id)
            if place is not None and place > last:
                return place, tuple(lines)
            if place is not None:
                self.mistakes.append(
                    f"{self._path}: lines of request {request_id!r} are separated or in another order than in {REQUESTS}"
                )
            elif not self._skips_strays:
                self.mistakes += [
                    f"{self._path}: {_name(line)} belongs to request {request_id!r}, which {REQUESTS} does not have"
                    for line in lines
                ]
        return len(self._places), ()


def _name(line: Candidate | Judgement | GroupScores) -> str:
    if isinstance(line, Candidate):
        return f"candidate {line.id!r}"
    return f"a judgement of {line.candidate_id!r}" if isinstance(line, Judgement) else "a group"
