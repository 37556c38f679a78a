"""What people said of summaries as pages: their scores by side, how far they agree, and how fairly opinions are represented."""

from collections.abc import Iterator

from ...corpora.human.scores import RATES
from ...evaluation.pages.blocks import (
    Block,
    Column,
    Columns,
    Facts,
    Heading,
    Items,
    Legend,
    NumberCell,
    Page,
    Prose,
    Row,
    Table,
    code,
    count,
    estimate,
    group,
    grouped,
    items,
    listing,
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
from .opinions import OpinionResults
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


def opinions_page(found: OpinionResults) -> Page:
    """How unequally each summary represents the opinions of its source, beside how fair people call it."""
    note = "bias: Perceived Opinion Bias, 0 is fair, over the opinions that somebody labelled; shares of the people who voted."
    note += " ROUGE-1: mean F1 against the gold summaries." if found.rouge_signature else ""
    note += " graph: Opinion Interaction Graph, 0 is fair." if found.graph_signature else ""
    unscored = [
        Prose(f"no {what}, {reason}", head=f"{each.summary_id}:")
        for each in found.summaries
        for what, reason in (("bias", each.unscored), ("graph score", each.graph_unscored))
        if reason
    ]
    agreements = [
        Prose(
            f"r of {each.measure} and {each.reference} {NumberCell(each.value, places=2).shown} over "
            f"{counted(each.n, 'summary', 'summaries')}",
            head=f"{source.set_id}:",
        )
        for source in found.sources
        for each in source.numbers
    ]
    made, left_out, together = _opinions(found), tuple(items(unscored)), Items(tuple(agreements))
    signatures = {"bias": found.signature, "ROUGE-1": found.rouge_signature, "graph": found.graph_signature}
    heads = ("opinion", Column("mean label", note="\u22121 to 1"))
    opinions = []
    for each in found.summaries:
        labels = ((opinion, NumberCell(label, places=2, sign=True)) for opinion, label in each.by_opinion.items())
        opinions.append(table(f"opinions of {each.summary_id}", heads, labels))
    return Page(
        kind="opinions",
        about=f"{counted(len(found.summaries), 'summary', 'summaries')} of {counted(len(found.sources), 'source')}",
        title="How fairly summaries represent opinions, by the people who read them",
        warnings=(),
        findings=(Prose(note, "lead"),),
        body=(
            Heading("Summaries"),
            made,
            *left_out,
            Heading("How scores go together"),
            together,
            Heading("Opinions"),
            *opinions,
            Heading("How it was made"),
            Facts(tuple((name, code(signature)) for name, signature in signatures.items() if signature)),
        ),
        main=(made, together, Prose(note, "lead"), *left_out),
        footer=FOOTER,
    )


def _opinions(found: OpinionResults) -> Table:
    whole = listing(
        "summaries",
        found.summaries,
        {
            "summary": lambda each: each.summary_id,
            "people": lambda each: count(len(each.annotators)),
            Column("opinions", kind="number"): lambda each: (
                f"{sum(score is not None for score in each.by_opinion.values())} of {len(each.by_opinion)}"
            ),
            "bias": lambda each: NumberCell(each.bias),
            "very fair": lambda each: NumberCell(each.very_fair, places=2),
            "very unfair": lambda each: NumberCell(each.very_unfair, places=2),
            "ROUGE-1": lambda each: NumberCell(each.rouge1_f1),
            "graph": lambda each: NumberCell(each.graph_bias),
        },
    )
    signatures = {"ROUGE-1": found.rouge_signature, "graph": found.graph_signature}
    return whole.without(*(name for name, signature in signatures.items() if signature is None))
