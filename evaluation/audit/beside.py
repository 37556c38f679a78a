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

from ...fairness.groups.bounds import Bound, greedy_coverage_parity, greedy_equal_coverage
from ...fairness.groups.coverage import parity_significance
from ...fairness.groups.shares import area_by_cutoff
from ...fairness.labelled import LabelledSummary
from ...resampling import Bootstrap, defined
from ..pages.words import counted
from .contents import NO_GAP, AuditNumber, ChanceGap
from .coverage import Covered, UnitCoverage, sentences_of
from .figures import Floats, Measured, bounds_of
from .input import AuditInput
from .kinds import AUC, BUR, COVERAGE_DIFFERENCE, COVERAGE_PARITY, EQUAL_COVERAGE, UER, Measure
from .plan import AuditPlan
from .shares import Taken, ValueShares

# measures of a set that are shown by dominating value
BY_DOMINATING = (BUR, UER, EQUAL_COVERAGE)
# sets whose sentences are compared with their documents at a time
BATCH = 16
FOUND: tuple[tuple[Bound, str], ...] = (("lower", "lowest found"), ("upper", "highest found"))


def beside(measured: Sequence[Measured], given: AuditInput, plan: AuditPlan) -> Iterator[AuditNumber]:
    """All that the plan asks for, system after system."""
    reachable: dict[str, Floats] = {}
    for each in measured:
        if not each.figures.scored.any():
            continue
        if plan.published and isinstance(each.family, ValueShares):
            yield _cut_offs(each, each.family)
        if plan.published and isinstance(each.family, UnitCoverage):
            yield from _significance(each, plan.bootstrap)
        if plan.published:
            yield from _by_dominating_value(each, given, plan.bootstrap)
        if plan.bounds and isinstance(each.family, UnitCoverage):
            reachable = reachable or matrices(each.family, given)
            yield from _reachable(each, each.family, given, reachable)


def _cut_offs(each: Measured, family: ValueShares) -> AuditNumber:
    masses = [found.masses for found in each.found if isinstance(found, Taken)]
    auc = area_by_cutoff(masses, tau=family.tau, aim=family.target)
    return _made(each, Measure(AUC, family.by), "over the released cut-offs", auc, len(masses))


def _significance(each: Measured, bootstrap: Bootstrap) -> Iterator[AuditNumber]:
    """The values of largest and smallest mean difference, by the released bootstrap over documents, whatever set they are of."""
    gaps: dict[str, list[float]] = {}
    n_sets: Counter[str] = Counter()
    for found in each.found:
        if isinstance(found, Covered):
            overall = found.coverage.overall or 0.0
            for label, covered in zip(found.labels, found.coverage.by_document, strict=True):
                gaps.setdefault(found.values[label], []).append((covered or 0.0) - overall)
            n_sets.update({found.values[label] for label in found.labels})
    means = {value: float(np.mean(its)) for value, its in gaps.items()}
    extremes: tuple[tuple[str, Literal["over", "under"]], ...] = (
        (max(means, key=means.__getitem__), "over"),
        (min(means, key=means.__getitem__), "under"),
    )
    for value, direction in extremes:
        p_value = parity_significance(gaps[value], direction, resamples=bootstrap.resamples, seed=bootstrap.seed)
        row = _made(
            each,
            Measure(COVERAGE_DIFFERENCE, each.family.by),
            f"most {direction}-represented",
            means[value],
            n_sets[value],
        )
        yield row.model_copy(update={"side": value, "p_value": p_value})


def _by_dominating_value(each: Measured, given: AuditInput, bootstrap: Bootstrap) -> Iterator[AuditNumber]:
    figures = each.figures
    places = [place for place, quantity in enumerate(figures.quantities) if quantity.kind in BY_DOMINATING]
    values = [[document.value for document in given.labelled(documents)] for documents in given.sets]
    dominating = np.array([_most_frequent(its) for its in values])
    rows: list[tuple[int, AuditNumber]] = []
    for value in given.values if places else ():
        mine = figures.only((dominating == value) & figures.scored)
        n = len(mine.columns)
        if not n:
            continue
        said, found = mine.said(), mine.all_sets()
        expected = np.full_like(found, np.nan) if mine.expect is None else mine.expect(mine.columns.sum(axis=0))
        for place in places:
            measure, null = figures.quantities[place].measure, mine.nulls[place] if mine.nulls else ""
            row = _made(each, measure, "where it has most documents", defined(found[place]), n)
            low, high = bounds_of(row.value, said[:, place], measure.kind, bootstrap)
            gap = ChanceGap(reference=null, expected=defined(expected[place])) if null else NO_GAP
            rows.append((place, row.model_copy(update={"side": value, "low": low, "high": high, "gap": gap})))
    yield from (row for _, row in sorted(rows, key=lambda each: each[0]))


def _most_frequent(values: Sequence[str]) -> str | None:
    """The value that more documents have than any other."""
    (first, n), (_, runner_up) = [*Counter(values).most_common(2), ("", 0)][:2]
    return first if n > runner_up else None


def matrices(family: UnitCoverage, given: AuditInput) -> dict[str, Floats]:
    """How far each document of a set entails each sentence of its documents, (documents, sentences), by set."""
    found: dict[str, Floats] = {}
    for start in range(0, len(given.sets), BATCH):
        asked = [
            LabelledSummary(each.id, given.values, given.labelled(each), "", each.separator)
            for each in given.sets[start : start + BATCH]
        ]
        own = family.by_own_sentences(asked)
        for item in asked:
            if item.documents in own:
                units, matrix = own[item.documents]
                # a sentence entails itself
                has = np.array([[unit in its for unit in units] for its in map(sentences_of, item.documents)])
                found[item.id] = np.where(has, 1.0, matrix)
    return found


def _reachable(
    each: Measured, family: UnitCoverage, given: AuditInput, reachable: Mapping[str, Floats]
) -> Iterator[AuditNumber]:
    """Of as many sentences as the system's summaries have units, on average."""
    n_units = [sum(map(len, found.coverage.clusters)) for found in each.found if isinstance(found, Covered)]
    most = max(1, round(float(np.mean(n_units))))
    sets = [
        (reachable[documents.id], [given.values.index(document.value) for document in given.labelled(documents)])
        for documents, found in zip(given.sets, each.found, strict=True)
        if isinstance(found, Covered) and documents.id in reachable
    ]
    sets = [(matrix, labels) for matrix, labels in sets if len(set(labels)) > 1]
    for bound, name in FOUND:
        how = f"{name} with {counted(most, 'sentence')}"
        lasts = [greedy_equal_coverage(matrix, labels, most, bound).last for matrix, labels in sets]
        known = [last for last in lasts if last is not None]
        if known:
            yield _made(each, Measure(EQUAL_COVERAGE, family.by), how, float(np.mean(known)), len(known))
        chosen, parity = greedy_coverage_parity(sets, len(given.values), most, bound)
        if parity is not None:
            yield _made(each, Measure(COVERAGE_PARITY, family.by), how, parity, sum(map(bool, chosen)))


def _made(each: Measured, measure: Measure, how: str, value: float | None, n_sets: int) -> AuditNumber:
    return AuditNumber(measure=str(measure), system=each.system, how=how, value=value, n_sets=n_sets)
