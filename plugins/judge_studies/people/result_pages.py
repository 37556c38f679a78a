"""What people said of summaries as pages: their scores by side, and how far they agree."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from ....evaluation.pages.blocks import Block, Details, Heading, Legend, Marked, Overview, Page, Prose, items
from ....evaluation.pages.cells import NumberCell, Row, Table
from ....evaluation.pages.charts import Scale
from ....evaluation.pages.numbers import number, percent
from ....evaluation.pages.picture import Picture, PicturePart, PictureRow, lane
from ....evaluation.pages.tables import Columns, count, estimate, group, grouped, row, rows_of, strip, table
from ....evaluation.pages.words import ALL, NOTHING_LEFT_OUT, counted, headline, joined
from ....number import Number
from ....resampling import too_few
from .agreement import AnnotatorAgreement, GroupAgreement
from .annotations.scores import RATES
from .highlights import HighlightedText
from .results import HumanResults

# in a picture
MOST_SYSTEMS = 12
FOOTER = "Every number on this page is in the JSON file beside it."


def results_page(results: HumanResults) -> Page:
    """The scores of every system and side, and what they rest on."""
    annotators = ", ".join(results.annotators) or "none"
    counting = (
        f"{100 * results.level:g} % intervals over document sets: of coverage and faithfulness exact ones, of the others from "
        f"{results.resamples:,} draws (none where sets are many), seed {results.seed}. Coverage "
        "is the share of the document's key points that a summary has, faithfulness that of its own key points which "
        "the document supports; included, omitted and hallucinated are key points a summary. n: annotated summaries; "
        "sets: their document sets."
    )
    notes, n_systems = list(_notes(results)), len({number.system for number in results.numbers})
    return Page(
        kind="human evaluation",
        about=f"annotators: {annotators}",
        title=f"{counted(n_systems, 'system')} by {counted(len(results.annotators), 'annotator')}",
        warnings=(),
        findings=(Prose(counting, "lead"),),
        body=(
            Heading("Scores"),
            Legend(((0, "coverage"), (1, "faithfulness"))),
            _scores(results),
            Heading("Left out"),
            *items(notes, NOTHING_LEFT_OUT),
        ),
        main=(
            _scores(results, in_short=True),
            Prose(f"annotators: {annotators}; {counting}", "lead"),
            *items(notes),
        ),
        footer=FOOTER,
        overview=_overview(results) if results.numbers else None,
    )


def _overview(results: HumanResults) -> Overview:
    """The first page: who has the most key points and is supported most, and every system under both."""
    overall = [
        number for number in results.numbers if number.measure in RATES and number.side in (None, _only_side(results))
    ]
    best = {
        name: max(
            (n for n in overall if n.measure == name and n.value is not None),
            key=lambda n: n.value or 0.0,
            default=None,
        )
        for name in RATES
    }
    by_system = grouped((number for number in best.values() if number), lambda number: number.system)
    claims = [
        f"{joined([f'{n.measure} {percent(n.value, 0)}' for n in numbers])} by {system}"
        for system, numbers in by_system.items()
    ]
    n_systems, scored = len({n.system for n in overall}), counted(len(results.annotators), "annotator")
    systems = counted(n_systems, "system")
    rows = [
        PictureRow(
            system,
            tuple(lane(n, n.measure, RATES.index(n.measure), is_clear=best[n.measure] is n) for n in numbers),
            note=f"{counted(numbers[0].n, 'summary', 'summaries')}",
        )
        for system, numbers in grouped(overall, lambda number: number.system).items()
    ]
    return Overview(
        headline=headline(f"best by people: {'; '.join(claims)}", f"{systems} by {scored}"),
        sure="No lead tested",
        text=f"{systems} scored by {scored}, on {counted(max(n.n_sets for n in overall), 'document set')}.",
        picture=Picture(
            name="overview",
            rows_are="system",
            title="Coverage and faithfulness of every system by people, over all sides",
            parts=(PicturePart(tuple(rows[:MOST_SYSTEMS]), "%", 1, "share of key points, per cent"),),
            keys=("clear: highest", "unsure: others", f"interval: {100 * results.level:g} % interval"),
        ),
    )


def _only_side(results: HumanResults) -> str | None:
    """The side of all documents where there is one alone; then no number is of all sides together."""
    sides = {number.side for number in results.numbers}
    return next(iter(sides)) if len(sides) == 1 else None


def _rows(results: HumanResults) -> list[dict[str, Number]]:
    """The numbers of each system and side, by what they measure."""
    by_row = grouped(results.numbers, lambda number: (number.system, number.side))
    return [{number.measure: number for number in numbers} for numbers in by_row.values()]


def _scores(results: HumanResults, *, in_short: bool = False) -> Table:
    def shown(number: Number, places: int) -> NumberCell:
        return NumberCell(number.value, places=places) if in_short else estimate(number, places)

    columns: Columns[dict[str, Number]] = {
        "side": lambda numbers: numbers["coverage"].side or ALL,
        "n": lambda numbers: count(numbers["coverage"].n),
        "sets": lambda numbers: count(numbers["coverage"].n_sets),
        "coverage": lambda numbers: estimate(numbers["coverage"]),
        "faithfulness": lambda numbers: estimate(numbers["faithfulness"]),
        "incl." if in_short else "included": lambda numbers: shown(numbers["included"], 2),
        "omit." if in_short else "omitted": lambda numbers: shown(numbers["omitted"], 2),
        "hall." if in_short else "hallucinated": lambda numbers: shown(numbers["hallucinated"], 2),
        "words": lambda numbers: shown(numbers["length"], 1),
        "plot": lambda numbers: strip([(numbers["coverage"], 0), (numbers["faithfulness"], 1)]),
    }
    groups = [
        group(rows_of(rows, columns, lambda row: row["coverage"].side is None), system)
        for system, rows in grouped(_rows(results), lambda row: row["coverage"].system).items()
    ]
    return table("scores", columns, groups, Scale(0, 1, (0, 0.25, 0.5, 0.75, 1)))


def left_out_words(reason: str, side: str, count: int) -> str:
    """ "not drawn, left: 5"; summaries of all documents have no side to name."""
    return f"{reason}{'' if side == ALL else f', {side}'}: {count}"


def _notes(results: HumanResults) -> Iterator[Prose]:
    for out in results.left_out:
        yield Prose(left_out_words(out.reason, out.side, out.count), head="left out:")
    coverage, faithfulness = ([number for number in results.numbers if number.measure == name] for name in RATES)
    for n_sets, rows in grouped(coverage, lambda number: number.n_sets).items():
        names = [f"{number.system}, {number.side or ALL}" for number in rows]
        if caution := too_few(n_sets, subject=("" if len(names) == 1 else "each of ") + "; ".join(names)):
            yield Prose(caution)
    for mean in faithfulness:
        if mean.side is None and mean.left_out:
            without_points = counted(mean.left_out, "summary", "summaries")
            yield Prose(f"{without_points} without key points, so without faithfulness", head=f"{mean.system}:")


def agreement_page(agreement: GroupAgreement) -> Page:
    """The overlap of every two annotators' highlights beside that of random ones, and alpha; of more than two also the mean."""
    heads = ("highlights in", "annotators", "overlap", "by chance", "texts", "left out", "alpha")
    is_pair = len(agreement.pairs) == 1 and not agreement.unshared_pairs
    rows: list[Row] = []
    for kind in ("documents", "summaries"):
        mean = getattr(agreement, kind)
        for names, pair in agreement.pairs.items():
            kind_agreement = getattr(pair, kind)
            overlaps = (
                NumberCell(kind_agreement.overlap),
                NumberCell(kind_agreement.chance),
                count(kind_agreement.n),
                count(kind_agreement.left_out),
            )
            rows.append(row(kind, ", ".join(names), *overlaps, NumberCell(mean.alpha) if is_pair else ""))
        if not is_pair:
            means = (NumberCell(mean.overlap), NumberCell(mean.chance), "", "", NumberCell(mean.alpha))
            rows.append(row(kind, "all, mean of pairs", *means, is_total=True))
    agreement_table = table("agreement", heads, rows)
    blocks: tuple[Block, ...] = (
        agreement_table.without("annotators") if is_pair else agreement_table,
        Prose("left out: texts that neither marked.", "lead"),
        *(_of_two(*agreement.pairs.items()) if is_pair else ()),
        *_of_all(agreement),
    )
    return Page(
        kind="agreement",
        about="of annotators",
        title="Overlap of highlights",
        warnings=(),
        findings=(),
        body=(Heading("Agreement"), *blocks, *_all_opened(agreement.examples)),
        footer=FOOTER,
        main=blocks,
        overview=_agreement_overview(agreement),
    )


