"""How figures are shown: tables of 100 columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import rich.box
import rich.console
import rich.table

from .measure import Row, Table


@dataclass(frozen=True)
class Breakdown:
    """A table of parts of one thing, where nothing is compared; a row without a column has no value there."""

    title: str
    # column -> value, in the order of the columns
    rows: Sequence[Mapping[str, Any]]

    def as_json(self) -> dict[str, Any]:
        """Title and rows as they are."""
        return {"title": self.title, "rows": [dict(row) for row in self.rows]}


def print_table(table: Table, console: rich.console.Console) -> None:
    """Show a comparison; ~ marks seconds that were extrapolated, and * counts of the part that was run."""
    counted = list(dict.fromkeys(name for row in table.rows for name in row.counts))
    columns = ["", "seconds", "min-max", *(f"vs {name}" for name in table.baselines), "peak MiB", *counted]
    rows = []
    for row in table.rows:
        ratios = [_ratio(table.time_ratio(row.name, baseline)) for baseline in table.baselines]
        rows.append([row.name, *_times(row), *ratios, _mebibytes(row), *(_count(row, name) for name in counted)])
    console.print(_grid(f"{table.title} (median of {table.repeats})", columns, rows))
    for row in table.rows:
        if row.extrapolated:
            console.print(
                f"~ {row.name}: {row.extrapolated}; measured {significant(row.measured_seconds)} s, "
                f"times {row.extrapolated.factor:g}; * counts of the part that was run"
            )
        if row.failure:
            console.print(f"{row.name}: {row.failure} in run {len(row.runs) + 1}")
    console.print(f"memory: {table.memory}")


def print_breakdown(table: Breakdown, console: rich.console.Console) -> None:
    """Show a breakdown; numbers with three significant digits."""
    columns = list(dict.fromkeys(name for row in table.rows for name in row))
    console.print(_grid(table.title, columns, [[_value(row.get(name)) for name in columns] for row in table.rows]))


def _grid(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> rich.table.Table:
    """A table whose first column is text and whose others are numbers; titles of columns may be broken, cells not."""
    grid = rich.table.Table(
        title=title, title_justify="left", title_style="bold", box=rich.box.SIMPLE_HEAD, padding=(0, 1, 0, 0)
    )
    for place, name in enumerate(columns):
        widest = max((len(row[place]) for row in rows), default=0)
        grid.add_column(name, justify="right" if place else "left", min_width=widest)
    for row in rows:
        grid.add_row(*(cell.replace(" ", "\u00a0") for cell in row))
    return grid


def _times(row: Row) -> tuple[str, str]:
    if row.seconds is None or row.spread is None:
        return "-", ""
    mark = "~" if row.extrapolated else ""
    return f"{mark}{significant(row.seconds)}", "-".join(significant(value) for value in row.spread)


def _ratio(time_ratio: float | None) -> str:
    if time_ratio is None:
        return ""
    if time_ratio == 1:
        return "1"
    faster = time_ratio < 1
    return f"{significant(1 / time_ratio if faster else time_ratio)}x {'faster' if faster else 'slower'}"


def _mebibytes(row: Row) -> str:
    return "" if row.peak_bytes is None else f"{row.peak_bytes / 2**20:,.0f}"


def _count(row: Row, name: str) -> str:
    text = _value(row.counts.get(name))
    return f"{text}*" if text and row.extrapolated else text


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    return significant(value) if isinstance(value, float) else str(value)


def significant(value: float | None) -> str:
    """A number with three significant digits, whole numbers from 100 on: "0.0123", "1.10", "68.1", "1,356"."""
    if value is None:
        return ""
    if abs(value) >= 99.95:
        return f"{value:,.0f}"
    text = f"{value:#.3g}"
    return text.rstrip(".")
