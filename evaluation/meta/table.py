"""The benchmark of judges as tables for the terminal, one an attribute; made for 80 columns."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..text_numbers import number
from .benchmark import ATTRIBUTES, Attribute, Benchmark, Statistic
from .scoring import BASELINES

LONGEST_BASELINE = max(map(len, BASELINES))
TIES = {"half": "ties count half", "wrong": "ties count as wrong", "drop": "ties are left out"}


def benchmark_table(found: Benchmark) -> RenderableType:
    """Agreement of every judge with coverage and with faithfulness, and how it was counted."""
    parts: list[RenderableType] = []
    for attribute in ATTRIBUTES:
        parts += [Text(attribute, style="bold"), _table(found, attribute), Text()]
    whole = next(row for row in found.rows if row.side is None)
    note = (
        f"{whole.articles} articles, {whole.summaries} summaries; {100 * found.level:g} % intervals from {found.resamples:,} "
        f"draws of {_drawn(found.topics_unknown, whole.articles)}; article: mean \u03c1 of the articles; winrate by article, "
        f"{TIES[found.ties]}; out: summaries left out."
    )
    notes = [f"not tried: {judge}, because {reason}" for judge, reason in found.not_tried.items()]
    notes += [f"unscored by {u.judge}: {u.count} ({u.reason}, {u.side})" for u in found.unscored]
    return Group(*parts, Text(note, style="dim"), *(Text(line, style="yellow") for line in notes))


def _drawn(unknown: int, articles: int) -> str:
    if unknown == articles:
        return "articles (topics unknown; give --evidence)"
    return f"topics ({unknown} articles of unknown topic by themselves)" if unknown else "topics"


def _table(found: Benchmark, attribute: Attribute) -> Table:
    rows = [row for row in found.rows if row.attribute == attribute]
    by_side = len({row.side for row in rows}) > 1
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), collapse_padding=True)
    table.add_column("", overflow="fold", min_width=LONGEST_BASELINE, max_width=30)
    if by_side:
        table.add_column("side")
    table.add_column("\u03c1 pooled", no_wrap=True)
    table.add_column("article", no_wrap=True, justify="right")
    table.add_column("winrate", no_wrap=True)
    table.add_column("ties", no_wrap=True, justify="right")
    table.add_column("out", no_wrap=True, justify="right")
    for row in rows:
        table.add_row(
            Text(row.judge),
            *([row.side or "all"] if by_side else []),
            Text(_cell(row.spearman_pooled)),
            number(row.spearman_macro.value),
            Text(_cell(row.winrate_macro)),
            f"{row.metric_ties:,}",
            f"{row.left_out:,}",
        )
    return table


def _cell(statistic: Statistic) -> str:
    """ "0.403 [0.21, 0.55]"; without the brackets when there is no interval."""
    if statistic.low is None or statistic.high is None:
        return number(statistic.value)
    return f"{number(statistic.value)} [{number(statistic.low, 2)}, {number(statistic.high, 2)}]"
