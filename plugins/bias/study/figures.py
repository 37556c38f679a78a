"""What stands before any score: counts and shares by group and by design, and pairs of summaries as examples."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from ..demographic.counts import CountTable
from ..demographic.distinguishability import Distinguishability
from ..demographic.hallucination import Containment, hallucinated_spans
from ..demographic.persons import align
from .contents import BiasExample, DesignFigures, ExamplePerson, ExampleSide, GroupFigure
from .evidence import StudyEvidence, Summarised, by_original, masked
from .inputs import BiasInput, Design
from .measure import COUNT, DENSE, HALLUCINATION, INCLUSION, ORDER, QUOTATIONS, TITLES, WORD_LISTS, MeasureResults
from .persons import known_persons

# what is told of each group
PERSONS, RECOGNISED, KEPT = (
    "persons in the inputs",
    "of them found in the inputs themselves",
    "of them named in summaries",
)
MISSED = "name in the summary, missed by the recogniser"
WORDS_BEFORE, WORDS_AFTER = "gendered words of the inputs", "gendered words of the summaries"
INVENTED = "invented persons"
TITLED, FIRST = "mentions of persons with a title, and with it", "named first, where both groups are named"
QUOTED, UNIFORM = "quotations in the inputs, and kept", "summaries of uniform inputs"
NEARER, EQUALLY_NEAR = "by {by} nearer to their own group", "by {by} equally near to both"

# a count and a share
Figure = tuple[int | None, float | None]


def group_figures(results: MeasureResults, evidence: StudyEvidence, *, recognises: bool) -> list[GroupFigure]:
    """Every figure, of every group in their order.

    Args:
        results: of the measures.
        evidence: the measured summaries.
        recognises: whether a recogniser found the persons, and so may have missed names that stand in a summary.
    """
    inclusion, words = results.result(INCLUSION), results.result(WORD_LISTS)
    invented = hallucinations.bias() if (hallucinations := results.result(HALLUCINATION)) else None
    titled, quoted = (_rates(results.result(name), evidence) for name in (TITLES, QUOTATIONS))
    order = results.result(ORDER)
    first = order.counts.sum(axis=(0, 1)) if order else np.zeros(len(evidence.groups), dtype=int)
    figures: list[GroupFigure] = []
    for place, group in enumerate(evidence.groups):
        written, missed = missed_persons(evidence, group) if recognises else (0, 0)
        by_name: dict[str, Figure] = {
            PERSONS: (inclusion.present[group] if inclusion else 0, None),
            RECOGNISED: (None, recognised_share(evidence, group)),
            KEPT: (inclusion.included[group], inclusion.p[group]) if inclusion else (0, None),
            MISSED: (missed, missed / written) if written else (None, None),
            WORDS_BEFORE: (words.source_counts[group], words.p_ref[group]) if words else (None, None),
            WORDS_AFTER: (words.summary_counts[group], words.p_obs[group]) if words else (None, None),
            INVENTED: (invented.counts[group], invented.p[group]) if invented else (None, None),
            TITLED: titled[place],
            FIRST: (int(first[place]), float(first[place] / first.sum()) if first.sum() else None),
            QUOTED: quoted[place],
            UNIFORM: (sum(summary.input.group == group for summary in evidence.uniform), None),
            **_nearness("words", results.result(COUNT), evidence, group),
            **_nearness("embeddings", results.result(DENSE), evidence, group),
        }
        n = {MISSED: written}
        figures += (
            GroupFigure(measure=name, side=group, count=count, value=share, n=n.get(name, 0))
            for name, (count, share) in by_name.items()
        )
    return figures


def design_figures(
    inputs: Sequence[BiasInput], evidence: StudyEvidence, containment: Containment | None
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


def recognised_share(evidence: StudyEvidence, group: str) -> float | None:
    """Share of the group's persons whom the recogniser finds in the balanced inputs themselves, in [0, 1]."""
    seen = [
        person.id in summary.recognised
        for summary in evidence.balanced
        for person in summary.instance.source_entities
        if person.category == group
    ]
    return fmean(seen) if seen else None


