"""What a benchmark is asked and leaves behind: options, tables of 100 columns, figures with machine and versions as JSON."""

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import rich.console
import rich.table

from ..cli.terminal import plain_table
from ..config.command_line import SingleValues
from ..errors import EvenhandError
from ..extras import installed_versions, need
from ..runfolder.processes import share_processor
from ..runfolder.stages import RECORDED
from ..storage import write_json
from ..text.amounts import significant
from .measure import Table

FORMAT = "evenhand-benchmark/1"
# where the figures go; the version control system ignores it
FOLDER = Path("runs/bench")
WIDTH = 100


# keyword arguments of an option
Option = Mapping[str, Any]


def count(default: int | list[int], about: str = "") -> Option:
    """An option that is a whole number from 1 on; several where the default is a list."""
    several = {"nargs": "+"} if isinstance(default, list) else {}
    return {"type": _positive, "default": default, "metavar": "N", "help": f"{about} (%(default)s)".strip(), **several}


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is too small; write 1 or more")
    return value


# options that several benchmarks have
SHARED: dict[str, Option] = {
    "model": {"default": "embedded:smollm2-135m-instruct", "help": "(%(default)s)"},
    "dtype": {"choices": ("bfloat16", "float32"), "default": "bfloat16", "help": "(%(default)s)"},
    "backends": {
        "nargs": "+",
        "choices": ("transformers", "vllm"),
        "default": ["transformers", "vllm"],
        "help": "(both)",
    },
    "engine": {
        "type": json.loads,
        "default": {},
        "metavar": "JSON",
        "help": "keyword arguments of vllm.LLM, for experiments",
    },
}


def bench_options(
    name: str, about: str | None, argv: Sequence[str] | None, quick: Mapping[str, Any], *shared: str, **options: Option
) -> argparse.Namespace:
    """What a benchmark's command line says; beside its own options all have --quick, --repeats and --output.

    Idle threads of the process are set to sleep, which only works before torch is imported.

    Args:
        name: of the benchmark.
        about: what --help begins with.
        argv: the command line; None for the process's.
        quick: option -> its value with --quick.
        shared: those of `SHARED` that it has.
        options: its own ones, and "repeats" for another default than 3.
    """
    share_processor()
    parser = SingleValues(
        prog=f"python -m evenhand.benchmarks.{name}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    general: dict[str, Option] = {
        "quick": {"action": "store_true", "help": "tiny settings: shows that it runs, the ratios mean little"},
        "repeats": count(3, "timed runs of each"),
        "output": {
            "type": Path,
            "default": FOLDER / f"{name}.json",
            "metavar": "FILE",
            "help": "where the figures are written (%(default)s)",
        },
    }
    for option, how in (general | {each: SHARED[each] for each in shared} | options).items():
        parser.add_argument(f"--{option.replace('_', '-')}", **how)
    found = parser.parse_args(argv)
    if found.quick:
        vars(found).update(quick)
    return found


@dataclass(frozen=True)
class Breakdown:
    """A table of parts of one thing, where nothing is compared; a row without a column has no value there."""

    title: str
    # column -> value, in the order of the columns
    rows: Sequence[Mapping[str, Any]]

    def as_json(self) -> dict[str, Any]:
        """Title and rows as they are."""
        return {"title": self.title, "rows": [dict(row) for row in self.rows]}


@dataclass
class Report:
    """The tables of one benchmark and what they were made with."""

    name: str
    # as given on the command line, "output" among them; folders are left out of paths
    arguments: Mapping[str, Any]
    console: rich.console.Console = field(
        default_factory=lambda: rich.console.Console(width=WIDTH, highlight=False), repr=False
    )
    tables: list[Table] = field(default_factory=list)
    breakdowns: list[Breakdown] = field(default_factory=list)
    # sentences for the reader, shown under the tables
    notes: list[str] = field(default_factory=list)

    def add(self, table: Table) -> None:
        """Show a comparison and write the figures so far: what comes later may fail."""
        self.tables.append(table)
        print_table(table, self.console)
        self.write()

    def add_breakdown(self, breakdown: Breakdown) -> None:
        """Show a breakdown and write the figures so far."""
        self.breakdowns.append(breakdown)
        print_breakdown(breakdown, self.console)
        self.write()

    def as_json(self) -> dict[str, Any]:
        """The whole report."""
        return {
            "format": FORMAT,
            "benchmark": self.name,
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": git_commit(),
            "machine": machine(),
            "versions": {"python": platform.python_version(), **installed_versions(RECORDED)},
            "arguments": {key: _without_folder(value) for key, value in self.arguments.items() if key != "output"},
            "tables": [table.as_json() for table in self.tables],
            "breakdowns": [breakdown.as_json() for breakdown in self.breakdowns],
            "notes": list(self.notes),
        }

    def write(self) -> None:
        """Write the figures as JSON."""
        write_json(self.arguments["output"], self.as_json())

    def finish(self, notes: Sequence[str] = ()) -> None:
        """Show notes and the machine, and write the figures: what a benchmark ends with."""
        self.notes += notes
        for note in self.notes:
            self.console.print(note)
        made_on = machine()
        self.console.print(
            f"{made_on['processor']}, {made_on['cores']} cores, {made_on['memory_gib']} GiB, {made_on['device']}"
        )
        self.write()


