"""The benchmark of judges as a page: agreement of every judge with known coverage and faithfulness, or with people."""

from collections.abc import Iterator, Sequence

from ...evaluation.pages.blocks import Block, Heading, Legend, Overview, Page, Prose, items
from ...evaluation.pages.cells import Column, Mark, Strip, Table, Text
from ...evaluation.pages.picture import Picture, PictureRow, lane
from ...evaluation.pages.tables import (
    Columns,
    code,
    count,
    estimate,
    estimates_scale,
    group,
    grouped,
    rows_of,
    strip,
    table,
)
from ...evaluation.pages.words import ALL, counted, few_label, headline
from ...judges.benchmark import Benchmark, BenchmarkRow
from ...judges.calibration import LENGTH
from ...number import Number
from .ratings.raters import ONE_RATER
from .scoring import BASELINES
from .study_page import not_tried, picture, study_page, texts_of, truth_of, warnings_of

TIES = {"half": "ties count half", "wrong": "ties count as wrong", "drop": "ties are left out"}
MEANING = {
    "coverage": "Share of the source's key points that a summary has, which is known of these summaries.",
    "faithfulness": "Share of a summary's statements that its source supports, which is known of these summaries.",
}

AMONG_THEMSELVES = f"{ONE_RATER.capitalize()} is each person's scores beside the mean of the others', on average."


def page(study: Benchmark) -> Page:
    """The benchmark as blocks."""
    judges = counted(len(study.signatures), "judge")
    attributes = study.attributes
    best = [(attribute, highest) for attribute in attributes if (highest := study.best(attribute))]
    leaders = ", ".join(f"{attribute} by {highest.judge}" for attribute, highest in best if _is_clear(highest))
    with_numbers = ", ".join(f"{row.judge} with {attribute} ({_sure(row.pooled)})" for attribute, row in best)
    return study_page(
        study,
        "benchmark.json",
        body=(*(block for attribute in attributes for block in agreements(study, attribute)), *_length(study)),
        left_out=left_out(study),
        facts=((judge, code(signature)) for judge, signature in study.signatures.items()),
        kind="benchmark of judges",
        about=about(study),
        title=f"Of {judges}, most highly correlated: {with_numbers or 'none'}; no lead over another judge is tested",
        overview=Overview(
            headline=headline(
                *[f"best agreement: {leaders}"] * bool(leaders),
                f"agreement of {judges} with {truth_of(study)}"
                if leaders
                else f"no judge clearly agrees with {truth_of(study)}",
            ),
            sure="No lead tested",
            text=f"Spearman\u2019s \u03c1 over all summaries of {study.file}; length alone is among the judges.",
            picture=agreement_picture(study, attributes),
        ),
        warnings=warnings_of(study),
        findings=(counting(study),),
    )


def _is_clear(row: BenchmarkRow) -> bool:
    return (row.pooled.low or 0.0) > 0


def _sure(number: Number) -> str:
    shown = estimate(number)
    how_sure = shown.interval if number.low is not None else few_label("for an interval", "article")
    return f"\u03c1 {shown.shown}, {how_sure}"


def agreement_picture(study: Benchmark, attributes: Sequence[str]) -> Picture:
    """A row for each judge, a mark for each attribute, over all articles."""
    overall_rows = [row for row in study.rows if row.side is None and row.attribute in attributes]
    rows = [
        PictureRow(
            judge,
            tuple(
                lane(row.pooled, row.attribute, attributes.index(row.attribute), is_clear=_is_clear(row))
                for row in judge_rows
            ),
            note={LENGTH: "no judge", ONE_RATER: "people among themselves"}.get(judge, ""),
        )
        for judge, judge_rows in grouped(overall_rows, lambda row: row.judge).items()
    ]
    return picture(rows, study, "over all summaries", "", "clear: above 0", "unsure: not clearly above 0")


def about(study: Benchmark) -> str:
    """The file and what is in it."""
    return f"{study.file}: {_texts(next(row for row in study.rows if row.side is None))}"


def _texts(row: BenchmarkRow) -> str:
    return texts_of(row.articles, row.summaries)


