"""The audit as a page: who gets less room than their documents, by value first, then measures, differences and examples."""

from collections.abc import Iterable, Iterator, Sequence

from ..pages.blocks import (
    Block,
    Cell,
    Column,
    Details,
    Facts,
    Heading,
    Heads,
    Items,
    Legend,
    Mark,
    Page,
    Prose,
    Row,
    Strip,
    Table,
    Text,
    Tone,
    bounds,
    count,
    group,
    row,
    table,
)
from ..pages.blocks import Number as NumberCell
from ..pages.charts import scale
from ..pages.numbers import MINUS, NONE, Unit, number, percent
from ..pages.words import counted, versions
from .contents import (
    COVERAGE_DIFFERENCE,
    SHARE_IN_SOURCES,
    SHARE_IN_SUMMARIES,
    UNDER_REPRESENTED,
    Audit,
    Example,
    Measure,
    Number,
    PairedDifference,
    SystemNote,
    ValueNote,
)
from .findings import by_length, n_tests
from .warnings import aim, left_out, length, notes

# what a value's marks stand for, in the order of their styles
DRAWN = (SHARE_IN_SOURCES, SHARE_IN_SUMMARIES)
# what the terminal shows of each value
MAIN = (*DRAWN, UNDER_REPRESENTED, COVERAGE_DIFFERENCE)
# families whose examples set counts side by side, not shares
COUNTING = ("opinions", "word-lists")
# what a text is called that an example leaves out, by what the opinion graph takes for a unit
TEXTS = {"documents": "post", "sentences": "sentence"}
VERDICTS: dict[Tone | None, str] = {"better": "fairer", "worse": "less fair"}
# of a difference that the systems' lengths may make alone
LENGTHS = "lengths differ too"
LEGEND = Legend(
    (
        ("better", "fairer"),
        ("worse", "less fair"),
        ("neutral", "differs, neither fairer nor less"),
        ("unsure", "no clear difference: adjusted p too large, the interval includes zero, or there is no test"),
    )
)


def page(audit: Audit) -> Page:
    """The audit as blocks."""
    return Page(
        kind="audit",
        about=f"{counted(len(audit.systems), 'system')} on {counted(audit.n_sets, 'document set')} of {audit.documents}, by "
        f"{audit.attribute}",
        title=f"{audit.title}.",
        warnings=audit.warnings,
        findings=(),
        body=(
            *_values(audit),
            *_measures(audit),
            *_differences(audit),
            *_examples(audit),
            Heading("How it was made"),
            _made(audit),
        ),
        main=tuple(_main(audit)),
        footer="Every number on this page is in audit.json beside it, with its measure, signature, counts, level, draws "
        "and seed.",
    )


def _level(audit: Audit) -> str:
    return f"{100 * audit.options['bootstrap']['level']:g}"


def _values(audit: Audit) -> Iterator[Block]:
    made = list(value_tables(audit))
    if not made:
        return
    yield Heading(f"By {audit.attribute}")
    if any(found.scale for found in made):
        yield Prose(
            f"How much of the documents and how much of the summaries each {audit.attribute} has, in per cent, over the "
            f"sets that have documents of it; lines are {_level(audit)} % intervals. {aim(audit)}",
            "lead",
        )
        yield Legend(tuple((style, kind.name) for style, kind in enumerate(DRAWN)))
    for found, system in zip(made, (s for s in audit.systems if _by_value(audit, s)), strict=True):
        yield Heading(system.label, 3)
        yield found
    few = " What is marked few rests on too few sets to be compared." if any(n.is_small for n in audit.by_value) else ""
    yield Prose(
        "n counts sets. Shortfall is by how many points a value's share falls short of its due share, 0 when it does "
        "not. Coverage: of the summary's units that any document has, the share that a document has, on average; its "
        f"difference is to all documents of the set.{few}",
        "lead",
    )


