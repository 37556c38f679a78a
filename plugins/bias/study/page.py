"""The report of a bias study as a page: groups first, then each measure with its intervals and its verdict."""

from collections.abc import Iterator, Sequence

from ....evaluation.pages.blocks import Block, Details, Heading, Legend, Page, Prose, how_made, items, recipe_details
from ....evaluation.pages.cells import Column, Mark, NumberCell, Row, Strip, Table, Text
from ....evaluation.pages.charts import Scale, scale
from ....evaluation.pages.numbers import NONE, interval, percent
from ....evaluation.pages.tables import bounds, code, count, grouped, listing, row, table
from ....evaluation.pages.words import NOTHING_LEFT_OUT, counted
from ....number import Number
from .contents import BiasMeasure, BiasReport, DesignFigures
from .findings import further
from .overview import overview

INTERVALS = (
    "The score is as published, with its interval over drawn documents and, marked s, over drawn names and genders; in inclusion "
    "and hallucination it cannot fall below 0, so chance alone puts it above. The difference is centred on 0. A measure leans "
    "where its difference would seldom be as large had the groups of whole documents been exchanged: p is corrected for all "
    "measures of the study, half of the level for who is named and half for all others, and the interval leaves out 0. Of "
    "studies of summarizers that see no group, {chance} at most are to say that anything leans."
)
UNSEEN = (
    "adjectives and descriptions of persons; who is only mentioned by a pronoun or a role; quotations in other words, and whose "
    "tone or length differs; names that two persons of a text share; anything about texts that are not in English, and about "
    "groups that names and pronouns do not show."
)
SOURCE = "Steen and Markert 2024, Bias in News Summarization: Measures, Pitfalls and Corpora (Findings of ACL)"


def page(report: BiasReport) -> Page:
    """The report as blocks."""
    groups, zeros = _groups(report)
    measures = _measures(report)
    reworded = any(measure.n_reworded for measure in report.measures)
    but = ", save for distinguishability where rewritten words show the group" if reworded else ""
    return Page(
        kind="bias study",
        about=f"{report.name}: {counted(report.n_documents, 'document')}, "
        f"{counted(sum(design.summaries for design in report.designs), 'summary', 'summaries')}",
        title=report.title,
        warnings=report.warnings,
        findings=(
            *map(Prose, further(report.measures)),
            Prose(
                f"Summaries by {report.summarizer}. Each document was rewritten with other names and genders ({report.setting}; "
                f"{counted(report.assignments, 'assignment')}); only what the annotation marks differs between the groups. "
                f"0 is fair{but}.",
                "lead",
            ),
        ),
        body=(
            Heading(
                "By group",
                lead="Counts first: what the inputs hold and what the summaries kept. Shares of words and of invented "
                "persons are among the groups.",
            ),
            Legend(tuple(enumerate(report.groups))),
            groups,
            *zeros,
            Heading(
                "Measures",
                lead=f"{100 * report.level:g} % intervals. {how_decided(report)} The plot shows the differences.",
            ),
            measures,
            *(block for measure in report.measures for block in _said(measure)),
            *_not_measured(report),
            Prose(f"What this study cannot see: {UNSEEN}", "small"),
            *_examples(report),
            Heading(
                "Summaries",
                lead="Balanced inputs mix persons of all groups and come in pairs with the groups exchanged; uniform inputs "
                "have persons of one group only.",
            ),
            _designs(report.designs),
            *_left_out(report),
            *_made(report),
            recipe_details(report.recipe),
        ),
        footer="Every number on this page is in report.json beside it. Names and pronouns of the inputs were drawn; how a name "
        "reads says nothing about a person.",
        overview=overview(report),
    )


def how_decided(report: BiasReport) -> str:
    """What the intervals are, when a measure leans, and how often it does by chance."""
    return INTERVALS.format(chance=percent(1 - report.level))


def _groups(report: BiasReport) -> tuple[Table, tuple[Prose, ...]]:
    """The figures of each group, figures down and groups across, and a line that names those that are 0 in all of them."""
    rows, zeros = [], []
    for name, figures in grouped(report.by_group, lambda figure: figure.measure).items():
        if all(not figure.count and not figure.value for figure in figures):
            # not counted at all, or counted and none
            zeros += [name] if any(0 in (figure.count, figure.value) for figure in figures) else []
        else:
            marks = tuple(Mark(Number(value=100 * f.value), k) for k, f in enumerate(figures) if f.value is not None)
            cells = (
                NumberCell(figure.value, unit="%", places=1)
                if figure.count is None
                else count(figure.count, "" if figure.value is None else percent(figure.value))
                for figure in figures
            )
            rows.append(row(name, *cells, Strip(marks)))
    heads = ("figure", *report.groups, "per cent")
    figure_table = table("by group", heads, rows, scale=Scale(0, 100, (0, 25, 50, 75, 100)))
    return figure_table, (Prose(f"0 in every group: {', '.join(zeros)}."),) if zeros else ()


def _measures(report: BiasReport) -> Table:
    reach = scale(_ends(report.measures), zero=True, most_ticks=5)
    return listing(
        "measures",
        report.measures,
        {
            "measure": lambda measure: measure.name,
            Column("score", note="as published, 0 is fair"): _score,
            Column("difference", note="0 is fair"): _difference,
            "plot": lambda measure: _strip(measure, reach),
            "verdict": verdict,
        },
    )


