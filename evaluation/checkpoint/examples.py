"""Example requests for the report: chosen by rule, so that nobody picks the pretty ones.

Requests are ordered by the paired difference in the first deciding judge and taken at even steps, from the largest loss
to the largest gain.
"""

from collections.abc import Mapping, Sequence

from ...records import CandidateGroup, ScoredCandidate, SummaryRequest
from ...runfolder.files import chosen_groups
from ..systems.contents import Example, Examples, ExampleSummary
from ..systems.systems import SYSTEMS, PolicyOutput, System

# requests with their candidates, by id
Groups = Mapping[str, tuple[SummaryRequest, CandidateGroup]]


def choose_examples(
    outputs: Sequence[PolicyOutput], paired: Sequence[float | None], about: tuple[str, str], count: int
) -> Examples | None:
    """Up to `count` requests with all systems' summaries; None when no request has a difference.

    Args:
        outputs: what each policy wrote.
        paired: the difference of each request, in the order of the requests.
        about: the comparison and the measure of `paired`.
        count: requests wanted.
    """
    requests = outputs[0].requests
    known = sorted((d, request.id) for d, request in zip(paired, requests, strict=True) if d is not None)
    if not known or not count:
        return None
    chosen = [known[place] for place in _even_steps(len(known), count)]
    ids = {request_id for _, request_id in chosen}
    groups = {output.policy: chosen_groups(output.phase.folder, ids) for output in outputs}
    return Examples(
        comparison=about[0],
        measure=about[1],
        among=len(known),
        examples=tuple(_example(groups, request_id, difference) for difference, request_id in chosen),
    )


def _even_steps(length: int, count: int) -> list[int]:
    """Up to `count` places in a list of that length, evenly spaced, first and last among them; the last alone for 1."""
    if count >= length:
        return list(range(length))
    if count == 1:
        return [length - 1]
    return [round(step * (length - 1) / (count - 1)) for step in range(count)]


def _example(by_policy: Mapping[str, Groups], request_id: str, difference: float) -> Example:
    summaries = []
    for system in SYSTEMS:
        if system.policy not in by_policy:
            continue
        _, group = by_policy[system.policy][request_id]
        if scored := _summary_of(system, group):
            summaries.append(
                ExampleSummary(
                    system=system.name,
                    text=scored.candidate.text,
                    issues=scored.candidate.issues,
                    scores=scored.scores,
                )
            )
    request, _ = next(iter(by_policy.values()))[request_id]
    documents = request.document_set.documents
    attribute = request.perspective.attribute if request.perspective else request.attribute
    return Example(
        request_id=request.id,
        topic=request.document_set.topic or request.document_set.id,
        side=request.side,
        difference=difference,
        summaries=tuple(summaries),
        documents=tuple((d.attributes.get(attribute, "") if attribute else "", d.text) for d in documents),
    )


def _summary_of(system: System, group: CandidateGroup) -> ScoredCandidate | None:
    """The best candidate by reward, or the first draw; None when there is none."""
    if not system.reranks:
        return min(group.candidates, key=lambda scored: scored.candidate.index, default=None)
    return next((scored for scored in group.candidates if scored.candidate.id == group.best_id), None)
