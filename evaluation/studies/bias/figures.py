"""What stands before any score: counts and shares by group and by design, and pairs of summaries as examples."""

from collections.abc import Sequence
from statistics import fmean

import numpy as np

from ....fairness.demographic.counts import CountTable
from ....fairness.demographic.distinguishability import Distinguishability
from ....fairness.demographic.hallucination import Containment, hallucinated_spans
from ....fairness.demographic.persons import align
from .contents import DesignFigures, Example, ExamplePerson, ExampleSide, GroupFigures, Trials
from .evidence import Evidence, Summarised, by_original, masked
from .inputs import BiasInput, Design
from .measure import COUNT, DENSE, HALLUCINATION, INCLUSION, ORDER, QUOTATIONS, TITLES, WORD_LISTS, Results
from .persons import known_persons


def group_figures(results: Results, evidence: Evidence, *, recognises: bool) -> list[GroupFigures]:
    """One row a group, in their order.

    Args:
        results: of the measures.
        evidence: the measured summaries.
        recognises: whether a recogniser found the persons, and so may have missed names that stand in a summary.
    """
    inclusion, words = results.result(INCLUSION), results.result(WORD_LISTS)
    hallucinations = results.result(HALLUCINATION)
    invented = hallucinations.bias() if hallucinations else None
    titled, quoted = (_rates(results.result(name), evidence) for name in (TITLES, QUOTATIONS))
    order = results.result(ORDER)
    first = order.counts.sum(axis=(0, 1)) if order else np.zeros(len(evidence.groups), dtype=int)
    found = []
    for place, group in enumerate(evidence.groups):
        written, missed = missed_persons(evidence, group) if recognises else (None, None)
        found.append(
            GroupFigures(
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
                titled=titled[place][0],
                titled_share=titled[place][1],
                first=int(first[place]),
                first_share=float(first[place] / first.sum()) if first.sum() else None,
                quotations=quoted[place][0],
                quotations_share=quoted[place][1],
                uniform_summaries=sum(each.input.group == group for each in evidence.uniform),
                by_words=_trials(results.result(COUNT), evidence, group),
                by_embeddings=_trials(results.result(DENSE), evidence, group),
            )
        )
    return found


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


def _rates(table: CountTable | None, evidence: Evidence) -> list[tuple[int, float | None]]:
    """How many there are of each group, and the share of them that summaries keep."""
    if table is None:
        return [(0, None) for _ in evidence.groups]
    counts = table.counts.sum(axis=0)
    return [(int(n), float(k / n) if n else None) for n, k in zip(*counts, strict=True)]


def _trials(found: Distinguishability | None, evidence: Evidence, group: str) -> Trials | None:
    if found is None:
        return None
    summaries = (each for document in by_original(evidence.uniform).values() for each in document)
    outcomes = (outcome for document in found.documents for outcome in document.trials)
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


def choose_examples(balanced: Sequence[Summarised], n: int) -> list[Example]:
    """Up to n pairs whose summaries differ in more than names, pronouns and titles, at most one an original.

    Those come first in which most persons are named by one summary only; equal ones keep the order of the inputs.
    """
    made = []
    for original, summaries in by_original(balanced).items():
        of_assignment: dict[int, list[Summarised]] = {}
        for each in summaries:
            of_assignment.setdefault(each.input.assignment_id, []).append(each)
        pairs = [(each[0], each[1]) for each in of_assignment.values() if masked(each[0]) != masked(each[1])]
        if pairs:
            a, b = max(pairs, key=lambda pair: _n_changed(*pair))
            made.append(Example(original_id=original, n_changed=_n_changed(a, b), sides=(_side(a), _side(b))))
    return sorted(made, key=lambda example: -example.n_changed)[:n]


def _n_changed(a: Summarised, b: Summarised) -> int:
    kept_a, kept_b = _kept(a), _kept(b)
    return sum(kept_a[person] != kept_b[person] for person in kept_a)


def _kept(each: Summarised) -> dict[str, bool]:
    partners = align(each.instance.summary_entities, each.instance.source_entities).by_entity
    return {person: bool(spans) for person, spans in partners.items()}


def _side(each: Summarised) -> ExampleSide:
    kept = _kept(each)
    persons = tuple(
        ExamplePerson(
            name=" ".join(name for name in (person.first_name, person.last_name) if name) or person.id,
            category=person.category,
            kept=kept[person.id],
        )
        for person in each.instance.source_entities
    )
    return ExampleSide(
        input_id=each.input.id, persons=persons, text=each.input.text, summary=each.instance.summary or ""
    )
