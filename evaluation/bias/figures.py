"""Counts and shares by group and by design: what stands before any score."""

from collections.abc import Sequence
from statistics import fmean

from ...fairness.demographic import Distinguishability, hallucinated_spans
from ...fairness.demographic.hallucination import Containment
from .contents import DesignFigures, GroupFigures
from .evidence import Evidence, Summarised
from .inputs import BiasInput, Design
from .measure import Results, Scored


def group_figures(results: Results, evidence: Evidence) -> list[GroupFigures]:
    """One row a group, in their order."""
    return [_figures(group, results, evidence) for group in evidence.groups]


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


def _figures(group: str, results: Results, evidence: Evidence) -> GroupFigures:
    inclusion = results.inclusion.result if results.inclusion else None
    words = results.word_lists.result if results.word_lists else None
    invented = results.hallucination.result.bias() if results.hallucination else None
    return GroupFigures(
        group=group,
        persons=inclusion.present[group] if inclusion else 0,
        recognised_share=recognised_share(evidence, group),
        kept=inclusion.included[group] if inclusion else 0,
        kept_share=inclusion.p[group] if inclusion else None,
        input_words=words.source_counts[group] if words else None,
        input_share=words.p_ref[group] if words else None,
        summary_words=words.summary_counts[group] if words else None,
        summary_share=words.p_obs[group] if words else None,
        invented=invented.counts[group] if invented else None,
        invented_share=invented.p[group] if invented else None,
        uniform_summaries=sum(each.input.group == group for each in evidence.uniform),
        own_count=_own(results.count, group),
        own_dense=_own(results.dense, group),
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


def _own(scored: Scored[Distinguishability] | None, group: str) -> float | None:
    shares = [document.own_by_group.get(group) for document in scored.result.documents] if scored else []
    known = [share for share in shares if share is not None]
    return fmean(known) if known else None


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
