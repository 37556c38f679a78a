"""The report's headline as a table for the terminal: made for 80 columns, at most 100 wide."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..config import Recipe
from . import view
from .contents import Difference, Estimate, Report
from .report import read_report
from .text_numbers import interval, name, number, signed

# with more sides than this only all requests are shown; the page has the sides
MOST_SIDES = 3
MARKS = {"better": ("\u25b2", "bold blue"), "worse": ("\u25bc", "bold yellow"), "neutral": ("\u25cf", "bold")}
UNSURE = ("\u25cb", "dim")
LEGEND = "\u25b2 better  \u25bc worse  \u25cb cannot be told: the interval holds 0, or there is none"


def result_table(recipe: Recipe) -> RenderableType:
    """What `evenhand loop` ends with, from the report that was written.

    Raises:
        StorageError: there is no report yet.
    """
    return summary_table(read_report(recipe))


def summary_table(report: Report) -> RenderableType:
    """The report's title, its differences by the deciding judges, and its warnings."""
    parts: list[RenderableType] = [Text(f"{report.title}.", style="bold")]
    if report.deciding:
        parts += [Text(), _differences(report), Text(), Text(LEGEND, style="dim")]
    return Group(*parts, *(Text(f"warning: {warning}", style="yellow") for warning in report.warnings))


def _differences(report: Report) -> Table:
    by_side = 1 < len(report.sides) <= MOST_SIDES
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), collapse_padding=True)
    table.add_column("", max_width=36, overflow="fold")
    table.add_column("scores", justify="right", no_wrap=True)
    for side in (*report.sides, "all") if by_side else ("all",):
        table.add_column(Text(side), justify="right", no_wrap=True)
    table.add_column(f"{100 * report.scores[0].level:g} % interval", no_wrap=True)
    for comparison in dict.fromkeys(d.subject for d in report.differences):
        table.add_row(Text(name(comparison), style="bold"))
        for row in view.verdicts(report, comparison):
            shown = row.differences if by_side else row.differences[-1:]
            table.add_row(
                Text(f" {row.judge.name}"),
                _scores(report, row),
                *(_mark(d, row) for d in shown),
                interval(row.differences[-1], row.places, sign=True),
            )
    return table


def _scores(report: Report, row: view.Verdicts) -> str:
    """Means of both systems over all requests: "0.116 → 0.149"."""
    first, second = row.differences[-1].subject.split(" - ")
    means: dict[str, Estimate] = {e.subject: e for e in report.scores if e.measure == row.judge.name and e.side is None}
    return f"{number(means[second].mean, row.places)} \u2192 {number(means[first].mean, row.places)}"


def _mark(difference: Difference, row: view.Verdicts) -> Text:
    mark, style = MARKS.get(view.tone(difference, row.judge), UNSURE)
    return Text(f"{mark}{signed(difference.mean, row.places)}", style=style)