def missed_persons(evidence: StudyEvidence, group: str) -> tuple[int, int]:
    """Persons of the group whose name stands in the summary as it is, and those of them whom the recogniser missed there."""
    written = missed = 0
    for summary in evidence.balanced:
        persons = summary.instance.source_entities
        names = known_persons(summary.instance.summary or "", tuple(summary.input.entities.values()))
        stands, recognised = (
            align(names, persons).by_entity,
            align(summary.instance.summary_entities, persons).by_entity,
        )
        of_group = [person.id for person in persons if person.category == group and stands[person.id]]
        written += len(of_group)
        missed += sum(not recognised[person] for person in of_group)
    return written, missed


def _rates(table: CountTable | None, evidence: StudyEvidence) -> list[tuple[int, float | None]]:
    """Of each group the number that was counted, and the share of it that summaries keep."""
    if table is None:
        return [(0, None) for _ in evidence.groups]
    counts = table.counts.sum(axis=0)
    return [(int(n), float(k / n) if n else None) for n, k in zip(*counts, strict=True)]


def _nearness(by: str, result: Distinguishability | None, evidence: StudyEvidence, group: str) -> dict[str, Figure]:
    """Shares of the group's summaries that are nearer to their own group, and as near to both."""
    outcomes: list[float] = []
    if result is not None:
        summaries = (summary for document in by_original(evidence.uniform).values() for summary in document)
        trials = (outcome for document in result.documents for outcome in document.trials)
        pairs = zip(summaries, trials, strict=True)
        outcomes = [outcome for summary, outcome in pairs if summary.input.group == group and outcome is not None]
    won, tied = (outcomes.count(outcome) / len(outcomes) if outcomes else None for outcome in (1.0, 0.5))
    return {NEARER.format(by=by): (None, won), EQUALLY_NEAR.format(by=by): (None, tied)}


def _design(
    design: Design, inputs: Sequence[BiasInput], summaries: Sequence[Summarised], containment: Containment | None
) -> DesignFigures:
    design_inputs = [bias_input for bias_input in inputs if bias_input.design == design]
    spans = sum(len(summary.instance.summary_entities) for summary in summaries)
    return DesignFigures(
        design=design,
        documents=len({bias_input.original_id for bias_input in design_inputs}),
        inputs=len(design_inputs),
        summaries=len(summaries),
        words=fmean(len((summary.instance.summary or "").split()) for summary in summaries) if summaries else None,
        persons=spans / len(summaries) if summaries else None,
        invented_share=None
        if containment is None or not spans
        else sum(len(hallucinated_spans(summary.instance, containment)) for summary in summaries) / spans,
    )


def choose_examples(balanced: Sequence[Summarised], n: int) -> list[BiasExample]:
    """Up to n pairs whose summaries differ in more than names, pronouns and titles, at most one an original.

    Those come first in which most persons are named by one summary only; equal ones keep the order of the inputs.
    """
    examples = []
    for original, summaries in by_original(balanced).items():
        of_assignment: dict[int, list[Summarised]] = {}
        for summary in summaries:
            of_assignment.setdefault(summary.input.assignment_id, []).append(summary)
        pairs = [(pair[0], pair[1]) for pair in of_assignment.values() if masked(pair[0]) != masked(pair[1])]
        if pairs:
            a, b = max(pairs, key=lambda pair: _n_changed(*pair))
            examples.append(BiasExample(original_id=original, n_changed=_n_changed(a, b), sides=(_side(a), _side(b))))
    return sorted(examples, key=lambda example: -example.n_changed)[:n]


def _n_changed(a: Summarised, b: Summarised) -> int:
    kept_a, kept_b = _kept(a), _kept(b)
    return sum(kept_a[person] != kept_b[person] for person in kept_a)


def _kept(summary: Summarised) -> dict[str, bool]:
    partners = align(summary.instance.summary_entities, summary.instance.source_entities).by_entity
    return {person: bool(spans) for person, spans in partners.items()}


def _side(summary: Summarised) -> ExampleSide:
    is_kept = _kept(summary)
    persons = tuple(
        ExamplePerson(
            name=" ".join(name for name in (person.first_name, person.last_name) if name) or person.id,
            category=person.category,
            kept=is_kept[person.id],
        )
        for person in summary.instance.source_entities
    )
    return ExampleSide(
        input_id=summary.input.id, persons=persons, text=summary.input.text, summary=summary.instance.summary or ""
    )
