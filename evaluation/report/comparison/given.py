"""Entries of summaries that were made elsewhere: one for each request, which no run holds and no reward chose."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from ....config import Recipe
from ....judges.overflow import was_cut
from ....records import Candidate, CandidateGroup, Judgement, ScoredCandidate, SummaryRequest
from ....runfolder.phases import BASE, open_phase
from ...pages.folder import Content
from ..systems.systems import policy_output
from .build import COMPARISON
from .entries import ELSEWHERE, Entry, compared

# a request and its only candidate, in a list
Answered = tuple[SummaryRequest, Sequence[Candidate]]


def _is_of_given(content: Content) -> bool:
    return COMPARISON.is_ours(content) and all(entry.get("method") == ELSEWHERE for entry in content["entries"])


# as `compare` writes it, and known from that by its entries
SCORED = replace(COMPARISON, what="score", is_ours=_is_of_given)


def given_entry(
    label: str,
    folder: Path,
    recipe: Recipe,
    answered: Iterable[Answered],
    judgements: Iterable[Judgement],
    notes: Sequence[str] = (),
) -> Entry:
    """An entry of judged summaries.

    Args:
        label: what tables call it.
        folder: where its files lie.
        recipe: says which judges made the judgements, of which documents.
        answered: every request.
        judgements: of all summaries by all judges, of one signature each.
        notes: what is to be known of the summaries.
    """
    signatures: dict[str, str] = {}
    scores = defaultdict[str, dict[str, float | None]](dict)
    n_cut = Counter[str]()
    for judgement in judgements:
        n_cut[judgement.judge] += was_cut(judgement.raw)
        signatures[judgement.judge] = judgement.signature
        scores[judgement.candidate_id][judgement.judge] = judgement.score

    def groups() -> Iterator[tuple[SummaryRequest, CandidateGroup]]:
        for request, candidates in answered:
            scored = (ScoredCandidate(candidate=c, scores=scores[c.id], reward=None) for c in candidates)
            yield (
                request,
                CandidateGroup(
                    request_id=request.id,
                    set_id=request.document_set.id,
                    side=request.side,
                    prompt=request.prompt,
                    candidates=tuple(scored),
                    best_id=None,
                ),
            )

    # where there are no receipts of stages to read
    phase = open_phase(recipe.model_copy(update={"output": folder}), BASE)
    output = policy_output(phase, groups(), signatures, compared)
    return Entry(label, output, None, run=label, elsewhere=folder, notes=tuple(notes), n_cut=+n_cut)
