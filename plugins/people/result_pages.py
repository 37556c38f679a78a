"""What people said of summaries as pages: their scores by side, and how far they agree."""

from collections.abc import Iterator

from ...corpora.human.scores import RATES
from ...evaluation.pages.blocks import (
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
from ...evaluation.pages.charts import Scale
from ...evaluation.pages.words import ALL, NOTHING_LEFT_OUT, counted, joined
from ...number import Number
from ...resampling import too_few
from .agreement import AnnotatorAgreement, GroupAgreement
from .results import HumanResults

FOOTER = "Every number on this page is in the JSON file beside it."


def results_page(found: HumanResults) -> Page:
    """The scores of every system and side, and what they rest on."""
    annotators = ", ".join(found.annotators) or "none"
    counting = (
        f"{100 * found.level:g} % intervals over document sets: of coverage and faithfulness exact ones, of the others from "
        f"{found.resamples:,} draws (none where sets are many), seed {found.seed}. Coverage "
        "is the share of the document's key points that a summary has, faithfulness that of its own key points which "
        "the document supports; included, omitted and hallucinated are key points a summary. n: annotated summaries; "
        "sets: their document sets."
    )
    notes, n_systems = list(_notes(found)), len({each.system for each in found.numbers})
    return Page(
        kind="human evaluation",
        about=f"annotators: {annotators}",
        title=f"{counted(n_systems, 'system')} by {counted(len(found.annotators), 'annotator')}",
        warnings=(),
        findings=(Prose(counting, "lead"),),
        body=(
            Heading("Scores"),
            Legend(((0, "coverage"), (1, "faithfulness"))),
            _scores(found),
            Heading("Left out"),
            *items(notes, NOTHING_LEFT_OUT),
        ),
        main=(
            _scores(found, in_short=True),
            Prose(f"annotators: {annotators}; {counting}", "lead"),
            *items(notes),
        ),
        footer=FOOTER,
    )


def _rows(found: HumanResults) -> list[dict[str, Number]]:
    """The numbers of each system and side, by what they measure."""
    by_row = grouped(found.numbers, lambda each: (each.system, each.side))
    return [{each.measure: each for each in its} for its in by_row.values()]


def _scores(found: HumanResults, *, in_short: bool = False) -> Table:
    def shown(each: Number, places: int) -> NumberCell:
        return NumberCell(each.value, places=places) if in_short else estimate(each, places)

    columns: Columns[dict[str, Number]] = {
        "side": lambda its: its["coverage"].side or ALL,
        "n": lambda its: count(its["coverage"].n),
        "sets": lambda its: count(its["coverage"].n_sets),
        "coverage": lambda its: estimate(its["coverage"]),
        "faithfulness": lambda its: estimate(its["faithfulness"]),
        "incl." if in_short else "included": lambda its: shown(its["included"], 2),
        "omit." if in_short else "omitted": lambda its: shown(its["omitted"], 2),
        "hall." if in_short else "hallucinated": lambda its: shown(its["hallucinated"], 2),
        "words": lambda its: shown(its["length"], 1),
        "plot": lambda its: strip([(its["coverage"], 0), (its["faithfulness"], 1)]),
    }
    groups = [
        group(rows_of(its, columns, lambda row: row["coverage"].side is None), system)
        for system, its in grouped(_rows(found), lambda row: row["coverage"].system).items()
    ]
    return table("scores", columns, groups, Scale(0, 1, (0, 0.25, 0.5, 0.75, 1)))


def left_out_words(reason: str, side: str, count: int) -> str:
    """ "not drawn, left: 5"; summaries of all documents have no side to name."""
    return f"{reason}{'' if side == ALL else f', {side}'}: {count}"


def _notes(found: HumanResults) -> Iterator[Prose]:
    for out in found.left_out:
        yield Prose(left_out_words(out.reason, out.side, out.count), head="left out:")
    coverage, faithfulness = ([each for each in found.numbers if each.measure == name] for name in RATES)
    for n_sets, rows in grouped(coverage, lambda each: each.n_sets).items():
        names = [f"{each.system}, {each.side or ALL}" for each in rows]
        if few := too_few(n_sets, subject=("" if len(names) == 1 else "each of ") + "; ".join(names)):
            yield Prose(few)
    for each in faithfulness:
        if each.side is None and each.left_out:
            without = counted(each.left_out, "summary", "summaries")
            yield Prose(f"{without} without key points, so without faithfulness", head=f"{each.system}:")


def agreement_page(found: GroupAgreement) -> Page:
    """The overlap of every two annotators' highlights beside that of random ones, and alpha; of more than two also the mean."""
    heads = ("highlights in", "annotators", "overlap", "by chance", "texts", "left out", "alpha")
    is_pair = len(found.pairs) == 1 and not found.apart
    rows: list[Row] = []
    for kind in ("documents", "summaries"):
        mean = getattr(found, kind)
        for names, pair in found.pairs.items():
            its = getattr(pair, kind)
            overlaps = NumberCell(its.overlap), NumberCell(its.chance), count(its.n), count(its.left_out)
            rows.append(row(kind, ", ".join(names), *overlaps, NumberCell(mean.alpha) if is_pair else ""))
        if not is_pair:
            means = (NumberCell(mean.overlap), NumberCell(mean.chance), "", "", NumberCell(mean.alpha))
            rows.append(row(kind, "all, mean of pairs", *means, is_total=True))
    made = table("agreement", heads, rows)
    blocks: tuple[Block, ...] = (
        made.without("annotators") if is_pair else made,
        Prose("left out: texts that neither marked.", "lead"),
        *(_of_two(*found.pairs.items()) if is_pair else ()),
        *_of_all(found),
    )
    body = (Heading("Agreement"), *blocks)
    return Page("agreement", "of annotators", "Overlap of highlights", (), (), body, FOOTER, blocks)


def _of_two(found: tuple[tuple[str, str], AnnotatorAgreement]) -> Iterator[Prose]:
    names, pair = found
    yield Prose(f"{joined(names)} saw {counted(pair.shared, 'document')} in common.", "lead")
    for name, n in zip(names, (pair.only_a, pair.only_b), strict=True):
        if n:
            yield Prose(f"{counted(n, 'document')} that only {name} saw, or saw with other summaries", head="left out:")


def _of_all(found: GroupAgreement) -> Iterator[Prose]:
    yield Prose(
        "alpha: Krippendorff's, whether a word is highlighted, over "
        f"{found.documents.n_words:,} words of documents and {found.summaries.n_words:,} of summaries that two or more "
        "annotators saw.",
        "lead",
    )
    yield from (Prose(f"{joined(names)} saw no document in common") for names in found.apart)
