"""All numbers, tests and examples of an audit."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any, Literal

import numpy as np

from ...errors import DataError
from ...extras import installed_versions
from ...fairness.groups.masses import Unscored
from ...resampling import Bootstrap, defined, exact_bounds, percentile_interval
from ...runfolder.stages import RECORDED
from .choice import choices
from .contents import Audit, Example, MeasureNote, Number, PairedDifference, SystemNote, ValueNote, WorstGroup
from .examples import take_apart
from .figures import NO_SUMMARY, NO_WORD, Bools, Family, Figures, Floats, Measured
from .headline import title
from .input import AuditInput
from .lengths import mean_length, of_length
from .pairs import paired_differences
from .plan import AuditPlan
from .quantities import COVERAGE_PARITY
from .warnings import warnings
from .worst import Rows, extremes, ordering, worst_group

SCHEMA = "evenhand-audit/1"
# sets that a family measures at a time, between two steps of the progress bar
BATCH = 16
VERSIONS = (*RECORDED, "numpy", "scipy")
NO_DOCUMENT = "no document of this value"

# family, sets measured so far, all sets
Progress = Callable[[str, int, int], None]


def build_audit(
    given: AuditInput,
    plan: AuditPlan,
    families: Sequence[Family],
    notes: Sequence[str] = (),
    progress: Progress | None = None,
) -> Audit:
    """Everything the audit says.

    Args:
        given: sets and systems; with several systems the first is what the others are tested against.
        plan: what is measured.
        families: the measures, opened.
        notes: what the caller has to warn of.
        progress: told after every batch.

    Raises:
        DataError: nothing can be measured; the reasons are listed.
    """
    _refuse_one_valued(given, families)
    measured = [each for family in families for each in _measure(family, given, progress)]
    _refuse_nothing(measured)
    differences = _differences(measured, given, plan)
    numbers, worst = _numbers(measured, given, plan)
    aggregates = tuple(number for number in numbers if number.value is None)
    systems = tuple(_system_notes(given))
    return Audit(
        schema_name=SCHEMA,
        title=title(aggregates, differences, systems),
        warnings=(*of_length(differences, systems), *warnings(measured, given, plan, numbers), *notes),
        documents=given.documents,
        documents_digest=given.documents_digest,
        attribute=given.attribute,
        values=tuple(_value_notes(given)),
        n_sets=len(given.sets),
        n_not_drawn=given.n_not_drawn,
        systems=systems,
        measures=tuple(MeasureNote(family=f.name, by=f.by, signature=f.signature) for f in families),
        by_value=tuple(number for number in numbers if number.value is not None),
        aggregates=aggregates,
        worst=tuple(worst),
        differences=differences,
        choices=tuple(choices(measured, given.values, plan)),
        examples=tuple(_examples(measured, given, plan)),
        options=asdict(plan),
        versions=installed_versions(VERSIONS),
    )


def _measure(family: Family, given: AuditInput, progress: Progress | None) -> Iterator[Measured]:
    """What the family finds, set by set with all systems together, so that a set's documents are read once."""
    items = [given.items(system) for system in given.systems]
    found: list[list[Any]] = [[] for _ in given.systems]
    for start in range(0, len(given.sets), BATCH):
        rows = range(start, min(start + BATCH, len(given.sets)))
        asked = [item for row in rows for each in items if (item := each[row]) is not None]
        answers = iter(family.measure(asked))
        for row in rows:
            for place, each in enumerate(items):
                found[place].append(Unscored(NO_SUMMARY) if each[row] is None else next(answers))
        if progress:
            progress(family.name, rows.stop, len(given.sets))
    for system, mine in zip(given.systems, found, strict=True):
        yield Measured(family, system.label, tuple(mine), family.figures(mine))


def _differences(measured: Sequence[Measured], given: AuditInput, plan: AuditPlan) -> tuple[PairedDifference, ...]:
    families = dict.fromkeys(each.family for each in measured)
    figures = {(each.family.name, each.system): each.figures for each in measured}
    labels = [system.label for system in given.systems]
    return paired_differences(tuple(families), figures, labels, plan.bootstrap, plan.least_group)


def _numbers(measured: Sequence[Measured], given: AuditInput, plan: AuditPlan) -> tuple[list[Number], list[WorstGroup]]:
    """Every quantity of every system with its interval, and who fares worst."""
    numbers: list[Number] = []
    worst = []
    sets_with = _sets_with(given)
    for each in measured:
        drawn = each.figures.draws(plan.bootstrap)
        # groups of word lists are no values, though they may have the same names
        small = _small_values(each.figures, given, plan) if ordering(each.figures) else frozenset()
        mine = [
            _number(each, place, drawn[:, place], plan.bootstrap, sets_with).model_copy(
                update={"is_small": quantity.value in small}
            )
            for place, quantity in enumerate(each.figures.quantities)
        ]
        rows = Rows(mine, drawn)
        numbers += [_with_extremes(number, rows) for number in mine]
        group = worst_group(rows, given.attribute)
        if group:
            worst.append(group)
    return numbers, worst


