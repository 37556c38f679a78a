"""The audit as a page: who gets less room than their documents, by value first, then measures, differences and examples."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ...fairness.groups.taste import TASTE
from ..gate.page import with_gate
from ..pages.blocks import (
    Block,
    Cell,
    Column,
    Columns,
    Details,
    Fact,
    Heading,
    Heads,
    Items,
    NumberCell,
    Page,
    Prose,
    Row,
    Table,
    Text,
    bounds,
    code,
    count,
    group,
    grouped,
    how_made,
    in_unit,
    items,
    row,
    rows_of,
    table,
)
from ..pages.numbers import percent
from ..pages.value_names import noun
from ..pages.words import counted, few_label, joined
from ..significance import DRAWS
from .cells import gap, gap_column, gap_of, level_of, rests_on, shown
from .contents import Audit, AuditNumber, Representation, ValueNote
from .differences_page import differences
from .examples_page import examples
from .families import CORE, MEASURES
from .findings import apart, gap_that_names, gap_words, speaking, wording_of
from .groups_page import group_table, orders
from .kinds import SHARE_IN_SOURCES, SHARE_IN_SUMMARIES, SHORTFALL, UNDER_REPRESENTED
from .overview import overview
from .value_names import with_names
from .warnings import aim, length, notes, too_narrow

# what is expected, by the names of nulls
NULLS = {
    TASTE: "these summaries choose among sentences by their length, how common their words are, their place and what stands in "
    "them, which is learned without a look at any label; the gap is what is left",
}
P_IN_WORDS = (
    "how often a gap as large as any of the page's would come up, had the labels of the documents of each set been dealt "
    "otherwise; the smaller, the surer."
)
# what a value has of the documents and of the summaries
DRAWN = (SHARE_IN_SOURCES, SHARE_IN_SUMMARIES)
# published measures of a value, which say nothing without their chance level
PUBLISHED = (SHORTFALL.name, UNDER_REPRESENTED.name)
# summaries that a reader is sent to first
MOST_TO_LOOK_AT = 3
# systems whose shares stand side by side in a sentence
MOST_SIDE_BY_SIDE = 4


def page(audit: Audit) -> Page:
    """The audit as blocks."""
    audit = with_names(audit)
    made = Page(
        kind="audit",
        about=f"{counted(len(audit.systems), 'system')} on {counted(audit.n_sets, 'document set')} of {audit.documents}, by "
        f"{audit.attribute}",
        title=f"{audit.title}.",
        warnings=audit.warnings,
        findings=tuple(_named(audit)),
        body=(
            *_values(audit),
            *group_table(audit, "order"),
            *orders(audit),
            *group_table(audit, "tone"),
            *_measures(audit),
            *differences(audit),
            *beside(audit),
            *examples(audit),
            *_made(audit),
        ),
        footer="Every number on this page is in audit.json beside it, with its measure, signature, counts, level, exchanges "
        "and seed.",
        overview=overview(audit),
    )
    return with_gate(made, audit.gate)


def _values(audit: Audit) -> Iterator[Block]:
    made = value_tables(audit)
    if not made:
        return
    yield Heading(f"By {audit.attribute}")
    if any(n.kind in DRAWN for n in audit.by_value):
        yield Prose(
            f"How much of the documents and how much of the summaries each {noun(audit.attribute)} has, in per cent, over the "
            f"sets that have words of several, with {level_of(audit)} % intervals. {aim(audit)}",
            "lead",
        )
    folded: list[Block] = []
    for system, found in made.items():
        yield Heading(system, 3)
        yield found.without(*PUBLISHED)
        names = [column.name for column in found.columns]
        if any(name in PUBLISHED for name in names):
            others = [name for name in names if name not in (audit.attribute, *PUBLISHED)]
            published = replace(found.without(*others), name=f"{found.name}, published measures")
            folded += [Heading(published.name, 3), published]
    if folded:
        yield Details(f"Published measures of each {noun(audit.attribute)}", tuple(folded))
    yield _reading(audit)


def _reading(audit: Audit) -> Prose:
    """How the numbers by value are read, and by which null they are expected."""
    nulls = dict.fromkeys(n.gap.reference for n in audit.by_value if MEASURES[n.family].page.table is None)
    said = [f"{null}: {NULLS[null]}" for null in nulls if null in NULLS]
    how = f" Expected by {'; by '.join(said)}. p: {P_IN_WORDS}" if said else ""
    few = (
        f" What is marked few rests on {few_label('to be compared')}."
        if any(n.is_small for n in audit.by_value)
        else ""
    )
    narrow = too_narrow(audit.by_value)
    return Prose(
        "n counts sets. Shortfall is by how many points a value's share falls short of its due share, 0 when it does "
        "not. Coverage: of the summary's units that any document has, the share that a document has, on average; its "
        f"difference is to all documents of the set.{how}{few}{f' {narrow}' if narrow else ''}",
        "lead",
    )


def value_tables(audit: Audit) -> dict[str, Table]:
    """The table by attribute value of each system; none when no family splits by value.

    Each measure has a column, and one by which groups are named another with the gap to what is expected and the null's name.
    """
    numbers = [n for n in audit.by_value if MEASURES[n.family].page.table is None]
    with_gap = {n.measure for n in numbers if n.gap.reference and n.kind.names}
    tables = {}
    for system, its in grouped(numbers, lambda each: each.system).items():
        mine = {(n.measure, n.side): n for n in its}
        measures = {n.measure: n for n in its}
        columns: list[Column] = []
        for name, first in measures.items():
            columns.append(Column(first.kind.name, note=f"({first.by})" if first.by else ""))
            if name in with_gap:
                columns.append(gap_column(n for n in numbers if n.measure == name))
        heads: Heads = (audit.attribute, "sets", "documents", *columns)
        rows = (
            _value_row(note, [mine.get((each, note.value)) for each in measures], with_gap) for note in audit.values
        )
        tables[system] = table(f"{system} by {audit.attribute}", heads, rows)
    return tables


def _value_row(note: ValueNote, found: Sequence[AuditNumber | None], with_gap: Collection[str]) -> Row:
    cells: list[Cell] = []
    for each in filter(None, found):
        cells += [shown(each, 1, rests_on(each)), *(gap_of(each) if each.measure in with_gap else ())]
    return row(note.value, count(note.n_sets), count(note.n_documents), *cells)


def _measures(audit: Audit) -> Iterator[Block]:
    lead = f"The smaller line is the {level_of(audit)} % interval over document sets. {notes(audit)}"
    yield Heading("Measures", lead=lead)
    yield _aggregates(audit)
    if undefined := not_measured(audit):
        yield Prose(undefined)
    if audit.represented:
        yield Heading("Who is represented less or more than by chance", 3)
        several = len(audit.systems) > 1
        yield Items(
            tuple(
                Prose(f"{each.measure}: {each.sentence}", head=each.system if several else "")
                for each in audit.represented
            )
        )
    for each in audit.measures:
        if each.family not in CORE:
            yield from group_table(audit, each.family, level=3)


def _aggregates(audit: Audit) -> Table:
    """The measures that could be taken of each system, and its summaries' length."""
    heads = ("measure", "value", "expected", "gap", "sets", Column("what it means", "long"))
    groups = []
    for system in audit.systems:
        rows = [
            row(
                n.measure,
                shown(n),
                in_unit(n.gap.expected, None, 2, is_share=n.kind.is_share, note=f"by {n.gap.reference}")
                if n.gap.reference
                else NumberCell(None),
                gap(n.gap, is_share=n.kind.is_share),
                count(n.n_sets),
                Text(n.sentence, _why_left_out(n)),
            )
            for n in audit.aggregates
            if n.system == system.label and n.value is not None
        ]
        rows.append(row("length", "", "", "", "", length(system)))
        groups.append(group(rows, system.label if len(audit.systems) > 1 else ""))
    return table("measures", heads, groups)


