"""The benchmark of judges as a page: agreement of every judge with known coverage and faithfulness."""

from collections.abc import Iterator, Sequence

from ...config.needs import Purpose
from ...evaluation.pages.blocks import (
    Block,
    Column,
    Columns,
    Heading,
    Legend,
    Mark,
    Overview,
    Page,
    Picture,
    PictureRow,
    Prose,
    Strip,
    Table,
    Text,
    code,
    count,
    estimate,
    estimates_scale,
    group,
    grouped,
    items,
    lane,
    rows_of,
    strip,
    table,
)
from ...evaluation.pages.words import ALL, counted, few_label, headline
from ...judges.benchmark import ATTRIBUTES, Benchmark, BenchmarkRow
from ...judges.calibration import LENGTH
from ...number import Number
from .scoring import BASELINES
from .study_page import not_tried, picture, study_page, texts_of

TIES = {"half": "ties count half", "wrong": "ties count as wrong", "drop": "ties are left out"}
MEANING = {
    "coverage": "Share of the source's key points that a summary has, which is known of these summaries.",
    "faithfulness": "Share of a summary's statements that its source supports, which is known of these summaries.",
}


def page(found: Benchmark) -> Page:
    """The benchmark as blocks."""
    judges = counted(len(found.signatures), "judge")
    best = [(attribute, highest) for attribute in ATTRIBUTES if (highest := _best(found, attribute))]
    named = ", ".join(f"{attribute} by {highest.judge}" for attribute, highest in best)
    with_numbers = ", ".join(f"{each.judge} with {attribute} ({_sure(each.pooled)})" for attribute, each in best)
    return study_page(
        found,
        "benchmark.json",
        body=(*(block for attribute in ATTRIBUTES for block in agreements(found, attribute)), *_length(found)),
        left_out=left_out(found),
        facts=((judge, code(signature)) for judge, signature in found.signatures.items()),
        kind="benchmark of judges",
        about=about(found),
        title=f"Of {judges}, most highly correlated: {with_numbers or 'none'}; no lead over another judge is tested",
        overview=Overview(
            headline=headline(*[f"best agreement: {named}"] * bool(best), f"agreement of {judges} with known truth"),
            sure="No lead tested",
            text=f"Spearman\u2019s \u03c1 over all summaries of {found.file}; length alone is among the judges.",
            picture=agreement_picture(found, ATTRIBUTES),
        ),
        warnings=tuple(f"{name} was not tried: {why}." for name, why in found.not_tried.items()),
        findings=(counting(found),),
    )


def _best(found: Benchmark, attribute: Purpose) -> BenchmarkRow | None:
    """The judge whose correlation with an attribute is the highest, over all articles; None where none has one."""
    rows = [each for each in found.rows if (each.attribute, each.side) == (attribute, None)]
    known = (each for each in rows if each.pooled.value is not None)
    return max(known, key=lambda each: each.pooled.value or 0.0, default=None)


def _sure(number: Number) -> str:
    shown = estimate(number)
    how_sure = shown.interval if number.low is not None else few_label("for an interval", "article")
    return f"\u03c1 {shown.shown}, {how_sure}"


def agreement_picture(found: Benchmark, attributes: Sequence[Purpose]) -> Picture:
    """A row for each judge, a mark for each attribute, over all articles."""
    whole = [each for each in found.rows if each.side is None and each.attribute in attributes]
    rows = [
        PictureRow(
            judge,
            tuple(
                lane(
                    each.pooled, each.attribute, attributes.index(each.attribute), is_clear=(each.pooled.low or 0.0) > 0
                )
                for each in its
            ),
            note="no judge" if judge == LENGTH else "",
        )
        for judge, its in grouped(whole, lambda each: each.judge).items()
    ]
    return picture(rows, found, "over all summaries", "", "clear: above 0", "unsure: not clearly above 0")


def about(found: Benchmark) -> str:
    """The file and what is in it."""
    return f"{found.file}: {_texts(next(row for row in found.rows if row.side is None))}"


def _texts(row: BenchmarkRow) -> str:
    return texts_of(row.articles, row.summaries)


def counting(found: Benchmark) -> Prose:
    """What was counted, and what the numbers mean."""
    whole, unknown, over = next(row for row in found.rows if row.side is None), found.topics_unknown, "topics"
    if unknown:
        over = f"topics ({counted(unknown, 'article')} of unknown topic by themselves)"
    if unknown == whole.articles:
        over = "articles (topics unknown; give --evidence)"
    return Prose(
        f"{_texts(whole)}; {100 * found.level:g} % intervals by the jackknife over {over}. \u03c1 is Spearman's, over all "
        "summaries and as the mean of the articles: 1 is perfect agreement, 0 none. A winrate is the share of pairs of "
        f"an article's summaries that a judge puts in the right order, 0.5 by chance; {TIES[found.ties]}.",
        "lead",
    )


def agreements(found: Benchmark, attribute: Purpose) -> Iterator[Block]:
    """How well every judge agrees with one attribute, by side."""
    yield Heading(
        attribute,
        lead=f"{MEANING[attribute]} The line in the plot is the length of a summary alone, which a judge has to surpass.",
    )
    yield Legend(((0, "\u03c1 pooled"), (None, "of the length")))
    yield _table(found, attribute)


def _table(found: Benchmark, attribute: Purpose) -> Table:
    mine = [each for each in found.rows if each.attribute == attribute]
    by_side = grouped(sorted(mine, key=lambda each: (each.side is not None, each.side or "")), lambda each: each.side)
    lengths = {each.side: each.pooled.value for each in mine if each.judge == LENGTH}
    columns: Columns[BenchmarkRow] = {
        "judge": lambda each: Text(each.judge, "baseline" if each.judge in BASELINES else ""),
        "\u03c1 pooled": lambda each: estimate(each.pooled),
        "plot": lambda each: _strip(each, lengths.get(each.side)),
        "\u03c1 by article": lambda each: estimate(each.within),
        "winrate by article": lambda each: estimate(each.winrate_within),
        "winrate of all pairs": lambda each: estimate(each.winrate_pooled),
        "pairs": lambda each: count(each.winrate_pooled.n),
        "ties": lambda each: count(each.ties),
        "left out": lambda each: count(each.left_out),
    }
    groups = [
        group(rows_of(its, columns), (side or ALL) if len(by_side) > 1 else "", _texts(its[0]))
        for side, its in by_side.items()
    ]
    return table(attribute, columns, groups, estimates_scale((each.pooled for each in mine), zero=True))


def _strip(found: BenchmarkRow, length: float | None) -> Strip:
    marks = strip([(found.pooled, 0)]).marks
    return Strip(marks if length is None else (*marks, Mark(Number(value=length), None)))


def _length(found: Benchmark) -> Iterator[Block]:
    if found.slopes:
        yield Heading(
            "Length",
            lead="What 10 % more words go with in a judge's scores, among the summaries of one article, right or wrong.",
        )
        rows = ((each.measure, estimate(each, 4, sign=True)) for each in found.slopes)
        yield table("length", ("judge", "10 % more words"), rows)


def left_out(found: Benchmark) -> Iterator[Block]:
    """Judges that were not tried, and summaries that judges left unscored."""
    yield from items(not_tried(found), "" if found.unscored else "Every judge scored every summary.")
    if found.unscored:
        rows = [(each.judge, each.reason, each.side, count(each.count)) for each in found.unscored]
        yield table("unscored", ("unscored by", Column("reason", "long"), "side", "count"), rows)