def _by_value(audit: Audit, system: SystemNote) -> dict[tuple[Measure, str | None], Number]:
    mine = (n for n in audit.by_value if n.system == system.label and n.family != "word-lists")
    return {(n.measure, n.value): n for n in mine}


def value_tables(audit: Audit) -> Iterator[Table]:
    """The table by attribute value of each system, shares drawn; none when no family splits by value."""
    drawn = [n for n in audit.by_value if n.measure.kind in DRAWN]
    axis = scale([None if x is None else 100 * x for n in drawn for x in (n.estimate, n.low, n.high)], zero=True)
    for system in audit.systems:
        mine = _by_value(audit, system)
        measures = dict.fromkeys(measure for measure, _ in mine)
        if mine:
            heads: Heads = (audit.attribute, "sets", "documents", *(["plot"] if drawn else []), *_columns(measures))
            rows = (
                _value_row(note, [mine.get((each, note.value)) for each in measures], drawn) for note in audit.values
            )
            yield table(f"{system.label} by {audit.attribute}", heads, rows, scale=axis if drawn else None)


def _columns(measures: Iterable[Measure]) -> Iterator[Column]:
    return (Column(each.kind.name, note=f"({each.by})" if each.by else "") for each in measures)


def _value_row(note: ValueNote, found: Sequence[Number | None], drawn: Sequence[Number]) -> Row:
    marks = (
        Mark(100 * each.estimate, *_hundredfold(each), DRAWN.index(each.measure.kind))
        for each in found
        if each and each.measure.kind in DRAWN and each.estimate is not None
    )
    cells = (Text("") if each is None else shown(each, 1, rests_on(each)) for each in found)
    strip = [Strip(tuple(marks))] if drawn else []
    return row(note.value, count(note.n_sets), count(note.n_documents), *strip, *cells)


def _hundredfold(found: Number | PairedDifference) -> tuple[float | None, float | None]:
    """The bounds of a share in per cent."""
    low, high = bounds(found)
    return None if low is None else 100 * low, None if high is None else 100 * high


def shown(found: Number | PairedDifference, places: int = 2, note: str = "") -> NumberCell:
    """The number: shares in per cent, differences of shares in points, others as they are."""
    is_difference = isinstance(found, PairedDifference) or found.measure.kind.is_difference
    unit: Unit = "" if not found.is_share else "points" if is_difference else "%"
    return NumberCell(
        found.estimate, bounds(found), places if found.is_share else 3, unit, sign=is_difference, note=note
    )


def rests_on(found: Number) -> str:
    """ "n 19, few"."""
    return f"n {found.n:,}{', few' if found.is_small else ''}"


def _measures(audit: Audit) -> Iterator[Block]:
    lead = f"The smaller line is the {_level(audit)} % interval over document sets. {notes(audit)}"
    yield Heading("Measures", lead=lead)
    yield _aggregates(audit)
    if undefined := not_measured(audit):
        yield Prose(undefined)
    if audit.worst:
        yield Heading("Who fares worst", 3)
        several = len(audit.systems) > 1
        yield Items(
            tuple(
                Prose(f"by {each.measure}: {each.sentence}", head=each.system if several else "")
                for each in audit.worst
            )
        )
    groups = []
    for system in audit.systems:
        mine = [n for n in audit.by_value if n.system == system.label and n.family == "word-lists"]
        if any(n.estimate is not None for n in mine):
            names = dict.fromkeys(n.value for n in mine if n.value)
            rows = (row(name, *(shown(n, 1) for n in mine if n.value == name)) for name in names)
            groups.append(group(rows, system.label))
    if groups:
        yield Heading("Gender words", 3)
        heads = ("words", "in documents", "in summaries")
        yield table("gender words", heads, groups)