def _agreement_overview(agreement: GroupAgreement) -> Overview:
    """The first page: how far highlights overlap, beside random ones, and two summaries on which annotators agree least."""
    kinds = {"documents": agreement.documents, "summaries": agreement.summaries}
    claims = [f"{percent(kind.overlap, 0)} in {name}" for name, kind in kinds.items() if kind.overlap is not None]
    rows = [
        PictureRow(
            f"highlights in {name}",
            (
                lane(Number(value=kind.overlap), "annotators", 0, is_clear=True),
                lane(Number(value=kind.chance), "by chance", "unsure", is_clear=False),
            ),
            note="" if kind.alpha is None else f"Krippendorff\u2019s alpha {number(kind.alpha)}",
        )
        for name, kind in kinds.items()
    ]
    n_annotators = len({name for pair in (*agreement.pairs, *agreement.unshared_pairs) for name in pair})
    summaries = [example for example in agreement.examples if example.system]
    return Overview(
        headline=headline(
            *[f"highlights overlap by {joined(claims)}"] * bool(claims), "annotators highlighted nothing"
        ),
        sure="No difference tested",
        text=f"{counted(n_annotators, 'annotator')}, the mean of {counted(len(agreement.pairs), 'pair')} who saw a document in "
        "common, beside as many random highlights of such lengths.",
        picture=Picture(
            name="overview",
            rows_are="text",
            title="Overlap of annotators\u2019 highlights beside that of random ones",
            parts=(PicturePart(tuple(rows), "%", 1, "overlap, per cent"),),
            keys=("clear: of annotators", "unsure: of random highlights"),
        ),
        blocks=tuple(_opened(summaries)),
    )


