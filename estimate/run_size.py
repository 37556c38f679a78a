"""What a run makes: candidates, their tokens at most, and bytes of files.

Bytes are those of the records that stages write, with made-up texts and scores, of not many more than `MOST_COUNTED` requests
of a split; the others are taken to be like them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from ..config import Recipe
from ..generate.backend import Reply
from ..generate.method import DrawnReply, Job, draws
from ..records import Candidate, CandidateGroup, Judgement, Record, ScoredCandidate, SummaryRequest
from ..rerank.pairs import preference_pair
from ..rerank.stage import best_summary
from ..runfolder.files import scores_of
from ..runfolder.phases import BEST, CANDIDATES, GROUPS, JUDGEMENTS, PAIRS, REQUESTS, Phase, phases
from ..text.amounts import disk_size
from ..text.shown import counted_as
from .counting import WORD, Counter

# about so many requests are counted of each split
MOST_COUNTED = 48
# tokens that a summary is taken to have, where its plan allows more; and candidates of a plan that stand for all of it
USUAL_TOKENS, MOST_ALIKE = 128, 16
# a token's id in a file with its comma; a judge's signature and score, as long as most are
ID_BYTES, SIGNATURE, SCORE = 6, "-" * 60, 0.1234

# a candidate and what it answers
Answered = tuple[SummaryRequest, Candidate]


@dataclass(frozen=True)
class RunSize:
    """What a run will make, about."""

    candidates: int
    # generated tokens of the candidates, at most
    most_tokens: int
    # file of a phase's folder -> its bytes in all phases, with summaries of usual length and as many pairs as there can be
    files: Mapping[str, float]
    # of one phase, by split
    n_requests: Mapping[str, int]

    @property
    def bytes(self) -> int:
        """Of all files."""
        return round(sum(self.files.values()))

    def __str__(self) -> str:
        candidates = counted_as(self.candidates, "candidates")
        return f"{candidates} of at most {self.most_tokens:,} tokens, about {disk_size(self.bytes)}"


def run_size(recipe: Recipe, samples: Mapping[str, Sequence[SummaryRequest]]) -> RunSize:
    """What a run will make.

    Args:
        recipe: its plans say how much a request takes.
        samples: the requests of one phase of each split.
    """
    n_candidates, most_tokens = 0, 0
    files: dict[str, float] = {}
    for split, split_phases in phases_by_split(recipe).items():
        if split not in samples:
            continue
        phase, requests, n_phases = split_phases[0], samples[split], sum(p.has_candidates for p in split_phases)
        n_candidates += n_phases * len(requests) * phase.n_candidates
        most_tokens += (
            n_phases * len(requests) * sum(plan.candidates * plan.max_tokens for plan in phase.plans.values())
        )
        counted = spread(requests)
        candidates = _usual_candidates(phase, counted)
        factor = n_phases * len(requests) / len(counted) if counted else 0.0
        n_alike = phase.n_candidates * len(counted) / len(candidates) if candidates else 0.0
        n_pairs = most_pairs(phase, phase.n_candidates)
        for name, size in file_sizes(phase, counted, candidates, n_pairs, n_alike=n_alike).items():
            files[name] = files.get(name, 0.0) + factor * size
    return RunSize(n_candidates, most_tokens, files, {split: len(requests) for split, requests in samples.items()})


def phases_by_split(recipe: Recipe) -> dict[str, list[Phase]]:
    """The phases of training and those of evaluation; phases of a split are alike."""
    by_split: dict[str, list[Phase]] = {}
    for phase in phases(recipe):
        by_split.setdefault(phase.split, []).append(phase)
    return by_split


def spread(requests: Sequence[SummaryRequest]) -> list[SummaryRequest]:
    """Not many more than MOST_COUNTED requests of evenly spread sets; those of a set stay together, since they begin alike."""
    of_set: dict[str, list[SummaryRequest]] = {}
    for request in requests:
        of_set.setdefault(request.document_set.id, []).append(request)
    step = max(1, ceil(len(requests) / MOST_COUNTED))
    return [request for set_requests in list(of_set.values())[::step] for request in set_requests]


def most_pairs(phase: Phase, n_candidates: int) -> int:
    """Pairs of a request with so many candidates, at most; 0 where nothing is trained."""
    if phase.round is None:
        return 0
    return phase.recipe.pairs.most_pairs(n_candidates, phase.n_candidates)


def _usual_candidates(phase: Phase, requests: Sequence[SummaryRequest]) -> list[Answered]:
    """Candidates of usual length, some of each plan."""
    plans = {
        name: plan.model_copy(update={"candidates": min(plan.candidates, MOST_ALIKE)})
        for name, plan in phase.plans.items()
    }
    job = Job(phase.method, Counter(lambda prompt: ()), requests, draws(plans), [], phase.recipe)
    replies = [
        DrawnReply(draw, 0, Reply(f"{place} {WORD * (min(draw.plan.max_tokens, USUAL_TOKENS) - 1)}".strip(), "stop"))
        for place, draw in enumerate(job.draws)
    ]
    return [(request, job.candidate(request, reply)) for request in requests for reply in replies]


def file_sizes(
    phase: Phase,
    requests: Sequence[SummaryRequest],
    candidates: Sequence[Answered],
    n_pairs: int,
    *,
    n_alike: float = 1.0,
) -> dict[str, float]:
    """Bytes of the files of a phase that grow with the requests; what judges were replied is not counted.

    Args:
        phase: its judges score the candidates.
        requests: all of the phase.
        candidates: theirs.
        n_pairs: of each request.
        n_alike: candidates that each of these stands for.
    """
    has_ids = phase.recipe.generate.has_model and phase.recipe.generate.reads_model
    scored: dict[str, float | None] = dict.fromkeys(phase.judges, SCORE)
    sizes: dict[str, float] = dict.fromkeys((REQUESTS, CANDIDATES, JUDGEMENTS, GROUPS, BEST), 0)
    for request in requests:
        sizes[REQUESTS] += _line(request)
    rows: dict[str, list[ScoredCandidate]] = {request.id: [] for request in requests}
    for request, candidate in candidates:
        sizes[CANDIDATES] += n_alike * (_line(candidate) + (_bytes_of_ids(candidate) if has_ids else 0))
        for judge in (name for name in phase.judges if phase.is_judged(candidate, name)):
            judgement = Judgement(
                candidate_id=candidate.id, request_id=request.id, judge=judge, signature=SIGNATURE, score=SCORE
            )
            sizes[JUDGEMENTS] += n_alike * _line(judgement)
        rows[request.id].append(ScoredCandidate(candidate=candidate, scores=scored, reward=SCORE))
    for request in requests:
        members = rows[request.id]
        group = CandidateGroup(
            request_id=request.id, set_id=request.document_set.id, side=request.side, prompt=request.prompt,
            candidates=tuple(members), best_id=members[0].candidate.id if members else None,
        )  # fmt: skip
        sizes[GROUPS] += n_alike * _line(scores_of(group))
        sizes[BEST] += _line(best_summary(group))
        if members and n_pairs:
            better = members[0]
            pair = _line(preference_pair(group, better, _worse(better)))
            sizes[PAIRS] = sizes.get(PAIRS, 0) + n_pairs * (pair + 2 * has_ids * _bytes_of_ids(better.candidate))
    return sizes


def _bytes_of_ids(candidate: Candidate) -> int:
    return ID_BYTES * len(candidate.raw_text.split())


def _worse(scored: ScoredCandidate) -> ScoredCandidate:
    """One beside it in a pair: no two texts of a pair are equal, nor are their rewards."""
    candidate = scored.candidate.model_copy(update={"text": f"{scored.candidate.text}."})
    return ScoredCandidate(candidate=candidate, scores=scored.scores, reward=0.0)


def _line(record: Record) -> int:
    return len(record.model_dump_json().encode()) + 1