def not_measured(audit: Audit) -> str:
    """Which measures are undefined of which systems, and why; "" where all are defined."""
    measures: dict[tuple[str, str], list[str]] = {}
    for each in audit.aggregates:
        if each.value is None:
            why = " ".join(filter(None, (each.sentence, _why_left_out(each))))
            measures.setdefault((each.system, why), []).append(each.measure)
    return " ".join(f"Not measured of {system}: {', '.join(its)}. {why}" for (system, why), its in measures.items())


def _why_left_out(number: AuditNumber) -> str:
    said = ", ".join(f"{n:,} {reason}" for reason, n in number.reasons.items())
    return f"Left out: {said}." if said else ""


def beside(audit: Audit) -> Iterator[Block]:
    if not audit.beside:
        return
    yield Heading(
        "What papers report besides",
        lead="As published; nothing is concluded from it. p is of the values that were found to be most over- and "
        "under-represented, and takes documents of one set for independent. The lowest and highest are found greedily: "
        "another choice of sentences, or a summary in words of its own, can be beyond them. The smaller line is the "
        "interval over document sets.",
    )
    yield beside_table(audit)


def beside_table(audit: Audit) -> Table:
    """A row for each number, a group for each system."""
    columns: Columns[AuditNumber] = {
        "measure": lambda each: each.measure,
        Column("", "long"): lambda each: each.how,
        # the user's name, which may be that of another column
        Column(audit.attribute): lambda each: each.side or "",
        "value": lambda each: replace(shown(each), bounds=None if each.low is None else bounds(each), note=""),
        "expected": lambda each: NumberCell(each.gap.expected, places=2, unit="%"),
        "p": lambda each: NumberCell(each.p_value, unit="p"),
        "sets": lambda each: count(each.n_sets),
    }
    groups = [
        group(rows_of(its, columns), system if len(audit.systems) > 1 else "")
        for system, its in grouped(audit.beside, lambda each: each.system).items()
    ]
    return table("what papers report besides", columns, groups)


