"""All numbers, tests and examples of an audit."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...doors import blamed, guarded_fields
from ...errors import DataError, PluginError
from ...extras import installed_versions
from ...fairness.groups.masses import Unscored
from ...number import what_sets_say
from ...resampling import NOISE, defined, pseudo_values
from ...runfolder.stages import RECORDED
from .conclusions import Conclusions, conclude_together
from .contents import (
    NO_GAP,
    SCHEMA,
    Audit,
    AuditExample,
    AuditNumber,
    ChanceGap,
    MeasureNote,
    Representation,
    ValueNote,
)
from .families import CORE, MEASURES, shown_name
from .figures import NO_SUMMARY, NO_WORD, Bools, Family, Figures, Measured, bounds_of, most
from .findings import representation, system_note, title
from .gaps import Key
from .input import AuditInput
from .kinds import NumberKind, SummaryUnit
from .options import described
from .overview import own_screen
from .package_checks import refuse_unfit
from .plan import AuditPlan
from .supplements import supplementary
from .value_names import Name, has_own_groups, named, namer, with_names
from .warnings import warnings

# sets that a family measures at a time, between two steps of the progress bar
BATCH = 16
VERSIONS = (*RECORDED, "numpy", "scipy")
ONE_VALUED = "words of one value only"
NO_DOCUMENT = "no document of this value"

# family, sets measured so far, all sets
Progress = Callable[[str, int, int], None]


def build_audit(
    corpus: AuditInput,
    plan: AuditPlan,
    families: Sequence[Family],
    hints: Sequence[str] = (),
    progress: Progress | None = None,
    others: Sequence[tuple[AuditInput, Sequence[Family]]] = (),
) -> Audit:
    """Everything the audit says, all its attributes corrected together.

    Args:
        corpus: sets and systems; with several systems the first is what the others are tested against.
        plan: what is measured.
        families: the measures, opened.
        hints: what would have to be installed to measure more.
        progress: called after every batch.
        others: the sets and systems by other attributes, with their families.

    Raises:
        DataError: nothing can be measured; the reasons are listed.
    """
    parts = ((corpus, families), *others)
    measured = [_measured(of_part, of_families, progress) for of_part, of_families in parts]
    labels = [system.label for system in corpus.systems]
    concluded = conclude_together(measured, labels, plan, is_arranged=corpus.is_arranged)
    first, *further = (
        _audit(of_part, plan, of_families, of_measured, conclusions)
        for (of_part, of_families), of_measured, conclusions in zip(parts, measured, concluded, strict=True)
    )
    first = first.model_copy(update={"hints": tuple(hints)})
    if not further:
        return first
    return _told_apart(first).model_copy(update={"others": tuple(map(_told_apart, further))})


def _told_apart(audit: Audit) -> Audit:
    """The audit, whose numbers say of which attribute they are."""
    numbers = tuple(number.model_copy(update={"attribute": audit.attribute}) for number in audit.numbers)
    return audit.model_copy(update={"numbers": numbers})


def _measured(corpus: AuditInput, families: Sequence[Family], progress: Progress | None) -> list[Measured]:
    """What every family finds in every system."""
    measured = [measurement for family in families for measurement in _measure(family, corpus, progress)]
    if not any(measurement.figures.scored.any() for measurement in measured):
        reasons = Counter(
            (measurement.system, shown_name(measurement.family.name, measurement.family.by), why)
            for measurement in measured
            for why in measurement.figures.left_out
        )
        listing = "; ".join(f"{system}, {name}: {reason} ({n:,} sets)" for (system, name, reason), n in reasons.items())
        raise DataError(f"nothing is left to audit: {listing}")
    return measured


def _audit(
    corpus: AuditInput,
    plan: AuditPlan,
    families: Sequence[Family],
    measured: Sequence[Measured],
    concluded: Conclusions,
) -> Audit:
    """What the audit says by one attribute."""
    numbers = _numbers(measured, corpus, plan, concluded.gaps)
    of_systems = [
        [n for n in numbers if (n.system, n.family) == (system.label, family.name)]
        for system in corpus.systems
        for family in families
    ]
    name = namer(corpus.attribute, corpus.labels)
    represented = tuple(
        finding for of_system in of_systems if (finding := _represented(of_system, corpus.attribute, name))
    )
    found_of = {(finding.system, finding.family): finding for finding in represented}
    audit = Audit(
        format=SCHEMA,
        title="",
        warnings=tuple(warnings(measured, corpus, plan, numbers)),
        documents=corpus.documents,
        documents_digest=corpus.documents_digest,
        attribute=corpus.attribute,
        groups=corpus.groups,
        values=tuple(_value_notes(corpus)),
        labels=dict(corpus.labels),
        n_sets=len(corpus.sets),
        n_not_drawn=corpus.n_not_drawn,
        systems=tuple(system_note(system, [documents.id for documents in corpus.sets]) for system in corpus.systems),
        measures=tuple(MeasureNote(family=f.name, by=f.by, signature=f.signature) for f in families),
        numbers=tuple(numbers),
        represented=represented,
        differences=concluded.differences,
        votes=concluded.votes,
        orders=concluded.effects,
        beside=tuple(supplementary(measured, corpus, plan)),
        examples=tuple(
            example
            for measurement in measured
            for example in take_apart(
                measurement, corpus, plan.n_examples, found_of.get((measurement.system, measurement.family.name))
            )
        ),
        options=described(plan),
        versions=installed_versions(VERSIONS),
        sets=tuple(documents.id for documents in corpus.sets),
    )
    screen = own_screen(audit)
    return audit.model_copy(update={"title": screen.headline if screen else title(with_names(audit))})


def _represented(numbers: Sequence[AuditNumber], attribute: str, name: Name) -> Representation | None:
    """Who is represented less or more, with the names of values in its sentences."""
    finding, words = representation(numbers, attribute), representation(named(numbers, name), attribute)
    return finding and words and finding.model_copy(update={"sentence": words.sentence, "details": words.details})


def _measure(family: Family, corpus: AuditInput, progress: Progress | None) -> Iterator[Measured]:
    """What the family finds, set by set with all systems together, so that a set's documents are read once."""
    label, items = MEASURES.label(family.name), [corpus.items(system) for system in corpus.systems]
    by_system: list[list[Any]] = [[] for _ in corpus.systems]
    for start in range(0, len(corpus.sets), BATCH):
        rows = range(start, min(start + BATCH, len(corpus.sets)))
        batch = [item for row in rows for summaries in items if (item := summaries[row]) is not None]
        results = family.measure(batch)
        if not isinstance(results, Sequence | np.ndarray) or len(results) != len(batch):
            amount = f"{len(results):,} answers" if isinstance(results, Sized) else type(results).__name__
            raise PluginError(f"{label} gives {amount} for {len(batch):,} summaries")
        answers = iter(results)
        for row in rows:
            for place, summaries in enumerate(items):
                by_system[place].append(Unscored(NO_SUMMARY) if summaries[row] is None else next(answers))
        if progress:
            progress(shown_name(family.name, family.by), rows.stop, len(corpus.sets))
    for system, of_system in zip(corpus.systems, by_system, strict=True):
        figures = family.figures(of_system)
        if family.name not in CORE:
            figures = guarded_fields(figures, label)
            with blamed(label):
                refuse_unfit(label, MEASURES[family.name].numbers, figures, len(of_system))
        yield Measured(family, system.label, tuple(of_system), figures)


