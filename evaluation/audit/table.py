"""The audit as tables for the terminal, at most 100 columns wide."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from ..table import MARKS, UNSURE
from ..text_numbers import number
from . import view
from .contents import Audit, Number
from .quantities import UNDER_REPRESENTED, Measure

LEGEND = (
    "\u25b2 fairer  \u25bc less fair  \u25cf differs, neither fairer nor less\n"
    "\u25cb cannot tell: adjusted p too large, interval holds 0, or no test"
)


def audit_table(audit: Audit) -> RenderableType:
    """By value first, then the aggregates with what they mean, who fares worst, and the differences between systems."""
    parts: list[RenderableType] = [Text(f"{audit.title}.", style="bold")]
    for table in view.value_tables(audit):
        parts += [Text(), Text(f"{table.system}, by {audit.attribute}", style="bold"), _values(table)]
    for system in audit.systems:
        parts += [Text(), Text(f"{system.label}, measures", style="bold"), _aggregates(audit, system.label)]
        parts.append(Text(view.length(system)))
        parts += [
            Text(f"By {group.measure}: {group.sentence}") for group in audit.worst if group.system == system.label
        ]
    parts += [
        Text(),
        Text(view.notes(audit), style="dim"),
    ]
    if audit.differences:
        parts += [Text(), _differences(audit), Text(LEGEND, style="dim")]
        parts += [Text(choice.sentence) for choice in audit.choices]
    return Group(*parts, *(Text(f"warning: {warning}", style="yellow") for warning in audit.warnings))


def _table() -> Table:
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), collapse_padding=True)


def _values(table: view.ValueTable) -> Table:
    made = _table()
    made.add_column("", max_width=18, overflow="fold")
    for column in table.columns:
        # its second line is one long word
        is_long = column.kind == UNDER_REPRESENTED
        made.add_column(Text(_broken(column)), justify="right", max_width=14, overflow="fold", no_wrap=is_long)
    for row in table.rows:
        made.add_row(Text(row.value), *(_cell(cell) for cell in row.cells))
    return made


def _broken(column: Measure) -> str:
    """A column's name in lines that a narrow column holds."""
    return str(column).replace("under-", "under-\n").replace(" (", "\n(")


def _cell(found: Number | None) -> Text:
    if found is None:
        return Text()
    return Text.assemble(view.shown(found, 1), (f"\n{view.interval(found, 1)}\n{view.rests_on(found)}", "dim"))


def _aggregates(audit: Audit, system: str) -> Table:
    made = _table()
    made.add_column("", max_width=24, overflow="fold")
    made.add_column("", justify="right", no_wrap=True)
    made.add_column("sets", justify="right", no_wrap=True)
    made.add_column("", overflow="fold", max_width=54)
    for found in (n for n in audit.aggregates if n.system == system):
        reason = f"Left out: {view.left_out(found.left_out)}." if found.left_out else ""
        value = Text.assemble(view.shown(found), "\n", (view.interval(found), "dim"))
        made.add_row(Text(str(found.measure)), value, f"{found.n:,}", Text(f"{found.sentence} {reason}".strip()))
    return made


def _differences(audit: Audit) -> Table:
    made = _table()
    made.add_column(Text(f"difference to {audit.differences[0].reference}"), max_width=44, overflow="fold")
    made.add_column("", justify="right", no_wrap=True)
    made.add_column("interval", no_wrap=True)
    made.add_column("adj. p", justify="right", no_wrap=True)
    made.add_column("sets", justify="right", no_wrap=True)
    system = ""
    for each in audit.differences:
        if each.system != system:
            system = each.system
            made.add_row(Text(system, style="bold"))
        mark, style = MARKS.get(view.tone(each), UNSURE)
        shown = Text.assemble((mark, style), view.shown(each))
        made.add_row(
            Text(f" {view.difference_name(each)}"), shown, view.interval(each), number(each.adjusted), f"{each.n:,}"
        )
    return made
