"""What a benchmark leaves behind: tables on the screen, and the figures with machine, versions and arguments as JSON."""

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import rich.console

from ..errors import EvenhandError
from ..extras import installed_versions, need
from ..runfolder.processes import share_processor
from ..runfolder.stages import RECORDED
from ..storage import write_json
from .measure import Table
from .tables import Breakdown, print_breakdown, print_table

FORMAT = "evenhand-benchmark/1"
# where the figures go; the version control system ignores it
FOLDER = Path("runs/bench")
WIDTH = 100


def bench_parser(name: str, about: str, repeats: int = 3) -> argparse.ArgumentParser:
    """A benchmark's command line with the options that all have: --quick, --repeats (default `repeats`), --output.

    Idle threads of the process are told to sleep, which only works before torch is imported.
    """
    share_processor()
    parser = argparse.ArgumentParser(
        prog=f"python -m evenhand.benchmarks.{name}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--quick", action="store_true", help="tiny settings: shows that it runs, the ratios mean little"
    )
    parser.add_argument(
        "--repeats", type=positive, default=repeats, metavar="N", help="timed runs of each (%(default)s)"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=FOLDER / f"{name}.json",
        metavar="FILE",
        help="where the figures are written (%(default)s)",
    )
    return parser


def positive(text: str) -> int:
    """A whole number from 1 on, for options."""
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{value} is too small; write 1 or more")
    return value


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
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gib": round(need("psutil", "a benchmark").virtual_memory().total / 2**30),
        "device": torch.cuda.get_device_name() if torch is not None and has_gpu else "cpu",
        "threads": torch.get_num_threads() if torch is not None else None,
        "system": f"{platform.system()} {platform.machine()}",
    }


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


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