def _numbers(
    measured: Sequence[Measured], corpus: AuditInput, plan: AuditPlan, gaps: Mapping[Key, ChanceGap]
) -> list[AuditNumber]:
    """Every quantity of every system with its interval and its gap to what is expected."""
    numbers = []
    present = [documents.values(corpus.attribute) for documents in corpus.sets]
    sets_with = {value: np.array([value in values for values in present], dtype=bool) for value in corpus.values}
    for measurement in measured:
        figures, values, by_set = measurement.figures, measurement.figures.all_sets(), measurement.figures.said()
        n_parts = figures.parts.sum(axis=0)
        for place, quantity in enumerate(figures.quantities):
            value = defined(values[place])
            low, high = bounds_of(value, by_set[:, place], quantity.kind, plan.bootstrap)
            reasons = _reasons(figures, place, sets_with)
            withheld = ChanceGap(withheld=figures.withheld) if quantity.kind.names else NO_GAP
            numbers.append(
                AuditNumber(
                    measure=str(quantity.measure), system=measurement.system, side=quantity.side, value=value, low=low, high=high,
                    n_sets=int(figures.rests_on[:, place].sum()), left_out=sum(reasons.values()), reasons=reasons,
                    sentence="" if quantity.side is not None else _sentence(measurement, quantity.kind, value),
                    is_small=quantity.side is not None and bool(n_parts[place] < plan.least_group),
                    gap=gaps.get((measurement.family.name, measurement.system, quantity), withheld),
                    by_set=what_sets_say(by_set[:, place]),
                )
            )  # fmt: skip
    return numbers


def _reasons(figures: Figures, place: int, sets_with: Mapping[str, Bools]) -> Counter[str]:
    """Why a quantity does not rest on sets, and on how many."""
    quantity, without = figures.quantities[place], figures.scored & ~figures.rests_on[:, place]
    present = sets_with.get(quantity.side or "", np.zeros_like(without))
    by_value = {NO_DOCUMENT: without & ~present, NO_WORD: without & present}
    common_reason = ONE_VALUED if quantity.kind.of_several else figures.no_part
    counts = Counter(reason for reason in figures.left_out if reason is not None)
    for reason, mask in ({common_reason: without} if common_reason else by_value).items():
        counts[reason] += int(mask.sum())
    return +counts


def _sentence(measurement: Measured, kind: NumberKind, value: float | None) -> str:
    """What an aggregate means, or why it is undefined."""
    if value is None:
        return f"Undefined: {measurement.figures.undefined}."
    point = f"{100 * value:.1f}" if kind.is_share else f"{value:.3f}"
    return measurement.family.sentence(kind, point, measurement.figures)


