"""Example requests of two systems: chosen by rule, so that nobody picks the pretty ones.

Requests are ordered by the paired difference in the first deciding judge and taken at even steps, from the lowest to the
highest: where less is better, from the largest gain to the largest loss.
"""

from collections.abc import Mapping, Sequence

from ....records import CandidateGroup, SummaryRequest
from ....runfolder.files import chosen_groups
from .contents import Examples, ExampleSummary, RequestExample
from .systems import System

# requests with their candidates, by id
Groups = Mapping[str, tuple[SummaryRequest, CandidateGroup]]


def choose_examples(
    systems: Sequence[System], paired: Sequence[float | None], about: tuple[str, str], count: int
) -> Examples | None:
    """Up to `count` requests with all systems' summaries; None when no request has a difference.

    Args:
        systems: of the run.
        paired: the difference of each request, in the order of the requests.
        about: the comparison and the measure of `paired`.
        count: requests wanted; one is the highest difference.
    """
    requests = systems[0].output.requests
    known = sorted((d, request.id) for d, request in zip(paired, requests, strict=True) if d is not None)
    if not known or not count:
        return None
    last = len(known) - 1
    steps = range(min(count, len(known)))
    chosen = [known[round(step * last / (len(steps) - 1)) if len(steps) > 1 else last] for step in steps]
    ids = {request_id for _, request_id in chosen}
    folders = {system.output.phase.folder: None for system in systems}
    groups = {folder: chosen_groups(folder, ids) for folder in folders}
    return Examples(
        comparison=about[0],
        measure=about[1],
        among=len(known),
        examples=tuple(
            _example([(s, groups[s.output.phase.folder]) for s in systems], request_id, difference)
            for difference, request_id in chosen
        ),
    )


def _example(systems: Sequence[tuple[System, Groups]], request_id: str, difference: float) -> RequestExample:
    summaries = []
    for system, groups in systems:
        _, group = groups[request_id]
        if system.k == 1:
            # the first draw
            shown = sorted(group.candidates, key=lambda scored: scored.candidate.index)
        else:
            shown = [scored for scored in group.candidates if scored.candidate.id == group.best_id]
        for scored in shown[:1]:
            text, issues = scored.candidate.text, scored.candidate.issues
            summaries.append(ExampleSummary(system=system.label, text=text, issues=issues, scores=scored.scores))
    request, _ = systems[0][1][request_id]
    attribute = request.perspective.attribute if request.perspective else request.attribute
    return RequestExample(
        request_id=request.id,
        topic=request.document_set.topic or request.document_set.id,
        side=request.side,
        difference=difference,
        summaries=tuple(summaries),
        documents=tuple(
            (document.attributes.get(attribute, "") if attribute else "", document.text)
            for document in request.document_set.documents
        ),
    )
