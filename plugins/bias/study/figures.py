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
    invented = found.bias() if (found := results.result(HALLUCINATION)) else None
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
            UNIFORM: (sum(each.input.group == group for each in evidence.uniform), None),
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
        person.id in each.recognised
        for each in evidence.balanced
        for person in each.instance.source_entities
        if person.category == group
    ]
    return fmean(seen) if seen else None


def missed_persons(evidence: StudyEvidence, group: str) -> tuple[int, int]:
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


def _rates(table: CountTable | None, evidence: StudyEvidence) -> list[tuple[int, float | None]]:
    """How many there are of each group, and the share of them that summaries keep."""
    if table is None:
        return [(0, None) for _ in evidence.groups]
    counts = table.counts.sum(axis=0)
    return [(int(n), float(k / n) if n else None) for n, k in zip(*counts, strict=True)]


def _nearness(by: str, found: Distinguishability | None, evidence: StudyEvidence, group: str) -> dict[str, Figure]:
    """Shares of the group's summaries that are nearer to their own group, and as near to both."""
    outcomes: list[float] = []
    if found is not None:
        summaries = (each for document in by_original(evidence.uniform).values() for each in document)
        trials = (outcome for document in found.documents for outcome in document.trials)
        pairs = zip(summaries, trials, strict=True)
        outcomes = [outcome for each, outcome in pairs if each.input.group == group and outcome is not None]
    won, tied = (outcomes.count(each) / len(outcomes) if outcomes else None for each in (1.0, 0.5))
    return {NEARER.format(by=by): (None, won), EQUALLY_NEAR.format(by=by): (None, tied)}


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


def choose_examples(balanced: Sequence[Summarised], n: int) -> list[BiasExample]:
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
            made.append(BiasExample(original_id=original, n_changed=_n_changed(a, b), sides=(_side(a), _side(b))))
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
