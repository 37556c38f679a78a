"""All numbers, tests and examples of an audit."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import DataError, PluginError
from ...extras import installed_versions
from ...fairness.groups.masses import Unscored
from ...number import what_sets_say
from ...resampling import NOISE, defined, pseudo_values
from ...runfolder.stages import RECORDED
from .beside import beside
from .conclusions import conclude
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
from .families import CORE, MEASURES, described, of_package
from .figures import NO_SUMMARY, NO_WORD, Bools, Family, Figures, Measured, bounds_of, most
from .findings import representation, system_note, title
from .gaps import Key
from .input import AuditInput
from .kinds import NumberKind, SummaryUnit
from .package_checks import refuse_unfit
from .plan import AuditPlan
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
    given: AuditInput,
    plan: AuditPlan,
    families: Sequence[Family],
    hints: Sequence[str] = (),
    progress: Progress | None = None,
) -> Audit:
    """Everything the audit says.

    Args:
        given: sets and systems; with several systems the first is what the others are tested against.
        plan: what is measured.
        families: the measures, opened.
        hints: what would have to be installed to measure more.
        progress: called after every batch.

    Raises:
        DataError: nothing can be measured; the reasons are listed.
    """
    measured = [each for family in families for each in _measure(family, given, progress)]
    if not any(each.figures.scored.any() for each in measured):
        reasons = Counter((each.system, each.family.name, why) for each in measured for why in each.figures.left_out)
        said = "; ".join(f"{system}, {name}: {reason} ({n:,} sets)" for (system, name, reason), n in reasons.items())
        raise DataError(f"nothing is left to audit: {said}")
    labels = [system.label for system in given.systems]
    concluded = conclude(measured, labels, plan, are_orders=given.has_orders)
    numbers = _numbers(measured, given, plan, concluded.gaps)
    of_systems = [
        [n for n in numbers if (n.system, n.family) == (system, family.name)]
        for system in labels
        for family in families
    ]
    name = namer(given.attribute, given.labels)
    represented = tuple(found for mine in of_systems if (found := _represented(mine, given.attribute, name)))
    found_of = {(each.system, each.family): each for each in represented}
    audit = Audit(
        format=SCHEMA,
        title="",
        warnings=tuple(warnings(measured, given, plan, numbers)),
        hints=tuple(hints),
        documents=given.documents,
        documents_digest=given.documents_digest,
        attribute=given.attribute,
        values=tuple(_value_notes(given)),
        labels=dict(given.labels),
        n_sets=len(given.sets),
        n_not_drawn=given.n_not_drawn,
        systems=tuple(system_note(each, [documents.id for documents in given.sets]) for each in given.systems),
        measures=tuple(MeasureNote(family=f.name, by=f.by, signature=f.signature) for f in families),
        numbers=tuple(numbers),
        represented=represented,
        differences=concluded.differences,
        votes=concluded.votes,
        orders=concluded.effects,
        beside=tuple(beside(measured, given, plan)),
        examples=tuple(
            example
            for each in measured
            for example in take_apart(each, given, plan.n_examples, found_of.get((each.system, each.family.name)))
        ),
        options=described(plan),
        versions=installed_versions(VERSIONS),
        sets=tuple(documents.id for documents in given.sets),
    )
    return audit.model_copy(update={"title": title(with_names(audit))})


def _represented(numbers: Sequence[AuditNumber], attribute: str, name: Name) -> Representation | None:
    """Who is represented less or more, with the names of values in its sentences."""
    found, words = representation(numbers, attribute), representation(named(numbers, name), attribute)
    return found and words and found.model_copy(update={"sentence": words.sentence, "details": words.details})


def _measure(family: Family, given: AuditInput, progress: Progress | None) -> Iterator[Measured]:
    """What the family finds, set by set with all systems together, so that a set's documents are read once."""
    items = [given.items(system) for system in given.systems]
    found: list[list[Any]] = [[] for _ in given.systems]
    for start in range(0, len(given.sets), BATCH):
        rows = range(start, min(start + BATCH, len(given.sets)))
        asked = [item for row in rows for each in items if (item := each[row]) is not None]
        with of_package(family.name, f"sets {given.sets[rows[0]].id!r} to {given.sets[rows[-1]].id!r}"):
            made = family.measure(asked)
            if len(made) != len(asked):
                raise PluginError(
                    f"measure {family.name!r} gives {len(made):,} answers for {len(asked):,} summaries; mend the package that "
                    "brings it"
                )
        answers = iter(made)
        for row in rows:
            for place, each in enumerate(items):
                found[place].append(Unscored(NO_SUMMARY) if each[row] is None else next(answers))
        if progress:
            progress(family.name, rows.stop, len(given.sets))
    for system, mine in zip(given.systems, found, strict=True):
        with of_package(family.name, f"all summaries of {system.label}"):
            figures = family.figures(mine)
            if family.name not in CORE:
                refuse_unfit(family.name, MEASURES[family.name].numbers, figures, len(mine))
        yield Measured(family, system.label, tuple(mine), figures)


