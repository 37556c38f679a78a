"""The report as Markdown, for pull requests and notes: headline, scores, differences and what was left out."""

from collections.abc import Iterable, Sequence
from html import escape

from ..text import fold
from . import view
from .contents import Report
from .pages.planes import PlanePlot, plane_plots, standing
from .text_numbers import interval, name, number, signed

ALL = "all"


def render_markdown(report: Report) -> str:
    """The report as GitHub-flavoured Markdown."""
    parts = [
        f"# {plain(report.title)}",
        f"Run `{plain(report.name)}`. The full report is index.html beside this file.",
        *(f"> **Warning.** {plain(warning)}" for warning in report.warnings),
        *(f"**{plain(finding.heading)}.** {plain(finding.text)}" for finding in report.findings),
    ]
    for table in view.score_tables(report):
        parts += [f"## Scores by {plain(table.judge.name)} ({table.judge.role})", _scores(table)]
    if rows := view.plan_rows(report):
        parts += ["## Scores by plan", _plans(report, rows)]
    for differences in view.difference_tables(report):
        parts += [f"## Paired differences by {plain(differences.judge.name)} ({differences.judge.role})"]
        parts += [_differences(differences)]
    for plot in plane_plots(report.planes, report.judges):
        parts += plane_parts(plot)
    parts += ["## Left out", _left_out(report), f"Signatures: {_signatures(report)}"]
    return "\n\n".join(parts) + "\n"


def _scores(table: view.ScoreTable) -> str:
    sides = [e.side or ALL for e in table.rows[0].estimates]
    rows = (
        [
            row.system,
            *(f"{number(e.mean, table.places)} ({interval(e, table.places)})" for e in row.estimates),
            number(row.words, 1),
        ]
        for row in table.rows
    )
    return markdown_table(["system", *sides, "words"], rows)


def _plans(report: Report, rows: Sequence[view.PlanRow]) -> str:
    cells = ([row.plan, *(f"{number(e.mean)} ({interval(e)})" for e in row.estimates)] for row in rows)
    return markdown_table(["plan", *(judge.name for judge in report.judges)], cells)


def _differences(table: view.DifferenceTable) -> str:
    header = ["comparison", "side", "difference", "interval", "verdict", "requests", "sets", "left out"]
    rows = (
        [
            name(d.subject), d.side or ALL, signed(d.mean, table.places), interval(d, table.places, sign=True),
            d.verdict, str(d.n), str(d.n_sets), str(d.left_out),
        ]
        for comparison in table.comparisons
        for d in comparison.rows
    )  # fmt: skip
    return markdown_table(header, rows)


def plane_parts(plot: PlanePlot) -> list[str]:
    """Heading and table of systems under two judges at once, and what is to be kept in mind of the judges."""
    x, y = plot.quality, plot.fairness
    rows = (
        [
            point.name,
            f"{number(point.quality.mean, x.places)} ({interval(point.quality, x.places)})",
            f"{number(point.fairness.mean, y.places)} ({interval(point.fairness, y.places)})",
            standing(point),
        ]
        for point in plot.points
    )
    heading = f"## Pareto front of {plain(x.judge.name)} and {plain(y.judge.name)}"
    caution = [plain(plot.caution)] if plot.caution else []
    return [heading, *caution, markdown_table(["system", x.judge.name, y.judge.name, "standing"], rows)]


def _left_out(report: Report) -> str:
    if not report.ledger:
        return "Nothing."
    rows = ([row.phase, row.stage, row.reason, row.side, str(row.count)] for row in report.ledger)
    return markdown_table(["phase", "stage", "reason", "side", "count"], rows)


def _signatures(report: Report) -> str:
    return "; ".join(f"`{plain(judge.signature)}`" for judge in report.judges)


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in GitHub's Markdown; cells are escaped."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(_cell(text) for text in line)} |" for line in lines)


def _cell(text: str) -> str:
    return plain(text).replace("|", "\\|")


def plain(text: str) -> str:
    """Text from data on one line, without the characters that start HTML, code or a link."""
    return escape(fold(text), quote=False).replace("`", "'").replace("[", "\\[")
