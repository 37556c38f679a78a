"""The comparison's scores as a table for the terminal, at most 100 columns wide."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..contents import JudgeNote
from ..table import MARKS, UNSURE
from ..text_numbers import number, places_for
from . import view
from .contents import Comparison, PairedTest
from .values import budget_name

LEGEND = "against the first of the column: \u25b2 better  \u25bc worse  \u25cb cannot tell (adjusted p too large, or no test)"


def comparison_table(comparison: Comparison) -> RenderableType:
    """Entries down, budgets across, judge by judge; a mark says how an entry stands to the first one of its budget."""
    parts: list[RenderableType] = [Text(f"{comparison.title}.", style="bold")]
    for judge in comparison.judges:
        parts += [Text(), _table(comparison, judge)]
    parts += [Text(), Text(LEGEND, style="dim")]
    return Group(*parts, *(Text(f"warning: {warning}", style="yellow") for warning in comparison.warnings))


def _table(comparison: Comparison, judge: JudgeNote) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), collapse_padding=True)
    better = {"higher": "higher is better", "lower": "lower is better", None: "no direction"}[judge.better]
    table.add_column(Text(f"{judge.name} ({better})"), min_width=36, max_width=44, overflow="fold")
    for k in comparison.budgets:
        table.add_column(budget_name(k), justify="right", no_wrap=True)
    places = places_for(e.mean for e in comparison.scores if e.measure == judge.name)
    means = {(e.subject, e.k): e.mean for e in comparison.scores if e.measure == judge.name and e.side is None}
    tests = {
        (t.subject, t.k): t
        for t in comparison.tests
        if t.measure == judge.name and t.side is None and t.k == t.reference_k
    }
    for entry in comparison.entries:
        cells = [
            _cell(means.get((entry.label, k)), places, tests.get((entry.label, k)), judge) for k in comparison.budgets
        ]
        table.add_row(Text(f" {entry.label}"), *cells)
    return table


def _cell(mean: float | None, places: int, test: PairedTest | None, judge: JudgeNote) -> Text:
    text = number(mean, places)
    if test is None:
        return Text(f"{text} ")
    mark, style = MARKS.get(view.tone(test, judge), UNSURE)
    return Text.assemble(text, (mark, style))
