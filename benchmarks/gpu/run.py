"""All parts: side by side what is not timed, then the others alone; `run.sh` calls this.

A part that fails or runs past its limit leaves the others alone.
"""

import argparse
import signal
import sys
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import rich.console

from ...config.command_line import SingleValues
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
# seconds between two looks at what runs
POLL = 0.05
# what timeout(1) exits with
PAST_LIMIT = 124
STATES = {code: state for state, code in CODES.items()}
# of a part that a run which is stopped does not come to
NOT_RUN = "not run"


class Job(NamedTuple):
    """What is started for a part, and how many seconds it has."""

    command: Sequence[str]
    limit: float
    # runs with nothing beside it
    alone: bool = True


def main(argv: Sequence[str] | None = None) -> int:
    """Run the parts and show their table; 1 where one failed."""
    parser = SingleValues(prog="benchmarks/gpu/run.sh")
    parser.add_argument("--tiny", action="store_true", help="models of two layers, on the CPU")
    parser.add_argument("--output", type=Path, default=FOLDER, metavar="FOLDER", help="(%(default)s)")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help="(all)")
    parser.add_argument(
        "--limit", nargs="+", action="extend", type=_limit, default=[], metavar="PART=SECONDS", help="of a part"
    )
    options = parser.parse_args(argv)
    # a run that is stopped stops its part
    end_when_stopped()
    if not options.tiny and not need("torch", "a run on a GPU").cuda.is_available():
        raise RecipeError("torch sees no GPU here; --tiny runs the same parts on the CPU")
    limits = {name: TINY_LIMIT if options.tiny else part.limit for name, part in PARTS.items()} | dict(options.limit)
    command = [sys.executable, "-m", f"{__package__}.start"]
    tiny = ["--tiny"] if options.tiny else []
    jobs = {
        name: Job(
            [*command, name, "--output", str(_figures(options.output, name)), *tiny],
            limits[name],
            # a processor that is busy with one is slow enough
            alone=options.tiny or PARTS[name].alone,
        )
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
    """Run every job, and leave NAME.json, NAME.log, summary.json and summary.txt in the folder, also where the run is stopped.

    Standard error is told when a part starts and ends.

    Args:
        jobs: part -> its job, which writes NAME.json.
        folder: where all is written; figures of an earlier run are taken away.

    Returns:
        0, or 1 where a part failed or ran past its limit.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name in jobs:
        _figures(folder, name).unlink(missing_ok=True)
    beside = {name: job for name, job in jobs.items() if not job.alone}
    waves = [beside, *({name: job} for name, job in jobs.items() if job.alone)]
    begun: dict[str, float] = {}
    found: dict[str, dict[str, Any]] = {}

    def note(name: str, figures: dict[str, Any]) -> None:
        found[name] = figures
        write_json(_figures(folder, name), figures)
        _say(f"{name}: {figures['state']} after {figures['seconds']:g} s")
        _write_summary([_summed(each) for each in _in_order(jobs, found)], folder)

    try:
        for name, code, seconds in (ended for wave in waves for ended in _run(wave, folder, begun)):
            note(name, _found(name, jobs[name], code, folder) | {"seconds": round(seconds, 1)})
    except (KeyboardInterrupt, SystemExit):
        # the parts have ended by now
        for name in [each for each in begun if each not in found]:
            note(name, _stopped(jobs[name], time.monotonic() - begun[name], _read(_figures(folder, name))))
        rest = [{"": name, "exit": "", "state": NOT_RUN} for name in jobs if name not in found]
        _show(_in_order(jobs, found), folder, rest)
        raise
    parts = _in_order(jobs, found)
    _show(parts, folder)
    return int(any(part["state"] == FAILED for part in parts))


def _in_order(jobs: Mapping[str, Job], found: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    return [{"part": each, **found[each]} for each in jobs if each in found]


def _write_summary(summed: Sequence[Mapping[str, Any]], folder: Path) -> None:
    write_json(folder / "summary.json", {"parts": summed})


def _say(line: str) -> None:
    # standard output has the tables
    print(line, file=sys.stderr, flush=True)


def _run(jobs: Mapping[str, Job], folder: Path, begun: dict[str, float]) -> Iterator[tuple[str, int, float]]:
    """Start jobs at once and put down when in `begun`; name, exit code and seconds of each as it ends.

    The code is `PAST_LIMIT` where the job and all that it started had to be stopped.
    """
    with ExitStack() as stack:
        running = {}
        for name, job in jobs.items():
            ending, log = stack.enter_context(ExitStack()), folder / f"{name}.log"
            begun[name] = time.monotonic()
            running[name] = ending.enter_context(started(job.command, log)), ending
            _say(f"{name}: started, for at most {job.limit:g} s; what it says goes to {log}")
        while running:
            time.sleep(POLL)
            for name, (process, ending) in list(running.items()):
                code, seconds = process.poll(), time.monotonic() - begun[name]
                if code is None and seconds < jobs[name].limit:
                    continue
                ending.close()
                del running[name]
                yield name, PAST_LIMIT if code is None else code, seconds


def _found(name: str, job: Job, code: int, folder: Path) -> dict[str, Any]:
    """What a job has written, and what became of it."""
    # the code says it: figures may be those that a part left when it was stopped
    found = _read(_figures(folder, name))
    found |= {"exit_code": code, "limit": job.limit, "state": STATES.get(code, FAILED)}
    if code == PAST_LIMIT:
        found["reason"] = f"ran past its limit of {job.limit:g} s"
    elif code not in STATES or (found["state"] != NOT_HERE and not found["rows"]):
        found |= {"state": FAILED, "reason": f"ended with {code}; {name}.log has what it said"}
    return found


def _stopped(job: Job, seconds: float, written: dict[str, Any]) -> dict[str, Any]:
    """What a job had written when the run was stopped."""
    ended = {"exit_code": 128 + signal.SIGTERM, "limit": job.limit, "seconds": round(seconds, 1), "state": FAILED}
    return written | ended | {"reason": "the run was stopped"}


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


def _show(parts: Sequence[Mapping[str, Any]], folder: Path, rest: Sequence[Mapping[str, Any]] = ()) -> None:
    """Print the rows that have something to show, and what became of each part; the summary goes to files as well.

    Args:
        parts: that have ended.
        folder: of the files.
        rest: lines of the summary about parts that were not run.
    """
    summed = [_summed(part) for part in parts]
    _write_summary([*summed, *rest], folder)
    with (folder / "summary.txt").open("w", encoding="utf-8") as file:
        for out in (sys.stdout, file):
            console = rich.console.Console(width=WIDTH, highlight=False, file=out)
            for part in parts:
                shown = [{"": row["name"], **row["shown"]} for row in part["rows"] if "shown" in row]
                if shown:
                    print_breakdown(Breakdown(part["part"], shown), console)
            short = [{**each, "reason": textwrap.shorten(each["reason"], MOST_REASON)} for each in summed]
            print_breakdown(Breakdown("parts", [*short, *rest]), console)


if __name__ == "__main__":
    run_bench(lambda: sys.exit(main()))