def counting(study: Benchmark) -> Prose:
    """What was counted, and what the numbers mean."""
    overall, unknown, over = next(row for row in study.rows if row.side is None), study.topics_unknown, "topics"
    if unknown:
        over = f"topics ({counted(unknown, 'article')} of unknown topic by themselves)"
    if unknown == overall.articles:
        over = "articles (topics unknown; give --evidence)"
    return Prose(
        f"{_texts(overall)}; {100 * study.level:g} % intervals by the jackknife over {over}. \u03c1 is Spearman's, over all "
        "summaries and as the mean of the articles: 1 is perfect agreement, 0 none. A winrate is the share of pairs of "
        f"an article's summaries that a judge puts in the right order, 0.5 by chance; {TIES[study.ties]}. Less length is \u03c1 "
        "by article less that of length, shorter first where that agrees better, not corrected for the number of judges."
        + (f" {AMONG_THEMSELVES}" if any(row.judge == ONE_RATER for row in study.rows) else ""),
        "lead",
    )


def agreements(study: Benchmark, attribute: str) -> Iterator[Block]:
    """How well every judge agrees with one attribute, by side."""
    yield Heading(
        attribute,
        lead=f"{_meaning(study, attribute)} The line in the plot is the length of a summary alone, which a judge has to surpass.",
    )
    yield Legend(((0, "\u03c1 pooled"), (None, "of the length")))
    yield _table(study, attribute)


def _meaning(study: Benchmark, attribute: str) -> str:
    if study.n_raters is None:
        return MEANING[attribute]
    people = counted(study.n_raters, "person", "people") if study.n_raters else "people who are not named"
    return f"What {people} said of {attribute}, the mean for each summary."


def _table(study: Benchmark, attribute: str) -> Table:
    rows = [row for row in study.rows if row.attribute == attribute]
    by_side = grouped(sorted(rows, key=lambda row: (row.side is not None, row.side or "")), lambda row: row.side)
    lengths = {row.side: row.pooled.value for row in rows if row.judge == LENGTH}
    columns: Columns[BenchmarkRow] = {
        "judge": lambda row: Text(row.judge, "baseline" if row.judge in BASELINES else ""),
        "\u03c1 pooled": lambda row: estimate(row.pooled),
        "plot": lambda row: _strip(row, lengths.get(row.side)),
        "\u03c1 by article": lambda row: estimate(row.within),
        "less length": lambda row: estimate(row.lead or Number(), sign=True),
        "winrate by article": lambda row: estimate(row.winrate_within),
        "winrate of all pairs": lambda row: estimate(row.winrate_pooled),
        "pairs": lambda row: count(row.winrate_pooled.n),
        "ties": lambda row: count(row.ties),
        "left out": lambda row: count(row.left_out),
    }
    groups = [
        group(rows_of(side_rows, columns), (side or ALL) if len(by_side) > 1 else "", _texts(side_rows[0]))
        for side, side_rows in by_side.items()
    ]
    return table(attribute, columns, groups, estimates_scale((row.pooled for row in rows), zero=True))


def _strip(row: BenchmarkRow, length: float | None) -> Strip:
    marks = strip([(row.pooled, 0)]).marks
    return Strip(marks if length is None else (*marks, Mark(Number(value=length), None)))


def _length(study: Benchmark) -> Iterator[Block]:
    if study.slopes:
        yield Heading(
            "Length",
            lead="What 10 % more words go with in a judge's scores, among the summaries of one article, right or wrong.",
        )
        rows = ((slope.measure, estimate(slope, 4, sign=True)) for slope in study.slopes)
        yield table("length", ("judge", "10 % more words"), rows)


def left_out(study: Benchmark) -> Iterator[Block]:
    """Judges that were not tried, and summaries that judges left unscored."""
    yield from items(not_tried(study), "" if study.unscored else "Every judge scored every summary.")
    if study.unscored:
        rows = [(row.judge, row.reason, row.side, count(row.count)) for row in study.unscored]
        yield table("unscored", ("unscored by", Column("reason", "long"), "side", "count"), rows)
