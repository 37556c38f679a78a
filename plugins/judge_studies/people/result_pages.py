"""What people said of summaries as pages: their scores by side, and how far they agree."""

from collections.abc import Iterator

from ....evaluation.pages.blocks import (
    Block,
    Columns,
    Heading,
    Legend,
    NumberCell,
    Page,
    Prose,
    Row,
    Table,
    count,
    estimate,
    group,
    grouped,
    items,
    row,
    rows_of,
    strip,
    table,
)
from ....evaluation.pages.charts import Scale
from ....evaluation.pages.words import ALL, NOTHING_LEFT_OUT, counted, joined
from ....number import Number
from ....resampling import too_few
from .agreement import AnnotatorAgreement, GroupAgreement
from .annotations.scores import RATES
from .results import HumanResults

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
    )


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
    for number in faithfulness:
        if number.side is None and number.left_out:
            without_points = counted(number.left_out, "summary", "summaries")
            yield Prose(f"{without_points} without key points, so without faithfulness", head=f"{number.system}:")


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
    body = (Heading("Agreement"), *blocks)
    return Page("agreement", "of annotators", "Overlap of highlights", (), (), body, FOOTER, blocks)


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
