"""The audit as a page: who gets less room than their documents, by value first, then measures, differences and examples."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from ..gate.page import gate_blocks, gate_warnings
from ..pages.blocks import (
    Block,
    Cell,
    Column,
    Details,
    Facts,
    Group,
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
from ..pages.numbers import MINUS, NOISE, NONE, Unit, number, percent
from ..pages.words import counted, versions
from .contents import (
    COVERAGE_DIFFERENCE,
    SHARE_IN_SOURCES,
    SHARE_IN_SUMMARIES,
    SHORTFALL,
    UNDER_REPRESENTED,
    Audit,
    Chance,
    Effect,
    Example,
    Line,
    Measure,
    Number,
    PairedDifference,
    SystemNote,
    ValueNote,
    Vote,
)
from .findings import order_sentence
from .warnings import aim, left_out, length, notes

# what a value's marks stand for, in the order of their styles
DRAWN = (SHARE_IN_SOURCES, SHARE_IN_SUMMARIES)
# published measures of a value, which say nothing without their chance level
PUBLISHED = (SHORTFALL.name, UNDER_REPRESENTED.name)
# what the terminal shows of each value
MAIN = (*DRAWN, COVERAGE_DIFFERENCE)
GAP = "gap to expected"
# families that name attribute values
NAMING = ("value-shares", "coverage")
# families whose examples set counts side by side, not shares
COUNTING = ("opinions", "word-lists")
# families whose numbers are not by attribute value, but by groups of their own
ELSEWHERE = ("order", "tone", "word-lists")
# what a text is called that an example leaves out, by what the opinion graph takes for a unit
TEXTS = {"documents": "post", "sentences": "sentence"}
TONES: dict[str, Tone] = {
    "too few sets": "unsure",
    "fairer": "better",
    "less fair": "worse",
    "differs": "neutral",
    "no clear difference": "unsure",
}
LEGEND = Legend(
    (
        ("better", "fairer"),
        ("worse", "less fair"),
        ("neutral", "differs, neither clearly fairer nor less fair"),
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
        warnings=(*gate_warnings(audit.gate), *audit.warnings),
        findings=(),
        body=(
            *gate_blocks(audit.gate),
            *_values(audit),
            *_places(audit),
            *_orders(audit),
            *_tones(audit),
            *_measures(audit),
            *_differences(audit),
            *_beside(audit),
            *_examples(audit),
            Heading("How it was made"),
            _made(audit),
        ),
        main=(*_main(audit), *gate_blocks(audit.gate)),
        footer="Every number on this page is in audit.json beside it, with its measure, signature, counts, level, exchanges "
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
            f"sets that have words of several; lines are {_level(audit)} % intervals. {aim(audit)}",
            "lead",
        )
        has_level = any(each.kind in DRAWN for each in _calibrated(audit))
        first = "expected of summaries that take no side" if has_level else DRAWN[0].name
        yield Legend(((0, first), (1, DRAWN[1].name)))
    for found, system in zip(made, (s for s in audit.systems if _by_value(audit, s)), strict=True):
        yield Heading(system.label, 3)
        yield found.without(*PUBLISHED)
    published = [found for found in made if any(column.name in PUBLISHED for column in found.columns)]
    if published:
        kept = {audit.attribute, *PUBLISHED}
        folded = [
            replace(
                each.without(*(c.name for c in each.columns if c.name not in kept)),
                name=f"{each.name}, published measures",
                scale=None,
            )
            for each in published
        ]
        blocks = tuple(block for each in folded for block in (Heading(each.name, 3), each))
        yield Details(f"Published measures of each {audit.attribute}", blocks)
    few = " What is marked few rests on too few sets to be compared." if any(n.is_small for n in audit.by_value) else ""
    yield Prose(
        "n counts sets. Shortfall is by how many points a value's share falls short of its due share, 0 when it does "
        "not. Coverage: of the summary's units that any document has, the share that a document has, on average; its "
        f"difference is to all documents of the set.{few}",
        "lead",
    )


def _by_value(audit: Audit, system: SystemNote) -> dict[tuple[Measure, str | None], Number]:
    mine = (n for n in audit.by_value if n.system == system.label and n.family not in ELSEWHERE)
    return {(n.measure, n.value): n for n in mine}


def value_tables(audit: Audit) -> Iterator[Table]:
    """The table by attribute value of each system, shares drawn; none when no family splits by value."""
    drawn = [n for n in audit.by_value if n.measure.kind in DRAWN]
    axis = scale([None if x is None else 100 * x for n in drawn for x in (n.estimate, n.low, n.high)], zero=True)
    calibrated = _calibrated(audit)
    for system in audit.systems:
        mine = _by_value(audit, system)
        measures = dict.fromkeys(measure for measure, _ in mine)
        if mine:
            columns = _columns(measures, calibrated)
            heads: Heads = (audit.attribute, "sets", "documents", *(["plot"] if drawn else []), *columns)
            rows = (
                _value_row(note, [mine.get((each, note.value)) for each in measures], calibrated, bool(drawn))
                for note in audit.values
            )
            yield table(f"{system.label} by {audit.attribute}", heads, rows, scale=axis if drawn else None)


def _places(audit: Audit) -> Iterator[Block]:
    """How much of the summaries is about the documents that stand first, in the middle and last."""
    if groups := _groups(audit, "order"):
        yield Heading(
            "By place in the set",
            lead="How much of the documents and how much of the summaries have the documents of each third of a set, in per cent "
            "of matched words, and the gap to what is expected of summaries that prefer no place, whatever room they give to "
            f"each {audit.attribute}. What stands in a place may explain a gap too: evenhand import reordered writes the "
            "documents in other orders, and --order holds their summaries against each other.",
        )
        yield table("by place", ("place", "in documents", "in summaries", "gap to expected"), groups)


def _tones(audit: Audit) -> Iterator[Block]:
    """How summaries speak of each value."""
    if groups := _groups(audit, "tone"):
        yield Heading(
            "Tone",
            lead=f"How much of the tone is positive beside the words that documents of one {audit.attribute} alone have, in "
            "those documents and in the summaries, and the gap to what is expected by the documents' sentences with the same "
            "words. What tells tone is often wrong of a single sentence: read some before you conclude.",
        )
        yield table("tone", (audit.attribute, "in documents", "in summaries", "gap to expected"), groups)


def _groups(audit: Audit, family: str) -> list[Group]:
    """What each group of a family has in documents and summaries, with its gap, by system."""
    groups = []
    for system in audit.systems:
        mine = [n for n in audit.by_value if (n.system, n.family) == (system.label, family) and n.estimate is not None]
        rows = (
            row(name, *(cell for n in mine if n.value == name for cell in (shown(n, 1, rests_on(n)), *_gap_of(n))))
            for name in dict.fromkeys(n.value for n in mine if n.value)
        )
        if mine:
            groups.append(group(rows, system.label if len(audit.systems) > 1 else ""))
    return groups


def _orders(audit: Audit) -> Iterator[Block]:
    """What follows the place and what the documents."""
    if not audit.orders:
        return
    follows = list(dict.fromkeys(each.follows for each in audit.orders))
    yield Heading(
        "Place or documents",
        lead=f"The same documents in {len(audit.systems)} orders, over {audit.orders[0].n:,} sets scored in all of them: "
        "gaps in points of room to what is expected of summaries that take no side, where those by place ask within each "
        f"{audit.attribute}. First the gap of each third in the order of the file; then what any documents have that stand "
        "there; then what its documents have wherever they stand. The first is about the sum of the others.",
    )
    rows = (
        row(
            third,
            *(
                gap(each, is_share=True)
                for wanted in follows
                for each in audit.orders
                if (each.place, each.follows) == (third, wanted)
            ),
        )
        for third in dict.fromkeys(each.place for each in audit.orders)
    )
    heads: Heads = ("place", *(Column(name, note="" if name == follows[0] else "follows it") for name in follows))
    yield table("place or documents", heads, rows)
    said = dict.fromkeys(order_sentence(audit.orders, each) for each in ("place", "documents"))
    yield Prose(" ".join(said))


def _gap_of(found: Number) -> Iterator[Cell]:
    """The gap to expected, of numbers that have one."""
    if found.measure.kind.names:
        yield replace(gap(found.chance, is_share=True), note=_expected(found, found.chance) if found.chance else "")


def _expected(found: Number, chance: Chance) -> str:
    if chance.between:
        low, high = chance.between
        return f"{number(100 * low, 1)} to {percent(high)} expected"
    return f"{replace(shown(found, 1), value=chance.expected, bounds=None).shown} expected"


def _calibrated(audit: Audit) -> set[Measure]:
    """Measures by which groups are named, where a chance level is known."""
    return {n.measure for n in audit.by_value if n.chance and n.measure.kind.names}


def _columns(
    measures: Iterable[Measure], calibrated: Collection[Measure], *, is_first: bool = False
) -> Iterator[Column]:
    """Of each measure its own, and of those by which groups are named the gap to what is expected.

    Args:
        measures: in their order.
        calibrated: those by which groups are named.
        is_first: of a difference the gap stands alone.
    """
    for each in measures:
        note = f"({each.by})" if each.by else ""
        if not (is_first and each in calibrated and each.kind.is_difference):
            yield Column(each.kind.name, note=note)
        if each in calibrated:
            yield Column(f"coverage {GAP}" if each.kind == COVERAGE_DIFFERENCE else GAP)


def _cells(found: Number, calibrated: Collection[Measure], note: str, *, is_first: bool = False) -> Iterator[Cell]:
    if not (is_first and found.measure in calibrated and found.measure.kind.is_difference):
        yield shown(found, 1, note)
    if found.measure in calibrated:
        yield from _gap_of(found)


def gap(chance: Chance | Effect | None, *, is_share: bool) -> NumberCell:
    """How far a number is from its chance level, marked where that is clear."""
    if chance is None or chance.gap is None:
        return NumberCell(None)
    is_between = isinstance(chance, Chance) and chance.between is not None and abs(chance.gap) <= NOISE
    return NumberCell(
        chance.gap, None if is_between else (chance.low, chance.high), 1 if is_share else 3, "points" if is_share else "",
        sign=True,
        tone=None if chance.verdict is None else "unsure" if chance.verdict == "no clear difference" else "neutral",
        adjusted_p=chance.adjusted,
    )  # fmt: skip


def _value_row(note: ValueNote, found: Sequence[Number | None], calibrated: Collection[Measure], is_drawn: bool) -> Row:
    has_level = any(each.chance for each in found if each and each.measure.kind == SHARE_IN_SUMMARIES)
    marks = []
    for each in found:
        if each and each.estimate is not None and each.measure.kind == SHARE_IN_SUMMARIES:
            marks.append(Mark(100 * each.estimate, *_hundredfold(each), 1))
            if each.chance:
                marks.append(Mark(100 * each.chance.expected, None, None, 0))
        elif each and each.estimate is not None and each.measure.kind == SHARE_IN_SOURCES and not has_level:
            marks.append(Mark(100 * each.estimate, *_hundredfold(each), 0))
    cells = (cell for each in found if each for cell in _cells(each, calibrated, rests_on(each)))
    strip = [Strip(tuple(marks))] if is_drawn else []
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
    if audit.represented:
        yield Heading("Who is represented less or more than by chance", 3)
        several = len(audit.systems) > 1
        yield Items(
            tuple(
                Prose(f"{each.measure}: {each.sentence}", head=each.system if several else "")
                for each in audit.represented
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
        called = next(n.measure.by for n in audit.by_value if n.family == "word-lists")
        yield Heading(f"Word lists: {called}", 3)
        heads = ("words", "in documents", "in summaries")
        yield table("word lists", heads, groups)


def _aggregates(audit: Audit) -> Table:
    """The measures that could be taken of each system, and its summaries' length."""
    heads = ("measure", "value", "expected", "gap", "sets", Column("what it means", "long"))
    groups = []
    for system in audit.systems:
        rows = [
            row(
                str(n.measure),
                shown(n),
                NumberCell(
                    n.chance.expected if n.chance else None,
                    places=2 if n.is_share else 3,
                    unit="%" if n.is_share else "",
                ),
                gap(n.chance, is_share=n.is_share),
                count(n.n),
                Text(n.sentence, f"Left out: {left_out(n.left_out)}." if n.left_out else ""),
            )
            for n in audit.aggregates
            if n.system == system.label and n.estimate is not None
        ]
        rows.append(row("length", "", "", "", "", length(system)))
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


