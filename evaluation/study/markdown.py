"""The comparison as Markdown, for pull requests and notes."""

from ..markdown import markdown_table, plain, plane_parts
from ..pages.planes import plane_plots
from ..text_numbers import interval, name, number, percent, signed
from ..view import ScoreTable
from ..worst_group import without_part
from . import view
from .contents import Comparison, Ranking, WorstSides
from .values import budget_name

ALL = "all"


def render_markdown(comparison: Comparison) -> str:
    """The comparison as GitHub-flavoured Markdown."""
    parts = [
        f"# {plain(comparison.title)}",
        "The full comparison is index.html beside this file.",
        *(f"> **Warning.** {plain(warning)}" for warning in comparison.warnings),
        *(f"- {plain(finding)}" for finding in comparison.findings),
        "## Entries",
        _entries(comparison),
    ]
    for table in view.score_tables(comparison):
        parts += [f"## Scores by {plain(table.judge.name)}", _scores(table)]
    for ranking in comparison.rankings:
        parts += [
            f"## Ranking by {plain(ranking.measure)}, {budget_name(ranking.k)}, {plain(ranking.side or ALL)}",
            _ranking(ranking),
        ]
    for plot in plane_plots(comparison.planes, (*comparison.judges, *comparison.axis_judges)):
        parts += plane_parts(plot)
    for worst in comparison.worst_sides:
        parts.append(f"## Worst sides by {plain(worst.measure)}, {budget_name(worst.k)}")
        if note := without_part(worst.found):
            parts.append(f"{plain(note)}.")
        parts.append(_worst_sides(worst))
    if said := view.where_values_are(comparison):
        parts += ["## Worst value", plain(said)]
    for tests in view.test_tables(comparison):
        if tests.pairs:
            parts += [f"## Tests by {plain(tests.judge.name)}", _tests(tests)]
    return "\n\n".join(parts) + "\n"


def _entries(comparison: Comparison) -> str:
    rows = (
        [e.label, e.method, str(e.candidates), number(cost.calls, 1), number(cost.tokens, 0)]
        for e, cost in zip(comparison.entries, comparison.costs, strict=True)
    )
    return markdown_table(["entry", "method", "candidates", "calls each", "generated tokens each"], rows)


def _scores(table: ScoreTable) -> str:
    sides = [e.side or ALL for e in table.rows[0].estimates]
    rows = (
        [
            row.system,
            budget or "",
            *(f"{number(e.mean, table.places)} ({interval(e, table.places)})" for e in row.estimates),
            number(row.words, 1),
            str(row.estimates[-1].n),
            str(row.estimates[-1].left_out),
        ]
        for budget, group in table.groups
        for row in group
    )
    return markdown_table(["entry", "of its candidates", *sides, "words", "requests", "left out"], rows)


def _ranking(ranking: Ranking) -> str:
    rows = ([row.label, signed(row.strength, 2), view.strength_interval(row), percent(row.won)] for row in ranking.rows)
    return markdown_table(["entry", "strength", "interval", "won"], rows)


def _worst_sides(worst: WorstSides) -> str:
    rows = (
        [
            row.system,
            row.group or "",
            number(row.mean),
            "no interval" if row.low is None else f"{number(row.low)} to {number(row.high)}",
            percent(row.chance_of_best),
        ]
        for row in worst.found.systems
    )
    return markdown_table(["entry", "worst side", "mean", "interval", "chance of being best"], rows)


def _tests(table: view.TestTable) -> str:
    header = ["pair", "side", "difference", "interval", "adjusted p", "verdict", "requests", "left out"]
    rows = (
        [
            name(pair), d.side or ALL, signed(d.mean, table.places), interval(d, table.places, sign=True),
            number(d.adjusted, 3), d.verdict, str(d.n), str(d.left_out),
        ]
        for pair, found in table.pairs
        for d in found
    )  # fmt: skip
    return markdown_table(header, rows)
