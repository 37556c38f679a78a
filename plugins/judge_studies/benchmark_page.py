"""The benchmark of judges as a page: agreement of every judge with known coverage and faithfulness."""

from collections.abc import Iterator

from ...config.needs import Purpose
from ...evaluation.pages.blocks import (
    Block,
    Column,
    Columns,
    Heading,
    Legend,
    Mark,
    Page,
    Prose,
    Strip,
    Table,
    Text,
    code,
    count,
    estimate,
    estimates_scale,
    group,
    items,
    rows_of,
    strip,
    table,
)
from ...evaluation.pages.words import ALL, counted
from ...judges.benchmark import ATTRIBUTES, Benchmark, BenchmarkRow
from ...judges.calibration import LENGTH
from ...number import Number
from .overview import benchmark_overview, best_of
from .scoring import BASELINES
from .study_page import FOOTER, completed

TIES = {"half": "ties count half", "wrong": "ties count as wrong", "drop": "ties are left out"}
MEANING = {
    "coverage": "Share of the source's key points that a summary has, which is known of these summaries.",
    "faithfulness": "Share of a summary's statements that its source supports, which is known of these summaries.",
}


def page(found: Benchmark) -> Page:
    """The benchmark as blocks."""
    whole = next(row for row in found.rows if row.side is None)
    made = Page(
        kind="benchmark of judges",
        about=f"{found.file}: {articles(whole)}",
        title=_title(found),
        footer=FOOTER.format("benchmark.json"),
        overview=benchmark_overview(found),
        warnings=tuple(f"{name} was not tried: {why}." for name, why in found.not_tried.items()),
        findings=(Prose(counting(found, whole), "lead"),),
        body=(*(block for attribute in ATTRIBUTES for block in agreements(found, attribute)), *_length(found)),
    )
    facts = ((judge, code(signature)) for judge, signature in found.signatures.items())
    return completed(made, found, left_out(found), facts)


def _title(found: Benchmark) -> str:
    """Whose correlation with each attribute is the highest, over all articles, and how sure the number is."""
    best = []
    for attribute in ATTRIBUTES:
        if highest := best_of(found, attribute):
            shown = estimate(highest.pooled)
            how_sure = shown.interval if highest.pooled.low is not None else "too few articles for an interval"
            best.append(f"{highest.judge} with {attribute} (\u03c1 {shown.shown}, {how_sure})")
    which = f"most highly correlated: {', '.join(best) or 'none'}; no lead over another judge is tested"
    return f"Of {counted(len(found.signatures), 'judge')}, {which}"


def counting(found: Benchmark, whole: BenchmarkRow) -> str:
    """What was counted, and what the numbers mean."""
    unknown, over = found.topics_unknown, "topics"
    if unknown:
        over = f"topics ({counted(unknown, 'article')} of unknown topic by themselves)"
    if unknown == whole.articles:
        over = "articles (topics unknown; give --evidence)"
    return (
        f"{articles(whole)}; {100 * found.level:g} % intervals by the jackknife over {over}. \u03c1 is Spearman's, over all "
        "summaries and as the mean of the articles: 1 is perfect agreement, 0 none. A winrate is the share of pairs of "
        f"an article's summaries that a judge puts in the right order, 0.5 by chance; {TIES[found.ties]}."
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
    sides = sorted({each.side for each in mine}, key=lambda side: (side is not None, side or ""))
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
    groups = []
    for side in sides:
        its = [each for each in mine if each.side == side]
        groups.append(group(rows_of(its, columns), (side or ALL) if len(sides) > 1 else "", articles(its[0])))
    return table(attribute, columns, groups, estimates_scale((each.pooled for each in mine), zero=True))


def articles(found: BenchmarkRow) -> str:
    """What a row rests on: "16 articles, 64 summaries"."""
    return f"{counted(found.articles, 'article')}, {counted(found.summaries, 'summary', 'summaries')}"


def _strip(found: BenchmarkRow, length: float | None) -> Strip:
    marks = strip([(found.pooled, 0)]).marks
    return Strip(marks if length is None else (*marks, Mark(Number(value=length), None)))


def _length(found: Benchmark) -> Iterator[Block]:
    if not found.slopes:
        return
    yield Heading(
        "Length",
        lead="What 10 % more words go with in a judge's scores, among the summaries of one article, right or wrong.",
    )
    rows = ((each.measure, estimate(each, 4, sign=True)) for each in found.slopes)
    yield table("length", ("judge", "10 % more words"), rows)


def left_out(found: Benchmark) -> Iterator[Block]:
    """Judges that were not tried, and summaries that judges left unscored."""
    if not (found.not_tried or found.unscored):
        yield Prose("Every judge scored every summary.")
    yield from items(Prose(f"{judge}, because {why}", head="not tried:") for judge, why in found.not_tried.items())
    if found.unscored:
        rows = [(each.judge, each.reason, each.side, count(each.count)) for each in found.unscored]
        yield table("unscored", ("unscored by", Column("reason", "long"), "side", "count"), rows)