def _differences(audit: Audit) -> Iterator[Block]:
    if not audit.differences:
        return
    reference = audit.differences[0].reference
    if audit.votes:
        yield Heading(
            "Which system is fairer",
            lead="By the gap to what is expected of summaries that take no side, on the sets that are scored under both: a "
            f"system is fairer where its gap differs clearly from that of {reference} and is clearly the nearer to 0. One "
            "vote for each family of measures, at the value that differs most; p is of Student's t over sets, adjusted "
            "after Benjamini and Hochberg over all votes and values.",
        )
        yield LEGEND
        yield vote_table(audit)
    tests = [each for each in audit.differences if each.p_value is not None]
    yield Heading(
        f"Published measures: differences to {reference}",
        lead="On the sets that are scored under both, without a look at chance levels: less of them need not be fairer. p is "
        "two-sided, of exchanging the systems within sets, adjusted after Benjamini and Hochberg over all "
        f"{len(tests)} tests. There is a clear difference where the adjusted p is small and the interval does not include "
        "zero. The picture shows those in points.",
    )
    yield difference_table(audit)


def vote_table(audit: Audit) -> Table:
    """One row a family, a group for each system but the first."""
    reference = audit.votes[0].reference
    heads = (
        "measure", "at", Column("gap", note="of the system"), Column("gap", note=f"of {reference}"), "difference",
        "adjusted p", "verdict", "sets",
    )  # fmt: skip
    by_system: dict[str, list[Row]] = {}
    for each in audit.votes:
        made = row(
            str(each.measure),
            each.value or "",
            *(_points(each, value) for value in (each.gap, each.reference_gap)),
            _points(each, each.difference, (each.low, each.high)),
            NumberCell(each.adjusted, unit="p"),
            Text(each.verdict, tone=TONES[each.verdict]),
            count(each.n),
        )
        by_system.setdefault(each.system, []).append(made)
    groups = [group(rows, system if len(by_system) > 1 else "") for system, rows in by_system.items()]
    return table("which system is fairer", heads, groups)


