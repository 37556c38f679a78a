"""The results of a bias study for the terminal, at most 100 columns wide."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from .contents import BiasReport
from .markdown import group_rows
from .numbers import bounds, lean, score

LEGEND = "s: names and genders drawn again; d: documents drawn again; 0 is fair"


def bias_table(report: BiasReport) -> RenderableType:
    """Figures by group first, then each measure with its intervals and verdict."""
    parts: list[RenderableType] = [
        Text(report.title, style="bold"),
        Text(f"setting: {report.setting}", style="dim"),
        Text(),
        _by_group(report),
        Text(),
        _measures(report),
        Text(LEGEND, style="dim"),
    ]
    parts += [
        Text(f"undefined: {measure.name}: {measure.undefined}", style="dim")
        for measure in report.measures
        if measure.undefined is not None
    ]
    parts += [Text(f"not measured: {row.name}: {row.reason}", style="dim") for row in report.not_measured]
    parts += [Text(f"left out: {row.count} {row.what}: {row.reason}", style="dim") for row in report.left_out]
    return Group(*parts, *(Text(f"warning: {warning}", style="yellow") for warning in report.warnings))


def _plain_table() -> Table:
    return Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1), collapse_padding=True)


def _by_group(report: BiasReport) -> Table:
    table = _plain_table()
    table.add_column("by group", overflow="fold")
    for group in report.groups:
        table.add_column(Text(group), justify="right", no_wrap=True)
    for figure, *cells in group_rows(report):
        table.add_row(figure, *cells)
    return table


def _measures(report: BiasReport) -> Table:
    table = _plain_table()
    table.add_column("measure", overflow="fold")
    table.add_column("score", justify="right", no_wrap=True)
    table.add_column(f"{report.level:.0%} intervals", overflow="fold")
    table.add_column("verdict", overflow="fold")
    for measure in report.measures:
        intervals = "\n".join(map(bounds, measure.intervals)) or "no interval"
        table.add_row(measure.name, score(measure.score), intervals, lean(measure))
    return table
