"""All numbers, tests and examples of an audit."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ...errors import DataError
from ...extras import installed_versions
from ...fairness.groups.masses import Unscored
from ...resampling import Bootstrap, defined
from ...runfolder.stages import RECORDED
from ..gate.contents import what_sets_say
from .beside import beside
from .contents import (
    SCHEMA,
    Audit,
    Effect,
    Example,
    Line,
    MeasureNote,
    Number,
    ValueNote,
)
from .figures import NO_SUMMARY, NO_WORD, Bools, Family, Figures, Floats, Measured, bounds_of
from .findings import representation, system_note, title
from .input import AuditInput
from .order import Order, effects_of_orders
from .pairs import paired_differences
from .plan import AuditPlan
from .votes import chance_levels, votes
from .warnings import by_length, warnings

# sets that a family measures at a time, between two steps of the progress bar
BATCH = 16
VERSIONS = (*RECORDED, "numpy", "scipy")
ONE_VALUED = "words of one value only"
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
        progress: called after every batch.

    Raises:
        DataError: nothing can be measured; the reasons are listed.
    """
    _refuse_one_valued(given, families)
    measured = [each for family in families for each in _measure(family, given, progress)]
    if not any(each.figures.scored.any() for each in measured):
        reasons = Counter((each.system, each.family.name, why) for each in measured for why in each.figures.left_out)
        said = "; ".join(f"{system}, {name}: {reason} ({n:,} sets)" for (system, name, reason), n in reasons.items())
        raise DataError(f"nothing is left to audit: {said}")
    labels = [system.label for system in given.systems]
    numbers = _numbers(measured, given, plan)
    represented = tuple(
        found
        for system in labels
        for family in families
        if (
            found := representation(
                [n for n in numbers if (n.system, n.family) == (system, family.name)], given.attribute
            )
        )
    )
    # orders of the same documents are one summarizer, which is no fairer than itself
    compared = labels[:1] if given.has_orders else labels
    voted = votes(measured, compared, plan.bootstrap.level, plan.least_group)
    aggregates = tuple(number for number in numbers if number.value is None)
    systems = tuple(map(system_note, given.systems))
    effects = _effects(measured, given, plan)
    differences = paired_differences(measured, compared, plan.bootstrap, plan.least_group)
    return Audit(
        schema_name=SCHEMA,
        title=title(numbers, represented, voted, systems, effects),
        warnings=(*warnings(measured, given, plan, numbers), *by_length(differences, systems), *notes),
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
        represented=represented,
        differences=differences,
        votes=voted,
        orders=effects,
        beside=tuple(beside(measured, given, plan)),
        examples=tuple(example for each in measured for example in take_apart(each, given, plan.n_examples)),
        options=asdict(plan),
        versions=installed_versions(VERSIONS),
        sets=tuple(documents.id for documents in given.sets),
    )


def _effects(measured: Sequence[Measured], given: AuditInput, plan: AuditPlan) -> tuple[Effect, ...]:
    mine = [each for each in measured if isinstance(each.family, Order)]
    return effects_of_orders(mine, plan.bootstrap.level, plan.least_group) if given.has_orders and mine else ()


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


def _numbers(measured: Sequence[Measured], given: AuditInput, plan: AuditPlan) -> list[Number]:
    """Every quantity of every system with its interval and its chance level."""
    numbers: list[Number] = []
    present = [documents.values(given.attribute) for documents in given.sets]
    sets_with = {value: np.array([value in values for values in present], dtype=bool) for value in given.values}
    chances = chance_levels(measured, plan.bootstrap.level, plan.least_group)
    for each in measured:
        estimates, said = each.figures.all_sets(), each.figures.said()
        n_sets = each.figures.parts.sum(axis=0)
        numbers += [
            _number(each, place, defined(estimates[place]), said[:, place], plan.bootstrap, sets_with).model_copy(
                update={
                    "is_small": quantity.value is not None and bool(n_sets[place] < plan.least_group),
                    "chance": chances.get((each.family.name, each.system, quantity)),
                    "withheld": each.figures.withheld if quantity.kind.names else "",
                    "by_set": what_sets_say(said[:, place]),
                }
            )
            for place, quantity in enumerate(each.figures.quantities)
        ]
    return numbers


def _number(
    each: Measured,
    place: int,
    estimate: float | None,
    said: Floats,
    bootstrap: Bootstrap,
    sets_with: Mapping[str, Bools],
) -> Number:
    figures, quantity = each.figures, each.figures.quantities[place]
    n = int(figures.rests_on[:, place].sum())
    low, high, interval = bounds_of(estimate, said, quantity.kind, bootstrap)
    left_out = Counter(reason for reason in figures.left_out if reason is not None)
    without = figures.scored & ~figures.rests_on[:, place]
    present = sets_with.get(quantity.value or "", np.zeros_like(without))
    why = (
        ((ONE_VALUED, without),)
        if quantity.kind.of_several
        else ((figures.no_part, without),)
        if figures.no_part
        else ((NO_DOCUMENT, without & ~present), (NO_WORD, without & present))
    )
    for reason, those in why:
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
        **asdict(bootstrap),
        is_share=quantity.kind.is_share,
        sentence=sentence,
    )


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


# lines of a summary that an example shows, and characters of each
MOST_LINES, MOST_CHARACTERS = 200, 4000


def most_unfair(figures: Figures, n: int) -> list[int]:
    """Places of the sets of highest unfairness, most unfair first, ties in their order; fair ones are none."""
    ranked = np.where(np.isnan(figures.unfairness), -np.inf, figures.unfairness)
    order = np.argsort(-ranked, kind="stable")[:n]
    return [int(place) for place in order if ranked[place] > 0]


def take_apart(measured: Measured, given: AuditInput, n: int) -> Iterator[Example]:
    """The n most unfair summaries of a system by a family: which sentences take up whose documents.

    Without what nobody reads: a summary of megabytes would make a page of as many for every family.
    """
    (system,) = (each for each in given.systems if each.label == measured.system)
    items = given.items(system)
    for place in most_unfair(measured.figures, n):
        item = items[place]
        assert item is not None, "a set without summary has no unfairness"
        example = measured.family.example(item, measured.found[place], float(measured.figures.unfairness[place]))
        lines = [
            line.model_copy(update={"text": f"{line.text[:MOST_CHARACTERS]} ..."})
            if len(line.text) > MOST_CHARACTERS
            else line
            for line in example.lines[:MOST_LINES]
        ]
        if len(example.lines) > MOST_LINES:
            lines.append(Line(text=f"... and {len(example.lines) - MOST_LINES:,} more", takes={}, note="not shown"))
        topic = given.sets[place].topic
        yield example.model_copy(update={"system": measured.system, "topic": topic, "lines": tuple(lines)})