def _points(vote: Vote, value: float | None, between: tuple[float | None, float | None] | None = None) -> NumberCell:
    return NumberCell(value, between, 1 if vote.is_share else 3, "points" if vote.is_share else "", sign=True)


def difference_table(audit: Audit) -> Table:
    """Differences to the first system, a group for each of the others."""
    ends = [x for d in audit.differences if d.is_share for x in (d.estimate, d.low, d.high)]
    heads = ("measure", "plot", "difference", "p", "adjusted p", "verdict", "sets", "under one only")
    by_system: dict[str, list[Row]] = {}
    for each in audit.differences:
        its: Tone = "neutral" if each.verdict in ("higher", "lower") else "unsure"
        drawn = (each.estimate,) if each.is_share and each.estimate is not None else ()
        made = row(
            f"{each.measure}: {each.value}" if each.value else str(each.measure),
            Strip(tuple(Mark(100 * mean, *_hundredfold(each), its) for mean in drawn)),
            shown(each),
            NumberCell(each.p_value, unit="p"),
            NumberCell(each.adjusted, unit="p"),
            Text(each.verdict, tone=None if each.verdict == "not measured" else its),
            count(each.n),
            count(each.left_out),
        )
        by_system.setdefault(each.system, []).append(made)
    reference = audit.differences[0].reference
    groups = [group(rows, f"{system} {MINUS} {reference}") for system, rows in by_system.items()]
    axis = scale([None if x is None else 100 * x for x in ends], zero=True)
    return table(f"differences to {reference}", heads, groups, axis)