def _aggregates(audit: Audit) -> Table:
    """The measures that could be taken of each system, and its summaries' length."""
    heads = ("measure", "value", "sets", Column("what it means", "long"))
    groups = []
    for system in audit.systems:
        rows = [
            row(
                str(n.measure),
                shown(n),
                count(n.n),
                Text(n.sentence, f"Left out: {left_out(n.left_out)}." if n.left_out else ""),
            )
            for n in audit.aggregates
            if n.system == system.label and n.estimate is not None
        ]
        rows.append(row("length", "", "", length(system)))
        groups.append(group(rows, system.label if len(audit.systems) > 1 else ""))
    return table("measures", heads, groups)


def not_measured(audit: Audit) -> str:
    """Which measures are undefined of which systems, and why; "" where all are defined."""
    measures: dict[tuple[str, str], list[str]] = {}
    for each in audit.aggregates:
        if each.estimate is None:
            why = f"{each.sentence} Left out: {left_out(each.left_out)}." if each.left_out else each.sentence
            measures.setdefault((each.system, why), []).append(str(each.measure))
    return " ".join(f"Not measured of {system}: {', '.join(its)}. {why}" for (system, why), its in measures.items())


def tone(difference: PairedDifference, *, is_of_length: bool = False) -> Tone | None:
    """Whether the difference makes a system fairer; None where there is none.

    Args:
        difference: to the first system.
        is_of_length: whether the systems' lengths may make it alone.
    """
    if difference.verdict == "not measured":
        return None
    if difference.verdict == "no clear difference":
        return "unsure"
    if is_of_length or not difference.is_unfairness:
        return "neutral"
    return "better" if difference.verdict == "lower" else "worse"


def _differences(audit: Audit) -> Iterator[Block]:
    if not audit.differences:
        return
    yield Heading(
        f"Differences to {audit.differences[0].reference}",
        lead="On the sets that are scored under both. p is two-sided, of exchanging the systems within sets, adjusted after "
        f"Benjamini and Hochberg over all {n_tests(audit.differences)} tests. There is a clear difference where the "
        "adjusted p is small and the interval does not include zero. The picture shows those in points.",
    )
    yield LEGEND
    yield difference_table(audit)
    if audit.choices:
        yield Heading("Which system to choose", 3)
        yield Items(tuple(Prose(choice.sentence) for choice in audit.choices))
        yield Prose(
            f"Each system is judged by its worst {audit.attribute}, found anew in every draw of the document sets; a "
            f"choice is named where it is the best in {_level(audit)} % of the draws.",
            "lead",
        )


def difference_table(audit: Audit) -> Table:
    """Differences to the first system, a group for each of the others."""
    ends = [x for d in audit.differences if d.is_share for x in (d.estimate, d.low, d.high)]
    heads = ("measure", "plot", "difference", "p", "adjusted p", "verdict", "sets", "under one only")
    by_system: dict[str, list[Row]] = {}
    unlike = by_length(audit.differences, audit.systems)
    for each in audit.differences:
        its = tone(each, is_of_length=each in unlike)
        drawn = (each.estimate,) if each.is_share and each.estimate is not None else ()
        made = row(
            f"{each.measure}: {each.value}" if each.value else str(each.measure),
            Strip(tuple(Mark(100 * mean, *_hundredfold(each), its) for mean in drawn)),
            shown(each),
            NumberCell(each.p_value, unit="p"),
            NumberCell(each.adjusted, unit="p"),
            Text(VERDICTS.get(its, each.verdict), LENGTHS if its == "neutral" and each in unlike else "", its),
            count(each.n),
            count(each.left_out),
        )
        by_system.setdefault(each.system, []).append(made)
    reference = audit.differences[0].reference
    groups = [group(rows, f"{system} {MINUS} {reference}") for system, rows in by_system.items()]
    axis = scale([None if x is None else 100 * x for x in ends], zero=True)
    return table(f"differences to {reference}", heads, groups, axis)