def _opened(examples: Sequence[HighlightedText]) -> Iterator[Block]:
    if examples:
        yield Heading(
            "Look for yourself", lead="Summaries on which two annotators agree least. Marked: their highlights."
        )
    for example in examples:
        note = f"{example.side}, {example.system}, overlap {percent(example.overlap, 0)}"
        yield Heading(example.topic, 3, note=note)
        yield from _highlighted(example)


def _all_opened(examples: Sequence[HighlightedText]) -> Iterator[Block]:
    """All examples, folded; documents are long."""
    if examples:
        yield Heading("Examples", lead="Texts on which two annotators agree least, with the highlights of each.")
    for example in examples:
        note = f"{example.system or 'document'}, overlap {percent(example.overlap, 0)}"
        yield Details(f"{example.topic}, {example.side}", tuple(_highlighted(example)), note, is_example=True)


def _highlighted(example: HighlightedText) -> Iterator[Marked]:
    """The text once for each annotator."""
    for annotator, spans in example.highlights.items():
        places, parts = {place for start, end in spans for place in range(start, end)}, list[tuple[str, bool]]()
        for is_marked, letters in groupby(enumerate(example.text), key=lambda entry: entry[0] in places):
            parts.append(("".join(letter for _, letter in letters), is_marked))
        yield Marked(tuple(parts), f"{annotator}:")


def _of_two(entry: tuple[tuple[str, str], AnnotatorAgreement]) -> Iterator[Prose]:
    names, pair = entry
    yield Prose(f"{joined(names)} saw {counted(pair.shared, 'document')} in common.", "lead")
    for name, n in zip(names, (pair.only_a, pair.only_b), strict=True):
        if n:
            yield Prose(f"{counted(n, 'document')} that only {name} saw, or saw with other summaries", head="left out:")


def _of_all(agreement: GroupAgreement) -> Iterator[Prose]:
    yield Prose(
        "alpha: Krippendorff's, whether a word is highlighted, over "
        f"{agreement.documents.n_words:,} words of documents and {agreement.summaries.n_words:,} of summaries that two or more "
        "annotators saw.",
        "lead",
    )
    yield from (Prose(f"{joined(names)} saw no document in common") for names in agreement.unshared_pairs)