def _beside(audit: Audit) -> Iterator[Block]:
    if not audit.beside:
        return
    yield Heading(
        "What papers report besides",
        lead="As published; nothing is concluded from it. p is of the values that were found to be most over- and "
        "under-represented, and takes documents of one set for independent. What is reachable is found greedily, and a summary "
        "in words of its own can be beyond it. The smaller line is the interval over document sets.",
    )
    yield beside_table(audit)


def beside_table(audit: Audit) -> Table:
    """A row for each number, a group for each system."""
    heads = ("measure", Column("", "long"), audit.attribute, "value", "expected", "p", "sets")
    groups = []
    for system in audit.systems:
        rows = [
            row(
                str(each.measure),
                each.how,
                each.value or "",
                NumberCell(
                    each.estimate,
                    None if each.low is None else bounds(each),
                    2,
                    "points" if each.measure.kind.is_difference else "%",
                    sign=each.measure.kind.is_difference,
                ),
                NumberCell(each.expected, places=2, unit="%"),
                NumberCell(each.p_value, unit="p"),
                count(each.n),
            )
            for each in audit.beside
            if each.system == system.label
        ]
        if rows:
            groups.append(group(rows, system.label if len(audit.systems) > 1 else ""))
    return table("what papers report besides", heads, groups)


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
        takes = [
            f"{value} {n:.3g}{_words(line, value)}" for value, n in sorted(line.takes.items(), key=lambda e: -e[1]) if n
        ]
        what = Text("; ".join(takes), line.note) if takes else Text(line.note or "none")
        lines.append(row(Text(line.text, style="long"), what))
    yield table(f"summary of {example.set_id}", ("summary", Column(example.takes_what, "long")), lines)
    if example.documents:
        text = TEXTS[audit.options["opinion_units"]] if example.family == "opinions" else "document"
        who = f"Left out most: {', '.join(example.left_out)} ({counted(len(example.documents), text)})"
        yield Details(who, tuple(map(Prose, example.documents)))