def _made(audit: Audit) -> Iterator[Block]:
    bootstrap = audit.bootstrap
    drawn = (
        f"{level_of(audit)} % over document sets: bootstrap-t of {bootstrap.resamples:,} draws, of differences "
        f"Student's t with the jackknife; gaps and p by {DRAWS:,} deals of the documents' labels, or flips of the sets' signs; "
        f"seed {bootstrap.seed}"
    )
    nulls: dict[str, dict[str, None]] = {}
    for n in (*audit.aggregates, *audit.by_value):
        if n.gap.reference:
            nulls.setdefault(n.gap.reference, {})[n.measure] = None
    expected = "; ".join(f"{joined(list(measures))} by {null}" for null, measures in nulls.items())
    facts: tuple[Fact, ...] = (
        ("documents", code(f"{audit.documents} {audit.documents_digest}")),
        *(
            (each.label, code(f"{each.source} {each.digest}", counted(each.n_summaries, "summary", "summaries")))
            for each in audit.systems
        ),
        *((measure.family, code(measure.signature)) for measure in audit.measures),
        *([("expected", expected)] if expected else []),
        ("intervals", drawn),
        *(("to measure more", hint) for hint in audit.hints),
    )
    return how_made(facts, audit.versions)


def _named(audit: Audit) -> Iterator[Block]:
    """Who is represented less or more under each system, by each family that names somebody, and where to look."""
    several = len(audit.systems) > 1
    said = [Prose(text) for text in (*_side_by_side(audit), *filter(None, map(apart, audit.votes)))]
    for system in audit.systems:
        found = speaking([each for each in audit.represented if each.system == system.label])
        # the headline has the first numbers of one system, and the table those of several
        if several and found:
            sentences = (text for each in found for text in (each.sentence, *_look_first(audit, each)))
            said.append(Prose(" ".join(sentences), head=f"{system.label}:"))
        elif found:
            first, *others = found
            value = (first.under or first.over)[0]
            gap = gap_that_names(audit.by_value, first, value)
            sure = f"For {wording_of(first.family).subject.format(value=value)} the gap is {gap_words(gap)}."
            said += map(Prose, (f"{first.sentence} {sure}", *first.details[1:], *_look_first(audit, first)))
            for each in others:
                said += map(Prose, (each.sentence, *each.details, *_look_first(audit, each)))
    yield from items(said)


def _side_by_side(audit: Audit) -> Iterator[str]:
    """What several systems give the value of which the headline tells, or else the one that is farthest off what is expected."""
    if len(audit.systems) < 2 or audit.orders:
        return
    known = [n for n in audit.by_value if n.kind == SHARE_IN_SUMMARIES and n.gap.reference]
    told = [v.side for v in audit.votes if v.verdict in ("fairer", "less fair", "differs")]
    clear = [each for each in known if each.gap.is_clear]
    for value in [*told, *(n.side for n in sorted(clear or known, key=lambda each: -each.gap.size))][:1]:
        mine = [each for each in known if each.side == value][:MOST_SIDE_BY_SIDE]
        sources = (n.value for n in audit.by_value if n.kind == SHARE_IN_SOURCES and n.side == value)
        shares = [f"{n.system} {percent(n.value)} ({percent(n.gap.expected)})" for n in mine[1:]]
        for n in mine[:1]:
            would = f"{percent(n.gap.expected)} would be expected"
            shares.insert(0, f"{n.system} gives it {percent(n.value)} of the summaries' words ({would})")
        unclear = "" if clear or told else "; none of this is clearly off what is expected"
        yield f"{value} has {percent(next(sources, None))} of the documents' words; {joined(shares)}{unclear}."


def _look_first(audit: Audit, found: Representation) -> list[str]:
    """The summaries that show best what a family found, in a sentence; none where no examples were asked for."""
    mine = [each.set_id for each in audit.examples if (each.system, each.family) == (found.system, found.family)]
    return [f"Look first at the summaries of {', '.join(mine[:MOST_TO_LOOK_AT])}."] if mine else []