def _examples(audit: Audit) -> Iterator[Block]:
    found: dict[str, list[Example]] = {}
    for example in audit.examples:
        found.setdefault(f"{example.system}, by {example.family}", []).append(example)
    if found:
        yield Heading(
            "The most unfair summaries",
            lead="Chosen by each family of measures, the most unfair first. Beside each sentence stands whose documents it takes "
            "up.",
        )
    for heading, examples in found.items():
        yield Heading(heading, 3)
        for example in examples:
            name = f"{example.topic} ({example.set_id})" if example.topic else example.set_id
            unfairness = (
                f"{number(100 * example.unfairness, 1)} %" if example.is_share else number(example.unfairness, 3)
            )
            yield Details(name, tuple(_example(audit, example)), f"{example.measure}: {unfairness}", is_example=True)


def _example(audit: Audit, example: Example) -> Iterator[Block]:
    heads: Heads = ("", *(Column(name, kind="number") for name in example.columns))
    rows = (
        row(
            Text(side.name, "left out most" if side.name in example.left_out else ""),
            _side_number(example, side.source),
            _side_number(example, side.summary),
        )
        for side in example.sides
    )
    yield table(f"sides of {example.set_id}", heads, rows)
    lines = []
    for line in example.lines:
        # the most first
        takes = [f"{value} {n:.3g}" for value, n in sorted(line.takes.items(), key=lambda e: -e[1]) if n]
        what = Text("; ".join(takes), line.note) if takes else Text(line.note or "none")
        lines.append(row(Text(line.text, style="long"), what))
    yield table(f"summary of {example.set_id}", ("summary", Column(example.takes_what, "long")), lines)
    if example.documents:
        text = TEXTS[audit.options["opinion_units"]] if example.family == "opinions" else "document"
        who = f"Left out most: {', '.join(example.left_out)} ({counted(len(example.documents), text)})"
        yield Details(who, tuple(map(Prose, example.documents)))


def _side_number(example: Example, value: float | None) -> str:
    """A side's share, or its count where the columns count."""
    if value is None:
        return NONE
    return f"{value:g}" if example.family in COUNTING else percent(value)


def _made(audit: Audit) -> Facts:
    bootstrap = audit.options["bootstrap"]
    drawn = f"{_level(audit)} %, {bootstrap['resamples']:,} draws of document sets, seed {bootstrap['seed']}"
    return Facts(
        (
            ("documents", Text(f"{audit.documents} {audit.documents_digest}", style="code")),
            *(
                (
                    each.label,
                    Text(
                        f"{each.source} {each.digest}", counted(each.n_summaries, "summary", "summaries"), style="code"
                    ),
                )
                for each in audit.systems
            ),
            *((measure.family, Text(measure.signature, style="code")) for measure in audit.measures),
            ("intervals", Text(drawn)),
            ("versions", versions(audit.versions)),
        )
    )


def _main(audit: Audit) -> Iterator[Block]:
    """What to look at first: the values of all systems side by side, who clearly fares worst, and which system to choose."""
    known = (n.measure for n in audit.by_value if n.measure.kind in MAIN and n.estimate is not None)
    measures = dict.fromkeys(known)
    several = len(audit.systems) > 1
    groups = []
    for system in audit.systems if measures else ():
        mine = _by_value(audit, system)
        rows = (row(note.value, *(_first(mine.get((each, note.value))) for each in measures)) for note in audit.values)
        groups.append(group(rows, system.label if several else ""))
    yield (
        table(f"by {audit.attribute}", (audit.attribute, *_columns(measures)), groups) if groups else _aggregates(audit)
    )
    for each in audit.worst:
        if each.family == audit.worst[0].family and (each.verdict == "clear" or not several):
            yield Prose(each.sentence, head=f"{each.system}:" if several else "")
    yield from (Prose(choice.sentence) for choice in audit.choices)


def _first(found: Number | None) -> Cell:
    return shown(found, 1, rests_on(found) if found.is_small else "") if found else Text("")