def _words(line: Line, value: str) -> str:
    """ " (friendly, staff)"."""
    return f" ({', '.join(line.words[value])})" if value in line.words else ""


def _side_number(example: Example, value: float | None) -> str:
    """A side's share, or its count where the columns count."""
    if value is None:
        return NONE
    return f"{value:g}" if example.family in COUNTING else percent(value)


def _made(audit: Audit) -> Facts:
    bootstrap = audit.options["bootstrap"]
    drawn = (
        f"{_level(audit)} %, Student's t with the jackknife over document sets; tests of {bootstrap['resamples']:,} exchanges, "
        f"seed {bootstrap['seed']}"
    )
    nulls = {n.family: n.chance.null for n in (*audit.by_value, *audit.aggregates) if n.chance}
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
            ("expected by", Text("; ".join(f"{family}: {null}" for family, null in nulls.items()))),
            ("intervals", Text(drawn)),
            ("versions", versions(audit.versions)),
        )
    )


def _main(audit: Audit) -> Iterator[Block]:
    """What to look at first: the values of all systems side by side, and who is represented less or more."""
    measures = dict.fromkeys(n.measure for n in audit.by_value if n.measure.kind in MAIN and n.estimate is not None)
    several, calibrated = len(audit.systems) > 1, _calibrated(audit)
    groups = []
    for system in audit.systems if measures else ():
        mine = _by_value(audit, system)
        rows = (
            row(note.value, *(cell for n in its if n for cell in _first(n, calibrated)))
            for note in audit.values
            if (its := [mine.get((each, note.value)) for each in measures])
        )
        groups.append(group(rows, system.label if several else ""))
    columns = _columns(measures, calibrated, is_first=True)
    yield table(f"by {audit.attribute}", (audit.attribute, *columns), groups) if groups else _aggregates(audit)
    for system in audit.systems:
        said = (
            each.sentence
            for each in audit.represented
            if each.system == system.label and each.family in NAMING and (each.under or each.over)
        )
        if sentence := next((each for each in said if each.removesuffix(".") not in audit.title), ""):
            yield Prose(sentence, head=f"{system.label}:" if several else "")
    yield from _orders(audit)
    yield from _tones(audit)
    if not groups:
        yield from _places(audit)
    yield from _beside(audit)


def _first(found: Number, calibrated: Collection[Measure]) -> Iterator[Cell]:
    return _cells(found, calibrated, rests_on(found) if found.is_small else "", is_first=True)