def verdict(measure: BiasMeasure) -> Text:
    """Whether a measure leans and where to, or shows no clear difference."""
    if measure.verdict == "leans":
        return Text(f"leans to {measure.direction}" if measure.direction else "groups differ", tone="worse")
    return Text(measure.verdict, tone="unsure") if measure.verdict else Text(NONE)


def _score(measure: BiasMeasure) -> NumberCell:
    documents, assignments = (measure.number("score", over) for over in ("document", "assignment"))
    if documents is not None and documents.verdict is not None:
        # is shown as what is tested
        return NumberCell(documents.value)
    return NumberCell(
        measure.score,
        bounds(documents) if documents else None if assignments else (None, None),
        note=f"s {interval(*bounds(assignments))}" if assignments else "",
    )


def _difference(measure: BiasMeasure) -> NumberCell:
    """The difference that the verdict rests on, in points; all are of shares, of summaries that show their group as well."""
    tested = measure.tested
    if tested is None:
        return NumberCell(None)
    note = f"without {counted(measure.n_reworded, 'document')}" if tested.what == "rest" else ""
    return NumberCell(tested.value, bounds(tested), 1, "points", sign=True, adjusted_p=tested.adjusted, note=note)


def _ends(measures: Sequence[BiasMeasure]) -> list[float]:
    tested = [measure.tested for measure in measures if measure.tested]
    ends = [100 * abs(x) for measure in tested for x in (measure.value, *bounds(measure)) if x is not None]
    return [-max(ends, default=1.0), max(ends, default=1.0)]


def _strip(measure: BiasMeasure, axis: Scale) -> Strip:
    """The tested difference, in points on the axis of all measures."""
    tested = measure.tested
    if tested is None or tested.value is None:
        return Strip(())
    low, high = (None if x is None else 100 * x for x in bounds(tested))
    points = Number(value=100 * tested.value, low=low, high=high)
    return Strip((Mark(points, "worse" if measure.verdict == "leans" else "unsure"),), axis)


def _said(measure: BiasMeasure) -> Iterator[Block]:
    remarks = (measure.question, *([f"Score: {measure.scale}."] if measure.scale else []),
            *([f"Difference: {measure.difference}."] if measure.difference else []))  # fmt: skip
    yield Heading(measure.name, 3)
    yield Prose(measure.sentence)
    yield Prose(" ".join(remarks), "small")
    yield from (Prose(note, "small") for note in measure.notes)


def _not_measured(report: BiasReport) -> Iterator[Block]:
    if report.not_measured:
        yield Heading("Not measured", 3)
        yield from items(Prose(f"{measure.reason}.", head=f"{measure.name}:") for measure in report.not_measured)


def _left_out(report: BiasReport) -> Iterator[Block]:
    rows = [(left_out.what, left_out.stage, left_out.reason, count(left_out.count)) for left_out in report.left_out]
    yield Heading("Left out", 3)
    heads = ("what", "stage", Column("reason", "long"), "count")
    yield table("left out", heads, rows) if rows else Prose(NOTHING_LEFT_OUT)


def _examples(report: BiasReport) -> Iterator[Block]:
    if not report.examples:
        return
    yield Heading(
        "Examples",
        lead="Two inputs that differ in names and genders alone, and summaries of them that differ in more. Those come first "
        "in which most persons are named by one summary only. They were chosen for that and are not typical.",
    )
    for example in report.examples:
        persons = (
            "; ".join(
                f"{p.name} ({p.category or 'not varied'}) {'named' if p.kept else 'not named'}" for p in side.persons
            )
            for side in example.sides
        )
        rows = [
            row("persons", *persons),
            row("summary", *(Text(side.summary, style="long") for side in example.sides)),
            row("input", *(Text(side.text, side.input_id, style="faint") for side in example.sides)),
        ]
        heads = ("", Column("one input", "long"), Column("the other", "long"))
        note = f"{counted(example.n_changed, 'person')} named by one summary only"
        pair = table(f"example {example.original_id}", heads, rows)
        yield Details(example.original_id, (pair,), note, is_example=True)


def _designs(designs: Sequence[DesignFigures]) -> Table:
    names = ("documents", "made", "measured", "words each", "persons each", "of them invented")
    rows: list[Row] = [
        row(
            design.design, count(design.documents), count(design.inputs), count(design.summaries),
            NumberCell(design.words, places=1), NumberCell(design.persons, places=2),
            NumberCell(design.invented_share, unit="%", places=1),
        )
        for design in designs
    ]  # fmt: skip
    return table("summaries", ("inputs", *names), rows)


def _made(report: BiasReport) -> Iterator[Block]:
    how = (
        f"{100 * report.level:g} %; of scores percentiles of {report.resamples:,} draws, of differences what the exchange of the "
        f"groups of whole documents does not refuse, seed {report.seed}"
    )
    encoder = [("embeddings", code(report.encoder))] if report.encoder else []
    summarizer, persons = ("summarizer", code(report.signature)), ("persons found by", code(report.recogniser))
    yield from how_made((summarizer, persons, *encoder, ("intervals", how), ("source", SOURCE)), report.versions)