def run_bench(main: Callable[[], None]) -> None:
    """Run a benchmark's program; what is wrong with its arguments or its model becomes one message."""
    try:
        main()
    # OSError is what transformers raises where it finds no model
    except (EvenhandError, OSError) as error:
        sys.exit(f"error: {error}")


def machine() -> dict[str, Any]:
    """The processor, its cores that this process may use, memory, and the device torch computes on; no names of hosts."""
    torch = sys.modules.get("torch")
    has_gpu = torch is not None and torch.cuda.is_available()
    info = Path("/proc/cpuinfo")
    named = re.search(r"^model name\s*:\s*(.+)$", info.read_text("utf-8"), re.MULTILINE) if info.is_file() else None
    return {
        "processor": named.group(1) if named else platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(need("psutil", "a benchmark").virtual_memory().total / 2**30),
        "device": torch.cuda.get_device_name() if torch is not None and has_gpu else "cpu",
        "threads": torch.get_num_threads() if torch is not None else None,
        "system": f"{platform.system()} {platform.machine()}",
    }


def git_commit() -> str | None:
    """The commit of the checkout that this code runs from, with "+" when files differ from it; None outside of one."""
    root = Path(__file__).resolve().parents[1]
    top = _git(root, "rev-parse", "--show-toplevel")
    # an installed package may lie in the checkout of something else
    if top is None or Path(top).resolve() != root:
        return None
    commit = _git(root, "rev-parse", "HEAD")
    return f"{commit}+" if commit and _git(root, "status", "--porcelain") else commit


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=False)  # noqa: S607
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _without_folder(value: Any) -> Any:
    if isinstance(value, str | Path):
        return Path(value).name if Path(value).is_absolute() else str(value)
    if isinstance(value, Sequence):
        return [_without_folder(each) for each in value]
    return value


def print_table(table: Table, console: rich.console.Console) -> None:
    """Show a comparison; ~ marks seconds that were extrapolated, and * counts of the part that was run."""
    counted = list(dict.fromkeys(name for row in table.rows for name in row.counts))
    columns = ["", "seconds", "min-max", *(f"vs {name}" for name in table.baselines), "peak MiB", *counted]
    rows = []
    for row in table.rows:
        tilde, star = ("~", "*") if row.extrapolated else ("", "")
        times = ["-", ""]
        if row.seconds is not None and row.spread is not None:
            times = [f"{tilde}{significant(row.seconds)}", "-".join(map(significant, row.spread))]
        ratios = [_ratio(table.time_ratio(row.name, baseline)) for baseline in table.baselines]
        peak = "" if row.peak_bytes is None else f"{row.peak_bytes / 2**20:,.0f}"
        counts = [_value(row.counts.get(name)) for name in counted]
        rows.append([row.name, *times, *ratios, peak, *(f"{text}{star}" if text else "" for text in counts)])
    console.print(_grid(f"{table.title} (median of {table.repeats})", columns, rows))
    for row in table.rows:
        if row.extrapolated and row.measured_seconds is not None:
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
    """A table whose first column is text and whose others are numbers."""
    return plain_table(columns, rows, title, numbers=columns[1:])


def _ratio(time_ratio: float | None) -> str:
    if time_ratio is None:
        return ""
    if time_ratio == 1:
        return "1"
    faster = time_ratio < 1
    return f"{significant(1 / time_ratio if faster else time_ratio)}x {'faster' if faster else 'slower'}"


def _value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return f"{value:,}"
    return significant(value) if isinstance(value, float) else str(value)
