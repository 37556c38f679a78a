"""What papers report beside their measures: numbers that are shown on request, and from which nothing is concluded.

AUC over the cut-offs of the released code (Zhang et al. 2024; docs/papers.md#zhang-auc), p of the values most over- and
under-represented (Li et al. 2025, section 3.3; docs/papers.md#li-significance), measures by the value that has most documents
(appendix A.10; docs/papers.md#li-dominating), and how low and high coverage measures can be with sentences of the documents
(appendix A.9; docs/papers.md#li-bounds).
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from ...config.section import Section
from ...evaluation.audit.contents import NO_GAP, AuditNumber, ChanceGap
from ...evaluation.audit.coverage import Covered, UnitCoverage, sentences_of
from ...evaluation.audit.family import CommandOption
from ...evaluation.audit.figures import Floats, Measured, bounds_of
from ...evaluation.audit.input import AuditInput
from ...evaluation.audit.kinds import (
    AUC,
    BUR,
    COVERAGE_DIFFERENCE,
    COVERAGE_PARITY,
    EQUAL_COVERAGE,
    UER,
    Measure,
)
from ...evaluation.audit.shares import Taken, ValueShares
from ...evaluation.audit.supplements import Supplement
from ...evaluation.pages.words import counted
from ...fairness.groups.coverage import parity_significance
from ...fairness.groups.shares import area_by_cutoff
from ...fairness.labelled import LabelledSummary
from ...resampling import Bootstrap, defined
from .bounds import Bound, greedy_coverage_parity, greedy_equal_coverage

# measures of a set that are shown by dominating value
BY_DOMINATING = (BUR, UER, EQUAL_COVERAGE)
# sets whose sentences are compared with their documents at a time
BATCH = 16
FOUND: tuple[tuple[Bound, str], ...] = (("lower", "lowest found"), ("upper", "highest found"))


class PublishedOptions(Section):
    """What is asked for of an audit."""

    # what papers report beside the measures, and how low and high those of coverage can be
    published: bool = False
    bounds: bool = False


def beside(
    measured: Sequence[Measured], corpus: AuditInput, bootstrap: Bootstrap, options: Section
) -> Iterator[AuditNumber]:
    """All that is asked for, system after system."""
    assert isinstance(options, PublishedOptions), "of its own kind"
    reachable: dict[str, Floats] = {}
    for measurement in measured:
        if not measurement.figures.scored.any():
            continue
        if options.published and isinstance(measurement.family, ValueShares):
            yield _cut_offs(measurement, measurement.family)
        if options.published and isinstance(measurement.family, UnitCoverage):
            yield from _significance(measurement, bootstrap)
        if options.published:
            yield from _by_dominating_value(measurement, corpus, bootstrap)
        if options.bounds and isinstance(measurement.family, UnitCoverage):
            reachable = reachable or matrices(measurement.family, corpus)
            yield from _reachable(measurement, measurement.family, corpus, reachable)


def _cut_offs(measurement: Measured, family: ValueShares) -> AuditNumber:
    masses = [answer.masses for answer in measurement.answers if isinstance(answer, Taken)]
    auc = area_by_cutoff(masses, tau=family.tau, aim=family.target)
    return _made(measurement, Measure(AUC, family.by), "over the released cut-offs", auc, len(masses))


def _significance(measurement: Measured, bootstrap: Bootstrap) -> Iterator[AuditNumber]:
    """The values of largest and smallest mean difference, by the released bootstrap over documents, whatever set they are of."""
    gaps: dict[str, list[float]] = {}
    n_sets: Counter[str] = Counter()
    for answer in measurement.answers:
        if isinstance(answer, Covered):
            overall = answer.coverage.overall or 0.0
            for label, covered in zip(answer.labels, answer.coverage.by_document, strict=True):
                gaps.setdefault(answer.values[label], []).append((covered or 0.0) - overall)
            n_sets.update({answer.values[label] for label in answer.labels})
    means = {value: float(np.mean(differences)) for value, differences in gaps.items()}
    extremes: tuple[tuple[str, Literal["over", "under"]], ...] = (
        (max(means, key=means.__getitem__), "over"),
        (min(means, key=means.__getitem__), "under"),
    )
    for value, direction in extremes:
        p_value = parity_significance(gaps[value], direction, resamples=bootstrap.resamples, seed=bootstrap.seed)
        row = _made(
            measurement,
            Measure(COVERAGE_DIFFERENCE, measurement.family.by),
            f"most {direction}-represented",
            means[value],
            n_sets[value],
        )
        yield row.model_copy(update={"side": value, "p_value": p_value})


def _by_dominating_value(measurement: Measured, corpus: AuditInput, bootstrap: Bootstrap) -> Iterator[AuditNumber]:
    figures = measurement.figures
    places = [place for place, quantity in enumerate(figures.quantities) if quantity.kind in BY_DOMINATING]
    values = [[document.value for document in corpus.labelled(documents)] for documents in corpus.sets]
    dominating = np.array([_most_frequent(set_values) for set_values in values])
    rows: list[tuple[int, AuditNumber]] = []
    for value in corpus.values if places else ():
        part = figures.only((dominating == value) & figures.scored)
        n = len(part.columns)
        if not n:
            continue
        by_set, numbers = part.said(), part.all_sets()
        expected = np.full_like(numbers, np.nan) if part.expect is None else part.expect(part.columns.sum(axis=0))
        for place in places:
            measure, null = figures.quantities[place].measure, part.nulls[place] if part.nulls else ""
            row = _made(measurement, measure, "where it has most documents", defined(numbers[place]), n)
            low, high = bounds_of(row.value, by_set[:, place], measure.kind, bootstrap)
            gap = ChanceGap(reference=null, expected=defined(expected[place])) if null else NO_GAP
            rows.append((place, row.model_copy(update={"side": value, "low": low, "high": high, "gap": gap})))
    yield from (row for _, row in sorted(rows, key=lambda pair: pair[0]))


def _most_frequent(values: Sequence[str]) -> str | None:
    """The value that more documents have than any other."""
    (first, n), (_, runner_up) = [*Counter(values).most_common(2), ("", 0)][:2]
    return first if n > runner_up else None


def matrices(family: UnitCoverage, corpus: AuditInput) -> dict[str, Floats]:
    """How far each document of a set entails each sentence of its documents, (documents, sentences), by set."""
    entailed: dict[str, Floats] = {}
    for start in range(0, len(corpus.sets), BATCH):
        items = [
            LabelledSummary(documents.id, corpus.values, corpus.labelled(documents), "", documents.separator)
            for documents in corpus.sets[start : start + BATCH]
        ]
        by_documents = family.by_own_sentences(items)
        for item in items:
            if item.documents in by_documents:
                units, matrix = by_documents[item.documents]
                # a sentence entails itself
                has = np.array(
                    [[unit in sentences for unit in units] for sentences in map(sentences_of, item.documents)]
                )
                entailed[item.id] = np.where(has, 1.0, matrix)
    return entailed


def _reachable(
    measurement: Measured, family: UnitCoverage, corpus: AuditInput, reachable: Mapping[str, Floats]
) -> Iterator[AuditNumber]:
    """Bounds of coverage measures for as many sentences as the system's summaries have units, on average."""
    n_units = [sum(map(len, answer.coverage.clusters)) for answer in measurement.answers if isinstance(answer, Covered)]
    n_sentences = max(1, round(float(np.mean(n_units))))
    sets = [
        (reachable[documents.id], [corpus.values.index(document.value) for document in corpus.labelled(documents)])
        for documents, answer in zip(corpus.sets, measurement.answers, strict=True)
        if isinstance(answer, Covered) and documents.id in reachable
    ]
    sets = [(matrix, labels) for matrix, labels in sets if len(set(labels)) > 1]
    for bound, name in FOUND:
        how = f"{name} with {counted(n_sentences, 'sentence')}"
        lasts = [greedy_equal_coverage(matrix, labels, n_sentences, bound).last for matrix, labels in sets]
        known = [last for last in lasts if last is not None]
        if known:
            yield _made(measurement, Measure(EQUAL_COVERAGE, family.by), how, float(np.mean(known)), len(known))
        chosen, parity = greedy_coverage_parity(sets, len(corpus.values), n_sentences, bound)
        if parity is not None:
            yield _made(measurement, Measure(COVERAGE_PARITY, family.by), how, parity, sum(map(bool, chosen)))


def _made(measurement: Measured, measure: Measure, how: str, value: float | None, n_sets: int) -> AuditNumber:
    return AuditNumber(measure=str(measure), system=measurement.system, how=how, value=value, n_sets=n_sets)


SUPPLEMENT = Supplement(
    beside,
    PublishedOptions,
    (
        CommandOption(
            "published",
            bool,
            "Show also what papers report beside these measures: AUC over the released cut-offs, p of Coverage Parity, and "
            "BUR, UER and Equal Coverage by the value that has most documents.",
            after="least_group",
        ),
        CommandOption(
            "bounds",
            bool,
            "Show also how low and high Equal Coverage and Coverage Parity can be with sentences of the documents; the "
            "entailer reads all of them.",
            after="option",
        ),
    ),
    effects={"bounds": "coverage"},
)