def _sets_with(given: AuditInput) -> dict[str, Bools]:
    """Which sets have documents of each value, (sets,)."""
    present = [documents.values(given.attribute) for documents in given.sets]
    return {value: np.array([value in values for values in present], dtype=bool) for value in given.values}


def _number(each: Measured, place: int, drawn: Floats, bootstrap: Bootstrap, sets_with: Mapping[str, Bools]) -> Number:
    figures, quantity = each.figures, each.figures.quantities[place]
    estimate = defined(figures.all_sets()[place])
    n = int(figures.rests_on[:, place].sum())
    # draws of a single set repeat it and tell nothing of its uncertainty
    found = percentile_interval(drawn if n > 1 else drawn[:0], bootstrap.level)
    low, high = found.low, found.high
    interval: Literal["bootstrap", "exact"] = "bootstrap"
    if quantity.kind.is_rate and n > 1 and estimate in (0, 1):
        low, high = exact_bounds(estimate, n, bootstrap.level)
        interval = "exact"
    left_out = Counter(reason for reason in figures.left_out if reason is not None)
    without = figures.scored & ~figures.rests_on[:, place]
    present = sets_with.get(quantity.value or "", np.zeros_like(without))
    for reason, those in ((NO_DOCUMENT, without & ~present), (NO_WORD, without & present)):
        if those.any():
            left_out[reason] += int(those.sum())
    shown = "" if estimate is None else f"{100 * estimate:.1f}" if quantity.kind.is_share else f"{estimate:.3f}"
    sentence = ""
    if quantity.value is None:
        sentence = each.family.sentence(quantity.kind, shown, figures) if shown else f"Undefined: {figures.undefined}."
    return Number(
        measure=quantity.measure,
        family=each.family.name,
        signature=each.family.signature,
        system=each.system,
        value=quantity.value,
        estimate=estimate,
        low=low,
        high=high,
        interval=interval,
        n=n,
        left_out=dict(left_out),
        n_defined=found.n_defined,
        **asdict(bootstrap),
        is_share=quantity.kind.is_share,
        sentence=sentence,
    )


def _with_extremes(number: Number, rows: Rows) -> Number:
    if number.measure.kind != COVERAGE_PARITY or not (said := extremes(rows)):
        return number
    return number.model_copy(update={"sentence": f"{number.sentence} {said}"})


def _small_values(figures: Figures, given: AuditInput, plan: AuditPlan) -> frozenset[str]:
    """The attribute values of which too few scored sets have a document."""
    counts = Counter[str]()
    for documents, scored in zip(given.sets, figures.scored.tolist(), strict=True):
        if scored:
            counts.update(documents.values(given.attribute))
    return frozenset(value for value in given.values if counts[value] < plan.least_group)


def _examples(measured: Sequence[Measured], given: AuditInput, plan: AuditPlan) -> Iterator[Example]:
    topics = {documents.id: documents.topic for documents in given.sets}
    systems = {system.label: system for system in given.systems}
    for each in measured:
        items = given.items(systems[each.system])
        for example in take_apart(each.family, each.figures, items, each.found, plan.n_examples):
            yield example.model_copy(update={"system": each.system, "topic": topics[example.set_id]})


def _system_notes(given: AuditInput) -> Iterator[SystemNote]:
    for system in given.systems:
        n_words, n_sentences = mean_length(system)
        yield SystemNote(
            label=system.label, source=system.source, digest=system.digest, n_summaries=len(system.summaries),
            n_words=round(n_words, 2), n_sentences=round(n_sentences, 2),
        )  # fmt: skip


def _value_notes(given: AuditInput) -> Iterator[ValueNote]:
    sets, documents = Counter[str](), Counter[str]()
    for each in given.sets:
        counts = Counter(document.attributes[given.attribute] for document in each.documents)
        sets.update(counts.keys())
        documents.update(counts)
    for value in given.values:
        yield ValueNote(value=value, n_sets=sets[value], n_documents=documents[value])


def _refuse_one_valued(given: AuditInput, families: Sequence[Family]) -> None:
    needing = [family.name for family in families if family.name in ("value-shares", "coverage")]
    if needing and all(len(documents.values(given.attribute)) < 2 for documents in given.sets):
        raise DataError(
            f"{given.documents}: every set has documents of one {given.attribute} only, so {' and '.join(needing)} "
            "have nothing to compare; name another --attribute, or measure opinions,word-lists, which need none"
        )


def _refuse_nothing(measured: Sequence[Measured]) -> None:
    if any(each.figures.scored.any() for each in measured):
        return
    reasons = Counter((each.system, each.family.name, reason) for each in measured for reason in each.figures.left_out)
    said = "; ".join(f"{system}, {family}: {reason} ({n:,} sets)" for (system, family, reason), n in reasons.items())
    raise DataError(f"nothing is left to audit: {said}")
