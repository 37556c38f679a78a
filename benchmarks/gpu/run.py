"""All parts one after another; `run.sh` calls this. A part that fails or runs past its limit leaves the others alone."""

import argparse
import subprocess
import sys
import textwrap
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import rich.console

from ...errors import DataError, RecipeError, StorageError
from ...extras import need
from ...storage import read_json, write_json
from ..programs import end_when_stopped, started
from ..report import Breakdown, print_breakdown, run_bench
from .part import CODES, FAILED, NOT_HERE
from .start import PARTS

FOLDER = Path("runs/gpu")
# with --tiny, where time says nothing and a processor may be busy
TINY_LIMIT = 600.0
WIDTH, MOST_REASON = 160, 60
# what timeout(1) exits with
PAST_LIMIT = 124
STATES = {code: state for state, code in CODES.items()}


class Job(NamedTuple):
    """What is started for a part, and how many seconds it has."""

    command: Sequence[str]
    limit: float


def main(argv: Sequence[str] | None = None) -> int:
    """Run the parts and show their table; 1 where one failed."""
    parser = argparse.ArgumentParser(prog="benchmarks/gpu/run.sh")
    parser.add_argument("--tiny", action="store_true", help="models of two layers, on the CPU")
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="FOLDER", help="(%(default)s)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help="(all)")
    parser.add_argument("--limit", action="append", type=_limit, default=[], metavar="PART=SECONDS", help="of a part")
    options = parser.parse_args(argv)
    # a run that is stopped stops its part
    end_when_stopped()
    if not options.tiny and not need("torch", "a run on a GPU").cuda.is_available():
        raise RecipeError("torch sees no GPU here; --tiny runs the same parts on the CPU")
    limits = {name: TINY_LIMIT if options.tiny else part.limit for name, part in PARTS.items()} | dict(options.limit)
    command = [sys.executable, "-m", f"{__package__}.start"]
    tiny = ["--tiny"] if options.tiny else []
    jobs = {
        name: Job([*command, name, "--output", str(_figures(options.output, name)), *tiny], limits[name])
        for name in options.only
    }
    return run_jobs(jobs, options.output)


def _limit(text: str) -> tuple[str, float]:
    name, _, seconds = text.partition("=")
    if name not in PARTS:
        raise argparse.ArgumentTypeError(f"{name!r} is no part; parts are {', '.join(PARTS)}")
    return name, float(seconds)


def _figures(folder: Path, name: str) -> Path:
    return folder / f"{name}.json"


def run_jobs(jobs: Mapping[str, Job], folder: Path) -> int:
    """Run every job, and leave NAME.json, NAME.log and summary.json in the folder.

    Args:
        jobs: part -> its job, which writes NAME.json.
        folder: where all is written; figures of an earlier run are taken away.

    Returns:
        0, or 1 where a part failed or ran past its limit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    parts = []
    for name, job in jobs.items():
        figures = _figures(folder, name)
        figures.unlink(missing_ok=True)
        start = time.monotonic()
        code = _run(job, folder / f"{name}.log")
        found = _read(figures) | {"exit_code": code, "seconds": round(time.monotonic() - start, 1), "limit": job.limit}
        # the code says it: figures may be those that a part left when it was stopped
        found["state"] = STATES.get(code, FAILED)
        if code == PAST_LIMIT:
            found["reason"] = f"ran past its limit of {job.limit:g} s"
        elif code not in STATES or (found["state"] != NOT_HERE and not found["rows"]):
            found |= {"state": FAILED, "reason": f"ended with {code}; {name}.log has what it said"}
        write_json(figures, found)
        parts.append({"part": name, **found})
        write_json(folder / "summary.json", {"parts": [_summed(each) for each in parts]})
    _show(parts, folder)
    return int(any(part["state"] == FAILED for part in parts))


def _run(job: Job, log: Path) -> int:
    """The job's exit code; `PAST_LIMIT` where it and all that it started had to be stopped."""
    with started(job.command, log) as process:
        try:
            return process.wait(job.limit)
        except subprocess.TimeoutExpired:
            return PAST_LIMIT


def _read(figures: Path) -> dict[str, Any]:
    """What the part has written; nothing where it died before its first row."""
    try:
        found: dict[str, Any] = read_json(figures)
    except (StorageError, DataError):
        return {"rows": []}
    return found


def _summed(part: Mapping[str, Any]) -> dict[str, Any]:
    rows = part["rows"]
    reasons = [row["reason"] for row in rows if row["state"] == part["state"] and "reason" in row]
    return {
        "": part["part"],
        "exit": part["exit_code"],
        "state": part["state"],
        "seconds": part["seconds"],
        **{f"rows {state}": sum(row["state"] == state for row in rows) for state in CODES},
        "reason": part.get("reason") or next(iter(reasons), ""),
    }


def _show(parts: Sequence[Mapping[str, Any]], folder: Path) -> None:
    """Print the rows that have something to show, and what became of each part; the summary goes to a file as well."""
    with (folder / "summary.txt").open("w", encoding="utf-8") as file:
        for out in (sys.stdout, file):
            console = rich.console.Console(width=WIDTH, highlight=False, file=out)
            for part in parts:
                shown = [{"": row["name"], **row["shown"]} for row in part["rows"] if "shown" in row]
                if shown:
                    print_breakdown(Breakdown(part["part"], shown), console)
            summed = [_summed(part) for part in parts]
            short = [{**each, "reason": textwrap.shorten(each["reason"], MOST_REASON)} for each in summed]
            print_breakdown(Breakdown("parts", short), console)


if __name__ == "__main__":
    run_bench(lambda: sys.exit(main()))