def _numbers(
    measured: Sequence[Measured], given: AuditInput, plan: AuditPlan, gaps: Mapping[Key, ChanceGap]
) -> list[AuditNumber]:
    """Every quantity of every system with its interval and its gap to what is expected."""
    numbers = []
    present = [documents.values(given.attribute) for documents in given.sets]
    sets_with = {value: np.array([value in values for values in present], dtype=bool) for value in given.values}
    for each in measured:
        figures, values, said = each.figures, each.figures.all_sets(), each.figures.said()
        n_parts = figures.parts.sum(axis=0)
        for place, quantity in enumerate(figures.quantities):
            value = defined(values[place])
            low, high = bounds_of(value, said[:, place], quantity.kind, plan.bootstrap)
            reasons = _reasons(figures, place, sets_with)
            withheld = ChanceGap(withheld=figures.withheld) if quantity.kind.names else NO_GAP
            numbers.append(
                AuditNumber(
                    measure=str(quantity.measure), system=each.system, side=quantity.side, value=value, low=low, high=high,
                    n_sets=int(figures.rests_on[:, place].sum()), left_out=sum(reasons.values()), reasons=reasons,
                    sentence="" if quantity.side is not None else _sentence(each, quantity.kind, value),
                    is_small=quantity.side is not None and bool(n_parts[place] < plan.least_group),
                    gap=gaps.get((each.family.name, each.system, quantity), withheld),
                    by_set=what_sets_say(said[:, place]),
                )
            )  # fmt: skip
    return numbers


def _reasons(figures: Figures, place: int, sets_with: Mapping[str, Bools]) -> Counter[str]:
    """Why a quantity does not rest on sets, and on how many."""
    quantity, without = figures.quantities[place], figures.scored & ~figures.rests_on[:, place]
    present = sets_with.get(quantity.side or "", np.zeros_like(without))
    by_value = {NO_DOCUMENT: without & ~present, NO_WORD: without & present}
    whole = ONE_VALUED if quantity.kind.of_several else figures.no_part
    counts = Counter(reason for reason in figures.left_out if reason is not None)
    for reason, those in ({whole: without} if whole else by_value).items():
        counts[reason] += int(those.sum())
    return +counts


def _sentence(each: Measured, kind: NumberKind, value: float | None) -> str:
    """What an aggregate means, or why it is undefined."""
    if value is None:
        return f"Undefined: {each.figures.undefined}."
    with of_package(each.family.name, f"what {kind.name!r} means"):
        return each.family.sentence(kind, f"{100 * value:.1f}" if kind.is_share else f"{value:.3f}", each.figures)


def _value_notes(given: AuditInput) -> Iterator[ValueNote]:
    sets, documents = Counter[str](), Counter[str]()
    for each in given.sets:
        counts = Counter(document.attributes[given.attribute] for document in each.documents)
        sets.update(counts.keys())
        documents.update(counts)
    for value in given.values:
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
        said = pseudo_values(figures.beyond, figures.columns, figures.rests_on)[:, naming[first]]
        # what is expected can be an interval, in which a set alone may lie where all together do not: it comes last
        inside = np.where((np.abs(gaps[:, first]) <= NOISE) & (sign * said > NOISE), NOISE * sign * said, np.nan)
        off = np.where(sign * gaps[:, first] > NOISE, sign * gaps[:, first], inside)
    else:
        columns = np.where(np.isnan(gaps), np.inf, gaps).argmin(axis=1)
        lowest = np.take_along_axis(gaps, columns[:, None], axis=1)[:, 0]
        off = np.where(lowest < -NOISE, -lowest, np.nan)
    found = []
    for place in np.argsort(-np.nan_to_num(off), kind="stable")[:n].tolist():
        if np.isnan(off[place]):
            break
        below = {value: -float(gap) for value, gap in zip(values, gaps[place], strict=True) if gap < -NOISE}
        mine = [value for value in (named.under if named else ()) if value in below]
        of = int(columns[place])
        found.append(Chosen(place, float(gaps[place, of]), values[of], tuple(mine) or most(below)))
    return found


def most_unfair(figures: Figures, n: int) -> list[Chosen]:
    """The sets of highest unfairness, most unfair first, ties in their order; fair ones are none."""
    ranked = np.where(np.isnan(figures.unfairness), -np.inf, figures.unfairness)
    order = np.argsort(-ranked, kind="stable")[:n].tolist()
    return [Chosen(place, float(ranked[place])) for place in order if ranked[place] > 0]


def _name_of(value: str, family: Family, given: AuditInput) -> str:
    return value if has_own_groups(family.name) else given.name_of(value)


def take_apart(
    measured: Measured, given: AuditInput, n: int, named: Representation | None = None
) -> Iterator[AuditExample]:
    """The n summaries of a system that show best what a family found: which sentences take up whose documents.

    Without what nobody reads: a summary of megabytes would make a page of as many for every family.
    """
    (system,) = (each for each in given.systems if each.label == measured.system)
    items = given.items(system)
    for each in chosen(measured.figures, n, named):
        item = items[each.place]
        assert item is not None, "a set without summary has no unfairness"
        with of_package(measured.family.name, f"an example of set {item.id!r}"):
            apart = measured.family.example(item, measured.found[each.place], each.left_out)
        if each.of is not None:
            by = f" ({measured.family.by})" if measured.family.by else ""
            measure = f"gap of {_name_of(each.of, measured.family, given)} to what is expected of this summary{by}"
            apart = apart.model_copy(update={"measure": measure, "is_share": True})
        lines = [
            line.model_copy(update={"text": f"{line.text[:MOST_CHARACTERS]} ..."})
            if len(line.text) > MOST_CHARACTERS
            else line
            for line in apart.lines[:MOST_LINES]
        ]
        if len(apart.lines) > MOST_LINES:
            lines.append(
                SummaryUnit(text=f"... and {len(apart.lines) - MOST_LINES:,} more", takes={}, note="not shown")
            )
        yield AuditExample(
            family=measured.family.name,
            system=measured.system,
            set_id=item.id,
            topic=given.sets[each.place].topic,
            unfairness=each.unfairness,
            is_gap=each.of is not None,
            **{**dict(apart), "lines": tuple(lines)},
        )