def _value_notes(corpus: AuditInput) -> Iterator[ValueNote]:
    sets, documents = Counter[str](), Counter[str]()
    for document_set in corpus.sets:
        counts = Counter(document.attributes[corpus.attribute] for document in document_set.documents)
        sets.update(counts.keys())
        documents.update(counts)
    for value in corpus.values:
        yield ValueNote(value=value, n_sets=sets[value], n_documents=documents[value])


# lines of a summary that an example shows, and characters of each
MOST_LINES, MOST_CHARACTERS = 200, 4000


@dataclass(frozen=True)
class Chosen:
    """A summary that is shown, and why."""

    place: int
    # of the set: its own measure, or the gap of a value to what is expected
    unfairness: float
    # whose gap that is, and all values below what is expected that it is shown for; None of a family without a chance level
    of: str | None = None
    left_out: tuple[str, ...] | None = None


def chosen(figures: Figures, n: int, named: Representation | None) -> list[Chosen]:
    """The summaries that show best what the page says.

    Those in which the value that the page names first is farthest off what is expected, to the side that it says. Where it names
    nobody, those in which some value is farthest below; without a chance level, those of highest unfairness. Fair ones are none.

    Args:
        figures: of a family and system.
        n: so many at most.
        named: what the page says; None where nothing is known of chance.
    """
    naming = figures.naming
    if not naming:
        return most_unfair(figures, n)
    values = [str(figures.quantities[place].side) for place in naming]
    is_shown = figures.rests_on & ~np.isnan(figures.unfairness)[:, None]
    gaps = np.where(is_shown, figures.beyond(figures.columns), np.nan)[:, naming]
    off = np.full(len(gaps), np.nan)
    if named and (named.under or named.over):
        first = values.index((named.under or named.over)[0])
        sign, columns = -1.0 if named.under else 1.0, np.full(len(gaps), first)
        by_set = pseudo_values(figures.beyond, figures.columns, figures.rests_on)[:, naming[first]]
        # what is expected can be an interval, in which a set alone may lie where all together do not: it comes last
        inside = np.where((np.abs(gaps[:, first]) <= NOISE) & (sign * by_set > NOISE), NOISE * sign * by_set, np.nan)
        off = np.where(sign * gaps[:, first] > NOISE, sign * gaps[:, first], inside)
    else:
        columns = np.where(np.isnan(gaps), np.inf, gaps).argmin(axis=1)
        lowest = np.take_along_axis(gaps, columns[:, None], axis=1)[:, 0]
        off = np.where(lowest < -NOISE, -lowest, np.nan)
    examples = []
    for place in np.argsort(-np.nan_to_num(off), kind="stable")[:n].tolist():
        if np.isnan(off[place]):
            break
        below = {value: -float(gap) for value, gap in zip(values, gaps[place], strict=True) if gap < -NOISE}
        left_out = [value for value in (named.under if named else ()) if value in below]
        of = int(columns[place])
        examples.append(Chosen(place, float(gaps[place, of]), values[of], tuple(left_out) or most(below)))
    return examples


def most_unfair(figures: Figures, n: int) -> list[Chosen]:
    """The sets of highest unfairness, most unfair first, ties in their order; fair ones are none."""
    ranked = np.where(np.isnan(figures.unfairness), -np.inf, figures.unfairness)
    order = np.argsort(-ranked, kind="stable")[:n].tolist()
    return [Chosen(place, float(ranked[place])) for place in order if ranked[place] > 0]


def _name_of(value: str, family: Family, corpus: AuditInput) -> str:
    return value if has_own_groups(family.name) else corpus.name_of(value)


def take_apart(
    measured: Measured, corpus: AuditInput, n: int, named: Representation | None = None
) -> Iterator[AuditExample]:
    """The n summaries of a system that show best what a family found: which sentences take up whose documents.

    Without what nobody reads: a summary of megabytes would make a page of as many for every family.
    """
    (system,) = (system for system in corpus.systems if system.label == measured.system)
    items = corpus.items(system)
    for example in chosen(measured.figures, n, named):
        item = items[example.place]
        assert item is not None, "a set without summary has no unfairness"
        taken_apart = measured.family.example(item, measured.answers[example.place], example.left_out)
        if example.of is not None:
            by = f" ({measured.family.by})" if measured.family.by else ""
            measure = f"gap of {_name_of(example.of, measured.family, corpus)} to what is expected of this summary{by}"
            taken_apart = taken_apart.model_copy(update={"measure": measure, "is_share": True})
        lines = [
            line.model_copy(update={"text": f"{line.text[:MOST_CHARACTERS]} ..."})
            if len(line.text) > MOST_CHARACTERS
            else line
            for line in taken_apart.lines[:MOST_LINES]
        ]
        if len(taken_apart.lines) > MOST_LINES:
            lines.append(
                SummaryUnit(text=f"... and {len(taken_apart.lines) - MOST_LINES:,} more", takes={}, note="not shown")
            )
        yield AuditExample(
            family=measured.family.name,
            system=measured.system,
            set_id=item.id,
            topic=corpus.sets[example.place].topic,
            unfairness=example.unfairness,
            is_gap=example.of is not None,
            **{**dict(taken_apart), "lines": tuple(lines)},
        )
