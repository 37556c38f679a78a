"""Counts and shares by group and by design: what stands before any score."""

from collections.abc import Sequence
from statistics import fmean

from ...fairness.demographic.distinguishability import Distinguishability
from ...fairness.demographic.hallucination import Containment, hallucinated_spans
from ...fairness.demographic.persons import align
from .contents import DesignFigures, GroupFigures, Trials
from .evidence import Evidence, Summarised
from .inputs import BiasInput, Design
from .measure import Results, Scored, by_original
from .persons import known_persons


def group_figures(results: Results, evidence: Evidence, *, recognises: bool) -> list[GroupFigures]:
    """One row a group, in their order.

    Args:
        results: of the measures.
        evidence: the measured summaries.
        recognises: whether a recogniser found the persons, and so may have missed names that stand in a summary.
    """
    return [_figures(group, results, evidence, recognises) for group in evidence.groups]


def design_figures(
    inputs: Sequence[BiasInput], evidence: Evidence, containment: Containment | None
) -> list[DesignFigures]:
    """One row a design.

    Args:
        inputs: all of the study.
        evidence: the measured summaries.
        containment: as of `hallucinated_spans`; None when the recogniser would not have seen invented persons.
    """
    return [
        _design("balanced", inputs, evidence.balanced, containment),
        _design("uniform", inputs, evidence.uniform, containment),
    ]


def _figures(group: str, results: Results, evidence: Evidence, recognises: bool) -> GroupFigures:
    inclusion = results.inclusion.result if results.inclusion else None
    words = results.word_lists.result if results.word_lists else None
    invented = results.hallucination.result.bias() if results.hallucination else None
    written, missed = missed_persons(evidence, group) if recognises else (None, None)
    return GroupFigures(
        group=group,
        persons=inclusion.present[group] if inclusion else 0,
        recognised_share=recognised_share(evidence, group),
        kept=inclusion.included[group] if inclusion else 0,
        kept_share=inclusion.p[group] if inclusion else None,
        written=written,
        missed=missed,
        input_words=words.source_counts[group] if words else None,
        input_share=words.p_ref[group] if words else None,
        summary_words=words.summary_counts[group] if words else None,
        summary_share=words.p_obs[group] if words else None,
        invented=invented.counts[group] if invented else None,
        invented_share=invented.p[group] if invented else None,
        uniform_summaries=sum(each.input.group == group for each in evidence.uniform),
        by_words=_trials(results.count, evidence, group),
        by_embeddings=_trials(results.dense, evidence, group),
    )


def recognised_share(evidence: Evidence, group: str) -> float | None:
    """Share of the group's persons whom the recogniser finds in the balanced inputs themselves, in [0, 1]."""
    seen = [
        person.id in each.recognised
        for each in evidence.balanced
        for person in each.instance.source_entities
        if person.category == group
    ]
    return fmean(seen) if seen else None


def missed_persons(evidence: Evidence, group: str) -> tuple[int, int]:
    """Persons of the group whose name stands in the summary as it is, and those of them whom the recogniser missed there."""
    written = missed = 0
    for each in evidence.balanced:
        persons = each.instance.source_entities
        names = known_persons(each.instance.summary or "", tuple(each.input.entities.values()))
        stands, found = align(names, persons).by_entity, align(each.instance.summary_entities, persons).by_entity
        of_group = [person.id for person in persons if person.category == group and stands[person.id]]
        written += len(of_group)
        missed += sum(not found[person] for person in of_group)
    return written, missed


def _trials(scored: Scored[Distinguishability] | None, evidence: Evidence, group: str) -> Trials | None:
    if scored is None:
        return None
    summaries = (each for document in by_original(evidence.uniform).values() for each in document)
    outcomes = (outcome for document in scored.result.documents for outcome in document.trials)
    counted = [
        outcome
        for each, outcome in zip(summaries, outcomes, strict=True)
        if each.input.group == group and outcome is not None
    ]
    return Trials(n=len(counted), won=counted.count(1.0), tied=counted.count(0.5))


def _design(
    design: Design, inputs: Sequence[BiasInput], summaries: Sequence[Summarised], containment: Containment | None
) -> DesignFigures:
    made = [each for each in inputs if each.design == design]
    spans = sum(len(each.instance.summary_entities) for each in summaries)
    return DesignFigures(
        design=design,
        documents=len({each.original_id for each in made}),
        inputs=len(made),
        summaries=len(summaries),
        words=fmean(len((each.instance.summary or "").split()) for each in summaries) if summaries else None,
        persons=spans / len(summaries) if summaries else None,
        invented_share=None
        if containment is None or not spans
        else sum(len(hallucinated_spans(each.instance, containment)) for each in summaries) / spans,
    )
