"""The audit as a page: who gets less room than their documents, by value first, then measures, differences and examples."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from ...fairness.groups.taste import TASTE
from ..gate.page import with_gate
from ..pages.blocks import Block, Details, Fact, Heading, Items, Page, Prose, how_made, items
from ..pages.cells import Cell, Column, NumberCell, Row, Table, Text
from ..pages.numbers import percent
from ..pages.tables import Columns, Heads, bounds, code, count, group, grouped, in_unit, row, rows_of, table
from ..pages.value_names import noun
from ..pages.words import counted, few_label, joined
from ..significance import DRAWS
from .cells import gap, gap_column, gap_of, level_of, rests_on, shown
from .contents import Audit, AuditNumber, Representation, ValueNote
from .differences_page import differences
from .examples_page import examples
from .families import MEASURES, has_section, page_parts
from .findings import apart, gap_that_names, gap_words, in_sources, percent_range, speaking, wording_of
from .groups_page import group_table
from .kinds import SHARE_IN_SOURCES, SHARE_IN_SUMMARIES, SHORTFALL, UNDER_REPRESENTED
from .overview import overview
from .several_page import joined_page
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
    """The audit as blocks: of several attributes with a part for each."""
    audits = [with_names(part) for part in (audit, *audit.others)]
    pages = list(map(_page, audits))
    return with_gate(joined_page(audits, pages) if audit.others else pages[0], audit.gate)


def _page(audit: Audit) -> Page:
    """The audit by one attribute, with the names of its values."""
    return Page(
        kind="audit",
        about=f"{counted(len(audit.systems), 'system')} on {counted(audit.n_sets, 'document set')} of {audit.documents}, by "
        f"{audit.attribute}",
        title=f"{audit.title}.",
        warnings=audit.warnings,
        findings=tuple(_named(audit)),
        body=(
            *(block for part in page_parts(note.family for note in audit.measures) for block in part.section(audit)),
            *_values(audit),
            *_sections(audit),
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


def _values(audit: Audit) -> Iterator[Block]:
    tables = value_tables(audit)
    if not tables:
        return
    yield Heading(f"By {audit.attribute}", lead=f"Groups: {audit.groups}." if audit.groups else "")
    if any(n.kind in DRAWN for n in audit.by_value):
        yield Prose(
            f"How much of the documents and how much of the summaries each {noun(audit.attribute)} has, in per cent, over the "
            f"sets that have words of several, with {level_of(audit)} % intervals. {aim(audit)}",
            "lead",
        )
    folded: list[Block] = []
    for system, system_table in tables.items():
        yield Heading(system, 3)
        yield system_table.without(*PUBLISHED)
        names = [column.name for column in system_table.columns]
        if any(name in PUBLISHED for name in names):
            unpublished = [name for name in names if name not in (audit.attribute, *PUBLISHED)]
            published = replace(system_table.without(*unpublished), name=f"{system_table.name}, published measures")
            folded += [Heading(published.name, 3), published]
    if folded:
        yield Details(f"Published measures of each {noun(audit.attribute)}", tuple(folded))
    yield _reading(audit)


def _sections(audit: Audit) -> Iterator[Block]:
    """What families show of their groups before the measures of all values together."""
    for note in audit.measures:
        if has_section(note.family):
            yield from group_table(audit, note.family)
            arrangement = MEASURES[note.family].arrangement
            if audit.orders and arrangement:
                yield from arrangement.section(audit.orders, len(audit.systems), noun(audit.attribute))


def _reading(audit: Audit) -> Prose:
    """How the numbers by value are read, and by which null they are expected."""
    nulls = dict.fromkeys(n.gap.reference for n in audit.by_value if MEASURES[n.family].page.table is None)
    meanings = [f"{null}: {NULLS[null]}" for null in nulls if null in NULLS]
    how = f" Expected by {'; by '.join(meanings)}. p: {P_IN_WORDS}" if meanings else ""
    few_note = (
        f" What is marked few is of a value that {few_label('for a verdict')} have."
        if any(n.is_small for n in audit.by_value)
        else ""
    )
    narrow = too_narrow(audit.by_value)
    return Prose(
        "n counts sets. Shortfall is by how many points a value's share falls short of its due share, 0 when it does "
        "not. Coverage: of the summary's units that any document has, the share that a document has, on average; its "
        f"difference is to all documents of the set.{how}{few_note}{f' {narrow}' if narrow else ''}",
        "lead",
    )


def value_tables(audit: Audit) -> dict[str, Table]:
    """The table by attribute value of each system; none when no family splits by value.

    Each measure has a column, and one by which groups are named another with the gap to what is expected and the null's name.
    """
    numbers = [n for n in audit.by_value if MEASURES[n.family].page.table is None]
    with_gap = {n.measure for n in numbers if n.gap.reference and n.kind.names}
    tables = {}
    for system, of_system in grouped(numbers, lambda number: number.system).items():
        by_cell = {(n.measure, n.side): n for n in of_system}
        measures = {n.measure: n for n in of_system}
        columns: list[Column] = []
        for name, first in measures.items():
            columns.append(Column(first.kind.name, note=f"({first.by})" if first.by else ""))
            if name in with_gap:
                columns.append(gap_column(n for n in numbers if n.measure == name))
        heads: Heads = (audit.attribute, "sets", "documents", *columns)
        rows = (
            _value_row(note, [by_cell.get((measure, note.value)) for measure in measures], with_gap)
            for note in audit.values
        )
        tables[system] = table(f"{system} by {audit.attribute}", heads, rows)
    return tables


def _value_row(note: ValueNote, numbers: Sequence[AuditNumber | None], with_gap: Collection[str]) -> Row:
    cells: list[Cell] = []
    for number in filter(None, numbers):
        cells += [shown(number, 1, rests_on(number)), *(gap_of(number) if number.measure in with_gap else ())]
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
                Prose(f"{finding.measure}: {finding.sentence}", head=finding.system if several else "")
                for finding in audit.represented
            )
        )
    for note in audit.measures:
        if not has_section(note.family):
            yield from group_table(audit, note.family, level=3)


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
    for number in audit.aggregates:
        if number.value is None:
            why = " ".join(filter(None, (number.sentence, _why_left_out(number))))
            measures.setdefault((number.system, why), []).append(number.measure)
    return " ".join(f"Not measured of {system}: {', '.join(names)}. {why}" for (system, why), names in measures.items())


def _why_left_out(number: AuditNumber) -> str:
    counts = ", ".join(f"{n:,} {reason}" for reason, n in number.reasons.items())
    return f"Left out: {counts}." if counts else ""


def beside(audit: Audit) -> Iterator[Block]:
    if not audit.beside:
        return
    yield Heading(
        "What papers report besides",
        lead="Nothing is concluded from this. p, as published, is of the values that were found to be most over- and "
        "under-represented, and takes documents of one set for independent. The lowest and highest are found greedily: "
        "another choice of sentences, or a summary in words of its own, can be beyond them. The smaller line is the "
        "interval over document sets where a row says no other.",
    )
    yield beside_table(audit)


def beside_table(audit: Audit) -> Table:
    """A row for each number, a group for each system."""
    columns: Columns[AuditNumber] = {
        "measure": lambda number: number.measure,
        Column("", "long"): lambda number: number.how,
        # the user's name, which may be that of another column
        Column(audit.attribute): lambda number: number.side or "",
        "value": lambda number: replace(shown(number), bounds=None if number.low is None else bounds(number), note=""),
        "expected": lambda number: NumberCell(number.gap.expected, places=2, unit="%"),
        "p": lambda number: NumberCell(number.p_value, unit="p"),
        "sets": lambda number: count(number.n_sets),
    }
    groups = [
        group(rows_of(numbers, columns), system if len(audit.systems) > 1 else "")
        for system, numbers in grouped(audit.beside, lambda number: number.system).items()
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
            (
                system.label,
                code(f"{system.source} {system.digest}", counted(system.n_summaries, "summary", "summaries")),
            )
            for system in audit.systems
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
    paragraphs = [Prose(text) for text in (*_side_by_side(audit), *filter(None, map(apart, audit.votes)))]
    for system in audit.systems:
        findings = speaking([finding for finding in audit.represented if finding.system == system.label])
        # the headline has the first numbers of one system, and the table those of several
        if several and findings:
            sentences = (text for finding in findings for text in (finding.sentence, *_look_first(audit, finding)))
            paragraphs.append(Prose(" ".join(sentences), head=f"{system.label}:"))
        elif findings:
            first, *tail = findings
            value = (first.under or first.over)[0]
            gap = gap_that_names(audit.by_value, first, value)
            sure = f"For {wording_of(first.family).subject.format(value=value)} the gap is {gap_words(gap)}."
            paragraphs += map(Prose, (f"{first.sentence} {sure}", *first.details[1:], *_look_first(audit, first)))
            for finding in tail:
                paragraphs += map(Prose, (finding.sentence, *finding.details, *_look_first(audit, finding)))
    yield from items(paragraphs)


def _side_by_side(audit: Audit) -> Iterator[str]:
    """What several systems give the value of which the headline tells, or else the one that is farthest off what is expected."""
    if len(audit.systems) < 2 or audit.orders:
        return
    known = [n for n in audit.by_value if n.kind == SHARE_IN_SUMMARIES and n.gap.reference]
    voted_values = [v.side for v in audit.votes if v.verdict in ("fairer", "less fair", "differs")]
    clear = [number for number in known if number.gap.is_clear]
    for value in [*voted_values, *(n.side for n in sorted(clear or known, key=lambda number: -number.gap.size))][:1]:
        of_value = [number for number in known if number.side == value][:MOST_SIDE_BY_SIDE]
        shown = {number.system for number in of_value}
        sources = in_sources(n for n in audit.by_value if n.kind == SHARE_IN_SOURCES and n.system in shown)
        shares = [f"{n.system} {percent(n.value)} ({percent(n.gap.expected)})" for n in of_value[1:]]
        for n in of_value[:1]:
            would = f"{percent(n.gap.expected)} would be expected"
            shares.insert(0, f"{n.system} gives it {percent(n.value)} of the summaries' words ({would})")
        unclear = "" if clear or voted_values else "; none of this is clearly off what is expected"
        yield f"{value} has {percent_range(sources.get(value, (None,)))} of the documents' words; {joined(shares)}{unclear}."


def _look_first(audit: Audit, finding: Representation) -> list[str]:
    """The summaries that show best what a family found, in a sentence; none where no examples were asked for."""
    set_ids = [
        example.set_id
        for example in audit.examples
        if (example.system, example.family) == (finding.system, finding.family)
    ]
    return [f"Look first at the summaries of {', '.join(set_ids[:MOST_TO_LOOK_AT])}."] if set_ids else []
